/** The versions that the tests run on, and what of the tests runs on each. */
import { modernNode, nodeBinary, nodeRedFolder } from "./setup.mjs";

const inFolders = (/** @type {string[]} */ ...folders) => folders.map((folder) => `test/${folder}/**/*.test.ts`);
const runtime = inFolders("unit", "node", "runtime", "property");
const attacks = inFolders("adversary");
// Not all of the editor's tests: the others pass there, too, but take minutes.
const editor = ["palette", "story", "form", "accessibility"].map((name) => `test/editor/${name}.test.ts`);

export const matrix = [
  { title: "Node-RED 5 on Node 22", node: () => nodeBinary(22), nodeRed: () => nodeRedFolder(5), specs: runtime },
  { title: "Node-RED 5 on Node 24", node: () => nodeBinary(24), nodeRed: () => nodeRedFolder(5), specs: runtime },
  { title: "Node-RED 5 on Node 26", node: () => nodeBinary(26), nodeRed: () => nodeRedFolder(5), specs: runtime },
  {
    title: "Node-RED 4.1 on Node 20",
    node: () => nodeBinary(20),
    nodeRed: () => nodeRedFolder(4),
    specs: [...runtime, ...attacks, ...editor],
  },
];

const latest = { node: modernNode, nodeRed: () => nodeRedFolder(5) };

/** All tests, in two halves that take about the same time. */
export const everything = [
  { title: "Node-RED 5, what people see", ...latest, specs: inFolders("editor", "demo", "package") },
  { title: "Node-RED 5, what senders meet", ...latest, specs: [...runtime, ...attacks] },
];
