/** What the tests run on, and which of them on each. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { modernNode, nodeBinary, nodeRedFolder, root } from "./setup.mjs";

const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .sort();
const inFolders = (/** @type {string[]} */ ...folders) =>
  all.filter((path) => folders.some((folder) => path.startsWith(`test/${folder}/`)));
const inFiles = (/** @type {string[]} */ ...names) => names.map((name) => named(`test/${name}.test.ts`));

/** Those that take longest begin first: so none of them is left alone with one processor at the end. */
const slowest = inFiles(
  "differential/differential",
  "unit/deliveries/queue",
  "editor/accessibility",
  "editor/page",
  "runtime/field-cases",
  "runtime/guaranteed",
  "editor/deliveries",
  "adversary/waiting",
  "runtime/instances",
  "runtime/store-troubles",
  "unit/deliveries/instances",
  "adversary/sqlite",
  "demo/docker",
);
/**
 * What runs in one mocha: versions, by the paths of a Node.js and a Node-RED, which are fetched when they are needed, and
 * specs.
 *
 * @typedef {object} Run
 * @property {string} title
 * @property {() => string} node
 * @property {() => string} nodeRed
 * @property {string[]} specs
 * @property {NodeJS.ProcessEnv} [env]
 */

const latest = { title: "Node-RED 5", node: modernNode, nodeRed: () => nodeRedFolder(5) };

/** All tests. @type {Run} */
export const everything = {
  ...latest,
  specs: [...slowest, ...all.filter((path) => !slowest.includes(path))],
};

const isLong = (/** @type {string} */ path) => /^test\/(runtime|editor|adversary|differential)\//.test(path);

/** The same in two parts: what takes long, and what runs beside it, before the other versions. @type {[Run, Run]} */
export const halves = [
  { ...everything, specs: everything.specs.filter(isLong) },
  { ...everything, title: "Node-RED 5, the rest", specs: everything.specs.filter((path) => !isLong(path)) },
];

/** What tells in less than a minute whether a change is on the way. @type {Run} */
export const quick = {
  ...latest,
  specs: [
    ...inFiles("editor/first-webhook", "adversary/token", "package/imports"),
    // The engines that keep deliveries, with all that they promise, take longer than all others of these.
    ...all.filter((path) => /^test\/(node|unit(?!\/deliveries\/(queue|duplicates|instances)\.))/.test(path)),
  ],
};

// What depends on the version of Node.js: its HTTP server, its SQLite, and the package itself.
const versioned = [
  ...inFiles("runtime/guaranteed", "unit/deliveries/queue", "property/charsets", "runtime/contract", "runtime/files"),
  ...inFolders("node"),
];

/** What runs on each of the supported versions: on the oldest besides what depends on Node-RED's. @type {Run[]} */
export const matrix = [
  {
    title: "Node-RED 4.1 on Node 20",
    node: () => nodeBinary(20),
    nodeRed: () => nodeRedFolder(4),
    specs: [
      ...inFolders("differential"),
      ...inFiles("editor/form", "editor/callers", "editor/accessibility", "editor/languages", "editor/first-webhook"),
      ...versioned,
      ...inFiles(
        "runtime/configuration",
        "runtime/callers",
        "runtime/settings",
        "runtime/field-cases",
        "runtime/replies",
        "runtime/signed",
      ),
      ...inFiles("runtime/front", "runtime/front-credentials", "runtime/front-deploys"),
    ],
    // Without Debian's fonts-liberation, texts have other widths.
    env: { FONTCONFIG_FILE: join(root, "test", "data", "other-fonts.conf") },
  },
  ...[22, 24, 26].map((major) => ({
    ...latest,
    title: `Node-RED 5 on Node ${major}`,
    node: () => nodeBinary(/** @type {22 | 24 | 26} */ (major)),
    specs: versioned,
    // BullMQ is JavaScript beside a server: the oldest, the latest and the newest Node.js tell what there is to tell.
    env: major === 22 ? { WITHOUT_SERVER: "1" } : {},
  })),
];

/** @param {string} path of a spec: mocha only warns where there is none */
function named(path) {
  if (!all.includes(path)) throw new Error(`There is no ${path}`);
  return path;
}
