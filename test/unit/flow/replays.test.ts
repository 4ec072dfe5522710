import { mock } from "node:test";
import type { NodeAPI } from "node-red";
import should from "should";
import type { DeliveryList } from "../../../src/deliveries/queue";
import { DeployGate } from "../../../src/flow/deploy-gate";
import { EndpointRegistry } from "../../../src/flow/endpoint";
import { Replays } from "../../../src/flow/replays";
import { delivered } from "../../harness/deliveries";

describe("the replay of a group", () => {
  afterEach(() => mock.restoreAll());

  it("gets on where it takes long to find the group among all that has failed", async () => {
    const failed = delivered("1", { state: "failed", error: "rare" });
    let now = 0;
    mock.method(performance, "now", () => now);
    const list = {
      list: async () => {
        now += 5000;
        return Promise.resolve([failed]);
      },
      find: async () => Promise.resolve({ delivery: failed, body: Buffer.alloc(failed.size), attempts: [] }),
    } as unknown as DeliveryList;
    const replays = new Replays({} as NodeAPI, new EndpointRegistry(), new DeployGate());
    const group = { node: "n", error: "rare", last: failed.at };
    const { left, next } = await replays.replayGroup([list], group, { at: 0, id: "" });
    should([[...left], next]).eql([[["notOpen", 1]], undefined]);
  });
});
