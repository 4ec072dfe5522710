import should from "should";
import type { Delivery, State } from "../../../src/deliveries/delivery";
import {
  type Earlier,
  type FirstAnswer,
  type Found,
  longestAnswer,
  type Reservation,
  reserveOrWait,
} from "../../../src/deliveries/duplicates";
import { type Change, type Store, StoreError } from "../../../src/deliveries/store";
import { withWords } from "../../../src/deliveries/words";
import { bytes, claimsOf, delivered, type Engine, engines, pagesOf, Shelf } from "../../harness/stores";

const states: State[] = ["refused", "duplicate", "handshake", "queued", "running", "succeeded", "failed"];
const hour = 3_600_000;

/** A delivery of which everything is known. */
const whole = delivered("whole", {
  node: "1f2e",
  at: 1_700_000_000_001,
  state: "failed",
  head: {
    method: "POST",
    path: "/a%20b/ä",
    search: "x=1&y=%00",
    headers: { "content-type": "text/plain", "set-cookie": ["one"], "x-many": ["a", "b"], "x-text": "\"'\\ ü €" },
    ip: "2001:db8::1",
  },
  webhook: { sender: "github", event: "push", id: "7d1c", sentAt: 1_700_000_000_000, credential: "second" },
  size: 1234,
  status: 503,
  milliseconds: 12.345,
  problem: "flowLate",
  attempt: 2,
});

const candidate = (id: string, key = "k", endpoint = "n", keptFor = hour) => ({ endpoint, key, id, keptFor });
const answer = (status: number, body: Buffer | undefined = Buffer.from("done")): FirstAnswer => ({ status, fields: { "Content-Type": "text/plain" }, body }); // prettier-ignore

async function first(found: Found | Promise<Found>): Promise<Reservation> {
  const known = await found;
  if (!known.isFirst) throw new Error(`the key is that of ${known.id}`);
  return known;
}

async function earlier(found: Found | Promise<Found>): Promise<Earlier> {
  const known = await found;
  if (known.isFirst) throw new Error("the key was free");
  return known;
}

for (const engine of engines) {
  // A Node without the engine has no tests of it: they would all be left out.
  if (engine.isHere) describe(`deliveries kept ${engine.name}`, () => testsOf(engine));
}

function testsOf(engine: Engine): void {
  let shelf: Shelf;
  before(() => engine.begin?.());
  beforeEach(() => {
    shelf = new Shelf();
  });
  afterEach(() => shelf.clear());
  after(() => engine.end?.());
  const opened = (mostBytes?: number) => shelf.opened(engine.create(shelf.place, mostBytes));

  testKeeping(opened);
  testFinding(opened);
  testClaiming(opened);
  testRoom(opened);
  describe("know duplicates, and", () => testDuplicates(opened));
  testRestart(engine, () => shelf);
}

type Opened = (mostBytes?: number) => Promise<Store>;

