import should from "should";
import { findDelivery, formatPosition, listPage, parsePosition } from "../../../src/deliveries/lists";
import { MemoryList } from "../../../src/deliveries/memory-list";
import type { Query } from "../../../src/deliveries/queue";
import { bytes, delivered } from "../../harness/deliveries";

describe("several lists of deliveries", () => {
  let logs: MemoryList[];
  beforeEach(() => {
    logs = [new MemoryList(), new MemoryList()];
  });

  /** Adds deliveries that came at these times to a list, their ids being the times. */
  const add = (list: number, ...times: number[]) => {
    for (const at of times) logs[list]?.add(delivered(`${at}`, { at, node: at % 2 === 0 ? "even" : "odd" }), bytes);
  };
  const pages = async (query: Query) => {
    const found: string[][] = [];
    for (let before: string | undefined = ""; before !== undefined;) {
      const { deliveries, next } = await listPage(logs, { ...query, before: parsePosition(before) });
      found.push(deliveries.map(({ id }) => id));
      before = next && formatPosition(next);
    }
    return found;
  };

  for (const limit of [1, 2, 3, 4, 7, 100]) {
    it(`shows the newest of all first, each once, on pages of ${limit}`, async () => {
      add(0, 1, 4, 5, 9, 10);
      add(1, 2, 3, 6, 7, 8, 11);
      const found = await pages({ limit });
      found.flat().should.eql(["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1"]);
      found.slice(0, -1).every(({ length }) => length === limit).should.be.true(); // prettier-ignore
      (await pages({ limit, node: "even" })).flat().should.eql(["10", "8", "6", "4", "2"]);
    });
  }

  it("shows nothing twice and forgets nothing while more comes, and while another list is opened", async () => {
    add(0, 1, 3, 5);
    const [first, second] = logs;
    logs = first ? [first] : [];
    const page = await listPage(logs, { limit: 2 });
    if (second) logs.push(second);
    add(0, 7);
    add(1, 8);
    const rest = await listPage(logs, { limit: 3, before: page.next });
    [...page.deliveries, ...rest.deliveries].map(({ id }) => id).should.eql(["5", "3", "1"]);
  });

  it("finds one in whichever it is", async () => {
    add(1, 7);
    should((await findDelivery(logs, "7"))?.list).equal(logs[1]);
    should(await findDelivery(logs, "8")).be.undefined();
  });

  for (const position of [{ at: 0, id: "1" }, { at: 1_700_000_000_000, id: "a b/ü\n" }]) {
    it(`writes ${JSON.stringify(position)} for a URL, and reads it`, () => {
      const text = formatPosition(position);
      text.should.match(/^[\w-]+$/);
      should(parsePosition(text)).eql(position);
    });
  } // prettier-ignore

  for (const text of ["", "x", "e30", "WzFd", "MSA", Buffer.from("-1 a").toString("base64url")]) {
    it(`knows no position ${JSON.stringify(text)}`, () => should(parsePosition(text)).be.undefined());
  }
});
