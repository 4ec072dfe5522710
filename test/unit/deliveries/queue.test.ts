import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import should from "should";
import { formatCallerSearch } from "../../../src/config/callers";
import type { Delivery, StoredDelivery } from "../../../src/deliveries/delivery";
import { groupFailures } from "../../../src/deliveries/failures";
import { MemoryList } from "../../../src/deliveries/memory-list";
import type { RecordTarget } from "../../../src/deliveries/recorder";
import {
  type AttemptResult,
  type DeliveryList,
  type DeliveryQueue,
  type Position,
  StoreError,
} from "../../../src/deliveries/queue";
import { engines, delivered, failed, later, laterSucceeded, type QueueEngine, type QueueOptions, Queues, succeeded, TestFlow } from "../../harness/queues"; // prettier-ignore
import { until } from "../../harness/until";

const body = Buffer.from("{}");

for (const engine of engines) {
  // An engine whose server or Node.js is missing has no tests: they would all be left out.
  if (engine.isHere) describe(`a queue in ${engine.name}`, () => testQueue(engine));
}

describe("the list in memory lists deliveries, and", () => testLists(() => new MemoryList()));

function testQueue(engine: QueueEngine): void {
  let queues: Queues;
  let queue: DeliveryQueue;
  /** Deliveries of tests came at any time, so that none is too old unless a test says so. */
  const create = (options?: QueueOptions) => engine.create(queues.place, { maxAge: Infinity, ...options });
  const reopen = async (options?: QueueOptions) => {
    await queues.close(queue);
    queue = await queues.open(create(options));
  };
  const stateOf = async (id: string) => (await queue.find(id))?.delivery.state;
  /** Has the node "n" start a flow from now on. */
  const run = (...how: ConstructorParameters<typeof TestFlow>) => {
    const flow = new TestFlow(...how);
    queue.process("n", flow);
    return flow;
  };
  const add = async (...ids: string[]) => {
    await Promise.all(ids.map(async (id) => queue.add(delivered(id), Buffer.from(id))));
  };

  before(async () => engine.begin?.());
  beforeEach(async () => {
    queues = new Queues();
    queue = await queues.open(create());
  });
  afterEach(async () => queues.clear());
  after(async () => engine.end?.());

  describe("stores deliveries, and", () => {
    it("has each when it says so, also after a restart", async () => {
      const bytes = Buffer.from([0, 255, 10, 13]);
      const delivery = delivered("1", { webhook: { event: "push", credential: "first" } });
      await queue.add(delivery, bytes);
      await reopen();
      should(await queue.find("1")).eql({ delivery, body: bytes, attempts: [] });
      should(await queue.find("2")).be.undefined();
    });

    it("refuses what cannot be written, and stores what others bring at the same time", async () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      const strange = [() => 1, circle, 1n, setImmediate(() => undefined), Promise.resolve()];
      const outcomes = await Promise.allSettled(
        ["1", ...strange, "2"].map(async (value) =>
          typeof value === "string"
            ? add(value)
            : queue.add(delivered("strange", { webhook: { credential: "first", claims: { value } } }), body),
        ),
      );
      // A server makes an empty object of a function or promise.
      outcomes.filter(({ status }) => status === "rejected").length.should.be.within(1, strange.length);
      outcomes.at(0)?.status.should.equal("fulfilled");
      outcomes.at(-1)?.status.should.equal("fulfilled");
      await reopen();
      for (const id of ["1", "2"]) should((await queue.find(id))?.body).eql(Buffer.from(id));
    });

    it("has one with a known id already", async () => {
      const flow = run();
      await add("1");
      await until(async () => (await stateOf("1")) === "succeeded", "the flow");
      await queue.add(delivered("1"), body);
      await add("2");
      await until(async () => (await stateOf("2")) === "succeeded", "the flow");
      flow.ids.should.eql(["1", "2"]);
      (await queue.list({ limit: 10 })).should.have.length(2);
    });

    it("keeps what starts no flow, and starts none", async () => {
      const flow = run();
      for (const state of ["refused", "duplicate", "handshake", "succeeded", "failed"] as const) {
        await queue.add(delivered(state, { state }), body);
      }
      await add("1");
      await until(async () => (await stateOf("1")) === "succeeded", "the flow");
      flow.ids.should.eql(["1"]);
      should((await queue.find("refused"))?.body).eql(body);
      (await queue.counts("n")).should.eql({ refused: 1, duplicate: 1, handshake: 1, succeeded: 2, failed: 1 });
    });

    it("changes those that are there, or on their way", async () => {
      const added = queue.add(delivered("1", { state: "failed", error: "no" }), body);
      await queue.update("1", { state: "succeeded", status: 200, milliseconds: 1.5, answer: "ok" });
      await added;
      await queue.update("2", { state: "succeeded" });
      (await queue.list({ state: "succeeded", limit: 10 })).should.match([{ id: "1", status: 200, milliseconds: 1.5, answer: "ok" }]); // prettier-ignore
      (await queue.list({ state: "failed", limit: 10 })).should.eql([]);
      should(await queue.find("2")).be.undefined();
    });
  });

  describe("starts flows, and", () => {
    it("hands over what was stored, and says how it ended", async () => {
      const flow = run();
      await add("1");
      await until(() => flow.ends.length === 1, "the flow");
      flow.starts.should.match([{ id: "1", attempt: 1, body: "1" }]);
      flow.ends.should.match([{ id: "1", state: "succeeded", attempt: 1 }]);
      const { attempts = [] } = (await queue.find("1")) ?? {};
      attempts.should.have.length(1);
      should(attempts[0]?.ended).be.aboveOrEqual(attempts[0]?.at ?? Infinity);
    });

    it("starts none before flows run, none while they are stopped, and none of another node", async () => {
      queue.hold();
      const [flow, other] = [new TestFlow(), new TestFlow()];
      queue.process("n", flow);
      await add("1", "2");
      queue.release();
      await until(() => flow.ends.length === 2, "the flow");
      queue.hold();
      await add("3");
      queue.process("other", other);
      await queue.add(delivered("4", { node: "other" }), body);
      queue.release();
      await until(() => flow.ends.length === 3 && other.ends.length === 1, "both flows");
      other.ids.should.eql(["4"]);
    });

    it("starts none of a node that is closed, and goes on when it is there again", async () => {
      const [first, second, other] = [new TestFlow(), new TestFlow(), new TestFlow()];
      const close = queue.process("n", first);
      await add("1");
      await until(() => first.ends.length === 1, "the flow");
      close();
      await add("2");
      queue.process("other", other);
      await queue.add(delivered("3", { node: "other" }), body);
      await until(() => other.ends.length === 1, "another flow");
      (await stateOf("2"))?.should.equal("queued");
      queue.process("n", second);
      await until(() => second.ends.length === 1, "the flow");
      [first.ids, second.ids].should.eql([["1"], ["2"]]);
    });

    for (const concurrency of [1, 3]) {
      it(`starts them ${concurrency === 1 ? "in order of arrival, " : ""}${concurrency} at once and no more`, async () => {
        const flow = run(laterSucceeded, { concurrency });
        const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
        await add(...ids);
        await until(() => flow.ends.length === ids.length, "the burst");
        if (concurrency === 1) flow.ids.should.eql(ids);
        flow.mostRunning.should.equal(concurrency);
      });
    }

    it("starts no more than the rate allows", async () => {
      const flow = run(succeeded, { ratePerMinute: 600 });
      // No start is before this, however late a test hears of the first.
      const begun = Date.now();
      await add("1", "2", "3", "4", "5", "6");
      await until(() => flow.ends.length === 6, "the flows");
      (Number(flow.starts.at(-1)?.at) - begun).should.be.aboveOrEqual(5 * 100 - 5);
    });

    it("counts what runs, waits and has failed", async () => {
      let end: (result: AttemptResult) => void = () => undefined;
      const counted = async (wanted: object) => until(async () => isDeepStrictEqual(await queue.counts("n"), wanted), JSON.stringify(wanted)); // prettier-ignore
      run(() => new Promise((resolve) => (end = resolve)), { concurrency: 1, attempts: 2, backoffFirstMs: 100_000, backoffLongestMs: 100_000 }); // prettier-ignore
      await add("1", "2", "3");
      await counted({ queued: 2, running: 1 });
      end(failed());
      await counted({ queued: 1, running: 1, retrying: 1 });
      end(failed({ isSenderTold: true }));
      await counted({ running: 1, retrying: 1, failed: 1 });
      end(succeeded());
      await counted({ retrying: 1, succeeded: 1, failed: 1 });
    });
  });

  describe("tries again, and", () => {
    it("waits longer after each failure, unless the flow says how long, and not for others", async () => {
      const results = [failed(), failed(), failed({ retryAfterMs: 300 })];
      // Both are there before the first fails: it is not due before the other has come.
      await add("1", "2");
      const flow = run(({ delivery: { id, attempt } }) => (id === "1" ? results[attempt - 1] : undefined) ?? succeeded(), { concurrency: 1, attempts: 4, backoffFirstMs: 200 }); // prettier-ignore
      await until(() => flow.ends.length === 5, "the flows");
      flow.ids.should.eql(["1", "2", "1", "1", "1"]);
      flow.ends.map(({ state }) => state).should.eql(["retrying", "succeeded", "retrying", "retrying", "succeeded"]);
      const [first, , second, third, fourth] = flow.starts.map(({ at }) => at);
      (Number(second) - Number(first)).should.be.aboveOrEqual(190);
      (Number(third) - Number(second)).should.be.aboveOrEqual(390);
      (Number(fourth) - Number(third)).should.be.aboveOrEqual(290);
      const [, , ended, last] = flow.ends;
      should(ended).match({ attempt: 2, maxAttempts: 4, error: "no" });
      should(ended?.nextAt).be.aboveOrEqual(Number(second) + 390);
      should(Number(last?.nextAt) - Date.now()).be.below(300);
      const { delivery, attempts } = (await queue.find("1")) ?? {};
      should(attempts).match([{ error: "no" }, { error: "no" }, { error: "no" }, {}]);
      should(delivery).match({ state: "succeeded", attempt: 4 }).and.not.have.properties("error", "nextAt");
    });

    it("keeps for a person what has failed in all attempts", async () => {
      const flow = run(() => failed());
      await add("1");
      await until(() => flow.ends.at(-1)?.state === "failed", "all attempts");
      flow.starts.map(({ attempt }) => attempt).should.eql([1, 2, 3]);
      await reopen();
      should(await queue.find("1")).match({ delivery: { state: "failed", attempt: 3, error: "no" }, attempts: [{}, {}, {}] }); // prettier-ignore
    });

    it("has the next attempt now where a user wants it, or none any more, of what waits for one", async () => {
      const rarely = { backoffFirstMs: 100_000, backoffLongestMs: 100_000 };
      // The end of the attempt before may not be over yet.
      const change = async (id: string, when: "now" | "never") => until(async () => queue.retry(id, when), `${id} ${when}`); // prettier-ignore
      const flow = run(({ delivery: { attempt } }) => (attempt === 1 ? failed() : succeeded()), rarely);
      await add("1", "2", "3");
      await until(() => flow.ends.length === 3, "the first attempts");
      await change("1", "now");
      await until(async () => (await stateOf("1")) === "succeeded", "the next attempt");
      await queue.pause("n");
      for (const when of ["now", "never"] as const) {
        await change("2", when);
        (await Promise.all(["1", "4"].map(async (id) => queue.retry(id, when)))).should.eql([false, false]);
      }
      await change("3", "now");
      (await queue.counts("n")).should.eql({ retrying: 1, succeeded: 1, failed: 1 });
      await reopen();
      await queue.resume("n");
      const next = run(succeeded, rarely);
      await until(() => next.ends.length === 1, "what was paused");
      should([...flow.ids, ...next.ids].sort()).eql(["1", "1", "2", "3", "3"]);
      should((await queue.find("2"))?.delivery).match({ state: "failed", attempt: 1, error: "no" }).and.not.have.property("nextAt"); // prettier-ignore
    });

    it("starts nothing that a user has stopped, however near its next attempt is", async () => {
      const flow = run(() => failed(), { attempts: 1000, backoffFirstMs: 30, backoffLongestMs: 30 });
      const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
      await add(...ids);
      const stop = async (id: string) => {
        await until(async () => queue.retry(id, "never"), `${id} to be stopped`);
        return [id, flow.ids.filter((each) => each === id).length] as const;
      };
      const stopped = await Promise.all(ids.map(stop));
      await add("last");
      await until(() => flow.ids.filter((id) => id === "last").length > 1, "another one, twice");
      for (const [id, starts] of stopped) {
        flow.ids.filter((each) => each === id).length.should.equal(starts);
        should((await queue.find(id))?.delivery).match({ state: "failed", attempt: starts });
      }
    });

    it("counts no attempt that a deploy has ended, and starts the same one first", async () => {
      let interrupt: () => void = () => undefined;
      const first = new TestFlow(() => new Promise((resolve) => (interrupt = () => resolve({ as: "interrupted" }))), { concurrency: 1 }); // prettier-ignore
      const close = queue.process("n", first);
      await add("1", "2");
      await until(() => first.running === 1, "the flow");
      queue.hold();
      interrupt();
      close();
      await until(() => first.ends.length === 1, "the end");
      first.ends.should.match([{ state: "queued", attempt: 0 }]);
      const second = run(succeeded, { concurrency: 1 });
      queue.release();
      await until(() => second.ends.length === 2, "the flows");
      second.starts.should.match([
        { id: "1", attempt: 1 },
        { id: "2", attempt: 1 },
      ]);
    });
  });

  describe("starts what is due first, whichever engine it is, and", () => {
    const names = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`); // prettier-ignore
    const [bad, good] = [names("bad", 5), names("good", 20)];
    /** Each fails some ms after the one before it, so that there is an order in which their next attempts are due. */
    const failBad = async ({ delivery: { id } }: StoredDelivery) => {
      if (!id.startsWith("bad")) return succeeded();
      await setTimeout(5);
      return failed();
    };
    const addInTurn = async (...ids: string[]) => {
      for (const id of ids) await add(id);
    };
    /** What has failed comes again behind what had arrived before it was due. */
    const inTurn = [...bad, ...good, ...bad];

    for (const [what, pace] of [
      ["a circuit breaker", { breaker: 3, backoffFirstMs: 1, backoffLongestMs: 1 }],
      ["a rate", { ratePerMinute: 3000, backoffFirstMs: 1, backoffLongestMs: 1 }],
      ["one at a time", { backoffFirstMs: 1, backoffLongestMs: 1 }],
    ] as const) {
      it(`lets a few bad deliveries hold up no others, with ${what}`, async () => {
        await reopen({ breakerInterval: 50 });
        await addInTurn(...bad, ...good);
        const flow = run(failBad, { concurrency: 1, attempts: 2, ...pace });
        await until(() => flow.ends.length === inTurn.length, "all");
        flow.ids.should.eql(inTurn);
      });
    }

    it("lets slow failures hold up others for no longer than they take once", async () => {
      await addInTurn(...bad.slice(0, 3), ...good.slice(0, 3));
      const fail = async ({ delivery: { id } }: StoredDelivery) => {
        if (id.startsWith("good")) return succeeded();
        await setTimeout(60);
        return failed();
      };
      const flow = run(fail, { concurrency: 1, attempts: 3, backoffFirstMs: 20 });
      const [three, others] = [bad.slice(0, 3), good.slice(0, 3)];
      await until(() => flow.ends.length === 12, "all");
      flow.ids.should.eql([...three, ...others, ...three, ...three]);
    });

    it("starts an attempt that is due before what came later, and after what came before", async () => {
      let end: () => void = () => undefined;
      const hold = async () => new Promise<AttemptResult>((resolve) => (end = () => resolve(succeeded())));
      const work = ({ delivery: { id, attempt } }: StoredDelivery) => {
        if (id === "held") return hold();
        return id === "bad" && attempt === 1 ? failed({ retryAfterMs: 1500 }) : succeeded();
      };
      await addInTurn("bad", "held", "before");
      const flow = run(work, { concurrency: 1 });
      await until(() => flow.running === 1 && flow.ids.at(-1) === "held", "both");
      const dueAt = Number((await queue.find("bad"))?.delivery.nextAt);
      await until(() => Date.now() > dueAt + 500, "the time");
      await add("after");
      end();
      await until(() => flow.ends.length === 5, "all");
      flow.ids.should.eql(["bad", "held", "before", "bad", "after"]);
    });

    it("keeps the place of what is put back", async () => {
      const first = new TestFlow(() => ({ as: "interrupted" }), { concurrency: 1 });
      const close = queue.process("n", first);
      queue.hold();
      await add("1", "2", "3");
      close();
      const second = run(succeeded, { concurrency: 1 });
      queue.release();
      await until(() => second.ends.length === 3, "the flows");
      second.ids.should.eql(["1", "2", "3"]);
    });
  });

  describe("pauses a node, and", () => {
    it("stores what comes and starts nothing, also after a restart, until it is resumed", async () => {
      const flow = run();
      await queue.pause("n");
      await queue.pause("n");
      should(queue.paused("n")).equal("manual");
      await add("1", "2");
      await reopen();
      should(queue.paused("n")).equal("manual");
      const [paused, other] = [new TestFlow(), new TestFlow()];
      queue.process("n", paused);
      queue.process("other", other);
      await queue.add(delivered("3", { node: "other" }), body);
      await until(() => other.ends.length === 1, "another node");
      await until(async () => (await queue.counts("n")).queued === 2, "both");
      [...flow.ids, ...paused.ids].should.eql([]);
      await queue.resume("n");
      should(queue.paused("n")).be.undefined();
      await until(() => paused.ends.length === 2, "the flows");
      // What was paused before a start, or already, is no news.
      queues.told.pauses.should.eql(["n manual", "n undefined"]);
    });

    it("starts nothing of a paused node whose flows run before the store is open", async () => {
      await queue.pause("n");
      await add("1");
      await queues.close(queue);
      queue = create();
      const opening = queues.open(queue);
      const flow = new TestFlow();
      queue.release();
      queue.process("n", flow);
      await opening;
      await until(() => queue.paused("n") === "manual", "the pause");
      (await queue.counts("n")).should.eql({ queued: 1 });
      flow.ids.should.eql([]);
    });

    it("lets running attempts end", async () => {
      let end: () => void = () => undefined;
      const flow = run(() => new Promise((resolve) => (end = () => resolve(succeeded()))), { concurrency: 1 });
      await add("1", "2");
      await until(() => flow.running === 1, "the flow");
      await queue.pause("n");
      end();
      await until(async () => (await stateOf("1")) === "succeeded", "the end");
      flow.ids.should.eql(["1"]);
    });

    const breaker = { concurrency: 1, breaker: 2, attempts: 50, backoffFirstMs: 1, backoffLongestMs: 1 };

    it("does so by itself after failures in a row, tries one at a time, and goes on when that succeeds", async () => {
      await reopen({ breakerInterval: 300 });
      let works = false;
      const flow = run(() => (works ? succeeded() : failed()), breaker);
      await add("1", "2", "3");
      await until(() => queue.paused("n") === "breaker", "the circuit breaker");
      await until(() => flow.starts.length >= 4, "two that are tried");
      const [, second, , fourth] = flow.starts.map(({ at }) => at);
      (Number(fourth) - Number(second)).should.be.aboveOrEqual(590);
      works = true;
      await until(async () => (await queue.counts("n")).succeeded === 3, "all");
      should(queue.paused("n")).be.undefined();
      queues.told.pauses.should.eql(["n breaker", "n undefined"]);
    });

    it("counts failures in a row alone, starts again at once when a person resumes it, and counts anew", async () => {
      const flow = run(({ delivery: { id } }) => (id === "2" ? succeeded() : failed({ isSenderTold: true })), breaker); // prettier-ignore
      await add("1", "2", "3");
      await until(() => flow.ends.length === 3, "the flows");
      should(queue.paused("n")).be.undefined();
      await add("4", "5");
      await until(() => queue.paused("n") === "breaker", "the circuit breaker");
      await reopen();
      should(queue.paused("n")).equal("breaker");
      const next = run(() => failed({ isSenderTold: true }), breaker);
      await queue.resume("n");
      await until(() => next.ends.length === 1, "the flow");
      should(queue.paused("n")).be.undefined();
    });

    it("goes on where the node has no breaker any more", async () => {
      run(() => failed(), { breaker: 1 });
      await add("1");
      await until(() => queue.paused("n") === "breaker", "the circuit breaker");
      const next = run();
      await until(() => next.ends.length === 1, "the flow");
      should(queue.paused("n")).be.undefined();
    });
  });

  describe("outlives processes, and", () => {
    let child: ChildProcess | undefined;
    afterEach(() => child?.kill("SIGKILL"));

    it("counts the attempts whose process has ended, also those of requests, and starts their flows again until all are used up", async () => {
      await queues.close(queue);
      const program = join(__dirname, "queue-child.ts");
      child = spawn(process.execPath, ["--import", "tsx", program, engine.name, queues.place], { stdio: ["ignore", "pipe", "inherit"] }); // prettier-ignore
      if (child.stdout) await once(child.stdout, "data");
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      queue = await queues.open(create());
      const [flow, last] = [run(), new TestFlow(succeeded, { attempts: 1 })];
      queue.process("m", last);
      await until(() => flow.ends.length === 2 && last.ends.length === 1, "the take-over");
      for (const id of ["asked", "stored"]) {
        flow.starts.filter((each) => each.id === id).should.match([{ attempt: 2, body: id }]);
        const { attempts = [] } = (await queue.find(id)) ?? {};
        attempts.should.have.length(2);
        attempts[0]?.should.not.have.property("ended");
      }
      last.ends.should.match([{ id: "last", state: "failed", attempt: 1, error: "interrupted" }]);
      last.starts.should.eql([]);
    });
  });

  describe("stores what its request has started, and", () => {
    const started = (id: string) => delivered(id, { state: "running", attempt: 1 });
    let flow: TestFlow;
    beforeEach(() => {
      flow = run(succeeded, { concurrency: 1, backoffFirstMs: 1 });
    });

    it("starts it no more when it has ended, and holds up no others", async () => {
      await queue.addRunning(started("1"), body, 10);
      (await stateOf("1"))?.should.equal("running");
      await queue.end("1", succeeded());
      await queue.addRunning(started("2"), body, 100_000);
      await add("3");
      await until(() => flow.ids.includes("3"), "another");
      await queue.end("2", failed({ isSenderTold: true }));
      await until(() => flow.ends.length === 3, "all");
      flow.ids.should.eql(["3"]);
      should((await queue.find("1"))?.body).eql(body);
      (await queue.counts("n")).should.eql({ succeeded: 2, failed: 1 });
    });

    it("has its key from when it is stored, with the reply when it has ended, and frees it after a failure", async () => {
      const reserve = async (id: string, key: string) => queue.duplicates.reserve({ endpoint: "n", key, id, keptForMs: 60_000 }); // prettier-ignore
      const answer = { status: 201, fields: {}, body: Buffer.from("done") };
      const results: AttemptResult[] = [{ as: "succeeded", reply: answer }, failed({ isSenderTold: true })];
      for (const [index, result] of results.entries()) {
        const found = await reserve(`${index}`, `k${index}`);
        if (!found.isFirst) throw new Error("the key was taken");
        await queue.addRunning(started(`${index}`), body, 100_000, found.candidate);
        await found.settle(result.as === "succeeded" ? answer : { ...answer, status: 500 });
        await queue.end(`${index}`, result);
      }
      await reopen();
      const known = await reserve("3", "k0");
      if (known.isFirst) throw new Error("the key was free");
      should([known.id, await known.outcome]).eql(["0", { reply: answer }]);
      should(await reserve("4", "k1")).match({ isFirst: true });
    });

    it("finds it by the words of its body, also when it has ended", async () => {
      await queue.addRunning(started("1"), Buffer.from("the door is open"), 100_000);
      await queue.end("1", succeeded());
      (await queue.list({ text: "door", limit: 10 })).should.match([{ id: "1", words: "the door is open" }]);
    });

    it("starts it where its attempt has failed or was interrupted", async () => {
      await queue.addRunning(started("1"), body, 100_000);
      await queue.end("1", failed());
      await until(() => flow.ends.length === 2, "the next attempt");
      await queue.addRunning(started("2"), body, 100_000);
      await queue.end("2", { as: "interrupted" });
      await until(() => flow.ends.length === 4, "the same attempt");
      flow.starts.should.match([
        { id: "1", attempt: 2 },
        { id: "2", attempt: 1 },
      ]);
    });
  });

  describe("is closed in order, and", () => {
    const started = (id: string) => delivered(id, { state: "running", attempt: 1 });
    let interrupt: () => void;
    const waits = async () =>
      new Promise<AttemptResult>((resolve) => (interrupt = () => resolve({ as: "interrupted" })));

    it("has the ends of what runs, uncounted where it was put back", async () => {
      const flow = run(waits);
      await add("1");
      await queue.addRunning(started("2"), body, 100_000);
      await until(() => flow.running === 1, "the flow");
      const closing = queues.close(queue);
      interrupt();
      void queue.end("2", { as: "interrupted" });
      await closing;
      queue = await queues.open(create());
      for (const id of ["1", "2"]) {
        should(await queue.find(id)).match({ delivery: { state: "queued", attempt: 0 }, attempts: [] });
      }
    });

    it("starts nothing that is taken from the store meanwhile", async () => {
      queue.hold();
      await add("1", "2", "3");
      const flow = run();
      queue.release();
      await queues.close(queue);
      queue = await queues.open(create());
      const begun = flow.ids;
      for (const id of ["1", "2", "3"]) {
        const isDone = begun.includes(id);
        should((await queue.find(id))?.delivery).match(
          isDone ? { state: "succeeded", attempt: 1 } : { state: "queued", attempt: 0 },
        );
      }
    });

    if (engine.isShared) {
      it("gives what it puts back to another instance, which need not wait until it is missed", async () => {
        const hour = { lockDuration: 3_600_000 };
        await reopen(hour);
        const flow = run(waits);
        await add("1");
        await queue.addRunning(started("2"), body, 100_000);
        await until(() => flow.running === 1, "the flow");
        const other = await queues.open(create(hour));
        const next = new TestFlow();
        other.process("n", next);
        const closing = queues.close(queue);
        interrupt();
        void queue.end("2", { as: "interrupted" });
        await closing;
        queue = other;
        await until(() => next.ends.length === 2, "the flows");
        next.starts.map(({ id, attempt }) => `${id}: ${attempt}`).sort().should.eql(["1: 1", "2: 1"]); // prettier-ignore
      });
    }
  });

  describe("lists deliveries, and", () => testLists(() => queue));

  describe("removes what a user removes, and", () => {
    const hangs = { concurrency: 1, backoffFirstMs: 100_000, backoffLongestMs: 100_000 };

    it("leaves what runs, starts no other one, and counts them no more", async () => {
      let end: () => void = () => undefined;
      const flow = run(({ delivery: { id } }) => (id === "1" ? failed() : new Promise((resolve) => (end = () => resolve(succeeded())))), hangs); // prettier-ignore
      await add("1", "2", "3");
      await until(() => flow.running === 1 && flow.ids.includes("2"), "the flow");
      (await Promise.all(["1", "2", "3", "4"].map(async (id) => queue.remove(id)))).should.eql(["removed", "running", "removed", "unknown"]); // prettier-ignore
      (await queue.counts("n")).should.eql({ running: 1 });
      end();
      await until(async () => (await stateOf("2")) === "succeeded", "the end");
      await add("5");
      await until(() => flow.ids.includes("5"), "the next");
      flow.ids.should.eql(["1", "2", "5"]);
      should(await queue.remove("2")).equal("removed");
      should(await queue.find("2")).be.undefined();
    });

    it("frees their room, also of a node that is gone", async () => {
      const large = Buffer.alloc(2_000_000, "x");
      await reopen({ maxBytes: 5_000_000 });
      await queue.add(delivered("1", { node: "gone" }), large);
      await queue.add(delivered("2", { node: "gone" }), large);
      await queue.add(delivered("3"), large).should.be.rejectedWith({ trouble: "full" });
      (await queue.removeAll({ node: "gone" })).should.equal(2);
      await until(async () => queue.add(delivered("3"), large).then(() => true, () => false), "the room"); // prettier-ignore
      (await queue.counts("gone")).should.eql({});
      await reopen();
      (await queue.list({ limit: 10 })).should.match([{ id: "3" }]);
    });

    it("removes requests that missed all nodes, and texts that end within a character", async () => {
      await queue.add(delivered("missed", { node: "", state: "refused" }), Buffer.alloc(0));
      await queue.add(
        delivered("cut", { state: "failed", error: "😀".slice(0, 1) }),
        Buffer.from(`${"x".repeat(79)}😀`),
      );
      (await queue.remove("cut")).should.equal("removed");
      (await queue.removeAll({ state: "refused" })).should.equal(1);
      (await queue.list({ limit: 10 })).should.eql([]);
    });

    it("removes a thousand in one go", async () => {
      await queue.pause("n");
      // A busy server answers a thousand at a time too late.
      for (let part = 0; part < 11; part++) await add(...Array.from({ length: 91 }, (_, index) => `${part}-${index}`));
      (await queue.removeAll({ state: "queued" })).should.equal(1001);
      (await queue.counts("n")).should.eql({});
    });
  });

  describe("has room for so much, and", () => {
    const large = Buffer.alloc(2_000_000, "x");

    it("drops what anybody can cause first, then the oldest that have finished, and what has failed last", async () => {
      await reopen({ maxBytes: 13_000_000 });
      const states = ["failed", "succeeded", "duplicate", "succeeded", "refused", "handshake"] as const;
      for (const [at, state] of states.entries()) await queue.add(delivered(`${at}`, { at, state }), large);
      for (const left of ["01235", "0123", "023", "03", "0", ""]) {
        const at = 12 - left.length;
        await queue.add(delivered(`new ${at}`, { at }), large);
        const ids = (await queue.list({ limit: 10 })).map(({ id }) => id).filter((id) => !id.startsWith("new"));
        ids.reverse().join("").should.equal(left);
      }
      (await queue.counts("n")).should.eql({ queued: 6 });
    });

    it("drops texts that end within a character", async () => {
      await reopen({ maxBytes: 5_000_000 });
      await queue.add(delivered("cut", { state: "succeeded", error: "😀".slice(0, 1) }), large);
      for (const id of ["1", "2"]) await queue.add(delivered(id), large);
      (await queue.list({ limit: 10 })).map(({ id }) => id).should.eql(["2", "1"]);
    });

    it("keeps what was accepted, however many requests are refused", async () => {
      await reopen({ maxBytes: 1_000_000 });
      for (let at = 1; at <= 10; at++) await queue.add(delivered(`${at}`, { at, state: "succeeded" }), body);
      const head = { ...delivered("").head, headers: { long: "x".repeat(20_000) } };
      for (let at = 11; at <= 110; at++) await queue.add(delivered(`${at}`, { at, head, state: "refused" }), body);
      const { succeeded, refused } = await queue.counts("n");
      should(succeeded).equal(10);
      should(refused).be.within(1, 50);
    });

    it("drops nothing that is unfinished, and takes more when it is", async () => {
      await reopen({ maxBytes: 5_000_000 });
      await add("1");
      await queue.add(delivered("2"), large);
      await queue.add(delivered("3"), large);
      const error: unknown = await queue.add(delivered("4"), large).catch((reason: unknown) => reason);
      should(error).be.instanceof(StoreError).and.match({ trouble: "full" });
      await queue.add(delivered("5", { state: "refused" }), Buffer.alloc(0));
      should(await queue.find("4")).be.undefined();
      const flow = run();
      await until(() => flow.ends.length === 3, "the flows");
      await queue.add(delivered("4", { node: "m" }), large);
      await until(() => queues.told.said.length === 2, "the news");
      queues.told.said.should.eql(["full", "up"]);
    });

    it("drops what is too old, but for what has failed or is unfinished", async () => {
      await reopen({ maxAge: 60_000 });
      const at = Date.now() - 60_001;
      for (const state of ["succeeded", "refused", "duplicate", "handshake", "failed", "queued"] as const) {
        await queue.add(delivered(state, { at, state }), body);
      }
      await queue.add(delivered("new", { state: "succeeded" }), body);
      await reopen({ maxAge: 60_000 });
      await until(async () => (await queue.list({ limit: 10 })).length === 3, "what is dropped");
      (await queue.counts("n")).should.eql({ queued: 1, succeeded: 1, failed: 1 });
    });
  });

  describe("runs with so many bytes of bodies at once, and", () => {
    const maxRunningBytes = 100;

    it("starts the rest as they end, also of other nodes, and one that is larger alone", async () => {
      await reopen({ maxRunningBytes });
      let [running, most] = [0, 0];
      const work = async ({ body: { length } }: StoredDelivery) => {
        most = Math.max(most, (running += length));
        await later();
        running -= length;
        return succeeded();
      };
      const other = new TestFlow(work);
      queue.process("m", other);
      const flow = run(work);
      for (let id = 0; id < 10; id++) {
        await queue.add(delivered(`n${id}`), Buffer.alloc(id === 5 ? 150 : 40));
        await queue.add(delivered(`m${id}`, { node: "m" }), Buffer.alloc(40));
      }
      await until(() => flow.ends.length + other.ends.length === 20, "all");
      should([running, most]).eql([0, 150]);
    });

    it("starts no more of two nodes that are asked at the same time", async () => {
      await reopen({ maxRunningBytes });
      queue.hold();
      let [running, most] = [0, 0];
      const work = async ({ body: { length } }: StoredDelivery) => {
        most = Math.max(most, (running += length));
        await later();
        running -= length;
        return succeeded();
      };
      const [one, other] = [run(work), new TestFlow(work)];
      queue.process("m", other);
      await queue.add(delivered("n"), Buffer.alloc(90));
      await queue.add(delivered("m", { node: "m" }), Buffer.alloc(90));
      queue.release();
      await until(() => one.ends.length + other.ends.length === 2, "both");
      most.should.equal(90);
    });

    it("starts nothing that waits for it while its node is paused", async () => {
      await reopen({ maxRunningBytes, roomPatience: 300 });
      let end: () => void = () => undefined;
      const other = new TestFlow(() => new Promise((resolve) => (end = () => resolve(succeeded()))));
      queue.process("m", other);
      await queue.add(delivered("m", { node: "m" }), Buffer.alloc(90));
      await until(() => other.running === 1, "the other node");
      const flow = run();
      await queue.add(delivered("1"), Buffer.alloc(50));
      await setTimeout(100);
      await queue.pause("n");
      await setTimeout(500);
      flow.ids.should.eql([]);
      await queue.resume("n");
      await until(() => flow.ends.length === 1, "the flow");
      end();
    });

    it("starts one that waits long beside others that come again and again", async () => {
      await reopen({ maxRunningBytes, roomPatience: 500 });
      const large = new TestFlow();
      const small: TestFlow = run(async () => {
        if (large.ends.length === 0) await queue.add(delivered(`${small.starts.length + 1}`), Buffer.alloc(40));
        await until(() => large.ends.length > 0 || small.running > 1, "another one");
        return succeeded();
      });
      await queue.add(delivered("0"), Buffer.alloc(40));
      await until(() => small.running > 0, "a small one");
      await queue.add(delivered("m", { node: "m" }), Buffer.alloc(150));
      queue.process("m", large);
      await until(() => large.ends.length === 1, "the large one");
    });
  });

  describe("knows duplicates, and", () => testDuplicates(() => queue, reopen));

  if (engine.isShared) describe("is shared, and", () => testShared(create, () => queues, () => queue)); // prettier-ignore
}

/** A queue, or the list in memory. */
type Listed = DeliveryList & RecordTarget;

function testLists(open: () => Listed): void {
  const all: Delivery[] = [
    delivered("a", { at: 1, state: "succeeded", words: "Grüße an alle" }),
    delivered("b", { at: 2, state: "failed", error: "ECONNREFUSED" }),
    delivered("d", { at: 3, state: "refused", node: "m", webhook: { credential: "first", caller: "Tür 1" } }),
    delivered("c", { at: 3, state: "succeeded", webhook: { event: "push", id: "7d1c", credential: "first", caller: "Tür 10" } }), // prettier-ignore
    delivered("e", { at: 3, head: { ...delivered("").head, headers: { authorization: "Bearer geheim" } }, words: "x" }), // prettier-ignore
  ];
  let queue: Listed;
  beforeEach(async () => {
    queue = open();
    for (const delivery of all) await queue.add(delivery, Buffer.alloc(0));
  });
  const ids = async (query: object) => (await queue.list({ limit: 10, ...query })).map(({ id }) => id);

  it("has the newest first, and those of one time by their ids", async () => {
    (await ids({})).should.eql(["e", "d", "c", "b", "a"]);
    (await queue.list({ limit: 10 })).should.containDeep(all);
  });

  const searches = [
    ["a node", { node: "n" }, ["e", "c", "b", "a"]],
    ["a state", { state: "succeeded" }, ["c", "a"]],
    ["both", { node: "n", state: "failed" }, ["b"]],
    ["words", { text: "GRÜSSE AN".replace("SS", "ß") }, ["a"]],
    ["an event", { text: "pus" }, ["c"]],
    ["the sender's id", { text: "7D1C" }, ["c"]],
    ["a caller", { text: formatCallerSearch("tür 1") }, ["d"]],
    ["an error", { text: "econn", node: "n" }, ["b"]],
    ["what stands for others", { text: "%" }, []],
    ["a value that is masked", { text: "geheim" }, []],
  ] as const;
  it(`finds by ${searches.map(([what]) => what).join(", ")}`, async () => {
    for (const [what, query, found] of searches) (await ids(query)).should.eql(found, what);
  });

  it("removes one, those of a node, of a state, or of both, and leaves what runs", async () => {
    await queue.add(delivered("r", { at: 4, state: "running", node: "m" }), Buffer.alloc(0));
    should(await queue.remove("b")).equal("removed");
    should(await queue.remove("b")).equal("unknown");
    should(await queue.remove("r")).equal("running");
    should(await queue.removeAll({ node: "m", state: "succeeded" })).equal(0);
    should(await queue.removeAll({ state: "succeeded" })).equal(2);
    (await ids({})).should.eql(["r", "e", "d"]);
    should(await queue.removeAll({ node: "m" })).equal(1);
    should(await queue.removeAll({ node: "n" })).equal(1);
    (await ids({})).should.eql(["r"]);
    await queue.add(delivered("b", { at: 5 }), Buffer.alloc(0));
    (await ids({})).should.eql(["b", "r"]);
  });

  it("finds by the whole error, also one that only the reply shows", async () => {
    await queue.add(delivered("f", { at: 4, state: "failed", error: "ECONNREFUSED 127.0.0.1" }), Buffer.alloc(0));
    await queue.add(delivered("g", { at: 5, state: "failed", status: 502 }), Buffer.alloc(0));
    (await ids({ error: "ECONNREFUSED" })).should.eql(["b"]);
    (await ids({ error: "HTTP 502", state: "failed" })).should.eql(["g"]);
    (await ids({ error: "econnrefused" })).should.eql([]);
  });

  it("has the oldest first from a position on", async () => {
    (await ids({ after: { at: 0, id: "" } })).should.eql(["a", "b", "c", "d", "e"]);
    const pages: string[][] = [];
    let after: Position | undefined = { at: 1, id: "a" };
    for (; after; after = (await queue.list({ limit: 1, after, node: "n" })).at(-1)) pages.push(await ids({ limit: 1, after, node: "n" })); // prettier-ignore
    pages.should.eql([["b"], ["c"], ["e"], []]);
    (await ids({ after: { at: 2, id: "z" }, text: "o", before: { at: 3, id: "d" } })).should.eql(["c"]);
  });

  it("groups the newest failures by node and error, the largest first", async () => {
    const fail = async (at: number, rest: Partial<Delivery>) =>
      queue.add(delivered(`f${at}`, { at, state: "failed", ...rest }), Buffer.alloc(0));
    await fail(10, { error: "ECONNREFUSED" });
    await fail(11, { error: "ECONNREFUSED", node: "m" });
    await fail(12, { error: "late 1" });
    await fail(20, {});
    const groups = [
      { node: "n", error: "ECONNREFUSED", count: 2, last: 10 },
      { node: "n", error: "gone", count: 1, last: 20 },
      { node: "n", error: "late 1", count: 1, last: 12 },
      { node: "m", error: "ECONNREFUSED", count: 1, last: 11 },
    ];
    (await groupFailures([queue], undefined)).should.eql({ groups, causes: 4, failures: 5, hasMore: false });
    (await groupFailures([queue], "m")).should.match({ groups: [groups[3]], failures: 1 });
    const newest = await groupFailures([queue], undefined, 2);
    newest.should.match({ groups: [{ error: "gone" }, { error: "late 1" }], failures: 2, hasMore: true });
  });

  it("goes on behind a position, whether or not that is there", async () => {
    const pages: string[][] = [];
    let before: Position | undefined;
    do {
      const page = await queue.list({ limit: 2, before });
      pages.push(page.map(({ id }) => id));
      before = page.at(-1);
    } while (before);
    pages.should.eql([["e", "d"], ["c", "b"], ["a"], []]);
    (await ids({ before: { at: 3, id: "cc" } })).should.eql(["c", "b", "a"]);
    (await ids({ before: { at: 3, id: "c" }, text: "o" })).should.eql(["b", "a"]);
  });
}

function testDuplicates(queue: () => DeliveryQueue, reopen: () => Promise<void>): void {
  const answer = { status: 201, fields: { "Content-Type": "text/plain" }, body: Buffer.from("done") };
  const reserve = async (id: string, key = "k") => queue().duplicates.reserve({ endpoint: "n", key, id, keptForMs: 3_600_000 }); // prettier-ignore
  const first = async (id: string, key?: string) => {
    const found = await reserve(id, key);
    if (!found.isFirst) throw new Error(`the key is that of ${found.id}`);
    return found;
  };
  const earlier = async (id: string, key?: string) => {
    const found = await reserve(id, key);
    if (found.isFirst) throw new Error("the key was free");
    return { id: found.id, outcome: await found.outcome };
  };

  it("gives a key to the first, and tells the others what came of it", async () => {
    const reservation = await first("1");
    const waiting = earlier("2");
    await new Promise(setImmediate);
    await first("3", "other");
    await reservation.settle(answer);
    (await waiting).should.eql({ id: "1", outcome: { reply: answer } });
    (await earlier("4")).should.eql({ id: "1", outcome: { reply: answer } });
  });

  it("has the key of each delivery that it says it has stored, whatever happens then", async () => {
    const { candidate } = await first("1");
    await queue().add(delivered("1"), body, candidate);
    await reopen();
    (await earlier("2")).should.eql({ id: "1", outcome: { reply: undefined } });
    await queue().remove("1");
    (await earlier("3")).id.should.equal("1");
  });

  for (const [end, outcome] of [
    ["released", "released"],
    ["a failure", { reply: { ...answer, status: 503 } }],
  ] as const) {
    it(`frees the key of what was ${end}, which those who wait are told`, async () => {
      const reservation = await first("1");
      const waiting = earlier("2");
      await new Promise(setImmediate);
      await (outcome === "released" ? reservation.release() : reservation.settle(outcome.reply));
      (await waiting).should.eql({ id: "1", outcome });
      await first("3");
    });
  }

  it("forgets a key when its time is over", async () => {
    const short = { endpoint: "n", key: "k", id: "1", keptForMs: 50 };
    const found = await queue().duplicates.reserve(short);
    if (found.isFirst) await found.settle();
    await until(async () => (await queue().duplicates.reserve({ ...short, id: "2" })).isFirst, "the time");
  });
}

function testShared(
  create: (options?: QueueOptions) => DeliveryQueue,
  queues: () => Queues,
  queue: () => DeliveryQueue,
): void {
  it("starts each once, one after the other in order of arrival, on any instance", async () => {
    const other = await queues().open(create());
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const work = async ({ delivery: { id } }: { delivery: Delivery }) => {
      most = Math.max(most, ++running);
      order.push(id);
      await later();
      running--;
      return succeeded();
    };
    const flows = [queue(), other].map((each) => {
      const flow = new TestFlow(work, { concurrency: 1 });
      each.process("n", flow);
      return flow;
    });
    const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
    for (const id of ids) await queue().add(delivered(id), body);
    await until(() => flows.reduce((sum, { ends }) => sum + ends.length, 0) === ids.length, "the burst");
    order.should.eql(ids);
    most.should.equal(1);
  });

  it("starts no flow again whose request's attempt is late", async () => {
    const slow = { lockDuration: 20_000 };
    const [one, other] = [await queues().open(create(slow)), await queues().open(create(slow))];
    const flow = new TestFlow();
    other.process("n", flow);
    await one.addRunning(delivered("1", { state: "running", attempt: 1 }), body, 1);
    await other.add(delivered("2"), body);
    await until(() => flow.ends.length === 1, "another");
    await setTimeout(500);
    await one.end("1", succeeded());
    await other.add(delivered("3"), body);
    await until(() => flow.ends.length === 2, "another");
    flow.ids.should.eql(["2", "3"]);
  });

  it("knows on all instances what is paused and which keys are taken", async () => {
    const other = await queues().open(create());
    await queue().pause("n");
    await until(() => other.paused("n") === "manual", "the news");
    await other.resume("n");
    await until(() => queue().paused("n") === undefined, "the news");
    queues().told.pauses.should.eql(["n manual", "n manual", "n undefined", "n undefined"]);
    const candidate = { endpoint: "n", key: "k", id: "1", keptForMs: 60_000 };
    const found = await queue().duplicates.reserve(candidate);
    const second = await other.duplicates.reserve({ ...candidate, id: "2" });
    if (!found.isFirst || second.isFirst) throw new Error("both have the key");
    const answer = { status: 200, fields: {}, body: Buffer.from("done") };
    await found.settle(answer);
    should(await second.outcome).eql({ reply: answer });
  });
}
