/**
 * Runs all tests on Node-RED 5; with `--all`, also what of them runs with other fonts and on the other supported
 * versions; with `--matrix="Node-RED 5 on Node 22"`, what of them runs on these; with `--fonts`, those that depend on the
 * widths of texts, with other fonts; with `--quick`, less than a minute's worth of them. Further arguments go to mocha:
 * `npm test -- --grep token`.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { everything, layout, matrix, quick } from "./matrix.mjs";
import {
  atOnce,
  build,
  chromium,
  commandOf,
  ensureDependencies,
  modernNode,
  nodeRedFolder,
  pathOf,
  programs,
  root,
  run,
} from "./setup.mjs";

/** @typedef {import("./reporter.mjs").Result} Result */

const args = process.argv.slice(2);
const isChoice = (/** @type {string} */ arg) => /^--(all|matrix=.*|quick|fonts)$/.test(arg);
const mochaArgs = args.filter((arg) => !isChoice(arg));
const choices = args.filter(isChoice);
const parts = choices.length === 0 ? everything : choices.flatMap(partsOf);

const runsAll = choices.length === 0 || choices.includes("--all");
const missing = runsAll ? programs.filter((program) => !pathOf(program)) : [];
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
const fonts = parts.some(({ hasOtherFonts }) => hasOtherFonts) ? otherFonts(join(root, ".cache", "fonts")) : {};

let passes = 0;
/** @type {string[]} */
const failures = [];
// Three for each processor, since most of them wait most of the time.
await atOnce(3 * availableParallelism(), parts, async (part) => {
  const { report, result } = await runPart(part);
  process.stdout.write(`\n${part.title}\n${report}`);
  passes += result.passes;
  failures.push(...result.failures.map(({ test, error }) => `\n${part.title}: ${test}\n  ${error}\n`));
});
// At the end once more: of a long report, that is what is looked at first.
process.stdout.write(`${failures.join("")}\n${passes} passed, ${failures.length} failed\n`);
if (failures.length > 0 || passes === 0) process.exit(1);

/**
 * Runs the tests of a part in a process of its own.
 *
 * @param {typeof parts[number]} part
 */
async function runPart({ node, nodeRed, specs, hasOtherFonts, env }) {
  const ignored = missing.flatMap((program) => program.specs.flatMap((spec) => ["--ignore", spec]));
  const child = fork(
    commandOf("mocha", "bin/mocha.js"),
    ["--reporter", "scripts/reporter.mjs", ...specs, ...ignored, ...mochaArgs],
    {
      cwd: root,
      execPath: node(),
      execArgv: ["--import", "tsx"],
      silent: true,
      env: {
        ...process.env,
        ...(hasOtherFonts ? fonts : {}),
        ...env,
        NODE_COMPILE_CACHE: compiled,
        CHROMIUM_PATH: chromium(),
        NODE_RED_FOLDER: nodeRed(),
        PACKAGE_FOLDER: installed,
      },
    },
  );
  let report = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (/** @type {string} */ text) => (report += text));
  }
  /** @type {Result} */
  let result = { passes: 0, failures: [] };
  child.on("message", (/** @type {Result} */ message) => (result = message));
  const closed = /** @type {Promise<[number | null]>} */ (once(child, "close"));
  const [status] = await closed;
  if (status !== 0 && result.failures.length === 0) {
    result.failures.push({ test: "all of them", error: `ended with ${String(status)}` });
  }
  return { report, result };
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

/**
 * What to run.
 *
 * @param {string} option
 */
function partsOf(option) {
  if (option === "--quick") return quick;
  if (option === "--fonts") return layout;
  if (option === "--all") {
    // What runs everything runs the same versions' part of the matrix as well.
    const others = matrix.filter(({ node, nodeRed }) => node() !== modernNode() || nodeRed() !== nodeRedFolder(5));
    return [...others, ...layout, ...everything];
  }
  const chosen = matrix.filter(({ versions }) => option === `--matrix=${versions}`);
  if (chosen.length > 0) return chosen;
  throw new Error(`${option} is none of ${[...new Set(matrix.map(({ versions }) => versions))].join(", ")}`);
}
