/**
 * Runs all tests on Node-RED 5; with `--all`, also what of them runs on the other supported versions and with other fonts;
 * with `--matrix="Node-RED 5 on Node 22"`, what of them runs on these; with `--fonts`, those that depend on the widths of
 * texts, with other fonts; with `--quick`, less than a minute's worth of them. Further arguments go to mocha:
 * `npm test -- --grep token`.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { everything, layout, matrix, quick } from "./matrix.mjs";
import { build, chromium, commandOf, ensureDependencies, modernNode, pathOf, programs, root, run } from "./setup.mjs";

/** @typedef {import("./matrix.mjs").Run} Run */
/** @typedef {import("./reporter.mjs").Result} Result */

const args = process.argv.slice(2);
const isChoice = (/** @type {string} */ arg) => /^--(all|matrix=.*|quick|fonts)$/.test(arg);
const mochaArgs = args.filter((arg) => !isChoice(arg));
const [choice, ...more] = args.filter(isChoice);
if (more.length > 0) throw new Error(`${String(choice)} and ${more.join(" and ")} are run one after the other`);
const [first, ...others] = runsOf(choice);

const missing = first === everything ? programs.filter((program) => !pathOf(program)) : [];
const leftOut = missing.map(
  ({ name, specs, besides = [], packages, variable }) =>
    `Left out ${specs.concat(besides).join(", ")}: there is no ${name} here. Install Debian's (apt-get install ${packages}), or set ${variable}.\n`,
);
if (missing.some((program) => process.env[program.required])) throw new Error(leftOut.join(""));

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
// Three files for each processor at a time, since most of them wait most of the time.
const processors = availableParallelism();
const beside = others.length > 0 ? processors : 0;
await Promise.all([runTests(first, 3 * processors - beside, true), runInTurn(others, beside)]);
// At the end once more: of a long report, that is what is looked at first.
process.stdout.write(`${failures.join("")}\n${passes} passed, ${failures.length} failed\n`);
if (failures.length > 0 || passes === 0) process.exit(1);

/**
 * What to run.
 *
 * @param {string | undefined} option
 * @returns {[Run, ...Run[]]}
 */
function runsOf(option) {
  if (option === undefined) return [everything];
  if (option === "--quick") return [quick];
  if (option === "--fonts") return [layout];
  // What runs everything runs what is tested on the same versions as well.
  if (option === "--all") return [everything, ...matrix.filter(({ node }) => node() !== modernNode()), layout];
  const chosen = matrix.find(({ title }) => option === `--matrix=${title}`);
  if (chosen) return [chosen];
  throw new Error(`${option} is none of ${matrix.map(({ title }) => title).join(", ")}`);
}

/**
 * @param {Run[]} runs
 * @param {number} jobs
 */
async function runInTurn(runs, jobs) {
  for (const each of runs) await runTests(each, jobs, false);
}

/**
 * Runs tests by mocha.
 *
 * @param {Run} run
 * @param {number} jobs how many files at a time
 * @param {boolean} isShown whether its report is shown while it runs, and not at its end
 */
async function runTests({ title, node, nodeRed, specs, hasOtherFonts, env }, jobs, isShown) {
  const ignored = missing.flatMap((program) => program.specs.flatMap((spec) => ["--ignore", spec]));
  const child = fork(
    commandOf("mocha", "bin/mocha.js"),
    ["--parallel", "--jobs", `${jobs}`, "--reporter", "scripts/reporter.mjs", ...specs, ...ignored, ...mochaArgs],
    {
      cwd: root,
      execPath: node(),
      silent: true,
      env: {
        ...process.env,
        ...(hasOtherFonts && otherFonts(join(root, ".cache", "fonts"))),
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

/**
 * An environment without the fonts of Debian's fonts-liberation, in which texts have other widths.
 *
 * @param {string} folder where its configuration is written to
 */
function otherFonts(folder) {
  const system = process.env.FONTCONFIG_FILE ?? "/etc/fonts/fonts.conf";
  const file = join(folder, "fonts.conf");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include>${system}</include>
  <selectfont><rejectfont><glob>*/Liberation*</glob></rejectfont></selectfont>
</fontconfig>
`,
  );
  const env = { FONTCONFIG_FILE: file };
  const list = (/** @type {typeof process.env} */ more) =>
    execFileSync("fc-list", { encoding: "utf8", env: { ...process.env, ...more } });
  if (!list({}).includes("Liberation") || list(env).includes("Liberation") || !list(env)) {
    throw new Error("There are no other fonts: --fonts needs Debian's fonts-liberation, and fonts besides.");
  }
  return env;
}
