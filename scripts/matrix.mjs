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
// Each engine that keeps deliveries, with all that it promises: they take longer than all others of the small ones.
const slow = inFiles("unit/deliveries/queue", "unit/deliveries/duplicates");
const alone = [...small, ...inFolders("property", "sdk")];
const surroundings = inFiles(
  "runtime/configuration",
  "runtime/settings",
  "runtime/front",
  "runtime/front-credentials",
  "runtime/front-deploys",
);
const instances = inFiles("runtime/instances");
const java = inFiles("runtime/java");
const guaranteed = inFiles(
  "runtime/completion",
  "runtime/guaranteed",
  "runtime/guaranteed-settings",
  "runtime/pace",
  "runtime/store-troubles",
);
const senders = without(inFolders("runtime"), [...surroundings, ...guaranteed, ...instances, ...java]);
const differential = inFolders("differential");
const keeps = inFiles("adversary/kills", "adversary/sqlite");
const attacks = without(inFolders("adversary"), keeps);
const recipes = inFiles("demo/recipes");
const tab = all.filter((path) => path.startsWith("test/editor/deliver"));
const form = inFiles("editor/form", "editor/accessibility", "editor/languages", "editor/sender");
const page = inFiles("editor/page", "editor/answers-in-front");
const actions = [...without(inFolders("editor"), [...tab, ...form, ...page]), ...recipes];
// What depends on the version of Node.js: its HTTP server, its SQLite, and the package itself.
const versioned = [
  ...inFiles("runtime/contract", "runtime/files", "runtime/guaranteed", "unit/deliveries/queue", "property/charsets"),
  ...inFolders("node"),
];
// What depends on that of Node-RED besides.
const contract = [
  ...versioned,
  ...inFiles("runtime/field-cases", "runtime/replies", "runtime/signed", "runtime/front"),
];
// What depends on the version of the editor.
const editorInShort = inFiles("editor/form", "editor/accessibility", "editor/first-webhook");

/** Versions, by the paths of a Node.js and a Node-RED, which are fetched when they are needed. */
const oldest = { versions: "Node-RED 4.1 on Node 20", node: () => nodeBinary(20), nodeRed: () => nodeRedFolder(4) };
const others = /** @type {const} */ ([22, 24, 26]).map((major) => ({
  versions: `Node-RED 5 on Node ${major}`,
  node: () => nodeBinary(major),
  nodeRed: () => nodeRedFolder(5),
}));
const latest = { versions: "Node-RED 5", node: modernNode, nodeRed: () => nodeRedFolder(5) };

/**
 * A part of the tests, which runs in a process of its own.
 *
 * @param {typeof oldest} on
 * @param {string} what
 * @param {string[]} specs
 * @param {{ hasOtherFonts?: boolean; env?: NodeJS.ProcessEnv }} [how] whether texts have other widths there
 */
function part(on, what, specs, { hasOtherFonts = false, env = {} } = {}) {
  return { ...on, title: `${on.versions}, ${what}`, specs, hasOtherFonts, env };
}

// Those parts come first that take longest, so that at the end none is left alone with one processor.

// BullMQ is JavaScript beside a server: the oldest, the latest and the newest Node.js tell what there is to tell.
const withoutServer = { env: { REDIS_PATH: "none", REDIS_REQUIRED: undefined } };

/** What runs on each of the supported versions: the contract, and on the oldest what depends on Node-RED's version. */
export const matrix = [
  part(oldest, "the editor", editorInShort),
  part(oldest, "the contract", contract),
  part(oldest, "compared with http in", differential),
  part(oldest, "what surrounds the node", without(surroundings, contract)),
  ...others.map((versions, index) => part(versions, "the contract", versioned, index === 0 ? withoutServer : {})),
];

/** All tests. */
export const everything = [
  part(latest, "guaranteed delivery", guaranteed),
  part(latest, "the tab of deliveries", tab),
  part(latest, "what senders meet", senders),
  part(latest, "the page, and what is in front", page),
  part(latest, "the form in its editor", form),
  part(latest, "what the form does", actions),
  part(latest, "compared with http in", differential),
  part(latest, "what runs alone", alone),
  part(latest, "stores and instances that fail", [...keeps, ...instances]),
  part(latest, "what people see first", without(inFolders("demo", "package"), recipes)),
  part(latest, "attacks", attacks),
  part(latest, "what surrounds the node", [...surroundings, ...java]),
];

/** What tells in less than a minute whether a change is on the way. */
export const quick = [
  part(latest, "the first webhook", inFiles("editor/first-webhook")),
  part(latest, "tokens", inFiles("adversary/token")),
  part(latest, "in small", without([...small, ...inFiles("package/imports")], slow)),
];

/** What depends on how wide a text is. */
export const layout = [
  part(latest, "the layout of texts", inFiles("editor/languages", "editor/accessibility"), { hasOtherFonts: true }),
];
