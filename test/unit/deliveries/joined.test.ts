import should from "should";
import { JoinedStores, UnknownPlace } from "../../../src/deliveries/joined";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import type { Query } from "../../../src/deliveries/store";
import { bytes, delivered } from "../../harness/stores";

describe("JoinedStores", () => {
  let stores: MemoryStore[];
  let joined: JoinedStores;
  beforeEach(() => {
    stores = [new MemoryStore(), new MemoryStore()];
    joined = new JoinedStores(() => stores);
  });

  /** Adds deliveries that came at these times to a store, their ids being the times. */
  const add = async (store: number, ...times: number[]) => {
    for (const at of times) await stores[store]?.add(delivered(`${at}`, { at, node: at % 2 === 0 ? "even" : "odd" }), bytes); // prettier-ignore
  };
  const pages = async (query: Query) => {
    const found: string[][] = [];
    for (let before: string | undefined; ;) {
      const { deliveries, next } = await joined.page({ ...query, before });
      found.push(deliveries.map(({ id }) => id));
      if (next === undefined) return found;
      before = next;
    }
  };

  for (const limit of [1, 2, 3, 4, 7, 100]) {
    it(`shows the newest of all first, each once, on pages of ${limit}`, async () => {
      await add(0, 1, 4, 5, 9, 10);
      await add(1, 2, 3, 6, 7, 8, 11);
      const found = await pages({ limit });
      found.flat().should.eql(["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1"]);
      found.slice(0, -1).every(({ length }) => length === limit).should.be.true(); // prettier-ignore
      (await pages({ limit, node: "even" })).flat().should.eql(["10", "8", "6", "4", "2"]);
    });
  }

  it("has what came since a time in each of them, without looking at more than a page before that", async () => {
    const old = Array.from({ length: 700 }, (_, number) => number);
    const recent = Array.from({ length: 1200 }, (_, number) => 1000 + number);
    stores = [new MemoryStore(10_000), new MemoryStore(10_000)];
    await add(0, ...old, ...recent);
    await add(1, 900, 901, 5000);
    const limits: number[] = [];
    for (const store of stores) {
      const page = store.page.bind(store);
      store.page = (query) => {
        limits.push(query.limit);
        return page(query);
      };
    }
    const found = (await joined.since(1000, {}, 2000)).filter(({ at }) => at >= 1000);
    found.map(({ at }) => at).should.eql([...recent.toReversed(), 5000]);
    limits.should.have.length(4);
    const even = await joined.since(1000, { node: "even" }, 2000);
    even.filter(({ at }) => at >= 1000).should.have.length(601);
    (await joined.since(0, {}, 600)).should.have.length(603);
  });

  it("shows what is in one of them alone, and nothing where nothing is", async () => {
    (await pages({ limit: 2 })).should.eql([[]]);
    await add(1, 1, 2, 3);
    (await pages({ limit: 2 })).should.eql([["3", "2"], ["1"]]);
  });

  it("keeps the order of each, whatever the clock did meanwhile", async () => {
    await add(0, 5, 2, 3);
    await add(1, 4, 1);
    (await pages({ limit: 2 })).flat().should.eql(["3", "2", "5", "1", "4"]);
  });

  it("shows nothing twice and forgets nothing while more comes", async () => {
    await add(0, 1, 3, 5);
    await add(1, 2, 4, 6);
    const first = await joined.page({ limit: 3 });
    await add(0, 7);
    await add(1, 8);
    const second = await joined.page({ limit: 3, before: first.next });
    [...first.deliveries, ...second.deliveries].map(({ id }) => id).should.eql(["6", "5", "4", "3", "2", "1"]);
  });

  it("goes on with a page that was begun before the second one was opened", async () => {
    const [only] = stores;
    await add(0, 1, 2, 3);
    stores = only ? [only] : [];
    const { next } = await joined.page({ limit: 1 });
    stores.push(new MemoryStore());
    (await joined.page({ limit: 9, before: next })).deliveries.map(({ id }) => id).should.eql(["2", "1"]);
  });

  it("finds one in whichever it is", async () => {
    await add(1, 7);
    should((await joined.find("7"))?.shelf).equal(stores[1]);
    should(await joined.find("8")).be.undefined();
  });

  for (const before of ["", "x", "e30", "WzFd", "WyItMSJd", "WyIxJyBPUiAxIl0", Buffer.from('["1","1","1"]').toString("base64url")]) {
    it(`knows no place ${JSON.stringify(before)}`, async () => {
      const outcome = await joined.page({ limit: 1, before }).catch((error: unknown) => error);
      should(outcome).be.instanceof(UnknownPlace);
    });
  } // prettier-ignore
});
