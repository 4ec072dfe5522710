/**
 * What the demo starts: a Node-RED, or several with the same flow behind nginx, which keep deliveries in one server. It is
 * told how many there are, the port, a folder and a Node.js for them. All ends when the process that has started this one
 * ends.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeRedFolder, pathOf, programsOfInstances, root } from "../setup.mjs";
import {
  host,
  installPackage,
  listened,
  newToken,
  originIn,
  removal,
  startLimit,
  stopLimit,
  stopped,
  windows,
  writeFlow,
  writeSettings,
} from "./node-red.mjs";

/** @typedef {{ name: string, child: import("node:child_process").ChildProcess, ended: Promise<void> }} Program */

const [count = "", port = "", folder = "", node = ""] = process.argv.slice(2);
const [nginxPath = "", serverPath = ""] = programsOfInstances.map((program) => pathOf(program));
const path = "/orders";
const example = join(root, "examples", "Token in the header.json");
/** How long the flow works on an order, in seconds: long enough to end an instance meanwhile. */
const workTime = 20;
const token = newToken();
/** In the order in which they are stopped: those first that talk to others. @type {Program[]} */
const running = [];

const stopping = stopped();
process.on("disconnect", () => stopping.abort());
process.on("exit", () => rmSync(folder, removal));
stopping.signal.addEventListener("abort", () => void stopAll());
try {
  installPackage(folder);
  if (count === "1") await runOne();
  else await runSeveral();
} catch (error) {
  if (!stopping.signal.aborted) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    stopping.abort();
  }
}

async function runOne() {
  const parsed = /** @type {unknown} */ (JSON.parse(readFileSync(example, "utf8")));
  writeSettings(folder, Number(port));
  writeFlow(folder, /** @type {{ id: string, type: string }[]} */ (parsed), token);
  const { found, ended } = await started("Node-RED", node, redJs(folder), folder, originIn, "");
  process.stdout.write(instructionsForOne(found));
  await ended;
  throw new Error("Node-RED has ended by itself.");
}

async function runSeveral() {
  const url = await startServer();
  const numbers = Array.from({ length: Number(count) }, (_, index) => index + 1);
  const nodeReds = await Promise.all(numbers.map((number) => startNodeRed(number, url)));
  const origin = await startNginx(nodeReds.map((nodeRed) => nodeRed.origin));
  process.stdout.write(instructions(origin, nodeReds));
  await Promise.all(nodeReds.map(({ ended }) => ended));
  throw new Error("All Node-REDs have ended by themselves.");
}

async function startServer() {
  const place = folderOf("server");
  return onFreePort("0", async (free) => {
    const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const args = ["--port", `${free}`, "--bind", host, "--dir", place, ...durable];
    await started("The server of deliveries", serverPath, args, place, (log) => /ready to accept connections/i.test(log)); // prettier-ignore
    return `redis://${host}:${free}`;
  });
}

/**
 * @param {number} number
 * @param {string} url
 */
async function startNodeRed(number, url) {
  const userDir = folderOf(`${number}`);
  symlinkSync(join(folder, "node_modules"), join(userDir, "node_modules"));
  writeSettings(userDir, 0, { webhookTriggerStore: { type: "bullmq", url } });
  writeFlow(userDir, flow(), token);
  const program = await started(`Instance ${number}`, node, redJs(userDir), userDir, originIn, `[${number}] `);
  return { ...program, number, origin: program.found };
}

/** @param {string} userDir */
function redJs(userDir) {
  return [join(nodeRedFolder(5), "red.js"), "--userDir", userDir];
}

/** @param {string[]} origins */
async function startNginx(origins) {
  const place = folderOf("nginx");
  return onFreePort(port, async (free) => {
    writeFileSync(join(place, "nginx.conf"), nginxConfiguration(free, origins));
    const args = ["-p", place, "-c", join(place, "nginx.conf"), "-g", "daemon off;"];
    await started("nginx", nginxPath, args, place, (log) => log.includes("getrlimit(RLIMIT_NOFILE)"));
    return `http://${host}:${free}`;
  });
}

/** @param {string} name */
function folderOf(name) {
  const place = join(folder, name);
  mkdirSync(place);
  return place;
}

/**
 * Starts what listens on a port, 0 for any: another program may be faster there.
 *
 * @template Started
 * @param {string} wanted
 * @param {(port: number) => Promise<Started>} start
 * @returns {Promise<Started>}
 */
async function onFreePort(wanted, start) {
  try {
    return await start(await listened(Number(wanted)));
  } catch (error) {
    const isTaken = error instanceof Error && error.message.includes("Address already in use");
    if (wanted !== "0" || !isTaken || stopping.signal.aborted) throw error;
    return onFreePort(wanted, start);
  }
}

/**
 * Starts a program, and waits until its log tells that it is ready.
 *
 * @template Found
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {(log: string) => Found | undefined | false} readyIn
 * @param {string} [prefix] of the lines that it says from then on; without one, they are not shown
 */
