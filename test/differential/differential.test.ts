import should from "should";
import { differencesOf, hasNewestExpress } from "./compare";
import { defaultRoots, rows } from "./hosts";

// What a host or a node does with an Express is the same in all versions of Node-RED that have that Express.
const compared = hasNewestExpress
  ? rows.filter(({ host, plugin, everyVersion }) => everyVersion ?? (host === undefined && plugin === undefined))
  : rows;
const cases = compared.flatMap((row) =>
  // What the layout changes is told by Express, too.
  (row.roots ?? [defaultRoots]).slice(0, hasNewestExpress ? 1 : Infinity).map((layout) => ({ row, layout })),
);

/** Two Node-REDs run at a time, each case of a lane after the one before, and before its test asks for it. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
const begun: Promise<string[]>[] = [];

function differencesOfCase(index: number): Promise<string[]> {
  for (let next = index; next < Math.min(index + lanes.length, cases.length); next++) {
    begun[next] ??= begin(next);
  }
  return begun[index] ?? begin(index);
}

async function begin(index: number): Promise<string[]> {
  const { row, layout } = cases[index] ?? {};
  if (!row || !layout) throw new Error(`There is no case ${index}`);
  const run = (lanes[index % lanes.length] ?? Promise.resolve()).then(() => differencesOf(row, layout));
  // A case that fails does so in its own test.
  lanes[index % lanes.length] = run.catch(() => undefined);
  return run;
}

/**
 * The contract's "no other way in", by comparison: in any application, a request reaches a webhook trigger, with its
 * token, just where it reaches core's `http in` in its place. What is for neither is answered as if neither were there.
 */
describe("a webhook trigger", () => {
  after(() => Promise.all(lanes));

  for (const [index, { row, layout }] of cases.entries()) {
    it(`gets the requests that http in gets with ${row.name}, with ${layout} roots`, async () => {
      should((await differencesOfCase(index)).join("\n")).equal("");
    });
  }
});
