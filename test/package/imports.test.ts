import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import "should";
import ts from "typescript";
import { root } from "../harness/package";

/** The folders of `src`, in the order in which they build on each other. The rows of senders build on nothing. */
const folders = ["auth/senders", "config", "request", "auth", "deliveries", "flow", "http", "admin"];

/** What each file imports, both without their extensions. */
const imports = new Map(
  ["src", "nodes"].flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: "utf8", recursive: true })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => posix.join(folder, name))
      .map((file) => [file.replace(/\.tsx?$/, ""), importsOf(file)] as const),
  ),
);

/** The files of ours that one imports, without their extensions. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), "utf8"));
  const names = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
  // An `import()` names the compiled file.
  return names.map((name) => posix.join(file, "..", name.replace(/\.js$/, "")));
}

/** What leads from a file back to a file that is on the way already. */
function findCycle(file: string, way: readonly string[], done: Set<string>): string[] | undefined {
  if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
  if (done.has(file)) return undefined;
  done.add(file);
  for (const each of imports.get(file) ?? []) {
    const cycle = findCycle(each, [...way, file], done);
    if (cycle) return cycle;
  }
  return undefined;
}

describe("the imports of the product", () => {
  it("go one way: from nodes to src, and in src from later folders to earlier ones", () => {
    const wrong = [...imports].flatMap(([file, names]) =>
      names.filter((name) => !isAllowed(file, name)).map((name) => `${file}: ${name}`),
    );
    imports.size.should.be.above(50);
    wrong.should.eql([]);
  });

  it("are not circular", () => {
    const done = new Set<string>();
    const cycles = [...imports.keys()].map((file) => findCycle(file, [], done)).filter((cycle) => cycle !== undefined);
    cycles.should.eql([]);
  });
});

function isAllowed(file: string, name: string): boolean {
  const rank = (path: string) => folders.findIndex((folder) => path.startsWith(`src/${folder}/`));
  return file.startsWith("nodes/") || (rank(name) !== -1 && rank(name) <= rank(file));
}

describe("the sources", () => {
  it("switch no rule of the linter off", () => {
    const sources = ["bench", "nodes", "scripts", "src", "test"].flatMap((folder) =>
      readdirSync(join(root, folder), { encoding: "utf8", recursive: true })
        .filter((name) => /\.(?:tsx?|mjs)$/.test(name))
        .map((name) => join(root, folder, name)),
    );
    sources.length.should.be.above(imports.size);
    sources.filter((file) => /(?:ox|es)lint-disable/.test(readFileSync(file, "utf8"))).should.eql([]);
  });
});
