import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import should from "should";
import { Redactor } from "../../../src/auth/redactor";
import type { Delivery } from "../../../src/deliveries/delivery";
import {
  DeliveryRecorder,
  type RecordTarget,
  maxRecentAttempts,
  maxRefusedPerSecond,
  RecentAttempts,
} from "../../../src/deliveries/recorder";
import { MemoryList } from "../../../src/deliveries/memory-list";
import { type Change, StoreError } from "../../../src/deliveries/queue";
import type { RequestOutcome } from "../../../src/deliveries/record";
import { problems } from "../../../src/request/problem";
import { bytes, delivered } from "../../harness/deliveries";

const secret = "a secret of this node";

/** The list in memory, which counts what it is asked to change. */
class CountedList extends MemoryList {
  updates = 0;

  override update(id: string, change: Change): Promise<void> {
    this.updates++;
    return super.update(id, change);
  }
}

describe("the recorder of deliveries", () => {
  let memory: CountedList;
  let starts: RecentAttempts;
  let ids: number;
  let reported: unknown[];
  beforeEach(() => {
    [memory, starts, ids, reported] = [new CountedList(undefined, 1000), new RecentAttempts(() => undefined), 0, []];
  });

  const open = (target: RecordTarget = memory, rest: { keepsBodies?: boolean; keepsReplies?: boolean; isQueue?: boolean } = {}) =>
    new DeliveryRecorder(target, {
      ...{ node: "n", redactor: new Redactor([secret]), path: "/hook", recentAttempts: starts, newId: () => `refused ${++ids}`, report: (error: unknown) => reported.push(error), filtered: memory },
      ...{ keepsBodies: true, keepsReplies: true, isQueue: false, ...rest },
    });
  const come = (id: string, state: RequestOutcome["state"], recorder = open()) => {
    const { head } = delivered(id);
    const req = { ...head, url: head.path, query: {}, headers: {} };
    const sent = { content: { value: {}, bytes: () => bytes }, bytes, isTest: false };
    recorder.add(recorder.record({ id, body: {}, req, webhook: { credential: "first" } }, sent), { state, answer: "yes" });
  };
  const fail = async (id: string, text = `no ${secret}`) => {
    starts.failed(id, (redactor) => redactor.redact(text));
    await heard();
  };
  /** It takes two turns. */
  const heard = async () => {
    await turn();
    await turn();
  };
  const known = async (id: string) => {
    const found = await memory.find(id);
    return [found?.delivery.state, found?.delivery.error, found?.attempts.at(-1)?.error];
  };

  describe("has what a flow has failed with", () => {
    it("also where it has failed before the delivery was noted, or even while its message was sent", async () => {
      const failed = ["before", "while"].map(async (id) => fail(id));
      come("before", "succeeded");
      await turn();
      come("while", "succeeded");
      await Promise.all(failed);
      should((await known("before"))[0]).equal("failed");
      should((await known("while"))[0]).equal("failed");
    });

    it("of the last starts, the first error of each, and of old ones no more", async () => {
      const recorder = open();
      const some = Array.from({ length: 3 * maxRecentAttempts }, (_, number) => `id${number}`);
      for (const id of some) come(id, "succeeded", recorder);
      for (const id of [...some, ...some]) starts.failed(id, () => "no");
      await heard();
      memory.updates.should.equal(maxRecentAttempts);
    });

    it("but of no duplicate, with which no flow was started", async () => {
      come("duplicate", "duplicate");
      await fail("duplicate");
      should(await known("duplicate")).eql(["duplicate", undefined, undefined]);
    });
  });

  it("keeps the body of a filtered request where those of others are kept, also with guaranteed delivery", async () => {
    for (const [keepsReplies, length] of [[true, bytes.length], [false, 0]] as const) {
      const { head } = delivered("");
      const req = { ...head, url: head.path, query: {}, headers: {} };
      const sent = { content: { value: {}, bytes: () => bytes }, bytes, isTest: false };
      open(memory, { keepsBodies: true, keepsReplies }).addFiltered({ req, webhook: { credential: "first" } }, sent, {});
      should((await memory.find(`refused ${ids}`))?.body.length).equal(length);
    }
  }); // prettier-ignore

  it("notes so many refused requests and handshakes a second, and finds out why only of these", async () => {
    const recorder = open();
    const request = { head: { method: "POST", rawHeaders: ["X-Token", secret, "Host", "h"], search: "?a=1" }, at: 5, ip: "::ffff:192.0.2.1", caller: `Door ${secret}` };
    let explained = 0;
    const explain = () => ({ explanation: { reasons: [] }, error: `${++explained}` });
    // All in one second, however long it takes.
    const { mock: clock } = mock.method(performance, "now", () => 1000);
    recorder.addHandshake(request, 200);
    for (let count = 0; count < 1000; count++) recorder.addRefused(problems.tokenInvalid, request, explain);
    clock.restore();
    (await memory.list({ state: "handshake", limit: 10 })).should.have.length(1);
    (await memory.list({ state: "refused", limit: 1000 })).should.have.length(maxRefusedPerSecond - 1);
    explained.should.equal(maxRefusedPerSecond - 1);
    const head = { method: "POST", path: "/hook", search: "a=••••••••", headers: { "x-token": "••••••••", host: "h" }, ip: "192.0.2.1" };
    const [noted] = await memory.list({ state: "refused", limit: 1 });
    should({ ...noted?.head, search: decodeURIComponent(noted?.head.search ?? "") }).eql(head);
    should(noted?.webhook).eql({ credential: "first", caller: "[redacted]" });
  });

  it("has no queue start the flow once more for it, and does not mind one in trouble", async () => {
    const added: Delivery["state"][] = [];
    const troubled = () => Promise.reject(new StoreError("full"));
    const queue: RecordTarget = { add: ({ state }) => (added.push(state), troubled()), update: troubled };
    come("id", "running", open(queue, { isQueue: true }));
    come("other", "succeeded", open(queue, { isQueue: true }));
    await fail("id");
    await turn();
    added.should.eql(["succeeded", "succeeded"]);
    reported.should.eql([]);
  });

  it("reports what is no trouble of a store, once for each delivery", async () => {
    const error = new TypeError("cannot be written");
    const broken = () => Promise.reject(error);
    come("id", "succeeded", open({ add: broken, update: broken }));
    await turn();
    reported.should.eql([error]);
  });
}); // prettier-ignore