async function started(name, command, args, cwd, readyIn, prefix) {
  if (stopping.signal.aborted) throw new Error("stopped");
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  let log = "";
  let isReady = false;
  const ended = new Promise((/** @type {(value: void) => void} */ resolve) => child.once("close", () => resolve()));
  const program = { name, child, ended };
  running.unshift(program);
  /** @type {Found} */
  const found = await new Promise((resolve, reject) => {
    const hurry = setTimeout(() => child.kill("SIGKILL"), startLimit);
    const hear = (/** @type {string} */ text) => {
      if (isReady) return prefix === undefined ? undefined : show(prefix, text);
      const ready = readyIn((log += text));
      if (!ready) return;
      isReady = true;
      clearTimeout(hurry);
      resolve(ready);
    };
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", hear);
    child.once("error", reject);
    void ended.then(() => {
      clearTimeout(hurry);
      running.splice(running.indexOf(program), 1);
      if (isReady) hasEnded(name, prefix !== undefined);
      else reject(new Error(`${name} did not start:\n${log}`));
    });
  });
  return { ...program, found };
}

/**
 * @param {string} name
 * @param {boolean} isInstance
 */
function hasEnded(name, isInstance) {
  if (stopping.signal.aborted || count === "1") return;
  process.stdout.write(`\n${name} has ended. `);
  if (isInstance) return void process.stdout.write("Within 30 seconds the others take over what it had.\n\n");
  process.exitCode = 1;
  stopping.abort();
}

/**
 * @param {string} prefix
 * @param {string} text
 */
function show(prefix, text) {
  if (stopping.signal.aborted) return;
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) process.stdout.write(`${prefix}${line}\n`);
}

async function stopAll() {
  const programs = [...running];
  for (const { child } of programs) child.kill();
  const force = setTimeout(() => programs.forEach(({ child }) => child.kill("SIGKILL")), stopLimit);
  await Promise.all(programs.map(({ ended }) => ended));
  clearTimeout(force);
  process.stdout.write("\nStopped.\n", () => process.exit());
}

function flow() {
  const z = "b1f0c5d7e9a24680";
  const say = (/** @type {string} */ what) =>
    `node.log(\`${what} \${JSON.stringify(msg.payload)}, attempt \${msg.webhook.attempt}\`);\nreturn msg;`;
  const access = { verificationMethod: "header", headerParameter: "Authorization", queryParameter: "state", returnQueryParams: false }; // prettier-ignore
  const webhook = {
    ...access,
    relativePath: path,
    guaranteed: true,
    ignoreDuplicates: true,
    duplicateKey: "header:Idempotency-Key",
  };
  return [
    { id: z, type: "tab", label: "Guaranteed delivery, without duplicates" },
    { id: "b1f0c5d7e9a24681", z, type: "webhook-trigger", ...webhook, x: 110, y: 80, wires: [["b1f0c5d7e9a24682"]] },
    { id: "b1f0c5d7e9a24682", z, type: "function", name: "begins", func: say("begins"), outputs: 1, x: 270, y: 80, wires: [["b1f0c5d7e9a24683"]] }, // prettier-ignore
    { id: "b1f0c5d7e9a24683", z, type: "delay", name: "work", pauseType: "delay", timeout: `${workTime}`, timeoutUnits: "seconds", x: 410, y: 80, wires: [["b1f0c5d7e9a24684"]] }, // prettier-ignore
    { id: "b1f0c5d7e9a24684", z, type: "function", name: "is done", func: say("is done with"), outputs: 1, x: 550, y: 80, wires: [[]] }, // prettier-ignore
  ];
}

/**
 * @param {number} listenOn
 * @param {string[]} origins
 */
function nginxConfiguration(listenOn, origins) {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  return `
${process.getuid?.() === 0 ? "user root;" : ""}
# A worker would outlive its master where that is killed.
master_process off;
pid nginx.pid;
error_log stderr notice;
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
  upstream node_red {
    least_conn;
    ${origins.map((origin) => `server ${new URL(origin).host};`).join("\n    ")}
    keepalive 32;
  }
  server {
    listen ${host}:${listenOn};
    client_max_body_size 5m;
    location / {
      proxy_pass http://node_red;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
    }
  }
}
`;
}

/** @param {string} origin */
function instructionsForOne(origin) {
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

/**
 * @param {string} origin
 * @param {(Program & { number: number, origin: string })[]} nodeReds
 */
function instructions(origin, nodeReds) {
  const lines = nodeReds.map(({ number, origin: editor, child }) => `  ${number}  ${editor}/  process ${child.pid}`);
  return `
${count} Node-REDs with the same flow are running behind nginx, and keep deliveries in one server:

${lines.join("\n")}

Paste this line into another terminal. One of them works on it for ${workTime} seconds, and says so here:

  curl ${origin}${path} -H "Authorization: Bearer ${token}" -H "Idempotency-Key: 1" --data '{"order": 1}'

Paste it once more: with the same key it is a duplicate, and starts nothing. With another key it is another order.

While one is at work, end it as a power cut does, the first one for instance:

  kill -9 ${nodeReds[0]?.child.pid}

Within 30 seconds another one begins with what it had, as attempt 2.

Stop them with Ctrl+C.

`;
}
