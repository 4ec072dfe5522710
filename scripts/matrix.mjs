/** The versions that the tests run on, and what of the tests runs on each. */
import { modernNode, nodeBinary, nodeRedFolder } from "./setup.mjs";

const inFolders = (/** @type {string[]} */ ...folders) => folders.map((folder) => `test/${folder}/**/*.test.ts`);
const inFiles = (/** @type {string[]} */ ...names) => names.map((name) => `test/${name}.test.ts`);
const small = inFolders("unit", "node", "property");
const runtime = [...small, ...inFolders("sdk", "runtime")];
// What holds for all inputs, and for the senders' own libraries, does so by our code alone: two versions of Node will do.
const runtimeOnOthers = inFolders("unit", "node", "runtime");
const attacks = inFolders("adversary");
// What stands in front depends on the version of Node-RED, not on that of Node.
const differential = inFolders("differential");
// Not all of the editor's tests: the others pass there, too, but take minutes.
const editor = inFiles("editor/palette", "editor/story", "editor/form", "editor/accessibility");

const oldest = { node: () => nodeBinary(20), nodeRed: () => nodeRedFolder(4) };

/** Those that take longest first. */
export const matrix = [
  { title: "Node-RED 4.1 on Node 20", ...oldest, specs: runtime },
  {
    title: "The front and the editor of Node-RED 4.1 on Node 20",
    ...oldest,
    specs: [...attacks, ...differential, ...editor],
  },
  {
    title: "Node-RED 5 on Node 22",
    node: () => nodeBinary(22),
    nodeRed: () => nodeRedFolder(5),
    specs: runtimeOnOthers,
  },
  { title: "Node-RED 5 on Node 24", node: () => nodeBinary(24), nodeRed: () => nodeRedFolder(5), specs: runtime },
  {
    title: "Node-RED 5 on Node 26",
    node: () => nodeBinary(26),
    nodeRed: () => nodeRedFolder(5),
    specs: runtimeOnOthers,
  },
];

const latest = { node: modernNode, nodeRed: () => nodeRedFolder(5) };

const form = inFiles(
  "editor/form",
  "editor/handling",
  "editor/handover",
  "editor/sections",
  "editor/trial",
  "editor/url",
);
const formInEditor = inFiles(
  ...["editor/accessibility", "editor/languages", "editor/palette", "editor/sender", "editor/standing"],
  ...["editor/story", "editor/survival", "editor/token"],
);

/** All tests, in parts of which some run at a time: those that take longest first. */
export const everything = [
  { title: "Node-RED 5, compared with http in", ...latest, specs: differential },
  { title: "Node-RED 5, what senders meet", ...latest, specs: runtime },
  { title: "Node-RED 5, the form", ...latest, specs: form },
  { title: "Node-RED 5, the form in its editor", ...latest, specs: formInEditor },
  { title: "Node-RED 5, what people see first", ...latest, specs: inFolders("demo", "package") },
  { title: "Node-RED 5, attacks", ...latest, specs: attacks },
];

/** What tells within a minute whether a change is on the way. */
export const quick = [
  {
    title: "Node-RED 5, in small",
    ...latest,
    specs: [...small, ...inFiles("runtime/admin-paths", "runtime/trial", "package/house")],
  },
  { title: "Node-RED 5, the first webhook", ...latest, specs: inFiles("editor/story") },
];

/** What depends on how wide a text is. */
export const layout = [
  { title: "Node-RED 5, the form's layout", ...latest, specs: inFiles("editor/form", "editor/trial") },
  {
    title: "Node-RED 5, the layout of texts",
    ...latest,
    specs: inFiles("editor/accessibility", "editor/languages", "demo/examples"),
  },
];
