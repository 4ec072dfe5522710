/** The versions that the tests run on, and what of the tests runs on each. */
import { modernNode, nodeBinary, nodeRedFolder } from "./setup.mjs";

const runtime = ["unit", "node", "runtime", "property"].map((folder) => `test/${folder}/*.test.ts`);
const attacks = "test/adversary/*.test.ts";
// Not all of the editor's tests: the others pass there, too, but take minutes.
const editor = ["palette", "story", "form"].map((name) => `test/editor/${name}.test.ts`);

export const matrix = [
  { title: "Node-RED 5 on Node 22", node: () => nodeBinary(22), nodeRed: () => nodeRedFolder(5), specs: runtime },
  { title: "Node-RED 5 on Node 24", node: () => nodeBinary(24), nodeRed: () => nodeRedFolder(5), specs: runtime },
  {
    title: "Node-RED 4.1 on Node 20",
    node: () => nodeBinary(20),
    nodeRed: () => nodeRedFolder(4),
    specs: [...runtime, attacks, ...editor],
  },
];

export const everything = {
  title: "Node-RED 5, all tests",
  node: modernNode,
  nodeRed: () => nodeRedFolder(5),
  specs: ["test/**/*.test.ts"],
};
