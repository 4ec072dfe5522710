/**
 * Starts Node-RED 5 with the webhook trigger, an example flow and a new token, and prints how to try it out; with
 * `--instances 3`, three of them that share what must not be lost.
 * Nothing is kept from one start to the next, and nothing is left running or lying about at the end.
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  installPackage,
  newToken,
  obstacleOf,
  originIn,
  removal,
  startLimit,
  stopLimit,
  stopped,
  windows,
  writeFlow,
  writeSettings,
} from "./demo/node-red.mjs";
import { ensureDependencies, modernNode, nodeRedFolder, pathOf, programsOfInstances, root } from "./setup.mjs";

const port = process.env.PORT || "1880";
const example = "Token in the header.json";
/** How many instances there may be, besides one. */
const [fewest, most] = [2, 9];

// First of all: nobody should wait for an installation to hear that it was in vain.
const args = process.argv.slice(2).join(" ");
const instances = args === "" ? 1 : Number(/^--instances[ =](\d+)$/.exec(args)?.[1]);
const obstacle = obstacleToInstances() ?? (await obstacleOf(port));
if (obstacle) {
  process.stderr.write(`${obstacle}\n`);
  process.exit(1);
}

// What was started is stopped before this process ends.
const stopping = stopped();
// A signal to npm reaches only the shell that it runs this process in. When that one is gone, the parent is another.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) {
  setInterval(() => {
    if (process.ppid !== parent) stopping.abort();
  }, 200).unref();
}

ensureDependencies();
const node = modernNode();

const demos = join(root, ".cache", "demo");
mkdirSync(demos, { recursive: true });
// Named after this process, to tell whose it is.
const userDir = mkdtempSync(join(demos, `${process.pid}-`));
process.on("exit", () => rmSync(userDir, removal));
if (instances === 1) await runOne();
else await runSeveral();

/** Why there cannot be several instances, if they are wanted. */
function obstacleToInstances() {
  if (instances === 1) return undefined;
  if (!(instances >= fewest && instances <= most)) {
    return `${args} is not understood. Please choose from ${fewest} to ${most}: npm run demo -- --instances 3`;
  }
  const missing = programsOfInstances.filter((program) => !pathOf(program));
  const lines = missing.map(({ name, packages, variable }) => `There is no ${name} here. Install it (apt-get install ${packages}), or set ${variable} to the path of one.`); // prettier-ignore
  return lines.length > 0 ? lines.join("\n") : undefined;
}

/** A process of its own has all of them: it ends them also where this one cannot do that any more. */
async function runSeveral() {
  const child = fork(join(root, "scripts", "demo", "instances.mjs"), [`${instances}`, port, userDir, node]);
  stopping.signal.addEventListener("abort", () => child.connected && child.disconnect());
  const exit = /** @type {Promise<[number | null]>} */ (once(child, "exit"));
  const [code] = await exit;
  process.exitCode = code ?? 1;
}

async function runOne() {
  installPackage(userDir);
  writeSettings(userDir, Number(port));
  /** @type {unknown} */
  const parsed = JSON.parse(readFileSync(join(root, "examples", example), "utf8"));
  const nodes = /** @type {{ id: string, type: string, relativePath: string }[]} */ (parsed);
  const token = newToken();
  writeFlow(userDir, nodes, token);
  await runNodeRed(token, nodes.find(({ relativePath }) => relativePath)?.relativePath ?? "");
}

/**
 * Runs Node-RED until somebody stops it.
 *
 * @param {string} token
 * @param {string} path
 */
async function runNodeRed(token, path) {
  const nodeRed = spawn(node, [join(nodeRedFolder(5), "red.js"), "--userDir", userDir], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const exit = once(nodeRed, "exit");
  const close = once(nodeRed, "close");
  const hurry = setTimeout(() => nodeRed.kill("SIGKILL"), startLimit);
  stopping.signal.addEventListener("abort", () => {
    nodeRed.kill();
    setTimeout(() => nodeRed.kill("SIGKILL"), stopLimit).unref();
  });

  let log = "";
  for (const stream of [nodeRed.stdout, nodeRed.stderr]) {
    stream?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      if (originIn(log)) {
        process.stdout.write(text);
        return;
      }
      log += text;
      const origin = originIn(log);
      if (!origin) return;
      clearTimeout(hurry);
      process.stdout.write(instructions(origin, token, path));
    });
  }

  await exit;
  clearTimeout(hurry);
  if (stopping.signal.aborted) {
    process.stdout.write("\nStopped.\n");
    return;
  }
  // What it wrote last may still be on its way.
  await close;
  process.stderr.write(originIn(log) ? "Node-RED has ended by itself.\n" : `Node-RED did not start:\n${log}`);
  process.exitCode = 1;
}

/**
 * @param {string} origin
 * @param {string} token
 * @param {string} path
 */
function instructions(origin, token, path) {
  return `
Node-RED is running. Its editor, with a debug sidebar (the tab with the bug):

  ${origin}/

Paste this line into another terminal, and the message appears in the sidebar:

  ${windows ? "curl.exe" : "curl"} ${origin}${path} -H "Authorization: Bearer ${token}" --data "hello world"

The README's examples say $TOKEN. Paste this line before them:

  ${windows ? `$TOKEN = "${token}"` : `export TOKEN='${token}'`}

Stop it with Ctrl+C.

`;
}
