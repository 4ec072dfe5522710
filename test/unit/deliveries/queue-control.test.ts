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
import { command, send } from "../../harness/http";

describe("pausing a node over the admin API", () => {
  /** @param isThere whether Node-RED has the node: not while flows are stopped */
  const ask = async (path: string, method: "GET" | "POST", isThere: boolean, error = new Error()) => {
    const logged: unknown[] = [];
    const httpAdmin = express();
    const RED = {
      httpAdmin,
      auth: { needsPermission: () => (_request: unknown, _response: unknown, next: () => void) => next() },
      nodes: { getNode: () => (isThere ? {} : null) },
      log: { error: (entry: unknown) => logged.push(entry) },
      _: (key: string) => key,
    } as unknown as NodeAPI;
    const stores = { queue: { pause: () => Promise.reject(error) }, paused: () => undefined };
    const all = new Map([["n", { running: { config: { guaranteed: true } } }]]);
    const nodes = { all, get: (id: string) => all.get(id) } as unknown as NodeHealths;
    serveDeliveries(RED, stores as unknown as DeliveryStores, nodes, {} as never);
    const server = createServer(httpAdmin).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/webhook-trigger/${path}`;
    const { status, json } = await (method === "GET" ? send(url, { method }) : command(url));
    server.close();
    return { status, json: json as { code?: string; queues?: { node: string }[] }, logged };
  };
  const failing = async (error: Error) => {
    const { status, json, logged } = await ask("n/pause", "POST", true, error);
    return { status, code: json.code, logged };
  };

  it("answers 503 with the trouble of the store, which reports itself, and 500 to an unforeseen error, which it logs", async () => {
    should(await failing(new StoreError("unreachable"))).eql({ status: 503, code: "unreachable", logged: [] });
    const error = new TypeError("unforeseen");
    should(await failing(error)).eql({ status: 500, code: "unforeseen", logged: [error] });
  });

  it("is offered for the nodes that are open, none of which are while flows are stopped", async () => {
    const { json: running } = await ask("queues", "GET", true);
    const { json: stopped } = await ask("queues", "GET", false);
    should([running.queues?.map(({ node }) => node), stopped.queues]).eql([["n"], []]);
  });
});
