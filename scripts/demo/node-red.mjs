/** What demos of one instance and of several have in common: a port, a user directory, and Node-RED's first words. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { build, root } from "../setup.mjs";

export const host = "127.0.0.1";
export const windows = process.platform === "win32";
/** How long a program may take to start, and then to stop, in ms. */
export const startLimit = 60_000;
export const stopLimit = 5000;
/** How a folder is removed: a file that Node-RED was just writing may come into it meanwhile, then it is tried again. */
export const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
/** A dist/ that stands ready, for a test that starts one demo after the other. */
const built = process.env.DEMO_DIST;

/**
 * Why a port cannot be had, if it cannot.
 *
 * @param {string} wanted
 */
export async function obstacleOf(wanted) {
  const another = `choose another one: ${windows ? "$env:PORT = 1881; npm run demo" : "PORT=1881 npm run demo"}`;
  if (!/^\d{1,5}$/.test(wanted) || Number(wanted) > 65535)
    return `PORT is no port number: ${wanted}. Please ${another}`;
  try {
    await listened(Number(wanted));
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EADDRINUSE") return `Port ${wanted} is in use by another program. End that one, or ${another}`;
    return `Port ${wanted} is not to be had (${String(error.code)}). Please ${another}`;
  }
}

/**
 * Listens on a port for a moment, 0 for any.
 *
 * @param {number} port
 * @returns the port
 */
export async function listened(port) {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : port;
}

/**
 * Puts the package where Node-RED looks for it, so that a later build does not touch what is running here.
 *
 * @param {string} folder in which `node_modules` is
 */
export function installPackage(folder) {
  const place = join(folder, "node_modules", "@flowhooks", "node-red-webhook-trigger");
  cpSync(join(root, "package.json"), join(place, "package.json"));
  cpSync(join(root, "examples"), join(place, "examples"), { recursive: true });
  const dist = join(place, "dist");
  if (built) cpSync(built, dist, { recursive: true });
  else build(dist);
}

/**
 * @param {string} userDir
 * @param {number} port
 * @param {object} [more]
 */
export function writeSettings(userDir, port, more) {
  const settings = {
    uiHost: host,
    uiPort: port,
    flowFile: "flows.json",
    credentialSecret: false,
    // The lines of the log that tell when Node-RED is ready come in this language.
    lang: "en-US",
    telemetry: { enabled: false },
    editorTheme: { tours: false },
    logging: { console: { level: "info" } },
    ...more,
  };
  // The channel to the process of the demo breaks when that ends, however it ends. Node-RED must not outlive it.
  const script = `
const { rmSync } = require("node:fs");
process.on("disconnect", () => process.exit());
process.on("exit", () => rmSync(__dirname, ${JSON.stringify(removal)}));
module.exports = ${JSON.stringify(settings, null, 2)};
`;
  writeFileSync(join(userDir, "settings.js"), script);
}

export function newToken() {
  return randomBytes(30).toString("base64url");
}

/**
 * @param {string} userDir
 * @param {{ id: string, type: string }[]} nodes with one webhook trigger
 * @param {string} token
 */
export function writeFlow(userDir, nodes, token) {
  const webhook = nodes.find(({ type }) => type === "webhook-trigger");
  if (!webhook) throw new Error("The flow has no webhook trigger");
  writeFileSync(join(userDir, "flows.json"), JSON.stringify(nodes));
  writeFileSync(join(userDir, "flows_cred.json"), JSON.stringify({ [webhook.id]: { token } }));
}

/**
 * The origin that Node-RED serves at, once its log tells that the flows run and the port is open.
 *
 * @param {string} log
 */
export function originIn(log) {
  return log.includes("Started flows") ? /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] : undefined;
}

/** Aborted when somebody stops the demo: without a handler a signal would end this process at once. */
export function stopped() {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopping.abort());
  // Nobody reads any more: the terminal was closed, or a pipe.
  process.stdout.on("error", () => stopping.abort());
  return stopping;
}
