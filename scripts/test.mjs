/**
 * Runs all tests on Node-RED 5; with `--matrix`, what of them runs on the other supported versions; with
 * `--matrix="Node-RED 5 on Node 22"`, what of them runs on these. Further arguments go to mocha:
 * `npm test -- --grep token`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { everything, matrix } from "./matrix.mjs";
import { build, chromium, commandOf, ensureDependencies, modernNode, nginx, nodeRedFolder, root } from "./setup.mjs";

const args = process.argv.slice(2);
const isMatrix = (/** @type {string} */ arg) => /^--matrix(=|$)/.test(arg);
const mochaArgs = args.filter((arg) => !isMatrix(arg));
const runs = runsOf(args.find(isMatrix));

const withNginx = "test/demo/nginx.test.ts";
const nginxPath = nginx();
const leftOut =
  nginxPath || runs !== everything
    ? ""
    : `Left out ${withNginx}: there is no nginx here. Install Debian's (apt-get install nginx), or set NGINX_PATH.\n`;
if (leftOut && process.env.NGINX_REQUIRED) throw new Error(leftOut);

ensureDependencies();
build();

if (leftOut) process.stdout.write(leftOut);
const total = { passes: 0, failures: 0 };
// All at once: a test waits more than it works. The first speaks as it goes, each other one when its turn has come.
let turn = Promise.resolve();
for (const { title, node, nodeRed, specs } of runs) {
  const child = fork(
    commandOf("mocha", "bin/mocha.js"),
    ["--reporter", "scripts/reporter.mjs", ...specs, ...(leftOut ? ["--ignore", withNginx] : []), ...mochaArgs],
    {
      cwd: root,
      execPath: node(),
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "pipe", "inherit", "ipc"],
      env: {
        ...process.env,
        CHROMIUM_PATH: chromium(),
        NODE_RED_FOLDER: nodeRed(),
        ...(nginxPath && { NGINX_PATH: nginxPath }),
      },
    },
  );
  /** @type {typeof total | undefined} */
  let counts;
  child.on("message", (/** @type {typeof total} */ message) => (counts = message));
  const exit = /** @type {Promise<[number | null]>} */ (once(child, "exit"));
  turn = turn.then(async () => {
    process.stdout.write(`\n${title}\n`);
    child.stdout?.pipe(process.stdout, { end: false });
    const [status] = await exit;
    if (!counts) throw new Error(`the tests ended with ${String(status)} before they were done`);
    total.passes += counts.passes;
    total.failures += counts.failures;
    if (status !== 0 && counts.failures === 0) total.failures++;
  });
}
await turn;
process.stdout.write(`\n${total.passes} passed, ${total.failures} failed\n`);
if (total.failures > 0 || total.passes === 0) process.exit(1);

/**
 * What to run.
 *
 * @param {string | undefined} option
 */
function runsOf(option) {
  if (option === undefined) return everything;
  // What runs everything runs the same versions' part of the matrix as well.
  if (option === "--matrix") {
    return matrix.filter(({ node, nodeRed }) => node() !== modernNode() || nodeRed() !== nodeRedFolder(5));
  }
  const chosen = matrix.filter(({ title }) => option === `--matrix=${title}`);
  if (chosen.length > 0) return chosen;
  throw new Error(`${option} is none of ${matrix.map(({ title }) => title).join(", ")}`);
}
