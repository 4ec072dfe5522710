/**
 * Starts Node-RED 5 with the webhook trigger, an example flow and a new token, and prints how to try it out.
 * Nothing is kept from one start to the next, and nothing is left running or lying about at the end.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { build, ensureDependencies, modernNode, nodeRedFolder, root } from "./setup.mjs";

const host = "127.0.0.1";
const port = process.env.PORT || "1880";
const example = "Token in the header.json";
/** A dist/ that stands ready, for a test that starts one demo after the other. */
const built = process.env.DEMO_DIST;
const windows = process.platform === "win32";
/** How long Node-RED may take to start, and then to stop, in ms. */
const startLimit = 60_000;
const stopLimit = 5000;
/** How a folder is removed: a file that Node-RED was just writing may come into it meanwhile, then it is tried again. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };

// First of all: nobody should wait for an installation to hear that it was in vain.
const obstacle = await obstacleOf(port);
if (obstacle) {
  process.stderr.write(`${obstacle}\n`);
  process.exit(1);
}

// Node-RED is stopped before this process ends; without a handler a signal would end this one at once.
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopping.abort());
// Nobody reads any more: the terminal was closed, or a pipe.
process.stdout.on("error", () => stopping.abort());
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
installPackage();
writeSettings();
const { token, path } = writeFlow();
await runNodeRed();

/**
 * Why a port cannot be had, if it cannot.
 *
 * @param {string} wanted
 */
async function obstacleOf(wanted) {
  const another = `choose another one: ${windows ? "$env:PORT = 1881; npm run demo" : "PORT=1881 npm run demo"}`;
  if (!/^\d{1,5}$/.test(wanted) || Number(wanted) > 65535)
    return `PORT is no port number: ${wanted}. Please ${another}`;
  const server = createServer().listen(Number(wanted), host);
  try {
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EADDRINUSE") return `Port ${wanted} is in use by another program. End that one, or ${another}`;
    return `Port ${wanted} is not to be had (${String(error.code)}). Please ${another}`;
  }
}

/** Puts the package where Node-RED looks for it, so that a later build does not touch what is running here. */
function installPackage() {
  const folder = join(userDir, "node_modules", "@flowhooks", "node-red-webhook-trigger");
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  const dist = join(folder, "dist");
  if (built) cpSync(built, dist, { recursive: true });
  else build(dist);
}

function writeSettings() {
  const settings = {
    uiHost: host,
    uiPort: Number(port),
    flowFile: "flows.json",
    credentialSecret: false,
    // The lines of the log that tell when Node-RED is ready come in this language.
    lang: "en-US",
    telemetry: { enabled: false },
    editorTheme: { tours: false },
    logging: { console: { level: "info" } },
  };
  // The channel to this process breaks when it ends, however it ends. Node-RED must not outlive it.
  const script = `
const { rmSync } = require("node:fs");
process.on("disconnect", () => process.exit());
process.on("exit", () => rmSync(__dirname, ${JSON.stringify(removal)}));
module.exports = ${JSON.stringify(settings, null, 2)};
`;
  writeFileSync(join(userDir, "settings.js"), script);
}

/** Writes the example flow and a new token for its webhook trigger. */
function writeFlow() {
  const flow = readFileSync(join(root, "examples", example), "utf8");
  /** @type {unknown} */
  const parsed = JSON.parse(flow);
  const nodes = /** @type {{ id: string, type: string, relativePath: string }[]} */ (parsed);
  const webhook = nodes.find(({ type }) => type === "webhook-trigger");
  if (!webhook) throw new Error(`${example} has no webhook trigger`);
  const token = randomBytes(30).toString("base64url");
  writeFileSync(join(userDir, "flows.json"), flow);
  writeFileSync(join(userDir, "flows_cred.json"), JSON.stringify({ [webhook.id]: { token } }));
  return { token, path: webhook.relativePath };
}

/** Runs Node-RED until somebody stops it. */
async function runNodeRed() {
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
      process.stdout.write(instructions(origin));
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
 * The origin that Node-RED serves at, once its log tells that the flows run and the port is open.
 *
 * @param {string} log
 */
function originIn(log) {
  return log.includes("Started flows") ? /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] : undefined;
}

/** @param {string} origin */
function instructions(origin) {
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
