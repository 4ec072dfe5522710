import should from "should";
import {
  type Candidate,
  type Earlier,
  maxAnswerBytes,
  MemoryDuplicates,
  type MemoryReservation,
  maxKeys,
  reserveOrWait,
} from "../../../src/deliveries/duplicates";
import { shouldGrowEvenly } from "../../harness/cost";

const hour = 3_600_000;

function candidate(id: string, key = "k", endpoint = "n", keptFor = hour): Candidate {
  return { endpoint, key, id, keptFor };
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

describe("MemoryDuplicates", () => {
  let now: number;
  let duplicates: MemoryDuplicates;
  beforeEach(() => {
    now = 5000;
    duplicates = new MemoryDuplicates(() => now);
  });

  it("gives a key to the first delivery, and tells the others of it", async () => {
    first(duplicates.reserve(candidate("1"))).settle();
    const found = earlier(duplicates.reserve(candidate("2")));
    found.id.should.equal("1");
    should(found.outcome).eql({ answer: undefined });
    should(await reserveOrWait(duplicates, candidate("3"))).eql({ isFirst: false, id: "1", answer: undefined });
  });

  it("knows keys by their endpoints", () => {
    first(duplicates.reserve(candidate("1", "k", "n"))).settle();
    first(duplicates.reserve(candidate("2", "k", "m")));
    first(duplicates.reserve(candidate("3", "l", "n")));
  });

  it("answers those who wait as the first one, and those who come later", async () => {
    const reservation = first(duplicates.reserve(candidate("1")));
    const waiting = [2, 3].map((id) => reserveOrWait(duplicates, candidate(String(id))));
    reservation.settle(answer(201));
    for (const told of [...(await Promise.all(waiting)), await reserveOrWait(duplicates, candidate("4"))]) {
      told.should.eql({ isFirst: false, id: "1", answer: answer(201) });
    }
  });

  it("keeps a key for its time, counted from the answer, and duplicates do not make it longer", () => {
    const reservation = first(duplicates.reserve(candidate("1")));
    now += 2 * hour;
    earlier(duplicates.reserve(candidate("2")));
    reservation.settle(answer(200));
    now += hour - 1;
    earlier(duplicates.reserve(candidate("3")));
    now += 1;
    first(duplicates.reserve(candidate("4")));
    duplicates.bytes.should.equal(0);
  });

  it("gives a key whose time is over to one delivery only", () => {
    first(duplicates.reserve(candidate("1"))).settle();
    now += hour;
    first(duplicates.reserve(candidate("2")));
    earlier(duplicates.reserve(candidate("3"))).id.should.equal("2");
  });

  it("gives a key that is released to one of those who wait", async () => {
    const reservation = first(duplicates.reserve(candidate("1")));
    const waiting = [2, 3, 4].map(async (id) => reserveOrWait(duplicates, candidate(String(id))));
    reservation.release();
    const next = await Promise.race(waiting);
    next.isFirst.should.be.true();
    if (next.isFirst) await next.settle(answer(200));
    const told = await Promise.all(waiting);
    told.filter(({ isFirst }) => isFirst).should.have.length(1);
  });

  for (const status of [500, 503, 504]) {
    it(`frees the key after ${status}, which those who wait are told`, async () => {
      const reservation = first(duplicates.reserve(candidate("1")));
      const waiting = reserveOrWait(duplicates, candidate("2"));
      reservation.settle(answer(status));
      (await waiting).should.eql({ isFirst: false, id: "1", answer: answer(status) });
      first(duplicates.reserve(candidate("3")));
    });
  }

  it("keeps the key after 4xx: to send it again would not help", () => {
    first(duplicates.reserve(candidate("1"))).settle(answer(422));
    earlier(duplicates.reserve(candidate("2"))).outcome.should.eql({ answer: answer(422) });
  });

  it("takes the first word of a delivery, and none of one whose key was forgotten", async () => {
    const one = first(duplicates.reserve(candidate("1")));
    one.settle(answer(200));
    one.release();
    one.settle(answer(500));
    earlier(duplicates.reserve(candidate("2"))).outcome.should.eql({ answer: answer(200) });

    duplicates = new MemoryDuplicates(() => now, 1);
    const forgotten = first(duplicates.reserve(candidate("1")));
    const waiting = reserveOrWait(duplicates, candidate("2"));
    const other = first(duplicates.reserve(candidate("3", "other")));
    other.release();
    const again = first(duplicates.reserve(candidate("4")));
    forgotten.settle(answer(200));
    should(await waiting).containEql({ id: "1" });
    const third = earlier(duplicates.reserve(candidate("5")));
    third.id.should.equal("4");
    again.settle(answer(201));
    should(await third.outcome).eql({ answer: answer(201) });
  });

  it("keeps the bodies of answers up to 64 kB, and tells those who wait longer ones, too", async () => {
    for (const [length, isKept] of [
      [maxAnswerBytes, true],
      [maxAnswerBytes + 1, false],
    ] as const) {
      const key = String(length);
      const body = Buffer.alloc(length, "x");
      const reservation = first(duplicates.reserve(candidate("1", key)));
      const waiting = reserveOrWait(duplicates, candidate("2", key));
      reservation.settle(answer(200, body));
      should(await waiting)
        .have.propertyByPath("answer", "body")
        .equal(body);
      const { outcome } = earlier(duplicates.reserve(candidate("3", key)));
      outcome.should.eql({
        answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: isKept ? body : undefined },
      });
    }
  });

  it("keeps so many bytes of answers over all endpoints, the youngest", () => {
    duplicates = new MemoryDuplicates(() => now, 100, 10);
    for (const key of ["a", "b", "c"]) first(duplicates.reserve(candidate("1", key, key))).settle(answer(200, Buffer.alloc(4))); // prettier-ignore
    duplicates.bytes.should.equal(8);
    const bodyOf = (key: string) => earlier(duplicates.reserve(candidate("2", key, key))).outcome;
    bodyOf("a").should.eql({ answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: undefined } });
    bodyOf("c").should.eql({
      answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: Buffer.alloc(4) },
    });
  });

  it(`keeps ${maxKeys} keys over all endpoints, and the oldest go first`, () => {
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

  it("takes as long for a key however many there have been", async () => {
    await shouldGrowEvenly((size) => {
      duplicates = new MemoryDuplicates(() => now);
      for (let index = 0; index < size; index++) first(duplicates.reserve(candidate("1", String(index)))).settle();
    }, 2 * maxKeys);
  });

  it("forgets the key of a delivery that is not answered yet last of all", () => {
    duplicates = new MemoryDuplicates(() => now, 2);
    const reservation = first(duplicates.reserve(candidate("1", "a")));
    for (const key of ["b", "c", "d"]) first(duplicates.reserve(candidate("1", key))).settle();
    earlier(duplicates.reserve(candidate("2", "a")));
    reservation.settle();
    earlier(duplicates.reserve(candidate("3", "a")));
    duplicates.size.should.equal(2);
  });

  it("forgets keys whose time is over when others come, also behind ones that are kept for longer", () => {
    first(duplicates.reserve(candidate("1", "long", "n", 3 * hour))).settle();
    for (let index = 0; index < 100; index++)
      first(duplicates.reserve(candidate("1", String(index)))).settle(answer(200));
    now += hour;
    first(duplicates.reserve(candidate("2")));
    duplicates.size.should.equal(2);
    duplicates.bytes.should.equal(0);
  });
});
