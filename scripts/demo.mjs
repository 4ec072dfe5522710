/**
 * Starts Node-RED 5 with the webhook trigger, an example flow and a new token, and prints how to try it out.
 * Nothing is kept from one start to the next, and nothing is left running or lying about at the end.
 */
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { build, ensureDependencies, modernNode, nodeRedFolder, root } from "./setup.mjs";

const host = "127.0.0.1";
const port = process.env.PORT || "1880";
const windows = process.platform === "win32";
/** How long Node-RED may take to stop, in ms. */
const stopLimit = 5000;
/** How a folder is removed: a file that Node-RED was just writing may come into it meanwhile, then it is tried again. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };

// First of all: nobody should wait for an installation to hear that it was in vain.
const obstacle = await findObstacle();
if (obstacle) {
  process.stderr.write(`${obstacle}\n`);
  process.exit(1);
}

// Without a handler, a signal would end this process at once, and leave its folder.
const stopping = new AbortController();
const stop = () => stopping.abort();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
// Nobody reads any more: the terminal was closed, or a pipe.
process.stdout.on("error", stop);
// A signal to npm reaches only the shell that it runs this process in. When that one is gone, the parent is another.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop(), 200).unref();

ensureDependencies();
const demos = join(root, ".cache", "demo");
mkdirSync(demos, { recursive: true });
// Named after this process, to tell whose it is.
const folder = mkdtempSync(join(demos, `${process.pid}-`));
process.on("exit", () => rmSync(folder, removal));
installPackage();
const token = randomBytes(30).toString("base64url");
writeFlow();
writeSettings();

const nodeRed = fork(join(nodeRedFolder(5), "red.js"), ["--userDir", folder], {
  cwd: folder,
  execPath: modernNode(),
  silent: true,
});
const ended = once(nodeRed, "close");
stopping.signal.addEventListener("abort", () => {
  nodeRed.kill();
  setTimeout(() => nodeRed.kill("SIGKILL"), stopLimit).unref();
});
let log = "";
/** Where Node-RED listens, as soon as it does. */
let origin = "";
for (const stream of [nodeRed.stdout, nodeRed.stderr]) stream?.setEncoding("utf8").on("data", hear);
await ended;
if (stopping.signal.aborted) {
  process.stdout.write("\nStopped.\n");
} else {
  process.stderr.write(origin ? "Node-RED has ended by itself.\n" : `Node-RED did not start:\n${log}`);
  process.exitCode = 1;
}

/** Why the demo cannot start, if it cannot. */
async function findObstacle() {
  const another = `choose another one: ${windows ? "$env:PORT = 1881; npm run demo" : "PORT=1881 npm run demo"}`;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) return `PORT is no port number: ${port}. Please ${another}`;
  try {
    const server = createServer().listen(Number(port), host);
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EADDRINUSE") return `Port ${port} is in use by another program. End that one, or ${another}`;
    return `Port ${port} is not to be had (${String(error.code)}). Please ${another}`;
  }
}

/** Puts the package where Node-RED looks for it, so that a later build does not touch what is running here. */
function installPackage() {
  const place = join(folder, "node_modules", "@flowhooks", "node-red-webhook-trigger");
  cpSync(join(root, "package.json"), join(place, "package.json"));
  cpSync(join(root, "examples"), join(place, "examples"), { recursive: true });
  const dist = join(place, "dist");
  // Tests, which start one demo after the other, have built it.
  if (process.env.DEMO_DIST) cpSync(process.env.DEMO_DIST, dist, { recursive: true });
  else build(dist);
}

function writeFlow() {
  const example = readFileSync(join(root, "examples", "Token in the header.json"), "utf8");
  const parsed = /** @type {unknown} */ (JSON.parse(example));
  const nodes = /** @type {{ id: string, type: string }[]} */ (parsed);
  const webhook = nodes.find(({ type }) => type === "webhook-trigger");
  if (!webhook) throw new Error("The example has no webhook trigger");
  writeFileSync(join(folder, "flows.json"), example);
  writeFileSync(join(folder, "flows_cred.json"), JSON.stringify({ [webhook.id]: { token } }));
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
  // The channel to this process breaks when it ends, however it ends. Node-RED must not outlive it, nor must the folder.
  const script = `
const { rmSync } = require("node:fs");
process.on("exit", () => rmSync(__dirname, ${JSON.stringify(removal)}));
process.on("disconnect", () => process.exit());
if (!process.connected) process.exit();
module.exports = ${JSON.stringify(settings, null, 2)};
`;
  writeFileSync(join(folder, "settings.js"), script);
}

/**
 * Shows Node-RED's log from the moment on in which its flows run and its port is open.
 *
 * @param {string} text
 */
function hear(text) {
  if (origin) return void process.stdout.write(text);
  log += text;
  if (log.includes("Started flows")) origin = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] ?? "";
  if (!origin) return undefined;
  return void process.stdout.write(`
Node-RED is running. Its editor, with a debug sidebar (the tab with the bug):

  ${origin}/

Paste this line into another terminal, and the message appears in the sidebar:

  ${windows ? "curl.exe" : "curl"} ${origin}/orders -H "Authorization: Bearer ${token}" --data "hello world"

The README's examples say $TOKEN. Paste this line before them:

  ${windows ? `$TOKEN = "${token}"` : `export TOKEN='${token}'`}

Stop it with Ctrl+C.

`);
}