function testKeeping(opened: Opened): void {
  const kept: [string, Delivery, Buffer][] = [
    ["with everything that is known", whole, Buffer.from("body")],
    ["with nothing that may be missing", delivered("bare"), bytes],
    ["with no body", delivered("bare", { size: 0 }), Buffer.alloc(0)],
    ["with any bytes", delivered("binary"), Buffer.from([0, 255, 254, 0, 10, 13, 195])],
    ["with a body that is a part of others", delivered("part"), Buffer.from("one two three").subarray(4, 7)],
    ["with 5 MB", delivered("long"), Buffer.alloc(5_000_000, "0123456789")],
  ];
  for (const [how, delivery, body] of kept) {
    it(`come back as they were, ${how}`, async () => {
      const store = await opened();
      await store.add(delivery, body);
      const found = await store.find(delivery.id);
      should(found?.delivery).eql(withWords(delivery, body));
      should(found?.body.equals(body)).be.true();
      should(found?.attempts).eql([]);
      should(await store.look(delivery.id)).eql(found?.delivery);
      const { deliveries } = await store.page({ limit: 1 });
      deliveries.should.eql([withWords(delivery, body)]);
    });
  }

  it("are kept once: the first with an id is the one", async () => {
    const store = await opened();
    await store.add(delivered("1"), bytes);
    await store.add(delivered("1", { node: "m", state: "queued" }), Buffer.alloc(0));
    should(await store.find("1")).eql({ delivery: withWords(delivered("1"), bytes), body: bytes, attempts: [] });
    should(await store.counts("m")).eql({});
  });

  it("change in what is said, and in nothing else", async () => {
    const store = await opened();
    await store.add(delivered("1", { state: "queued" }), bytes);
    await store.add(delivered("2", { state: "queued" }), bytes);
    let expected = withWords(delivered("1", { state: "queued" }), bytes);
    for (const change of [{ status: 202, milliseconds: 1.5 }, { answer: '{"ä":"€"}' }, { state: "running", attempt: 1 }, {}, { state: "succeeded" }] satisfies Change[]) {
      await store.change("1", change);
      expected = { ...expected, ...change };
      should((await store.find("1"))?.delivery).eql(expected);
    } // prettier-ignore
    should((await store.find("2"))?.delivery).eql(withWords(delivered("2", { state: "queued" }), bytes));
    await store.change("unknown", { state: "succeeded" });
    for (const asked of [store.find("unknown"), store.look("unknown")]) should(await asked).be.undefined();
  });

  it("know their runs, in their order", async () => {
    const store = await opened();
    await store.add(delivered("1", { state: "queued" }), bytes);
    const changes: Change[] = [
      { state: "running", attempt: 1, run: { at: 5 } },
      { state: "queued", run: { at: 5, ended: 7, error: "no" } },
      { state: "running", attempt: 2, run: { at: 3 } },
      { state: "succeeded", run: { at: 3, ended: 4 } },
    ];
    for (const change of changes) await store.change("1", change);
    should((await store.find("1"))?.attempts).eql([{ at: 5, ended: 7, error: "no" }, { at: 3, ended: 4 }]); // prettier-ignore
  });

  it("are counted by their states", async () => {
    const store = await opened();
    should(await store.counts("n")).eql({});
    for (const [index, state] of states.entries()) await store.add(delivered(`${index}`, { state }), bytes);
    await store.add(delivered("x", { node: "m" }), bytes);
    for (const index of [3, 4]) await store.change(`${index}`, { state: "succeeded" });
    should(await store.counts("n")).eql({ refused: 1, duplicate: 1, handshake: 1, succeeded: 3, failed: 1 });
  });

  it("come at once, and all are kept", async () => {
    const store = await opened();
    const ids = Array.from({ length: 1000 }, (_, index) => `${index}`);
    await Promise.all(ids.map((id) => store.add(delivered(id, { state: "queued" }), bytes)));
    should(await store.counts("n")).eql({ queued: 1000 });
    await Promise.all(ids.map((id) => store.change(id, { state: "running" })));
    should(await store.counts("n")).eql({ running: 1000 });
  });
}

