import should from "should";
import type { Node } from "node-red";
import { setImmediate as turn } from "node:timers/promises";
import { Failures } from "../../../nodes/runtime/failures";
import type { OpenedNodes } from "../../../nodes/runtime/opened";
import type { State } from "../../../src/deliveries/delivery";
import { JoinedStores } from "../../../src/deliveries/joined";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import { Secrecy } from "../../../src/trust/secrecy";
import { bytes, delivered } from "../../harness/stores";

const secret = "a secret of this node";
/** The node that has reported it. */
const failing = Object.assign(Object.create(null) as Node, { type: "function" });
const gate = { secrecy: new Secrecy([secret]) };

/** What has become of a delivery when an error about its message was reported. */
async function stateAfter(state: State, config: { durable: boolean; by: "now" | "flow" }) {
  const store = new MemoryStore();
  await store.add(delivered("id", { state }), bytes);
  const opened = { config: { durable: config.durable, reply: { by: config.by } }, endpoint: { gate } };
  const nodes = { of: () => opened } as unknown as OpenedNodes;
  new Failures(new JoinedStores(() => [store]), nodes).heard("id", new Error(`no ${secret}`), failing);
  for (let turns = 0; turns < 5; turns++) await turn();
  const kept = await store.find("id");
  return [kept?.delivery.state, kept?.runs.at(-1)?.error];
}

describe("errors of a flow that nobody follows", () => {
  it("are those of its delivery, without what nobody may know", async () => {
    should(await stateAfter("done", { durable: false, by: "now" })).eql(["failed", "function: no …"]);
  });

  it("leave it to the flow's answer how it came to its end", async () => {
    should(await stateAfter("running", { durable: false, by: "flow" })).eql(["running", "function: no …"]);
  });

  for (const state of ["accepted", "running"] as const) {
    it(`leave alone what is followed, though its node loses deliveries now: ${state}`, async () => {
      should(await stateAfter(state, { durable: false, by: "now" })).eql([state, undefined]);
    });
  }

  it("leave alone what must not be lost", async () => {
    should(await stateAfter("done", { durable: true, by: "now" })).eql(["done", undefined]);
  });
});
