/**
 * Runs all tests on Node-RED 5; with `--all`, also what of them runs on the other supported versions; with
 * `--matrix="Node-RED 5 on Node 22"`, what of them runs on these; with `--quick`, less than a minute's worth of them.
 * Further arguments go to mocha: `npm test -- --grep token`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { everything, halves, matrix, quick } from "./matrix.mjs";
import { build, chromium, ensureDependencies, findProgram, modernNode, programs, root, run } from "./setup.mjs";

/** @typedef {import("./matrix.mjs").Run} Run */
/** @typedef {import("./reporter.mjs").Result} Result */

const args = process.argv.slice(2);
const isChoice = (/** @type {string} */ arg) => /^--(all|matrix=.*|quick)$/.test(arg);
const mochaArgs = args.filter((arg) => !isChoice(arg));
const [choice, ...more] = args.filter(isChoice);
if (more.length > 0) throw new Error(`${String(choice)} and ${more.join(" and ")} are run one after the other`);
const runs = runsOf(choice);

const missing = programs.filter(({ names }) => !findProgram(...names));
const leftOut = missing.map(
  ({ names, specs, debian }) =>
    `Left out what needs ${names.join(" or ")} (${specs.join(", ")}): apt-get install ${debian}\n`,
);
const required = (process.env.REQUIRED_PROGRAMS ?? "").split(" ");
if (missing.some(({ debian }) => required.includes(debian))) throw new Error(leftOut.join(""));

ensureDependencies();
build();
// Outside of this folder, whose modules the package would find.
const installed = mkdtempSync(join(tmpdir(), "webhook-trigger-package-"));
process.on("exit", () => rmSync(installed, { recursive: true, force: true }));
run(process.execPath, [join(root, "scripts", "install.mjs"), installed]);
process.stdout.write(leftOut.join(""));
// What Node.js has compiled once, it need not compile again at each start of a Node-RED.
const compiled = join(root, ".cache", "compiled");
rmSync(compiled, { recursive: true, force: true });

let passes = 0;
/** @type {string[]} */
const failures = [];
// Three files for each processor at a time, since most of them wait most of the time; where there are several runs, two of
// them at a time.
const jobs = 3 * availableParallelism();
const lanes = runs.length === 1 ? [jobs] : [Math.ceil(jobs * 0.6), Math.floor(jobs * 0.4)];
await Promise.all(lanes.map((jobs, index) => runInTurn(jobs, index === 0)));
// At the end once more: of a long report, that is what is looked at first.
process.stdout.write(`${failures.join("")}\n${passes} passed, ${failures.length} failed\n`);
if (failures.length > 0 || passes === 0) process.exit(1);

/**
 * What to run.
 *
 * @param {string | undefined} option
 * @returns {Run[]}
 */
function runsOf(option) {
  if (option === undefined) return [everything];
  if (option === "--quick") return [quick];
  // What runs everything runs what is tested on the same versions as well.
  if (option === "--all") return [...halves, ...matrix.filter(({ node }) => node() !== modernNode())];
  const chosen = matrix.find(({ title }) => option === `--matrix=${title}`);
  if (chosen) return [chosen];
  throw new Error(`${option} is none of ${matrix.map(({ title }) => title).join(", ")}`);
}

/**
 * Runs what has not begun yet, one run after the other.
 *
 * @param {number} jobs
 * @param {boolean} isShown
 */
async function runInTurn(jobs, isShown) {
  for (let next = runs.shift(); next; next = runs.shift()) await runTests(next, jobs, isShown);
}

/**
 * Runs tests by mocha.
 *
 * @param {Run} run
 * @param {number} jobs how many files at a time
 * @param {boolean} isShown whether its report is shown while it runs, and not at its end
 */
async function runTests({ title, node, nodeRed, specs, env }, jobs, isShown) {
  const ignored = missing.flatMap(({ specs }) => specs.flatMap((spec) => ["--ignore", `test/${spec}.test.ts`]));
  const child = fork(
    join(root, "node_modules", "mocha", "bin", "mocha.js"),
    ["--parallel", "--jobs", `${jobs}`, "--reporter", "scripts/reporter.mjs", ...specs, ...ignored, ...mochaArgs],
    {
      cwd: root,
      execPath: node(),
      silent: true,
      env: {
        ...process.env,
        ...env,
        NODE_COMPILE_CACHE: compiled,
        CHROMIUM_PATH: chromium(),
        NODE_RED_FOLDER: nodeRed(),
        PACKAGE_FOLDER: installed,
      },
    },
  );
  let report = "";
  const hear = (/** @type {string} */ text) => {
    if (isShown) process.stdout.write(text);
    else report += text;
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", hear);
  /** @type {Result} */
  let result = { passes: 0, failures: [] };
  child.on("message", (/** @type {Result} */ message) => (result = message));
  const closed = /** @type {Promise<[number | null]>} */ (once(child, "close"));
  const [status] = await closed;
  if (status !== 0 && result.failures.length === 0) {
    result.failures.push({ test: "all of them", error: `ended with ${String(status)}` });
  }
  process.stdout.write(`${report}\n${title}: ${result.passes} passed, ${result.failures.length} failed\n`);
  passes += result.passes;
  failures.push(...result.failures.map(({ test, error }) => `\n${title}: ${test}\n  ${error}\n`));
}
