import { nodeRedVersions } from "../../scripts/setup.mjs";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { minVersion, satisfies } from "semver";
import should from "should";
import ts from "typescript";
import { parse } from "yaml";

import { credentialNames, defaults } from "../../src/config/fields";
import { installedModules, packageName, root } from "../harness/package";

interface Manifest {
  name: string;
  version: string;
  license: string;
  keywords: string[];
  repository: { url: string };
  bugs: { url: string };
  engines: { node: string };
  dependencies: Record<string, string>;
  "node-red": { version: string; nodes: Record<string, string> };
}

interface Workflow {
  jobs: { matrix: { strategy: { matrix: { include: { node: number | string }[] } } } };
}

interface Lock {
  packages: Record<string, Pick<Manifest, "version" | "dependencies">>;
}

/** What a library reads of the call that registers a node type, without running it. */
type Definition = Record<string, unknown>;

const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

/**
 * The criteria of node-red-dev 0.1.6, by its numbers, with which flows.nodered.org judges a package. P02 is switched
 * off there. P08 and N01, that names are nobody else's, and that dependencies are the latest, need the network.
 */
describe("the flow library's scorecard", () => {
  let folder: string;
  let manifest: Manifest;
  before(() => {
    folder = join(installedModules(), packageName);
    manifest = json(join(folder, "package.json")) as Manifest;
  });

  /** The pages of the package's node sets, where the library looks for them. */
  const pages = () =>
    Object.values(manifest["node-red"].nodes).map((path) => join(folder, path.replace(".js", ".html")));
  const definitions = () => new Map(pages().flatMap((page) => [...definitionsIn(readFileSync(page, "utf8"))]));

  it("P01: has a licence, and its text", () => {
    manifest.license.should.equal("Apache-2.0");
    readFileSync(join(folder, "LICENSE"), "utf8").should.match(/Apache License\s+Version 2\.0/);
  });

  it("P03: tells where the repository is, and where to report bugs", () => {
    const [, repository = ""] =
      /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(manifest.repository.url) ?? [];
    manifest.bugs.url.should.equal(`${repository}/issues`);
    basename(repository).should.equal(basename(manifest.name));
  });

  it("P04: has a scoped name", () => {
    manifest.name.should.match(/^@[a-z\d][\w.-]+\/[a-z\d][\w.-]*$/);
  });

  it("P05: has the keyword node-red", () => {
    manifest.keywords.should.containEql("node-red");
  });

  it("P06: declares versions of Node-RED that fit those it is tested on", () => {
    const { version } = json(join(root, "node_modules", "node-red", "package.json")) as Manifest;
    for (const current of [version, ...Object.values(nodeRedVersions)]) {
      satisfies(current, manifest["node-red"].version).should.be.true(current);
    }
    satisfies("4.0.9", manifest["node-red"].version).should.be.false();
  });

  it("P07: declares versions of Node.js that fit the oldest one that Node-RED runs on", () => {
    const { engines } = json(join(root, "node_modules", "node-red", "package.json")) as Manifest;
    const oldest = minVersion(engines.node)?.version ?? "";
    oldest.should.equal("22.9.0");
    satisfies(oldest, manifest.engines.node).should.be.true();
  });

  it("promises no Node.js that is older than the oldest one on which CI tests it", () => {
    const { engines } = json(join(root, "package.json")) as Manifest;
    const workflow = parse(readFileSync(join(root, ".github", "workflows", "ci.yml"), "utf8")) as Workflow;
    const tested = workflow.jobs.matrix.strategy.matrix.include.map(({ node }) => String(minVersion(String(node))));
    should(String(minVersion(engines.node))).equal(tested.sort()[0]);
  });

  it("N02: uses every node type in an example", () => {
    const examples = readdirSync(join(folder, "examples")).map((name) => json(join(folder, "examples", name)));
    const used = (examples as { type: string }[][]).flat().map(({ type }) => type);
    for (const type of definitions().keys()) used.should.containEql(type);
  });

  it("D01: has at most 6 dependencies", () => {
    Object.keys(manifest.dependencies).length.should.be.within(1, 6);
  });

  it("D02: brings none of the packages that trouble Node-RED", () => {
    const manifests = readdirSync(installedModules(), { recursive: true, encoding: "utf8" })
      .filter((path) => basename(path) === "package.json")
      .map((path) => json(join(installedModules(), path)) as Partial<Manifest>);
    manifests.map(({ name }) => name).should.containEql("cors");
    for (const { name, version = "" } of manifests) {
      if (name === "agent-base") should(satisfies(version, "<6")).be.false(version);
    }
  });

  it("D03: has dependencies in versions that the lock file has as well", () => {
    const { packages } = json(join(root, "package-lock.json")) as Lock;
    should(packages[""]?.dependencies).deepEqual(manifest.dependencies);
    for (const [name, range] of Object.entries(manifest.dependencies)) {
      satisfies(packages[`node_modules/${name}`]?.version ?? "", range).should.be.true(name);
    }
  });

  it("has a readme, without which the library takes no package", () => {
    readFileSync(join(folder, "README.md"), "utf8").should.startWith("# ");
  });

  it("lets the library read the node types from the html", () => {
    const sets = Object.keys(manifest["node-red"].nodes);
    [...definitions().keys()].sort().should.deepEqual([...sets, "webhook-watch"]);
    should(definitions().get("webhook-trigger")).containEql({
      category: "network",
      color: "#E7E7AE",
      inputs: 0,
      outputs: 1,
      defaults: Object.keys(defaults),
      credentials: [...credentialNames],
    });
  });

  it("lets the library find the icons", () => {
    const icons = pages().map((page) => readdirSync(join(page, "..", "icons")));
    for (const { icon } of definitions().values()) icons.flat().should.containEql(icon);
  });
});

/** The node types that a page registers, as far as they can be read from its scripts. */
function definitionsIn(page: string): Map<string, Definition> {
  const found = new Map<string, Definition>();
  const scripts = page.matchAll(/<script\s[^>]*?type=["']text\/javascript["'][^>]*>(.*?)<\/script>/gis);
  for (const [, script = ""] of scripts) {
    // The library drops a script with an error in it, such as one that a closing tag in a text has cut off.
    new Script(script);
    visit(ts.createSourceFile("page.js", script, ts.ScriptTarget.Latest));
  }
  return found;

  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const [type, definition] = node.arguments;
      const registers = node.expression.name.text === "registerType";
      if (registers && type && ts.isStringLiteral(type) && definition && ts.isObjectLiteralExpression(definition)) {
        found.set(type.text, read(definition));
      }
    }
    ts.forEachChild(node, visit);
  }
}

/** The properties of an object as it is written, those of an object in it by their names alone. */
function read(object: ts.ObjectLiteralExpression): Definition {
  const entries = object.properties.map((property): [string, unknown] => {
    // The library stumbles over a property without a name, such as what is spread into the object.
    if (!property.name || !ts.isIdentifier(property.name)) throw new Error("a property has no plain name");
    return [property.name.text, ts.isPropertyAssignment(property) ? valueOf(property.initializer) : undefined];
  });
  return Object.fromEntries(entries);
}

function valueOf(value: ts.Expression): unknown {
  if (ts.isStringLiteral(value)) return value.text;
  if (ts.isNumericLiteral(value)) return Number(value.text);
  return ts.isObjectLiteralExpression(value) ? Object.keys(read(value)) : undefined;
}
