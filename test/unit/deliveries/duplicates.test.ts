import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { mock } from "node:test";
import should from "should";
import {
  DuplicateGuard,
  maxReplyBytes,
  MemoryDuplicates,
  type MemoryReservation,
} from "../../../src/deliveries/duplicates";
import { type Candidate, type Earlier, maxKeys } from "../../../src/deliveries/queue";
import { DecodedBody } from "../../../src/request/decode";
import { problems } from "../../../src/request/problem";

const hour = 3_600_000;

function candidate(id: string, key = "k", endpoint = "n", keptForMs = hour): Candidate {
  return { endpoint, key, id, keptForMs };
}

function first(found: MemoryReservation | Earlier): MemoryReservation {
  if (!found.isFirst) throw new Error(`the key is that of ${found.id}`);
  return found;
}

function earlier(found: MemoryReservation | Earlier): Earlier {
  if (found.isFirst) throw new Error("the key was free");
  return found;
}

const answer = (status: number, body: Buffer | undefined = Buffer.from("done")) => ({ status, fields: { "Content-Type": "text/plain" }, body }); // prettier-ignore

describe("duplicate keys in memory", () => {
  let now: number;
  let duplicates: MemoryDuplicates;
  beforeEach(() => {
    now = 5000;
    duplicates = new MemoryDuplicates(() => now);
  });

  it("are kept for their time, counted from the reply, and duplicates do not make it longer", () => {
    const reservation = first(duplicates.reserve(candidate("1")));
    now += 2 * hour;
    earlier(duplicates.reserve(candidate("2")));
    reservation.settle(answer(200));
    now += hour - 1;
    earlier(duplicates.reserve(candidate("3")));
    now += 1;
    first(duplicates.reserve(candidate("4")));
    earlier(duplicates.reserve(candidate("5"))).id.should.equal("4");
    duplicates.bytes.should.equal(0);
  });

  it("have the bodies of replies up to 64 kB; duplicates that wait get longer ones, too", async () => {
    for (const length of [maxReplyBytes, maxReplyBytes + 1]) {
      const key = String(length);
      const body = Buffer.alloc(length, "x");
      const reservation = first(duplicates.reserve(candidate("1", key)));
      const waiting = earlier(duplicates.reserve(candidate("2", key))).outcome;
      reservation.settle(answer(200, body));
      should(await waiting).eql({ reply: answer(200, body) });
      const kept = { ...answer(200), body: length > maxReplyBytes ? undefined : body };
      earlier(duplicates.reserve(candidate("3", key))).outcome.should.eql({ reply: kept });
    }
  });

  it("have so many bytes of replies over all endpoints, the newest", () => {
    duplicates = new MemoryDuplicates(() => now, 100, 10);
    for (const key of ["a", "b", "c"]) first(duplicates.reserve(candidate("1", key, key))).settle(answer(200, Buffer.alloc(4))); // prettier-ignore
    duplicates.bytes.should.equal(8);
    const outcomeOf = (key: string) => earlier(duplicates.reserve(candidate("2", key, key))).outcome;
    outcomeOf("a").should.eql({ reply: { ...answer(200), body: undefined } });
    outcomeOf("c").should.eql({ reply: answer(200, Buffer.alloc(4)) });
  });

  it(`are ${maxKeys} over all endpoints, and the oldest go first`, () => {
    const reserve = (index: number) => duplicates.reserve(candidate("1", String(index), `n${index % 3}`));
    for (let index = 0; index < maxKeys; index++) first(reserve(index)).settle();
    duplicates.size.should.equal(maxKeys);
    earlier(reserve(0));
    first(reserve(maxKeys)).settle();
    duplicates.size.should.be.within(0.9 * maxKeys, maxKeys);
    first(reserve(0)).settle();
    for (const young of [maxKeys / 10, maxKeys / 2, maxKeys - 1, maxKeys]) earlier(reserve(young));
    first(reserve(1));
  });

  it("are never forgotten while their delivery has no reply", () => {
    duplicates = new MemoryDuplicates(() => now, 2);
    const reservation = first(duplicates.reserve(candidate("1", "a")));
    for (const key of ["b", "c", "d"]) first(duplicates.reserve(candidate("1", key))).settle();
    earlier(duplicates.reserve(candidate("2", "a")));
    reservation.settle();
    earlier(duplicates.reserve(candidate("3", "a")));
    duplicates.size.should.equal(2);
  });
});

describe("a guard against duplicates", () => {
  it("has a duplicate wait only so long", async () => {
    const how = { endpoint: "n", key: "header:K", keptForMs: hour, isIdLoose: false, patienceMs: 5000 } as const;
    const guard = new DuplicateGuard(how, new MemoryDuplicates());
    const judge = async (id: string) => {
      const head = { method: "POST", rawHeaders: ["K", "k"], search: "" };
      const caller = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;
      return guard.judge(
        { network: "192.0.2.1", head, body: DecodedBody.of(head, Buffer.from("x")), id: undefined },
        id,
        caller,
      );
    };
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      should(await judge("1")).have.property("isFirst", true);
      const late = judge("2");
      await new Promise(setImmediate);
      mock.timers.tick(how.patienceMs + 1);
      should(await late).equal(problems.flowLate);
    } finally {
      mock.timers.reset();
    }
  });
});
