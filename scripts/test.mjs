/**
 * Runs all tests on Node-RED 5; with `--matrix`, the runtime tests on the other supported versions as well.
 * Further arguments go to mocha: `npm test -- --grep token`.
 */
import { fork } from "node:child_process";
import {
  build,
  chromium,
  commandOf,
  ensureDependencies,
  modernNode,
  nodeBinary,
  nodeRedFolder,
  root,
} from "./setup.mjs";

ensureDependencies();
build();

const all = ["test/**/*.test.ts"];
const runtime = ["unit", "node", "runtime", "property"].map((folder) => `test/${folder}/*.test.ts`);
const attacks = "test/adversary/*.test.ts";
const matrix = [
  { title: "Node-RED 5 on Node 22", node: () => nodeBinary(22), nodeRed: () => nodeRedFolder(5), specs: runtime },
  { title: "Node-RED 5 on Node 24", node: () => nodeBinary(24), nodeRed: () => nodeRedFolder(5), specs: runtime },
  {
    title: "Node-RED 4.1 on Node 20",
    node: () => nodeBinary(20),
    nodeRed: () => nodeRedFolder(4),
    specs: [...runtime, attacks],
  },
];
const everything = { title: "Node-RED 5, all tests", node: modernNode, nodeRed: () => nodeRedFolder(5), specs: all };

const args = process.argv.slice(2);
const mochaArgs = args.filter((arg) => arg !== "--matrix");
// What runs everything runs the same versions' part of the matrix as well.
const rest = () => matrix.filter(({ node, nodeRed }) => node() !== modernNode() || nodeRed() !== nodeRedFolder(5));
const runs = args.includes("--matrix") ? rest() : [everything];

const total = { passes: 0, failures: 0 };
for (const { title, node, nodeRed, specs } of runs) {
  const execPath = node();
  process.stdout.write(`\n${title}\n`);
  const child = fork(
    commandOf("mocha", "bin/mocha.js"),
    ["--reporter", "scripts/reporter.mjs", ...specs, ...mochaArgs],
    {
      cwd: root,
      execPath,
      execArgv: ["--import", "tsx"],
      env: { ...process.env, CHROMIUM_PATH: chromium(), NODE_RED_FOLDER: nodeRed() },
    },
  );
  /** @type {typeof total | undefined} */
  let counts;
  child.on("message", (/** @type {typeof total} */ message) => (counts = message));
  /** @type {number | null} */
  const status = await new Promise((resolve) => child.once("exit", resolve));
  if (!counts) throw new Error(`the tests ended with ${String(status)} before they were done`);
  total.passes += counts.passes;
  total.failures += counts.failures;
  if (status !== 0 && counts.failures === 0) total.failures++;
}
if (runs.length > 1) process.stdout.write(`\n${total.passes} passed, ${total.failures} failed\n`);
if (total.failures > 0 || total.passes === 0) process.exit(1);