function testFinding(opened: Opened): void {
  it("are found the newest first, page by page, whatever the clock said", async () => {
    const store = await opened();
    for (let index = 0; index < 7; index++) await store.add(delivered(`${index}`, { at: 1000 - index }), bytes);
    should(await pagesOf(store, { limit: 3 })).eql([["6", "5", "4"], ["3", "2", "1"], ["0"]]);
    should(await pagesOf(store, { limit: 7 })).eql([["6", "5", "4", "3", "2", "1", "0"]]);
    should(await pagesOf(store, { limit: 3, node: "other" })).eql([[]]);
  });

  it("are found by their node and their state, also where few of many are", async () => {
    const store = await opened();
    const all: Delivery[] = [];
    for (let index = 0; index < 60; index++) {
      const state = index % 20 === 7 ? "failed" : index % 2 ? "succeeded" : "refused";
      all.unshift(delivered(`${index}`, { node: `n${index % 3}`, state }));
    }
    await Promise.all(all.toReversed().map((delivery) => store.add(delivery, bytes)));
    for (const node of [undefined, "n0", "n1", "n2", "n3"]) {
      for (const state of [undefined, ...states]) {
        const expected = all.filter((each) => (!node || each.node === node) && (!state || each.state === state));
        const pages = await pagesOf(store, { node, state, limit: 4 });
        pages.flat().should.eql(expected.map(({ id }) => id));
        pages
          .slice(0, -1)
          .every(({ length }) => length === 4)
          .should.be.true();
      }
    }
  });

  describe("are found by a text", () => {
    const texts: [string, boolean][] = [
      ["whole", true],
      ["HOLE", true],
      ["/a%20b", true],
      ["a%b", false],
      ["_", false],
      ["\\ Ü", true],
      ["SET-COOKIE", true],
      ["SET-COOKIE: one", false],
      ["X-MANY: a", true],
      ["2001:DB8", true],
      ["PUSH", true],
      ["7D1C", true],
      ["1f2e", false],
      ["body", false],
      ["[", false],
    ];
    for (const [text, isFound] of texts) {
      it(`${JSON.stringify(text)}: ${isFound ? "yes" : "no"}`, async () => {
        const store = await opened();
        await store.add(whole, Buffer.from("body"));
        await store.add(delivered("x"), bytes);
        const { deliveries } = await store.page({ text, limit: 10 });
        deliveries.should.eql(isFound ? [whole] : []);
      });
    }

    it("that the list shows of them: what was called, the first words, and what the flow has failed with at last", async () => {
      const store = await opened();
      await store.add(delivered("x", { state: "running" }), Buffer.from(`{ "Ördér":\n 17, "${"x".repeat(100)} last`));
      const find = async (expected: Record<string, boolean>) => {
        for (const [text, isFound] of Object.entries(expected)) {
          const { deliveries } = await store.page({ text, limit: 10 });
          should([text, deliveries.length > 0]).eql([text, isFound]);
        }
      };
      await find({ "post /hook": true, '{ "öRDér": 17': true, '": 18': false, last: false });
      await store.change("x", { attempt: 1, run: { at: 1, error: 'Order: no "ÜBER" here' } });
      should((await store.look("x"))?.error).equal('Order: no "ÜBER" here');
      await find({ 'NO "über"': true, 'no \\"': false, '"at"': false });
      await store.change("x", { attempt: 2, run: { at: 2, error: "it's not" } });
      await find({ 'no "über"': false, "IT'S": true });
      await store.change("x", { attempt: 3, run: { at: 3 } });
      await find({ "it's": false });
    });

    it("since a time: what is much older is not looked through", async () => {
      const store = await opened();
      const add = async (id: string, at: number, path = "/there-not") =>
        store.add({ ...whole, id, at, node: `n${at % 50}`, head: { ...whole.head, path } }, bytes);
      await add("old", 0, "/here");
      await Promise.all(Array.from({ length: 5000 }, (_, index) => add(`${index}`, index + 1)));
      await add("recent", 10_000, "/here");
      const found = await store.page({ text: "/here", since: 10_000, limit: 10 });
      should(found.deliveries.map(({ id }) => id)).eql(["recent"]);
      should(found.next).be.undefined();
      const all = await store.page({ text: "/here", limit: 10 });
      should(all.deliveries.map(({ id }) => id)).eql(["recent", "old"]);
    });

    it("on full pages, however far apart they are", async () => {
      const store = await opened();
      const isFound = (index: number) => index % 700 === 7;
      const node = (index: number) => `n${Math.floor(index / 150)}`;
      const path = (index: number) => ({ ...whole.head, path: isFound(index) ? "/here" : "/there-not" });
      const all = Array.from({ length: 6000 }, (_, index) => delivered(`${index}`, { node: node(index), head: path(index) })); // prettier-ignore
      await Promise.all(all.map((delivery) => store.add(delivery, bytes)));
      const found = all.filter((_, index) => isFound(index)).map(({ id }) => id).reverse(); // prettier-ignore
      const pages = await pagesOf(store, { text: "/HERE", limit: 4 });
      pages.flat().should.eql(found);
      pages.slice(0, -1).every(({ length }) => length === 4).should.be.true(); // prettier-ignore
      should(await pagesOf(store, { text: "/here", node: "n4", state: "succeeded", limit: 9 })).eql([["707"]]);
    });
  });
}

