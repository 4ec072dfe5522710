// Several instances on one server: what they count, pace and clean up together.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { mock } from "node:test";
import { scheduler } from "node:timers/promises";
import { Job, Queue, QueueBase, RedisQueueBackend } from "bullmq";
import { Redis } from "ioredis";
import should from "should";
import { DeliveryIndex } from "../../../src/deliveries/bullmq/delivery-index";
import { RedisClient } from "../../../src/deliveries/bullmq/redis-client";
import { SharedDuplicates } from "../../../src/deliveries/bullmq/shared-keys";
import { type BullOptions, BullQueue } from "../../../src/deliveries/bullmq/bull-queue";
import { SharedWaits } from "../../../src/deliveries/bullmq/waits";
import type { StoredDelivery } from "../../../src/deliveries/delivery";
import { type AttemptResult, StoreError } from "../../../src/deliveries/queue";
import { delivered, failed, fastTiming, Queues, succeeded, TestFlow } from "../../harness/queues";
import { until } from "../../harness/until";
import { serverIsHere, ValkeyServer } from "../../harness/valkey";

const body = Buffer.from("{}");

// Without a server they would all be left out.
if (serverIsHere) describe("instances with one server", testInstances);

function testInstances(): void {
  let server: ValkeyServer;
  let client: Redis;
  let queues: Queues;
  let namespaces = 0;
  before(async () => {
    server = await ValkeyServer.start();
    client = new Redis(server.url());
  });
  after(async () => {
    client.disconnect();
    await server.stop();
  });
  beforeEach(() => {
    queues = new Queues();
    namespaces++;
  });
  afterEach(async () => queues.clear());
  const open = async (options: Partial<BullOptions> = {}) =>
    queues.open(new BullQueue({ url: server.url(), namespace: `n${namespaces}`, ...fastTiming, lockDuration: 6000, ...options })); // prettier-ignore
  const root = () => `{webhook-trigger:n${namespaces}}`;
  const ask = async (command: string, ...args: string[]): Promise<string | number> => (await client.call(command, ...args)) as string | number; // prettier-ignore
  const listKeys = async () => (await client.keys(`${root()}*`)).sort();
  const timeLeft = async (name: string) => client.pttl(`${root()}:${name}`);
  const openThree = async (options?: Partial<BullOptions>) => Promise.all([open(options), open(options), open(options)]); // prettier-ignore

  describe("have one circuit breaker, and", () => {
    const concurrency = 3;
    const pace = { concurrency, breaker: 3, attempts: 50, backoffFirstMs: 1, backoffLongestMs: 1 };

    const processAll = (all: readonly BullQueue[], work: () => AttemptResult | Promise<AttemptResult>, rest = {}) =>
      all.map((queue) => {
        const flow = new TestFlow(work, { ...pace, ...rest });
        queue.process("n", flow);
        return flow;
      });
    const countStarts = (flows: readonly TestFlow[]) => flows.reduce((sum, flow) => sum + flow.starts.length, 0);
    const addTo = async (all: readonly BullQueue[], count: number) =>
      Promise.all(Array.from({ length: count }, async (_, index) => all[index % all.length]?.add(delivered(`${index}`), body))); // prettier-ignore
    const isOpenFor = (all: readonly BullQueue[]) => () => all.every((queue) => queue.paused("n") === "breaker");

    // Each of these rounds once had more starts: seven, where an instance opens the node just then far more.
    for (const [what, doMeanwhile] of [
      ["whichever instances they were on", () => undefined],
      ["also where an instance opens the node just then", (all: readonly BullQueue[]) => processAll(all.slice(2), () => failed())], // prettier-ignore
    ] as const) {
      it(`start no attempt after so many failures in a row, ${what}`, async () => {
        for (let round = 0; round < 8; round++) {
          namespaces++;
          const all = await openThree({ breakerInterval: 100_000 });
          const flows: TestFlow[] = [];
          let failures = 0;
          const work = () => {
            if (++failures === pace.breaker) flows.push(...(doMeanwhile(all) ?? []));
            return failed();
          };
          flows.push(...processAll(doMeanwhile.length > 0 ? all.slice(0, 2) : all, work));
          await addTo(all, 12);
          await until(isOpenFor(all), "the circuit breaker");
          await until(async () => (await all[0].counts("n")).running === undefined, "what runs to end");
          // Those that ran when it opened have ended.
          countStarts(flows).should.be.belowOrEqual(pace.breaker + concurrency - 1);
          for (const queue of all) await queues.close(queue);
        }
      });
    }

    it("try one delivery at a time on all of them, and go on when that succeeds on one", async () => {
      const all = await openThree({ breakerInterval: 200 });
      let wasOpened = false;
      let running = 0;
      let mostRunning = 0;
      let ends: ((result: AttemptResult) => void)[] = [];
      const flows = processAll(all, async () => {
        if (!wasOpened) return failed();
        mostRunning = Math.max(mostRunning, ++running);
        const result = await new Promise<AttemptResult>((resolve) => ends.push(resolve));
        running--;
        return result;
      });
      await addTo(all, 12);
      await until(isOpenFor(all), "the circuit breaker");
      wasOpened = true;
      for (const result of [failed(), failed(), succeeded()]) {
        await until(() => ends.length > 0, "a trial");
        // Longer than the interval: the next one waits for this one.
        await scheduler.wait(500);
        mostRunning.should.equal(1);
        const [end] = ends;
        ends = [];
        end?.(result);
      }
      await until(() => all.every((queue) => queue.paused("n") === undefined), "the news");
      await until(() => ends.length === concurrency, "as many as before");
      const before = countStarts(flows);
      const endAll = async () => {
        for (const end of ends.splice(0)) end(succeeded());
        return (await all[0].counts("n")).succeeded === 12;
      };
      await until(endAll, "all");
      // The first has succeeded, and the others run.
      (countStarts(flows) - before).should.equal(12 - 1 - concurrency);
    });
  });

  describe("do not follow a clock that is set on one of them, and", () => {
    const { now } = Date;
    const setClock = (byMs: number) => (Date.now = () => now() + byMs);
    afterEach(() => (Date.now = now));
    const hour = 3_600_000;

    it("start in time what waits, where it is set back", async () => {
      const queue = await open();
      const flow = new TestFlow(({ delivery: { attempt } }) => (attempt === 1 ? failed() : succeeded()), { backoffFirstMs: 500 }); // prettier-ignore
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length >= 1, "a failure");
      setClock(-hour);
      await queue.add(delivered("2"), body);
      await until(() => flow.ends.length === 4, "both to be tried again");
      flow.ids.toSorted().should.eql(["1", "1", "2", "2"]);
    });

    it("start in time what is due before the job of its last attempt is gone", async () => {
      const complete = mock.method(Job.prototype, "moveToCompleted", async function (this: Job, ...args: [unknown, string]) {
        complete.mock.restore();
        await scheduler.wait(300);
        return this.moveToCompleted(...args);
      }); // prettier-ignore
      const queue = await open({ missingJobsInterval: 3_600_000 });
      const flow = new TestFlow(({ delivery: { attempt } }) => (attempt === 1 ? failed() : succeeded()), { backoffFirstMs: 1 }); // prettier-ignore
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length === 2, "another attempt");
      complete.mock.callCount().should.equal(1);
    });

    it("start in time what is due where the server goes away between its wait and its job", async () => {
      const find = mock.method(DeliveryIndex.prototype, "findSize", () => {
        find.mock.restore();
        return Promise.reject(new StoreError("unreachable"));
      });
      const queue = await open({ missingJobsInterval: 3_600_000 });
      const flow = new TestFlow(({ delivery: { attempt } }) => (attempt === 1 ? failed() : succeeded()), { backoffFirstMs: 1 }); // prettier-ignore
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length === 2, "another attempt");
      find.mock.callCount().should.equal(1);
    });

    it("start nothing early where it is set forward, and then in time", async () => {
      const queue = await open();
      const dues: number[] = [];
      const work = ({ delivery: { id, attempt } }: StoredDelivery) => {
        if (id !== "1") return succeeded();
        dues.push(performance.now());
        return attempt === 1 ? failed() : succeeded();
      };
      const flow = new TestFlow(work, { backoffFirstMs: 2000, backoffLongestMs: 2000 });
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length >= 1, "a failure");
      setClock(hour);
      for (const id of ["2", "3", "4"]) {
        await queue.add(delivered(id), body);
        await until(() => flow.ids.includes(id), "others");
      }
      await until(() => dues.length === 2, "another attempt");
      (Number(dues[1]) - Number(dues[0])).should.be.aboveOrEqual(1950);
    });

    for (const [where, byMs] of [
      ["back", -hour],
      ["forward", hour],
    ] as const) {
      it(`keep the pace where it is set ${where}`, async () => {
        const queue = await open();
        const starts: number[] = [];
        const work = () => {
          starts.push(performance.now());
          return succeeded();
        };
        const flow = new TestFlow(work, { ratePerMinute: 300 });
        queue.process("n", flow);
        // No start is before this, however late a test hears of the first.
        const begun = performance.now();
        for (const id of ["1", "2", "3", "4"]) await queue.add(delivered(id), body);
        await until(() => starts.length >= 2, "two");
        setClock(byMs);
        await until(() => flow.ends.length === 4, "all");
        (Number(starts[3]) - begun).should.be.aboveOrEqual(3 * 200 - 20);
      });

      it(`try what a circuit breaker has paused where it is set ${where}`, async () => {
        const queue = await open({ breakerInterval: 300 });
        const flow = new TestFlow(({ delivery: { attempt } }) => (attempt < 3 ? failed() : succeeded()), { breaker: 2, concurrency: 1, backoffFirstMs: 1 }); // prettier-ignore
        queue.process("n", flow);
        await queue.add(delivered("1"), body);
        await until(() => queue.paused("n") === "breaker", "the circuit breaker");
        setClock(byMs);
        await until(() => flow.ends.at(-1)?.state === "succeeded", "a trial");
        await until(() => queue.paused("n") === undefined, "the end of the pause");
      });
    }

    it("wait by one clock, where that of one is an hour ahead", async () => {
      const queue = await open();
      setClock(hour);
      const ahead = await open();
      Date.now = now;
      const starts: number[] = [];
      const work = ({ delivery: { attempt } }: StoredDelivery) => {
        starts.push(performance.now());
        return attempt === 1 ? failed() : succeeded();
      };
      const flows = [queue, ahead].map((each) => {
        const flow = new TestFlow(work, { backoffFirstMs: 3000, backoffLongestMs: 3000 });
        each.process("n", flow);
        return flow;
      });
      setClock(hour);
      await ahead.add(delivered("1"), body);
      await until(() => flows.some(({ ends }) => ends.length > 0), "a failure");
      Date.now = now;
      await until(() => starts.length === 2, "another attempt");
      // Each has read the server's clock once: as exactly as a reply is fast.
      (Number(starts[1]) - Number(starts[0])).should.be.within(1000, 150_000);
    });
  });

  describe("check what BullMQ does not document, and", () => {
    afterEach(() => Reflect.deleteProperty(Queue.prototype, "getBackend"));
    const replaceInBackend = (replaced: string, find: (own: unknown) => unknown) => {
      const getBackend = Reflect.get(QueueBase.prototype, "getBackend") as (this: Queue) => object;
      const get = (backend: object, name: string) => {
        const own: unknown = Reflect.get(backend, name);
        return name === replaced ? find(own) : own;
      };
      const value = function (this: Queue): object {
        return new Proxy(getBackend.call(this), { get });
      };
      Object.defineProperty(Queue.prototype, "getBackend", { configurable: true, value });
    };
    const backendWithout = (missing: string) => replaceInBackend(missing, () => undefined);

    it("find all of it in the version that is installed", async () => {
      const queue = await open();
      const flow = new TestFlow();
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length === 1, "the flow");
      queues.told.warnings.should.eql([]);
    });

    it("store nothing where no job can be stored in a transaction, and say so", async () => {
      backendWithout("addJobToTransaction");
      const error: unknown = await open().catch((reason: unknown) => reason);
      should(error)
        .be.instanceof(StoreError)
        .and.match({ trouble: "broken", cause: /BullMQ/ });
      queues.told.said.should.eql(["broken"]);
    });

    it("leave taking over to BullMQ where they cannot, and say once what may happen", async () => {
      backendWithout("moveStalledJobsToWait");
      const queue = await open();
      const flow = new TestFlow();
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length === 1, "the flow");
      queues.told.warnings.should.eql(["unknownClient"]);
    });

    it("start at once what was stored while the server had forgotten the script of its job", async () => {
      const queue = await open({ missingJobsInterval: 3_600_000 });
      const flow = new TestFlow();
      queue.process("n", flow);
      await queue.add(delivered("1"), body);
      await until(() => flow.ends.length === 1, "the flow");
      await ask("SCRIPT", "FLUSH");
      await queue.add(delivered("2"), body);
      await until(() => flow.ends.length === 2, "the flow after that");
    });

    it("start what has no job, as its instance has ended before it could store that", async () => {
      replaceInBackend("addJob", () => () => Promise.reject(new Error("ERR")));
      const queue = await open();
      await queue.add(delivered("1"), body);
      await ask("SCRIPT", "FLUSH");
      await queue.add(delivered("2"), body);
      await queue.addRunning(delivered("3", { state: "running", attempt: 1 }), body, 100);
      await queues.close(queue);
      Reflect.deleteProperty(Queue.prototype, "getBackend");
      const flow = new TestFlow();
      (await open()).process("n", flow);
      await until(() => flow.ends.length === 3, "all");
      flow.starts.map(({ id, attempt }) => `${id}: ${attempt}`).sort().should.eql(["1: 1", "2: 1", "3: 2"]); // prettier-ignore
    });
  });

  describe("keep duplicate keys, and", () => {
    const candidate = { endpoint: "n", key: "k", id: "1", keptForMs: 60_000 };
    const reserve = async (queue: BullQueue, key: string, id = "1") => queue.duplicates.reserve({ ...candidate, key, id }); // prettier-ignore
    const reserveFirst = async (queue: BullQueue, key: string) => {
      const found = await reserve(queue, key);
      if (!found.isFirst) throw new Error(`${key} is taken`);
      return found;
    };

    it("know a delivery as soon as it is stored, and for as long as keys are kept", async () => {
      const [queue, other] = [await open(), await open()];
      const { candidate: own } = await reserveFirst(queue, "k");
      await queue.add(delivered("1"), body, own);
      // What is only reserved is kept for 20 s after the end of its instance.
      await queue.duplicates.renew();
      await queues.close(queue);
      (await reserve(other, "k", "2")).should.match({ isFirst: false, id: "1", outcome: { reply: undefined } });
      (await timeLeft("duplicate:n k")).should.be.above(30_000);
    });

    it("wait for the reply of a flow, and know its delivery also where its instance has ended before", async () => {
      const [queue, other] = [await open({ lockDuration: 1500 }), await open()];
      const add = async (id: string) => {
        const reservation = await reserveFirst(queue, id);
        await queue.addRunning(delivered(id, { state: "running", attempt: 1 }), body, 100, reservation.candidate);
        return reservation;
      };
      const reservation = await add("k1");
      const waiting = reserve(other, "k1", "2");
      const answer = { status: 201, fields: {}, body: Buffer.from("done") };
      await reservation.settle(answer);
      const found = await waiting;
      should(found.isFirst ? undefined : await found.outcome).eql({ reply: answer });
      await add("k2");
      const again = await reserve(other, "k2", "2");
      await queues.close(queue);
      should(again.isFirst ? undefined : await again.outcome).eql({ reply: undefined });
    });

    it("drop replies and then keys that expire first, when there are too many", async () => {
      const connection = new RedisClient({ url: server.url(), namespace: `bounded${namespaces}` }, 5000, () =>
        Promise.resolve(),
      );
      await connection.start(queues.told);
      const own = new SharedDuplicates(connection, { keys: 5, bytes: 100 });
      const settle = async (key: string, length: number) => {
        const found = await own.reserve({ ...candidate, key, keptForMs: 60_000 + Number(key) });
        if (found.isFirst) await found.settle({ status: 200, fields: {}, body: Buffer.alloc(length, "x") });
      };
      const read = async (key: string) => {
        const found = await own.reserve({ ...candidate, key, id: "other" });
        if (found.isFirst) await found.release();
        const outcome = found.isFirst ? "free" : await found.outcome;
        return typeof outcome === "string" ? outcome : (outcome.reply?.body?.length ?? "without its body");
      };
      // 40 bytes each in base64.
      for (const key of ["1", "2", "3"]) await settle(key, 30);
      for (const key of ["4", "5", "6", "7"]) await settle(key, 0);
      const kept = [];
      for (const key of ["1", "2", "3", "4", "7"]) kept.push(await read(key));
      kept.should.eql(["free", "free", 30, 0, 0]);
      await settle("8", 60);
      (await read("3")).should.equal("free");
      await settle("9", 60);
      [await read("8"), await read("9")].should.eql(["without its body", 60]);
      await connection.close();
    });
  });

  describe("refuse deliveries in time, and say that the server is away, where", () => {
    const loads = "loading:1\r\nloading_eta_seconds:60\r\n";
    const info = `$${loads.length}\r\n${loads}\r\n`;
    const reply = (socket: Socket) => socket.on("data", (text) => socket.write(/info/i.test(String(text)) ? info : "+OK\r\n")); // prettier-ignore
    for (const [what, answer, connect] of [
      ["no sentinel answers", () => undefined, (port: number) => ({ sentinels: [{ host: "127.0.0.1", port }], name: "primary" })], // prettier-ignore
      ["it still loads its data", reply, (port: number) => ({ host: "127.0.0.1", port })],
    ] as const) {
      it(what, async () => {
        const away = createServer(answer).listen(0, "127.0.0.1");
        await once(away, "listening");
        const connection = connect((away.address() as AddressInfo).port);
        const opened = queues.open(new BullQueue({ connection, ...fastTiming, timeLimit: 500 }));
        await opened.should.be.rejectedWith("unreachable");
        queues.told.said.should.eql(["unreachable"]);
        await queues.clear();
        away.close();
      });
    }
  });

  it("hand over all that is due in its order, also where another instance takes some of it", async () => {
    const connection = new RedisClient({ url: server.url(), namespace: `n${namespaces}` }, 5000, () => Promise.resolve()); // prettier-ignore
    await connection.start(queues.told);
    const due = Array.from({ length: 250 }, (_, index) => `${index}`);
    for (const id of due) await client.zadd(`${root()}:waits`, id, `${id} n`);
    const others = due.slice(0, 50).map((id) => `${id} n`);
    const added: string[] = [];
    const waits = new SharedWaits(connection, {
      nameJob: ({ id }) => {
        if (id === "0") void connection.redis.zrem(`${root()}:waits`, ...others);
        return `${root()}:job`;
      },
      addJob: ({ id }) => Promise.resolve(void added.push(id)),
    });
    await waits.look();
    added.should.eql(due.slice(50));
    waits.stop();
    await connection.close();
  });

  it("start flows before all that is due when they open is handed over", async () => {
    const find = mock.method(DeliveryIndex.prototype, "findSize", () => new Promise(() => undefined));
    await client.zadd(`${root()}:waits`, 1, "0 n");
    const queue = await open();
    const flow = new TestFlow();
    queue.process("n", flow);
    await queue.add(delivered("1"), body);
    await until(() => flow.ends.length === 1, "the flow");
    find.mock.restore();
  });

  it("start flows before all that waits is handed over, which may take longer than locks last", async () => {
    type Move = (this: RedisQueueBackend, ...given: unknown[]) => Promise<unknown>;
    const move = Reflect.get(RedisQueueBackend.prototype, "moveToActive") as Move;
    const moveSlowly: Move = async function (...given) {
      await scheduler.wait(20);
      return move.apply(this, given);
    };
    const slow = mock.method(RedisQueueBackend.prototype, "moveToActive", moveSlowly);
    const queue = await open({ lockDuration: 1000 });
    const ids = Array.from({ length: 200 }, (_, index) => `${index}`);
    await Promise.all(ids.map(async (id) => queue.add(delivered(id), body)));
    const flow = new TestFlow();
    queue.process("n", flow);
    await until(() => flow.ends.length === ids.length, "all flows");
    slow.mock.restore();
  });

  it("tell each other when tokens were last used, at the latest as they end, and keep the last uses of a node", async () => {
    const [one, other] = [await open(), await open()];
    one.uses.note("n", "a", 2000);
    await until(async () => (await other.uses.read("n")).size === 1, "the use");
    for (const [key, at] of [["a", 1000], ["b", 3000]] as const) other.uses.note("n", key, at); // prettier-ignore
    await other.close();
    [...(await one.uses.read("n"))].should.eql([["a", 2000], ["b", 3000]]); // prettier-ignore
    for (let index = 0; index < 2000; index++) one.uses.note("n", `c${index}`, 4000 + index);
    await one.uses.tell();
    const kept = await one.uses.read("n");
    should([kept.size, kept.has("b"), kept.get("c0")]).eql([2000, false, 4000]);
    (await one.uses.read("m")).size.should.equal(0);
    (await timeLeft("uses:n")).should.be.above(300 * 24 * 3_600_000);
  });

  it("make room for all that comes at the same time", async () => {
    const three = await openThree({ maxBytes: 1_000_000, maxAge: Infinity });
    const load = async (queue: BullQueue, sender: string) => {
      for (let id = 0; id < 50; id++) await queue.add(delivered(`${sender} ${id}`, { state: "succeeded" }), Buffer.alloc(20_000)); // prettier-ignore
    };
    await Promise.all(three.flatMap((queue, instance) => [1, 2, 3, 4].map(async (one) => load(queue, `${instance} ${one}`)))); // prettier-ignore
  });

  it("count as unfinished no more what is gone, or was ended by an instance that had counted as ended", async () => {
    const queue = await open();
    await queue.add(delivered("1", { state: "succeeded" }), body);
    for (const id of ["1", "2"])
      for (const set of ["in:retrying", "in:retrying:n"]) await client.zadd(`${root()}:${set}`, 1, id);
    const flow = new TestFlow();
    queue.process("n", flow);
    await until(async () => (await queue.counts("n")).retrying === undefined, "the counts");
    (await queue.list({ state: "retrying", limit: 1 })).should.be.empty();
    flow.starts.should.be.empty();
  });

  it("drop what is too old where the server has evicted their count of bytes", async () => {
    const queue = await open({ maxAge: 60_000 });
    await ask("set", `${root()}:bytes`, "-5000");
    await queue.add(delivered("old", { at: Date.now() - 60_001, state: "succeeded" }), body);
    await until(async () => (await queue.list({ limit: 1 })).length === 0, "what is dropped");
  });

  describe("remove what a user removes, and", () => {
    it("nothing is left of it on the server, whatever waits for what", async () => {
      const queue = await open();
      const keysBefore = await listKeys();
      const flow = new TestFlow(() => failed(), { backoffFirstMs: 100_000, backoffLongestMs: 100_000 });
      const close = queue.process("n", flow);
      await queue.add(delivered("retrying"), body);
      await until(() => flow.ends.length >= 1, "a failure");
      close();
      await queue.pause("m");
      await queue.add(delivered("paused", { node: "m" }), body);
      for (const state of ["queued", "failed", "refused"] as const) await queue.add(delivered(state, { state, node: "gone" }), body); // prettier-ignore
      (await queue.removeAll({ node: "gone" })).should.equal(3);
      (await queue.removeAll({ state: "retrying" })).should.equal(1);
      (await queue.remove("paused")).should.equal("removed");
      (await queue.remove("paused")).should.equal("unknown");
      const left = (await listKeys()).filter((key) => !keysBefore.includes(key));
      // What BullMQ notes of a queue.
      left.filter((key) => !/:bull:\w+:(?:meta|id|events|marker|stalled-check|limiter)$/.test(key)).should.eql([`${root()}:bytes`, `${root()}:pauses`]); // prettier-ignore
      (await ask("get", `${root()}:bytes`)).should.equal("0");
    });

    it("leave what has come to another state meanwhile", async () => {
      const queue = await open();
      await queue.add(delivered("1", { state: "failed" }), body);
      const list = mock.method(DeliveryIndex.prototype, "list", async () => Promise.resolve([delivered("1")]));
      const removed = await queue.removeAll({ state: "queued" });
      list.mock.restore();
      removed.should.equal(0);
      (await queue.counts("n")).should.eql({ failed: 1 });
    });

    it("start nothing of it where its instance has ended before it was done", async () => {
      const queue = await open();
      const remove = mock.method(Queue.prototype, "remove", async () => Promise.reject(new Error("gone")));
      await queue.add(delivered("1"), body);
      (await queue.remove("1")).should.equal("removed");
      remove.mock.restore();
      await queue.add(delivered("2"), body);
      const flow = new TestFlow();
      queue.process("n", flow);
      await until(() => flow.ends.length === 1, "the other");
      flow.ids.should.eql(["2"]);
      (await queue.counts("n")).should.eql({ succeeded: 1 });
    });
  });
}
