import should from "should";
import { MemoryStore, mostOfNode } from "../../../src/deliveries/memory-store";
import { StoreError } from "../../../src/deliveries/store";
import { shouldGrowEvenly } from "../../harness/cost";
import { bytes, delivered, pagesOf } from "../../harness/stores";

const idsOf = async (store: MemoryStore) => (await pagesOf(store, { limit: 1000 })).flat();

describe("MemoryStore", () => {
  it(`keeps the last ${mostOfNode} of each node, and unfinished ones besides`, async () => {
    const store = new MemoryStore();
    for (let index = 0; index < 300; index++) {
      await store.add(delivered(`a${index}`, { node: "a", state: index < 50 ? "queued" : "succeeded" }), bytes);
      await store.add(delivered(`b${index}`, { node: "b" }), bytes);
    }
    should(await store.counts("a")).eql({ queued: 50, succeeded: mostOfNode - 50 });
    should(await store.counts("b")).eql({ done: mostOfNode });
    for (let index = 0; index < 250; index++) await store.add(delivered(`c${index}`, { node: "a", state: "running" }), bytes); // prettier-ignore
    should(await store.counts("a")).eql({ queued: 50, running: 250 });
    for (let index = 0; index < 250; index++) await store.change(`c${index}`, { state: "succeeded" });
    should(await store.counts("a")).eql({ queued: 50, succeeded: mostOfNode - 50 });
    should(await store.find("c249")).be.ok();
    should(await store.find("c0")).be.undefined();
  });

  it("keeps what was let in, whoever floods it with what is refused", async () => {
    const store = new MemoryStore(10);
    await store.add(delivered("old", { state: "refused" }), bytes);
    for (let index = 0; index < 5; index++) await store.add(delivered(`done${index}`), bytes);
    for (let index = 0; index < 100; index++) await store.add(delivered(`${index}`, { state: "refused" }), bytes);
    (await idsOf(store)).should.eql(["99", "98", "97", "96", "95", "done4", "done3", "done2", "done1", "done0"]);
    for (let index = 5; index < 9; index++) await store.add(delivered(`done${index}`), bytes);
    (await idsOf(store)).slice(0, 5).should.eql(["done8", "done7", "done6", "done5", "99"]);
  });

  it("drops last what turns out to have failed, and no more so when that is dealt with", async () => {
    const store = new MemoryStore(3);
    for (const id of ["1", "2"]) await store.add(delivered(id), bytes);
    await store.change("1", { state: "failed" });
    for (const id of ["3", "4", "5"]) await store.add(delivered(id), bytes);
    (await idsOf(store)).should.eql(["5", "4", "1"]);
    await store.change("1", { state: "succeeded" });
    for (const id of ["6", "7", "8"]) await store.add(delivered(id), bytes);
    (await idsOf(store)).should.eql(["8", "7", "6"]);
  });

  it("keeps what comes, however many have failed", async () => {
    const store = new MemoryStore(10);
    const fail = async (index: number) => store.add(delivered(`failed${index}`, { state: "failed" }), bytes);
    for (let index = 0; index < 20; index++) await fail(index);
    should(await store.counts("n")).eql({ failed: 10 });
    await store.add(delivered("refused", { state: "refused" }), bytes);
    await store.add(delivered("done0"), bytes);
    await fail(20);
    (await idsOf(store)).slice(0, 4).should.eql(["failed20", "done0", "refused", "failed19"]);
    for (let index = 1; index < 20; index++) await store.add(delivered(`done${index}`), bytes);
    should(await store.counts("n")).eql({ failed: 5, succeeded: 5 });
    await fail(21);
    (await idsOf(store))[0]?.should.equal("failed21");
  });

  it("drops nothing that is begun once more", async () => {
    const store = new MemoryStore(2);
    await store.add(delivered("1"), bytes);
    await store.change("1", { state: "queued" });
    for (const id of ["2", "3", "4"]) await store.add(delivered(id), bytes);
    (await idsOf(store)).should.eql(["4", "1"]);
  });

  it("counts all of the memory that a body keeps, and once where several share it", async () => {
    const slab = Buffer.alloc(600_000);
    const store = new MemoryStore(mostOfNode, 1_000_000);
    for (const id of ["1", "2", "3"]) await store.add(delivered(id), slab.subarray(0, 100));
    (await idsOf(store)).should.eql(["3", "2", "1"]);
    await store.add(delivered("4"), Buffer.alloc(600_000).subarray(0, 100));
    (await idsOf(store)).should.eql(["4", "3", "2"]);
    const tooLong = await store.add(delivered("5"), Buffer.alloc(1_000_000)).catch((error: unknown) => error);
    should(tooLong).be.instanceOf(StoreError);
  });

  it("counts texts as well", async () => {
    const headers = { long: "x".repeat(9000), many: ["y".repeat(1000)] };
    const store = new MemoryStore(1000, 1_000_000);
    for (let index = 0; index < 200; index++) {
      await store.add(delivered(`${index}`, { head: { ...delivered("").head, headers } }), Buffer.alloc(0));
    }
    (await idsOf(store)).length.should.be.within(85, 110);
    const webhook = { event: "x".repeat(5000), id: "y".repeat(5000), credential: "first" as const };
    for (let index = 0; index < 200; index++) await store.add(delivered(`told${index}`, { webhook }), Buffer.alloc(0));
    (await idsOf(store)).length.should.be.within(85, 110);
  });

  it("counts what was answered, also where that is known later", async () => {
    const answer = "x".repeat(4096);
    const atOnce = new MemoryStore(1000, 100_000);
    for (let index = 0; index < 100; index++) await atOnce.add(delivered(`${index}`, { answer }), Buffer.alloc(0));
    (await idsOf(atOnce)).length.should.be.within(15, 20);
    const later = new MemoryStore(1000, 100_000);
    const running = delivered("running", { state: "running", attempt: 1 });
    await later.add(running, Buffer.alloc(0));
    for (let index = 0; index < 100; index++) {
      await later.add({ ...running, id: `${index}` }, Buffer.alloc(0));
      await later.change(`${index}`, { state: "succeeded", answer });
    }
    const ids = await idsOf(later);
    ids.length.should.be.within(15, 20);
    ids.at(-1)?.should.equal("running");
    await later.change("running", { state: "succeeded", answer: "x".repeat(200_000) });
    (await idsOf(later)).should.eql([]);
    await later.add(delivered("next"), bytes);
    (await idsOf(later)).should.eql(["next"]);
  });

  it("takes as long for a delivery however many there have been", async () => {
    await shouldGrowEvenly(async (size) => {
      const store = new MemoryStore();
      for (let index = 0; index < size; index++)
        await store.add(delivered(`${index}`, { node: `${index % 9}` }), bytes);
    }, 200_000);
  });
});
