import should from "should";
import { MemoryRepeats, type MemoryReservation, mostKeys } from "../../../src/deliveries/memory-repeats";
import { type Candidate, type Earlier, longestAnswer, reserveOrWait } from "../../../src/deliveries/repeats";
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

describe("MemoryRepeats", () => {
  let now: number;
  let repeats: MemoryRepeats;
  beforeEach(() => {
    now = 5000;
    repeats = new MemoryRepeats(() => now);
  });

  it("gives a key to the first delivery, and tells the others of it", async () => {
    first(repeats.reserve(candidate("1"))).settle();
    const found = earlier(repeats.reserve(candidate("2")));
    found.id.should.equal("1");
    should(found.outcome).eql({ answer: undefined });
    should(await reserveOrWait(repeats, candidate("3"))).eql({ isFirst: false, id: "1", answer: undefined });
  });

  it("knows keys by their endpoints", () => {
    first(repeats.reserve(candidate("1", "k", "n"))).settle();
    first(repeats.reserve(candidate("2", "k", "m")));
    first(repeats.reserve(candidate("3", "l", "n")));
  });

  it("answers those who wait as the first one, and those who come later", async () => {
    const reservation = first(repeats.reserve(candidate("1")));
    const waiting = [2, 3].map((id) => reserveOrWait(repeats, candidate(String(id))));
    reservation.settle(answer(201));
    for (const told of [...(await Promise.all(waiting)), await reserveOrWait(repeats, candidate("4"))]) {
      told.should.eql({ isFirst: false, id: "1", answer: answer(201) });
    }
  });

  it("keeps a key for its time, counted from the answer, and repeats do not make it longer", () => {
    const reservation = first(repeats.reserve(candidate("1")));
    now += 2 * hour;
    earlier(repeats.reserve(candidate("2")));
    reservation.settle(answer(200));
    now += hour - 1;
    earlier(repeats.reserve(candidate("3")));
    now += 1;
    first(repeats.reserve(candidate("4")));
    repeats.bytes.should.equal(0);
  });

  it("gives a key whose time is over to one delivery only", () => {
    first(repeats.reserve(candidate("1"))).settle();
    now += hour;
    first(repeats.reserve(candidate("2")));
    earlier(repeats.reserve(candidate("3"))).id.should.equal("2");
  });

  it("gives a key that is released to one of those who wait", async () => {
    const reservation = first(repeats.reserve(candidate("1")));
    const waiting = [2, 3, 4].map(async (id) => reserveOrWait(repeats, candidate(String(id))));
    reservation.release();
    const next = await Promise.race(waiting);
    next.isFirst.should.be.true();
    if (next.isFirst) await next.settle(answer(200));
    const told = await Promise.all(waiting);
    told.filter(({ isFirst }) => isFirst).should.have.length(1);
  });

  for (const status of [500, 503, 504]) {
    it(`frees the key after ${status}, which those who wait are told`, async () => {
      const reservation = first(repeats.reserve(candidate("1")));
      const waiting = reserveOrWait(repeats, candidate("2"));
      reservation.settle(answer(status));
      (await waiting).should.eql({ isFirst: false, id: "1", answer: answer(status) });
      first(repeats.reserve(candidate("3")));
    });
  }

  it("keeps the key after 4xx: to send it again would not help", () => {
    first(repeats.reserve(candidate("1"))).settle(answer(422));
    earlier(repeats.reserve(candidate("2"))).outcome.should.eql({ answer: answer(422) });
  });

  it("takes the first word of a delivery, and none of one whose key was forgotten", async () => {
    const one = first(repeats.reserve(candidate("1")));
    one.settle(answer(200));
    one.release();
    one.settle(answer(500));
    earlier(repeats.reserve(candidate("2"))).outcome.should.eql({ answer: answer(200) });

    repeats = new MemoryRepeats(() => now, 1);
    const forgotten = first(repeats.reserve(candidate("1")));
    const waiting = reserveOrWait(repeats, candidate("2"));
    const other = first(repeats.reserve(candidate("3", "other")));
    other.release();
    const again = first(repeats.reserve(candidate("4")));
    forgotten.settle(answer(200));
    should(await waiting).containEql({ id: "1" });
    const third = earlier(repeats.reserve(candidate("5")));
    third.id.should.equal("4");
    again.settle(answer(201));
    should(await third.outcome).eql({ answer: answer(201) });
  });

  it("keeps the bodies of answers up to 64 kB, and tells those who wait longer ones, too", async () => {
    for (const [length, isKept] of [
      [longestAnswer, true],
      [longestAnswer + 1, false],
    ] as const) {
      const key = String(length);
      const body = Buffer.alloc(length, "x");
      const reservation = first(repeats.reserve(candidate("1", key)));
      const waiting = reserveOrWait(repeats, candidate("2", key));
      reservation.settle(answer(200, body));
      should(await waiting)
        .have.propertyByPath("answer", "body")
        .equal(body);
      const { outcome } = earlier(repeats.reserve(candidate("3", key)));
      outcome.should.eql({
        answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: isKept ? body : undefined },
      });
    }
  });

  it("keeps so many bytes of answers over all endpoints, the youngest", () => {
    repeats = new MemoryRepeats(() => now, 100, 10);
    for (const key of ["a", "b", "c"]) first(repeats.reserve(candidate("1", key, key))).settle(answer(200, Buffer.alloc(4))); // prettier-ignore
    repeats.bytes.should.equal(8);
    const bodyOf = (key: string) => earlier(repeats.reserve(candidate("2", key, key))).outcome;
    bodyOf("a").should.eql({ answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: undefined } });
    bodyOf("c").should.eql({
      answer: { status: 200, fields: { "Content-Type": "text/plain" }, body: Buffer.alloc(4) },
    });
  });

  it(`keeps ${mostKeys} keys over all endpoints, and the oldest go first`, () => {
    const reserve = (index: number) => repeats.reserve(candidate("1", String(index), `n${index % 3}`));
    for (let index = 0; index < mostKeys; index++) first(reserve(index)).settle();
    repeats.size.should.equal(mostKeys);
    earlier(reserve(0));
    first(reserve(mostKeys)).settle();
    repeats.size.should.equal(mostKeys);
    first(reserve(0)).settle();
    earlier(reserve(2));
    first(reserve(1));
    repeats.size.should.equal(mostKeys);
  });

  it("takes as long for a key however many there have been", async () => {
    await shouldGrowEvenly((size) => {
      repeats = new MemoryRepeats(() => now);
      for (let index = 0; index < size; index++) first(repeats.reserve(candidate("1", String(index)))).settle();
    }, 2 * mostKeys);
  });

  it("forgets the key of a delivery that is not answered yet last of all", () => {
    repeats = new MemoryRepeats(() => now, 2);
    const reservation = first(repeats.reserve(candidate("1", "a")));
    for (const key of ["b", "c", "d"]) first(repeats.reserve(candidate("1", key))).settle();
    earlier(repeats.reserve(candidate("2", "a")));
    reservation.settle();
    earlier(repeats.reserve(candidate("3", "a")));
    repeats.size.should.equal(2);
  });

  it("forgets keys whose time is over when others come", () => {
    for (let index = 0; index < 100; index++) first(repeats.reserve(candidate("1", String(index)))).settle(answer(200));
    now += hour;
    first(repeats.reserve(candidate("2")));
    repeats.size.should.equal(1);
    repeats.bytes.should.equal(0);
  });
});