function testClaiming(opened: Opened): void {
  it("are claimed in the order in which they came, while they are unfinished", async () => {
    const store = await opened();
    for (const [index, state] of [...states, ...states].entries()) await store.add(delivered(`${index}`, { state, at: 99 - index }), bytes); // prettier-ignore
    await store.add(delivered("other", { node: "m", state: "queued" }), bytes);
    should((await claimsOf(store, "n", 10)).flat()).eql(["3", "4", "10", "11"]);
    should((await claimsOf(store, "n", 10, new Set(["4", "11"]))).flat()).eql(["3", "10"]);
    should((await claimsOf(store, "none", 10)).flat()).eql([]);
    await store.change("3", { state: "succeeded" });
    should((await claimsOf(store, "n", 10)).flat()).eql(["4", "10", "11"]);
  });

  it("are claimed with all that is kept of them", async () => {
    const store = await opened();
    await store.add({ ...whole, state: "running" }, Buffer.from("body"));
    await store.change("whole", { attempt: 3, run: { at: 8 } });
    const { deliveries } = await store.claim(whole.node, 1, new Set());
    deliveries.should.eql([await store.find("whole")]);
    should(deliveries[0]?.body.toString()).equal("body");
    should(deliveries[0]?.attempts).eql([{ at: 8 }]);
  });

  it("are claimed in steps, none twice and none forgotten, also where some are done in between", async () => {
    const store = await opened();
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`);
    await Promise.all(ids.map((id) => store.add(delivered(id, { state: "queued" }), bytes)));
    const known = new Set(ids.slice(100, 200));
    const claimed: string[] = [];
    let after: string | undefined;
    do {
      const { deliveries, next } = await store.claim("n", 30, known, after);
      deliveries.length.should.be.belowOrEqual(30);
      for (const { delivery } of deliveries) {
        claimed.push(delivery.id);
        await store.change(delivery.id, { state: "succeeded" });
      }
      after = next;
    } while (after !== undefined);
    claimed.should.eql(ids.filter((id) => !known.has(id)));
  });
}

function testRoom(opened: Opened): void {
  const [most, each, howMany] = [4_000_000, 100_000, 100];
  const body = () => Buffer.alloc(each, "x");

  it("go when there is no room, those that are done, the oldest first", async () => {
    const store = await opened(most);
    await store.add(delivered("open", { state: "running" }), body());
    await Promise.all(Array.from({ length: howMany }, (_, index) => store.add(delivered(`${index}`), body())));
    const left = (await pagesOf(store, { limit: 100 })).flat();
    left.length.should.be.within((most / each) * 0.8, (most / each) * 1.05);
    const newest = Array.from({ length: left.length - 1 }, (_, index) => `${howMany - 1 - index}`);
    left.should.eql([...newest, "open"]);
    should((await store.find("open"))?.body.length).equal(each);
    should(await store.find("0")).be.undefined();
    should(await store.counts("n")).eql({ running: 1, succeeded: left.length - 1 });
  });

  it("are kept although one that comes with them has no room", async () => {
    const store = await opened(most);
    const bodies = { small: body(), large: Buffer.alloc(most + 1), other: body() };
    const adding = Object.entries(bodies).map(([id, each]) => store.add(delivered(id, { state: "queued" }), each));
    const outcomes = await Promise.allSettled(adding);
    outcomes.map(({ status }) => status).should.eql(["fulfilled", "rejected", "fulfilled"]);
    should((await claimsOf(store, "n", 10)).flat()).eql(["small", "other"]);
  });

  it("go last where they have failed, and a person is to look at them", async () => {
    const store = await opened(most);
    for (const id of ["bad", "worse"]) await store.add(delivered(id, { state: "running" }), body());
    for (const id of ["worse", "bad"]) await store.change(id, { state: "failed" });
    for (let index = 0; index < howMany; index++) await store.add(delivered(`${index}`), body());
    should(await store.counts("n")).have.property("failed", 2);
    for (let index = 0; index < howMany; index++)
      await store.add(delivered(`new${index}`, { state: "failed" }), body());
    const { succeeded = 0, failed = 0 } = await store.counts("n");
    // In memory, where each node has its own room, they leave half of it to what else comes.
    should(succeeded).be.belowOrEqual(store.outlives ? 0 : failed);
    (succeeded + failed).should.be.within((most / each) * 0.8, (most / each) * 1.05);
    should(await store.find("bad")).be.undefined();
    should(await store.find(`new${howMany - 1}`)).not.be.undefined();
  });

  it("are not taken where unfinished ones fill the room, until some of these are done; none of them goes", async () => {
    const store = await opened(most);
    const kept: string[] = [];
    const refused: unknown[] = [];
    const add = (id: string, state: State) => store.add(delivered(id, { state }), body()).then(() => kept.push(id), (error: unknown) => refused.push(error)); // prettier-ignore
    for (let index = 0; index < howMany; index++) await add(`${index}`, index % 2 ? "queued" : "running");
    kept.length.should.be.within((most / each) * 0.8, (most / each) * 1.05);
    for (const error of refused) {
      should(error).be.instanceOf(StoreError);
      should(error).have.property("trouble", "full");
    }
    refused.length.should.equal(howMany - kept.length);
    should((await claimsOf(store, "n", 20)).flat()).eql(kept);
    for (const id of kept.slice(0, 5)) await store.change(id, { state: "succeeded" });
    await store.add(delivered("next", { state: "queued" }), body());
    should((await claimsOf(store, "n", 100)).flat()).eql([...kept.slice(5), "next"]);
  });
}

function testDuplicates(opened: Opened): void {
  it("give a key to the first one, and tell the others of it", async () => {
    const { duplicates } = await opened();
    await (await first(duplicates.reserve(candidate("1")))).settle();
    const found = await earlier(duplicates.reserve(candidate("2")));
    found.id.should.equal("1");
    should(await found.outcome).eql({ answer: undefined });
    should(await reserveOrWait(duplicates, candidate("3"))).eql({ isFirst: false, id: "1", answer: undefined });
  });

  it("give a key to one of those that come at once", async () => {
    const { duplicates } = await opened();
    const found = await Promise.all(Array.from({ length: 20 }, async (_, index) => duplicates.reserve(candidate(`${index}`)))); // prettier-ignore
    found.filter(({ isFirst }) => isFirst).length.should.equal(1);
  });

  it("tell keys by their endpoints", async () => {
    const { duplicates } = await opened();
    for (const [key, endpoint] of [["k", "n"], ["k", "m"], ["l", "n"]]) await (await first(duplicates.reserve(candidate("1", key, endpoint)))).settle(); // prettier-ignore
    await earlier(duplicates.reserve(candidate("2", "k", "m")));
  });

  it("answer those that wait as the first one, and those that come later", async () => {
    const { duplicates } = await opened();
    const reservation = await first(duplicates.reserve(candidate("1")));
    const waiting = [2, 3].map((id) => reserveOrWait(duplicates, candidate(`${id}`)));
    await reservation.settle(answer(201));
    for (const told of [...(await Promise.all(waiting)), await reserveOrWait(duplicates, candidate("4"))]) {
      should(told).eql({ isFirst: false, id: "1", answer: answer(201) });
    }
  });

  it("give a key that is released to one of those that wait", async () => {
    const { duplicates } = await opened();
    const reservation = await first(duplicates.reserve(candidate("1")));
    const waiting = [2, 3, 4].map((id) => reserveOrWait(duplicates, candidate(`${id}`)));
    await reservation.release();
    const next = await Promise.race(waiting);
    if (next.isFirst) await next.settle(answer(200));
    const told = await Promise.all(waiting);
    told.filter(({ isFirst }) => isFirst).should.have.length(1);
  });

  for (const [status, isKept] of [[500, false], [503, false], [504, false], [422, true], [200, true]] as const) {
    it(`${isKept ? "keep" : "free"} the key after ${status}, which those that wait are told`, async () => {
      const { duplicates } = await opened();
      const reservation = await first(duplicates.reserve(candidate("1")));
      const waiting = reserveOrWait(duplicates, candidate("2"));
      await reservation.settle(answer(status));
      should(await waiting).eql({ isFirst: false, id: "1", answer: answer(status) });
      (await duplicates.reserve(candidate("3"))).isFirst.should.equal(!isKept);
    });
  } // prettier-ignore

  it("take the first word of a delivery", async () => {
    const { duplicates } = await opened();
    const one = await first(duplicates.reserve(candidate("1")));
    await one.settle(answer(200));
    await one.release();
    await one.settle(answer(500));
    should(await (await earlier(duplicates.reserve(candidate("2")))).outcome).eql({ answer: answer(200) });
  });

  it("forget a key when its time is over", async () => {
    const { duplicates } = await opened();
    await (await first(duplicates.reserve(candidate("1", "k", "n", 0)))).settle(answer(200));
    await first(duplicates.reserve(candidate("2")));
    (await earlier(duplicates.reserve(candidate("3")))).id.should.equal("2");
  });
}

function testRestart(engine: Engine, shelf: () => Shelf): void {
  const restarted = async (work: (store: Store) => Promise<void>) => {
    const store = await shelf().opened(engine.create(shelf().place));
    await work(store);
    await shelf().closed(store);
    return shelf().opened(engine.create(shelf().place));
  };

  it(`${engine.outlives ? "outlive" : "are gone after"} a restart`, async () => {
    const store = await restarted(async (before) => {
      before.outlives.should.equal(engine.outlives);
      await before.add(whole, Buffer.from("body"));
      await before.add(delivered("1", { state: "queued" }), bytes);
      await before.change("1", { state: "running", attempt: 1, run: { at: 5 } });
    });
    const running = withWords(delivered("1", { state: "running", attempt: 1 }), bytes);
    should(await store.find("1")).eql(engine.outlives ? { delivery: running, body: bytes, attempts: [{ at: 5 }] } : undefined); // prettier-ignore
    should((await pagesOf(store, { limit: 10 })).flat()).eql(engine.outlives ? ["1", "whole"] : []);
    should((await claimsOf(store, "n", 10)).flat()).eql(engine.outlives ? ["1"] : []);
    should(await store.counts("n")).eql(engine.outlives ? { running: 1 } : {});
    await store.add(delivered("2", { at: 0 }), bytes);
    should((await pagesOf(store, { limit: 1 })).flat()[0]).equal("2");
  });

  it(`leave keys that ${engine.outlives ? "are known" : "are free"} after a restart, and none that is reserved`, async () => {
    const long = answer(200, Buffer.alloc(longestAnswer + 1));
    const { duplicates } = await restarted(async (before) => {
      await (await first(before.duplicates.reserve(candidate("1", "silent")))).settle();
      await (await first(before.duplicates.reserve(candidate("2", "answered")))).settle(answer(422));
      await (await first(before.duplicates.reserve(candidate("3", "long")))).settle(long);
      await (await first(before.duplicates.reserve(candidate("4", "failed")))).settle(answer(500));
      await (await first(before.duplicates.reserve(candidate("5", "late", "n", 0)))).settle(answer(200));
      await (await first(before.duplicates.reserve(candidate("6", "released")))).release();
      await first(before.duplicates.reserve(candidate("7", "reserved")));
    });
    const answers = { silent: undefined, answered: answer(422), long: { ...long, body: undefined } };
    for (const [key, told] of Object.entries(answers)) {
      const found = await duplicates.reserve(candidate("8", key));
      found.isFirst.should.equal(!engine.outlives);
      if (!found.isFirst) should(await found.outcome).eql({ answer: told });
    }
    for (const key of ["failed", "late", "released", "reserved"]) await first(duplicates.reserve(candidate("9", key)));
    await first(duplicates.reserve(candidate("9", "silent", "other")));
  });
}
