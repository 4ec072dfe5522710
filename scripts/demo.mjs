/**
 * Runs Node-RED 5 with the webhook trigger, an example flow and a new token, and prints how to try it out.
 * Nothing is kept from one start to the next, and nothing is left running or lying about when it is stopped.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { build, ensureDependencies, modernNode, root } from "./setup.mjs";

const host = "127.0.0.1";
const windows = process.platform === "win32";

// Without a handler, a signal would end this process at once, and leave its folder.
/** @type {() => void} */
let stop = () => process.exit();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop());
// Nobody reads any more: the terminal was closed, or a pipe.
process.stdout.on("error", () => stop());
// A signal to npm reaches only the shell that it runs this process in. When that one is gone, the parent is another.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && stop(), 200).unref();

if (modernNode() !== process.execPath) {
  const child = spawn(modernNode(), process.argv.slice(1), { stdio: "inherit" });
  stop = () => child.kill();
  await once(child, "close");
  process.exit(child.exitCode ?? 1);
}

// First, so that a port in use is reported before the installation, which takes minutes.
const server = createServer();
try {
  server.listen(Number(process.env.PORT || 1880), host);
  await once(server, "listening");
} catch (error) {
  process.stderr.write(`${String(error)}\nSet PORT to choose another port.\n`);
  process.exit(1);
}
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

ensureDependencies();
const demos = join(root, ".cache", "demo");
mkdirSync(demos, { recursive: true });
// Named after this process, to tell whose it is.
const folder = mkdtempSync(join(demos, `${process.pid}-`));
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

// A copy of its own: a later build does not touch what is running here.
const place = join(folder, "node_modules", "@flowhooks", "node-red-webhook-trigger");
for (const part of ["package.json", "examples"]) cpSync(join(root, part), join(place, part), { recursive: true });
// Tests, which start one demo after the other, have built it.
if (process.env.DEMO_DIST) cpSync(process.env.DEMO_DIST, join(place, "dist"), { recursive: true });
else build(join(place, "dist"));

const token = randomBytes(30).toString("base64url");
const example = readFileSync(join(root, "examples", "Token in the header.json"), "utf8");
const [, webhook] = /"id": "([^"]+)",\s+"type": "webhook-trigger"/.exec(example) ?? [];
writeFileSync(join(folder, "flows.json"), example);
writeFileSync(join(folder, "flows_cred.json"), JSON.stringify({ [String(webhook)]: { token } }));

const [{ default: RED }, { default: express }] = await Promise.all([import("node-red"), import("express")]);
const app = express();
/** @type {import("@node-red/runtime").LocalSettings & Record<string, unknown>} */
const settings = {
  uiHost: host,
  uiPort: port,
  userDir: folder,
  flowFile: "flows.json",
  credentialSecret: false,
  httpAdminRoot: "/",
  httpNodeRoot: "/",
  telemetry: { enabled: false },
  editorTheme: /** @type {object} */ ({ tours: false }),
};
RED.init(server, settings);
stop = () => {
  stop = () => undefined;
  void RED.stop().finally(() => process.exit());
};
app.use(RED.httpAdmin);
app.use(RED.httpNode);
server.on("request", app);
await Promise.all([once(RED.events, "flows:started"), RED.start()]);

const origin = `http://${host}:${port}`;
process.stdout.write(`
Node-RED is running. Its editor, with a debug sidebar (the tab with the bug):

  ${origin}/

Paste this line into another terminal, and the message appears in the sidebar:

  ${windows ? "curl.exe" : "curl"} ${origin}/orders -H "Authorization: Bearer ${token}" --data "hello world"

The README's examples say $TOKEN. Paste this line before them:

  ${windows ? `$TOKEN = "${token}"` : `export TOKEN='${token}'`}

Stop it with Ctrl+C.

`);
