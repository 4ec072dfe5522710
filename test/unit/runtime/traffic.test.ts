import { mock } from "node:test";
import should from "should";
import type { TrafficReport } from "../../../src/admin/traffic";
import { Observed } from "../../harness/observed";

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);

describe("the traffic of the last hour", () => {
  let observed: Observed;
  let now: number;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
    now = 10.25 * minute;
    mock.method(performance, "now", () => now);
    observed = new Observed();
    observed.deploy();
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  const read = async (node = "") => (await observed.ask("traffic", "", { node })) as TrafficReport;
  /** The numbers that are not 0, each by how many minutes ago that was. */
  const listed = (numbers: readonly number[]) => {
    numbers.should.have.length(60);
    return Object.fromEntries(
      numbers.map((number, index) => [59 - index, number] as const).filter(([, number]) => number !== 0),
    );
  };

  it("has the requests of each minute, and what has failed for good", async () => {
    observed.accept();
    observed.accept("2", "duplicate");
    now += 0.75 * minute;
    observed.refuse();
    observed.fail("1", 1);
    observed.fail("1", 2, true);
    now += 58.5 * minute;
    observed.accept("3");
    observed.accept("4");
    const { since, accepted, refused, failed } = await read();
    should([accepted, refused, failed].map(listed)).eql([{ 0: 2, 59: 1 }, { 58: 1 }, { 58: 1 }]);
    since.should.equal(start - 59.5 * minute);
    now += 0.5 * minute;
    listed((await read()).accepted).should.eql({ 1: 2 });
    now += 600 * minute;
    listed((await read()).accepted).should.eql({});
  });

  it("has in each minute how many deliveries waited when it ended, also where nothing came", async () => {
    observed.load({ queued: 7 });
    observed.load({ queued: 1, retrying: 2, running: 5, failed: 9 });
    now += 2 * minute;
    observed.load({ retrying: 4 });
    now += minute;
    listed((await read()).waiting).should.eql({ 0: 4, 1: 4, 2: 3, 3: 3 });
    now += 100 * minute;
    (await read()).waiting.should.eql(Array(60).fill(4));
    observed.load({ running: 4 });
    (await read()).waiting.should.eql([...Array<number>(59).fill(4), 0]);
  });

  it("is that of one node or of all, and of no node that is deleted", async () => {
    observed.deploy({ id: "other" });
    observed.accept();
    observed.refuse(undefined, undefined, undefined, undefined, "other");
    const count = async (node?: string) => {
      const { accepted, refused } = await read(node);
      return [accepted, refused].map((numbers) => numbers.at(-1));
    };
    should([await count(), await count("node"), await count("other"), await count("unknown")]).eql([
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
    observed.delete();
    observed.accept();
    should(await count()).eql([0, 0]);
  });
});
