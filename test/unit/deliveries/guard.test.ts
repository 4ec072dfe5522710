import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { mock } from "node:test";
import should from "should";
import {
  DuplicateGuard,
  Guarding,
  maxWaitingDuplicateBytes,
  maxWaitingDuplicates,
  type DuplicateVerdict,
} from "../../../src/deliveries/duplicate-guard";
import { MemoryDuplicates } from "../../../src/deliveries/duplicates";
import { Problem, problems } from "../../../src/request/problem";

const how = { endpoint: "n", key: "header:K", keptFor: 3_600_000, isIdLoose: false, patience: 5000 } as const;
const delivery = (key: string, bytes = Buffer.from("x")) => ({
  head: { method: "POST", rawHeaders: ["K", key], search: "" },
  bytes,
  content: () => bytes,
  id: undefined,
});

const caller = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;

describe("DuplicateGuard", () => {
  let guard: DuplicateGuard;
  beforeEach(() => {
    guard = new DuplicateGuard(how, new Guarding(new MemoryDuplicates()));
  });
  const first = async (id: string) => {
    const verdict = await guard.judge(delivery("k"), id, caller());
    if (!verdict || verdict instanceof Problem || !verdict.isFirst) throw new Error(`${id} is not the first`);
    return verdict;
  };

  it("lets a delivery without a key be", async () => {
    const { head, ...rest } = delivery("k");
    should(await guard.judge({ ...rest, head: { ...head, rawHeaders: [] } }, "1", caller())).be.undefined();
  });

  it("needs the bytes of a body where they are the key, or a part of it", () => {
    const needs = (key: "" | "body" | "json:a", isIdLoose: boolean) =>
      new DuplicateGuard({ ...how, key, isIdLoose }, new Guarding(new MemoryDuplicates())).needsBytes;
    should([needs("body", false), needs("", true), needs("", false), needs("json:a", true)]).eql([
      true,
      true,
      false,
      false,
    ]);
  });

  it("has a repeat wait for what comes of the first one, and only so long", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const reservation = await first("1");
      const late = guard.judge(delivery("k"), "2", caller());
      await new Promise(setImmediate);
      mock.timers.tick(how.patience + 1);
      should(await late).equal(problems.flowLate);
      const waiting = guard.judge(delivery("k"), "3", caller());
      await reservation.settle({ status: 201, fields: {}, body: undefined });
      should(await waiting).eql({ isFirst: false, id: "1", answer: { status: 201, fields: {}, body: undefined } });
    } finally {
      mock.timers.reset();
    }
  });

  for (const [what, count, bytes] of [
    [`${maxWaitingDuplicates} duplicates`, maxWaitingDuplicates, 1],
    ["their bytes", 2, maxWaitingDuplicateBytes / 2],
  ] as const) {
    it(`lets no more wait than there is room for: ${what}`, async () => {
      const reservation = await first("1");
      const body = Buffer.alloc(bytes);
      const waiting: Promise<DuplicateVerdict | undefined>[] = [];
      for (let index = 0; index < count; index++) waiting.push(guard.judge(delivery("k", body), `w${index}`, caller()));
      await new Promise(setImmediate);
      should(await guard.judge(delivery("k"), "2", caller())).equal(problems.duplicatesWaiting);
      await reservation.settle();
      for (const verdict of await Promise.all(waiting)) should(verdict).have.property("id", "1");
      // Their places are free again.
      should(await guard.judge(delivery("k"), "3", caller())).have.property("id", "1");
    });
  }
});
