import should from "should";
import type { Node } from "node-red";
import { setImmediate as turn } from "node:timers/promises";
import { Failures } from "../../../nodes/runtime/failures";
import type { Outcome } from "../../../src/recorder";
import { Recorder } from "../../../src/recorder";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import { Recent } from "../../../src/recent";
import { type Begun, Records } from "../../../src/records";
import { Redactor } from "../../../src/trust/redactor";
import { bytes, delivered } from "../../harness/stores";

const secret = "a secret of this node";
/** The node that has reported it. */
const failing = Object.assign(Object.create(null) as Node, { type: "function" });

/** A store in memory that counts what it is asked. */
class Asked extends MemoryStore {
  times = 0;

  override change(...what: Parameters<MemoryStore["change"]>): Promise<void> {
    this.times++;
    return super.change(...what);
  }

  override find(...what: Parameters<MemoryStore["find"]>): ReturnType<MemoryStore["find"]> {
    this.times++;
    return super.find(...what);
  }
}

describe("errors of a flow that nobody follows", () => {
  let store: Asked;
  let begun: Recent<Begun>;
  let failures: Failures;
  let records: Records;
  beforeEach(() => {
    store = new Asked(1000);
    begun = new Recent(1000);
    failures = new Failures(begun);
    const recorder = new Recorder("n", new Redactor([secret]));
    const lot = { recorder, path: "/hook", keepsBodies: true, keepsAnswers: true, begun, newId: () => "refused" };
    records = new Records(store, lot);
  });

  const came = (id: string, state: Outcome["state"]) => {
    const { webhook, head } = delivered(id);
    const req = { ...head, url: head.path, query: {}, headers: {} };
    const sent = { content: { value: {}, bytes: () => bytes }, bytes, isTrial: false };
    records.came({ id, body: {}, req, webhook: { credential: "first", ...webhook } }, sent, { state });
  };
  const heard = async (id: string, text = `no ${secret}`) => {
    failures.heard(id, new Error(text), failing);
    await turn();
  };
  const known = async (id: string) => {
    const kept = await store.find(id);
    return [kept?.delivery.state, kept?.attempts.at(-1)?.error];
  };

  it("are those of its delivery, redacted", async () => {
    came("id", "succeeded");
    await heard("id");
    should(await known("id")).eql(["failed", "function: no [redacted]"]);
  });

  it("are heard before the delivery is noted, too", async () => {
    const heardFirst = heard("id");
    came("id", "succeeded");
    await heardFirst;
    should(await known("id")).eql(["failed", "function: no [redacted]"]);
  });

  it("leave it to the flow's answer how it came to its end", async () => {
    came("id", "running");
    await heard("id");
    should(await known("id")).eql(["running", "function: no [redacted]"]);
  });

  it("are those of a replay", async () => {
    records.replayed({ delivery: delivered("again"), body: bytes, attempts: [] }, "succeeded");
    await heard("again");
    should(await known("again")).eql(["failed", "function: no [redacted]"]);
  });

  it("are the first of each, as what follows from it tells less", async () => {
    came("id", "succeeded");
    await heard("id", "the first");
    await heard("id", "the second");
    should(await known("id")).eql(["failed", "function: the first"]);
  });

  it("are noted all, however many come at once, and others cost the store nothing", async () => {
    const ids = Array.from({ length: 500 }, (_, number) => `id${number}`);
    for (const id of ids) came(id, "succeeded");
    for (const id of ids) {
      failures.heard(`not ours ${id}`, new Error("no"), failing);
      failures.heard(id, new Error("no"), failing);
    }
    await turn();
    store.times.should.equal(ids.length);
    should(await store.counts("n")).eql({ failed: ids.length });
  });

  it("leave alone a repeat, with which no flow was started, and what others follow", async () => {
    came("repeat", "duplicate");
    await store.add(delivered("followed", { state: "running" }), bytes);
    for (const id of ["repeat", "followed"]) await heard(id);
    should(await known("repeat")).eql(["duplicate", undefined]);
    should(await known("followed")).eql(["running", undefined]);
  });
});
