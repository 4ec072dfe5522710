import should from "should";
import { FilteredList } from "../../../src/deliveries/memory-list";
import { delivered } from "../../harness/deliveries";

describe("The list of filtered requests", () => {
  const all = { state: "filtered", limit: 100_000 } as const;
  const fill = (list: FilteredList, count: number, nodes: number, size: number) => {
    const body = Buffer.alloc(size);
    for (let at = 0; at < count; at++) {
      const rest = { at, node: `node ${at % nodes}`, state: "filtered", size } as const;
      list.add(delivered(String(at), rest), body);
    }
  };

  it("has the last 20 of each node, whatever came before, and shows them only if they are asked for", async () => {
    const list = new FilteredList();
    fill(list, 10_000, 2, 60_000);
    should((await list.list(all)).map(({ at }) => at)).eql(Array.from({ length: 40 }, (_, index) => 9999 - index));
    (await list.list({ ...all, node: "node 1" })).should.have.length(20);
    for (const state of [undefined, "refused", "succeeded"] as const)
      should(await list.list({ state, limit: 10 })).eql([]);
    for (const at of [0, 9000, 9959]) should(await list.find(String(at))).be.undefined();
    should(await list.find("9999")).match({ delivery: { state: "filtered" }, body: Buffer.alloc(60_000) });
  });

  it("takes 8 MB at most, over all nodes", async () => {
    const list = new FilteredList();
    fill(list, 2000, 100, 60_000);
    const sizes = (await list.list(all)).map(({ size }) => size);
    sizes.reduce((sum, size) => sum + size, 0).should.be.within(6_000_000, 8 * 1024 * 1024);
  });

  it("deletes one, and those of a node", async () => {
    const list = new FilteredList();
    fill(list, 6, 2, 1);
    should(await list.remove("4")).equal("removed");
    should(await list.removeAll({ node: "node 1", state: undefined })).equal(3);
    should((await list.list(all)).map(({ id }) => id)).eql(["2", "0"]);
  });
});
