import express from "express";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NodeAPI } from "node-red";
import should from "should";
import { serveDeliveries } from "../../../src/admin/deliveries-api";
import type { NodeHealths } from "../../../src/admin/node-health";
import { StoreError } from "../../../src/deliveries/queue";
import type { DeliveryStores } from "../../../src/flow/stores";
import { command } from "../../harness/http";

describe("pausing a node over the admin API", () => {
  const failing = async (error: Error) => {
    const logged: unknown[] = [];
    const httpAdmin = express();
    const RED = {
      httpAdmin,
      auth: { needsPermission: () => (_request: unknown, _response: unknown, next: () => void) => next() },
      nodes: { getNode: () => ({}) },
      log: { error: (entry: unknown) => logged.push(entry) },
      _: (key: string) => key,
    } as unknown as NodeAPI;
    const queue = { pause: () => Promise.reject(error) };
    const nodes = new Map([["n", { running: { config: { guaranteed: true } } }]]) as unknown as NodeHealths;
    serveDeliveries(RED, { queue } as unknown as DeliveryStores, nodes, {} as never);
    const server = createServer(httpAdmin).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const reply = await command(`http://127.0.0.1:${port}/webhook-trigger/n/pause`);
    server.close();
    return { status: reply.status, code: (reply.json as { code: string }).code, logged };
  };

  it("answers 503 with the trouble of the store, which reports itself, and 500 to an unforeseen error, which it logs", async () => {
    should(await failing(new StoreError("unreachable"))).eql({ status: 503, code: "unreachable", logged: [] });
    const error = new TypeError("unforeseen");
    should(await failing(error)).eql({ status: 500, code: "unforeseen", logged: [error] });
  });
});
