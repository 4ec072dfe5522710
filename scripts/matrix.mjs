/** The parts of the tests, and the versions of Node-RED and Node that each runs on. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { modernNode, nodeBinary, nodeRedFolder, root } from "./setup.mjs";

const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .sort();
const inFolders = (/** @type {string[]} */ ...folders) =>
  all.filter((path) => folders.some((folder) => path.startsWith(`test/${folder}/`)));
const inFiles = (/** @type {string[]} */ ...names) => names.map((name) => `test/${name}.test.ts`);
const without = (/** @type {string[]} */ specs, /** @type {string[]} */ left) =>
  specs.filter((spec) => !left.includes(spec));

const small = inFolders("unit", "node");
const alone = [...small, ...inFolders("property", "sdk")];
const surroundings = inFiles(
  "runtime/configuration",
  "runtime/settings",
  "runtime/waiting",
  "runtime/front",
  "runtime/front-credentials",
  "runtime/front-deploys",
);
const instances = inFiles("runtime/instances");
const java = inFiles("runtime/java");
const guaranteed = inFiles(
  "runtime/completion",
  "runtime/guaranteed",
  "runtime/keeping",
  "runtime/pace",
  "runtime/store-troubles",
);
const senders = without(inFolders("runtime"), [...surroundings, ...guaranteed, ...instances, ...java]);
const differential = inFolders("differential");
const keeps = inFiles("adversary/kills", "adversary/sqlite");
const attacks = without(inFolders("adversary"), keeps);
const fields = inFiles("editor/form", "editor/sections", "editor/token", "editor/url");
const trials = inFiles("editor/handling", "editor/handover", "editor/standing", "editor/trial", "editor/window");
const tab = all.filter((path) => /^test\/editor\/(deliver|replay)/.test(path));
const editor = without(inFolders("editor"), [...fields, ...trials, ...tab]);
// What depends on the version of Node.js.
const contract = inFiles(
  "runtime/contract",
  "runtime/replies",
  "runtime/signed",
  "runtime/files",
  "runtime/guaranteed",
  "runtime/front",
  "runtime/front-credentials",
  "runtime/front-deploys",
);
// What depends on the version of Node.js besides: its SQLite, and the package itself.
const versioned = [...inFolders("node"), ...all.filter((path) => path.startsWith("test/unit/deliveries/"))];
// What depends on the version of the editor.
const editorInShort = inFiles(
  "editor/form",
  "editor/accessibility",
  "editor/palette",
  "editor/story",
  "editor/deliveries-story",
);

/** The versions on which a part runs. */
class Versions {
  /**
   * @param {string} name
   * @param {() => string} node the path of a Node.js
   * @param {() => string} nodeRed the folder of a Node-RED
   */
  constructor(name, node, nodeRed) {
    this.name = name;
    this.node = node;
    this.nodeRed = nodeRed;
  }

  /**
   * A part that runs on them, in a process of its own.
   *
   * @param {string} what
   * @param {string[]} specs
   * @param {boolean} hasOtherFonts whether texts have other widths there
   */
  run(what, specs, hasOtherFonts = false) {
    const { name: versions, node, nodeRed } = this;
    return { title: `${versions}, ${what}`, versions, node, nodeRed, specs, hasOtherFonts };
  }
}

const oldest = new Versions(
  "Node-RED 4.1 on Node 20",
  () => nodeBinary(20),
  () => nodeRedFolder(4),
);
const others = /** @type {const} */ ([22, 24, 26]).map(
  (major) =>
    new Versions(
      `Node-RED 5 on Node ${major}`,
      () => nodeBinary(major),
      () => nodeRedFolder(5),
    ),
);
const latest = new Versions("Node-RED 5", modernNode, () => nodeRedFolder(5));

// Those parts come first that take longest, so that at the end none is left alone with one processor.

/** What runs on each of the supported versions: the contract, and on the oldest what depends on Node-RED's version. */
export const matrix = [
  oldest.run("the editor", editorInShort),
  ...[oldest, ...others].map((versions) => versions.run("the contract", contract)),
  oldest.run("compared with http in", differential),
  oldest.run("what surrounds the node", inFiles("runtime/configuration", "runtime/settings")),
  ...[oldest, ...others].map((versions) => versions.run("what runs alone", versioned)),
];

/** All tests. */
export const everything = [
  latest.run("stores and instances that fail", [...keeps, ...instances]),
  latest.run("what people see first", inFolders("demo", "package")),
  latest.run("attacks", attacks),
  latest.run("what senders meet", senders),
  latest.run("guaranteed delivery", guaranteed),
  latest.run("the fields of the form", fields),
  latest.run("the form and what came of requests", trials),
  latest.run("the form in its editor", editor),
  latest.run("the tab of deliveries", tab),
  latest.run("compared with http in", differential),
  latest.run("what surrounds the node", [...surroundings, ...java]),
  latest.run("what runs alone", alone),
];

/** What tells within a minute whether a change is on the way. */
export const quick = [
  latest.run("in small", [
    ...small,
    ...inFolders("property"),
    ...inFiles("runtime/admin-paths", "runtime/trial", "package/imports"),
  ]),
  latest.run("the first webhook", inFiles("editor/story")),
];

/** What depends on how wide a text is. */
export const layout = [
  latest.run("the layout of texts", inFiles("editor/languages", "editor/window", "demo/examples"), true),
];
