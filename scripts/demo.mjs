/**
 * Starts Node-RED 5 with the webhook trigger, an example flow and a new token, and prints how to try it out; with
 * `--instances 3`, three of them that share what must not be lost.
 * Nothing is kept from one start to the next, and nothing is left running or lying about at the end.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { obstacleOf, removal, stopped } from "./demo/node-red.mjs";
import { ensureDependencies, modernNode, pathOf, programsOfInstances, root } from "./setup.mjs";

const port = process.env.PORT || "1880";
/** How many instances there may be, besides one. */
const [min, max] = [2, 9];

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
const demos = join(root, ".cache", "demo");
mkdirSync(demos, { recursive: true });
// Named after this process, to tell whose it is.
const folder = mkdtempSync(join(demos, `${process.pid}-`));
process.on("exit", () => rmSync(folder, removal));
// A process of its own has all programs: it ends them also where this one cannot do that any more.
const child = fork(join(root, "scripts", "demo", "run.mjs"), [`${instances}`, port, folder, modernNode()]);
stopping.signal.addEventListener("abort", () => child.connected && child.disconnect());
await once(child, "exit");
process.exitCode = child.exitCode ?? 1;

/** Why there cannot be several instances, if they are wanted. */
function obstacleToInstances() {
  if (instances === 1) return undefined;
  if (!(instances >= min && instances <= max)) {
    return `${args} is not understood. Please choose from ${min} to ${max}: npm run demo -- --instances 3`;
  }
  const missing = programsOfInstances.filter((program) => !pathOf(program));
  const lines = missing.map(({ name, packages, variable }) => `There is no ${name} here. Install it (apt-get install ${packages}), or set ${variable} to the path of one.`); // prettier-ignore
  return lines.length > 0 ? lines.join("\n") : undefined;
}
