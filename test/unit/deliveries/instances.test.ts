// Several instances on one server: what they count, pace and clean up together.
import { scheduler } from "node:timers/promises";
import "should";
import { type BullOptions, BullQueue } from "../../../src/deliveries/bullmq/bull-queue";
import type { AttemptResult } from "../../../src/deliveries/queue";
import { delivered, failed, fastTiming, Queues, succeeded, TestFlow } from "../../harness/queues";
import { until } from "../../harness/until";
import { serverIsHere, ValkeyServer } from "../../harness/valkey";

const body = Buffer.from("{}");

// Without a server they would all be left out.
if (serverIsHere || process.env.REDIS_REQUIRED) describe("instances with one server", testInstances);

function testInstances(): void {
  let server: ValkeyServer;
  let queues: Queues;
  let namespaces = 0;
  before(async () => {
    server = await ValkeyServer.start();
  });
  after(async () => server.stop());
  beforeEach(() => {
    queues = new Queues();
    namespaces++;
  });
  afterEach(async () => queues.clear());
  const open = async (options: Partial<BullOptions> = {}) =>
    queues.open(new BullQueue({ url: server.url(), namespace: `n${namespaces}`, ...fastTiming, lockDuration: 6000, ...options })); // prettier-ignore
  const openThree = async (options?: Partial<BullOptions>) => Promise.all([open(options), open(options), open(options)]); // prettier-ignore

  describe("have one circuit breaker, and", () => {
    const concurrency = 3;
    const pace = { concurrency, breaker: 3, attempts: 50, backoffFirst: 1, backoffLongest: 1 };

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
}
