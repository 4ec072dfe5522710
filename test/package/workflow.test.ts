import "should";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { everything, matrix } from "../../scripts/matrix.mjs";
import { root } from "../harness/package";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const allOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

describe("the tests", () => {
  it("run all, each once", () => {
    const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
    const files = all.filter((file) => file.endsWith(".test.ts")).map((file) => `test/${file}`);
    const run = everything.flatMap(({ specs }) => specs);
    run.sort().should.deepEqual(files.sort());
  });
});

describe("the workflow on GitHub", () => {
  const workflow = read(".github/workflows/ci.yml");

  it("runs the commands of .ci/run", () => {
    // There, several choices are made at once.
    const choices = (command: string) =>
      command
        .split(" --")
        .slice(2)
        .map((choice) => `npm test -- --${choice}`);
    const here = allOf(read(".ci/run"), /^(npm .+)$/gm).flatMap((command) =>
      command.startsWith("npm test -- ") ? choices(command) : [command],
    );
    const there = allOf(workflow, /^ +- run: (.+)$/gm);
    here.length.should.be.above(0);
    there
      .map((command) => command.replace('"--matrix=${{ matrix.versions }}"', "--matrix"))
      .sort()
      .should.deepEqual(here.sort());
  });

  it("runs them on the versions of the matrix", () => {
    const pairs = [...workflow.matchAll(/^ +- versions: (.+)\n +node: (\d+)$/gm)];
    pairs.map(([, name]) => name).should.deepEqual([...new Set(matrix.map(({ versions }) => versions))]);
    for (const [, versions = "", node] of pairs) versions.should.endWith(` on Node ${node}`);
  });

  it("may only read, and takes nothing but GitHub's own actions, by their major versions", () => {
    allOf(workflow, /^( *permissions:(?: .*|\n(?: +.+\n)+))/gm).should.deepEqual(["permissions:\n  contents: read\n"]);
    const actions = allOf(workflow, /uses: (.+)/g);
    actions.length.should.be.above(0);
    for (const action of actions) action.should.match(/^actions\/[a-z-]+@v\d+$/);
    workflow.should.not.match(/secrets|pull_request_target/);
  });

  it("bounds the time of every job", () => {
    const jobs = allOf(workflow, /^( +runs-on: .+)$/gm);
    allOf(workflow, /^ +timeout-minutes: (\d+)$/gm).should.have.length(jobs.length);
  });
});
