import fc from "fast-check";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import "should";
import { DuplicateGuard, MemoryDuplicates } from "../../src/deliveries/duplicates";
import type { Duplicates, Found } from "../../src/deliveries/queue";
import { DecodedBody } from "../../src/request/decode";
import { Problem } from "../../src/request/problem";
import { seed } from "../harness/property";

/** What comes of a delivery if it starts the flow; `refused` before it has. */
type Fate = "refused" | 200 | 422 | 503;

interface Sent {
  key: string;
  fate: Fate;
}

/** What has come of a delivery. */
type End = { is: "refused" | "started"; status?: number } | { is: "told"; by: string; status: number | undefined };

const sent: fc.Arbitrary<Sent> = fc.record({
  key: fc.constantFrom("a", "b"),
  fate: fc.constantFrom<Fate>("refused", 200, 422, 503),
});

/** Deliveries that come at once, each step of which may come before or after any step of the others. */
class Crowd {
  readonly ends = new Map<string, End>();
  /** The deliveries that have started the flow and are not answered yet, by key. */
  readonly #running = new Map<string, string>();
  /** The keys of which a delivery has been answered with no failure. */
  readonly #answered = new Map<string, string>();
  readonly #guard: DuplicateGuard;
  readonly #step: (name: string) => Promise<unknown>;

  constructor(duplicates: Duplicates, step: (name: string) => Promise<unknown>) {
    const how = { endpoint: "n", key: "header:K", keptForMs: 1000, isIdLoose: false, patienceMs: 600_000 } as const;
    this.#guard = new DuplicateGuard(how, duplicates);
    this.#step = step;
  }

  async send(id: string, { key, fate }: Sent): Promise<void> {
    await this.#step(`${id} comes`);
    const caller = new EventEmitter() as unknown as ServerResponse;
    const head = { method: "POST", rawHeaders: ["K", key], search: "" };
    const found = await this.#guard.judge(
      { network: "192.0.2.1", head, body: DecodedBody.of(head, Buffer.from("x")), id: undefined },
      id,
      caller,
    );
    if (!found || found instanceof Problem) throw new Error(found?.name);
    if (!found.isFirst) {
      this.ends.set(id, { is: "told", by: found.id, status: found.reply?.status });
      return;
    }
    await this.#step(`${id} is looked at`);
    if (fate === "refused") {
      this.ends.set(id, { is: "refused" });
      return found.release();
    }
    if (this.#running.has(key)) throw new Error(`${id} starts while ${this.#running.get(key)} runs`);
    if (this.#answered.has(key)) throw new Error(`${id} starts after ${this.#answered.get(key)} was answered`);
    this.#running.set(key, id);
    await this.#step(`${id} is answered`);
    this.#running.delete(key);
    if (fate < 500) this.#answered.set(key, id);
    this.ends.set(id, { is: "started", status: fate });
    await found.settle({ status: fate, fields: {}, body: undefined });
  }
}

/** What an engine does that has to ask elsewhere: it answers later. */
function late(duplicates: Duplicates, step: (name: string) => Promise<unknown>): Duplicates {
  return {
    async reserve(candidate): Promise<Found> {
      await step("the store is asked");
      return duplicates.reserve(candidate);
    },
  };
}

describe("for any deliveries at once, in any order of their steps", () => {
  for (const kind of ["in memory", "in a store that answers later"]) {
    it(`one of a key starts the flow at a time, none after it was answered, and none is lost, ${kind}`, async () => {
      const property = fc.asyncProperty(fc.scheduler(), fc.array(sent, { maxLength: 8 }), async (scheduler, all) => {
        const step = (name: string) => scheduler.schedule(Promise.resolve(), name);
        const table = new MemoryDuplicates(() => 0);
        const crowd = new Crowd(kind === "in memory" ? table : late(table, step), step);
        const done = Promise.all(all.map((each, index) => crowd.send(String(index), each)));
        // Whoever waits for ever makes this fail: nothing is left to be done then.
        await scheduler.waitFor(done);
        crowd.ends.size.should.equal(all.length);
        for (const [id, end] of crowd.ends) {
          if (end.is !== "told") continue;
          const by = crowd.ends.get(end.by);
          all[Number(id)]?.key.should.equal(all[Number(end.by)]?.key);
          by?.should.eql({ is: "started", status: end.status });
        }
      });
      await fc.assert(property, { seed, numRuns: 1000 });
    });
  }
});
