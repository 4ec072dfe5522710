import should from "should";
import type { Delivery } from "../../../src/deliveries/delivery";
import { MemoryList } from "../../../src/deliveries/memory-list";
import { shouldGrowEvenly } from "../../harness/cost";
import { bytes, delivered } from "../../harness/deliveries";

const nothing = Buffer.alloc(0);

describe("MemoryList", () => {
  let time: number;
  beforeEach(() => (time = 1_700_000_000_000));

  const add = (list: MemoryList, id: string, rest: Partial<Delivery> = {}, body: Buffer = bytes) =>
    list.add(delivered(id, { at: ++time, ...rest }), body);
  const idsOf = async (list: MemoryList) => (await list.list({ limit: 1000 })).map(({ id }) => id);

  it("keeps what has started the flow, however much comes that does not", async () => {
    const list = new MemoryList(undefined, 10);
    add(list, "old", { state: "refused" });
    for (let index = 0; index < 5; index++) add(list, `done${index}`);
    for (const state of ["refused", "duplicate", "handshake"] as const) {
      for (let index = 0; index < 100; index++) add(list, `${state}${index}`, { state });
    }
    const last = [99, 98, 97, 96, 95].map((index) => `handshake${index}`);
    (await idsOf(list)).should.eql([...last, "done4", "done3", "done2", "done1", "done0"]);
    for (let index = 5; index < 9; index++) add(list, `done${index}`);
    (await idsOf(list)).slice(0, 5).should.eql(["done8", "done7", "done6", "done5", "handshake99"]);
  });

  it("gives a delivery back with its body, its words and its attempt", async () => {
    const list = new MemoryList();
    add(list, "1", { at: 5, state: "running", attempt: 1 });
    const delivery = delivered("1", { at: 5, state: "running", attempt: 1, words: "a: 1" });
    should(await list.find("1")).eql({ delivery, body: bytes, attempts: [{ at: 5 }] });
    add(list, "1", { state: "failed" });
    should((await list.find("1"))?.delivery).eql(delivery);
    should(await list.find("2")).be.undefined();
  });

  it("drops the oldest of all where they take more memory than they may, bodies, texts and answers counted", async () => {
    const long = "x".repeat(9000);
    const texts: Partial<Delivery>[] = [
      { head: { ...delivered("").head, headers: { long } } },
      { head: { ...delivered("").head, headers: { many: [long] } } },
      { webhook: { event: long, credential: "first" } },
      { webhook: { claims: { long }, credential: "first" } },
      { answer: long },
      { error: long },
    ];
    const kept = async (rest: Partial<Delivery>, body: Buffer) => {
      const list = new MemoryList(undefined, 1000, 1_000_000);
      for (let index = 0; index < 200; index++) add(list, `${index}`, { node: `n${index % 7}`, ...rest }, body);
      const ids = await idsOf(list);
      ids.should.eql(Array.from(ids, (_, index) => `${199 - index}`));
      return ids.length;
    };
    for (const rest of texts) (await kept(rest, nothing)).should.be.within(90, 100);
    (await kept({}, Buffer.alloc(9000))).should.be.within(90, 100);
    (await kept({}, nothing)).should.equal(200);
  });

  it("drops what anybody can cause first where they take more memory than they may, of any node", async () => {
    const list = new MemoryList(undefined, 1000, 1_000_000);
    for (let index = 0; index < 10; index++)
      add(list, `done${index}`, { state: index % 2 ? "duplicate" : "succeeded" });
    for (let index = 0; index < 400; index++) {
      const state = index % 2 ? "handshake" : "refused";
      add(list, `${index}`, { node: `n${index % 7}`, state }, Buffer.alloc(9000));
    }
    const ids = await idsOf(list);
    ids.slice(-10).should.eql([9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((index) => `done${index}`));
    ids.slice(0, -10).should.eql(Array.from(ids.slice(10), (_, index) => `${399 - index}`));
    ids.length.should.be.within(95, 110);
  });

  it("leaves out what is larger than all that it may keep, and nothing else for that", async () => {
    const list = new MemoryList(undefined, 10, 100_000);
    add(list, "small");
    add(list, "large", {}, Buffer.alloc(100_000));
    (await idsOf(list)).should.eql(["small"]);
    add(list, "just", {}, Buffer.alloc(98_000));
    (await idsOf(list)).should.eql(["just"]);
  });

  it("does not keep a large buffer for the small body in it", async () => {
    const list = new MemoryList();
    const slab = Buffer.alloc(65_536, "x");
    add(list, "part", {}, slab.subarray(10, 20));
    add(list, "most", {}, slab.subarray(0, 60_000));
    const part = await list.find("part");
    should(part?.body.toString()).equal("xxxxxxxxxx");
    should(part?.body.buffer.byteLength).equal(10);
    should((await list.find("most"))?.body.buffer).equal(slab.buffer);
  });

  it("takes as long for a delivery however many there have been", async () => {
    await shouldGrowEvenly((size) => {
      const list = new MemoryList(undefined, 1000);
      for (let index = 0; index < size; index++) add(list, `${index}`, { node: `${index % 9}` });
    }, 40_000);
  });
});
