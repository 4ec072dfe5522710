/**
 * Runs all tests on Node-RED 5; with `--matrix`, what of them runs on the other supported versions; with
 * `--matrix="Node-RED 5 on Node 22"`, what of them runs on these; with `--quick`, a minute's worth of them; with
 * `--fonts`, those that depend on the widths of texts, with other fonts; with several of these, all of that. Further
 * arguments go to mocha: `npm test -- --grep token`.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { everything, layout, matrix, quick } from "./matrix.mjs";
import {
  build,
  chromium,
  commandOf,
  ensureDependencies,
  modernNode,
  nodeRedFolder,
  pathOf,
  programs,
  root,
} from "./setup.mjs";

/** @typedef {import("./reporter.mjs").Failure} Failure */
/** @typedef {import("./reporter.mjs").Result} Result */

const args = process.argv.slice(2);
const isChoice = (/** @type {string} */ arg) => /^--(matrix(=.*)?|quick|fonts)$/.test(arg);
const mochaArgs = args.filter((arg) => !isChoice(arg));
const choices = args.filter(isChoice);
const runs = choices.length === 0 ? everything : choices.flatMap(runsOf);

const missing = runs === everything ? programs.filter((program) => !pathOf(program)) : [];
const leftOut = (/** @type {typeof missing} */ without) =>
  without.map(
    ({ name, specs, besides = [], packages, variable }) =>
      `Left out ${specs.concat(besides).join(", ")}: there is no ${name} here. Install Debian's (apt-get install ${packages}), or set ${variable}.\n`,
  );
const required = missing.filter((program) => process.env[program.required]);
if (required.length > 0) throw new Error(leftOut(required).join(""));

ensureDependencies();
build();
// What Node.js has compiled once, it need not compile again at each start of a Node-RED.
const compiled = join(root, ".cache", "compiled");
rmSync(compiled, { recursive: true, force: true });
const fonts = choices.includes("--fonts") ? otherFonts(join(root, ".cache", "fonts")) : {};

process.stdout.write(leftOut(missing).join(""));
let passes = 0;
/** @type {({ title: string } & Failure)[]} */
const failures = [];
// Six more at a time than there are processors, since each waits for its Node-RED and its browser most of the time. The
// first speaks as it goes, each other one when its turn has come.
const waiting = runs.map((entry) => ({ entry, output: new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER }) }));
const speaking = speak(waiting.map(({ entry, output }) => ({ title: entry.title, output })));
await Promise.all(Array.from({ length: availableParallelism() + 6 }, () => runWaiting()));
await speaking;
// At the end once more: of a long report, that is what is looked at first.
for (const { title, test, error } of failures) process.stdout.write(`\n${title}: ${test}\n  ${error}\n`);
process.stdout.write(`\n${passes} passed, ${failures.length} failed\n`);
if (failures.length > 0 || passes === 0) process.exit(1);

/** Runs one entry after the other until none is left. */
async function runWaiting() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { title } = next.entry;
    const result = await runEntry(next.entry, next.output);
    passes += result.passes;
    failures.push(...result.failures.map((failure) => ({ title, ...failure })));
  }
}

/**
 * Runs the tests of an entry in a process of its own.
 *
 * @param {typeof runs[number]} entry
 * @param {PassThrough} output what it says, which nobody may be listening to yet: a full pipe would stop it
 * @returns {Promise<Result>}
 */
async function runEntry({ title, node, nodeRed, specs, hasOtherFonts }, output) {
  const child = fork(
    commandOf("mocha", "bin/mocha.js"),
    [
      "--reporter",
      "scripts/reporter.mjs",
      ...specs,
      ...missing.flatMap(({ specs: all }) => all.flatMap((spec) => ["--ignore", spec])),
      ...mochaArgs,
    ],
    {
      cwd: root,
      execPath: node(),
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "pipe", "inherit", "ipc"],
      env: {
        ...process.env,
        ...(hasOtherFonts ? fonts : {}),
        NODE_COMPILE_CACHE: compiled,
        CHROMIUM_PATH: chromium(),
        NODE_RED_FOLDER: nodeRed(),
      },
    },
  );
  child.stdout?.pipe(output);
  /** @type {Result | undefined} */
  let result;
  child.on("message", (/** @type {Result} */ message) => (result = message));
  const closed = /** @type {Promise<[number | null]>} */ (once(child, "close"));
  const [status] = await closed;
  if (!result) throw new Error(`${title}: the tests ended with ${String(status)} before they were done`);
  if (status === 0 || result.failures.length > 0) return result;
  return { ...result, failures: [{ test: "all of them", error: `ended with ${String(status)}` }] };
}

/**
 * Prints what the entries say, one after the other.
 *
 * @param {{ title: string, output: PassThrough }[]} speakers
 */
async function speak(speakers) {
  for (const { title, output } of speakers) {
    process.stdout.write(`\n${title}\n`);
    const said = /** @type {AsyncIterable<Buffer>} */ (output);
    for await (const text of said) process.stdout.write(text);
  }
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
function runsOf(option) {
  if (option === "--quick") return quick;
  if (option === "--fonts") return layout;
  // What runs everything runs the same versions' part of the matrix as well.
  if (option === "--matrix") {
    return matrix.filter(({ node, nodeRed }) => node() !== modernNode() || nodeRed() !== nodeRedFolder(5));
  }
  const chosen = matrix.filter(({ versions }) => option === `--matrix=${versions}`);
  if (chosen.length > 0) return chosen;
  throw new Error(`${option} is none of ${[...new Set(matrix.map(({ versions }) => versions))].join(", ")}`);
}
