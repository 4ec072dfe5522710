/**
 * What the webhook trigger serves in installations as people have them, next to an `http in` flow in the same process:
 * settings and other packages put layers of Express in front of HTTP nodes, which cost a request more than its work.
 */
import { installed } from "../scripts/setup.mjs";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tab, token, webhook } from "../test/harness/flow";
import { type Flow, NodeRed } from "../test/harness/node-red";
import { installedModules, packageName, temporaryFolder } from "../test/harness/package";

import { connections, inTurns, median, ratios, report, spread } from "./figures";
import { fullLoad, requestBytes } from "./load";
import { small } from "./requests";
import { httpInWithCheck } from "./subjects";

/** How long each flow is loaded in its turn: short, so that both of a pair meet the same machine. */
const turnMs = Math.min(800, Number(process.env.MILLISECONDS ?? 800));
/** How long a turn may take in all, when a server does not answer. */
const maxTurnMs = turnMs + 10_000;

interface Installation {
  title: string;
  /** How many times the requests of the `http in` flow the webhook trigger is to serve. */
  target: number;
  /** Settings that JSON can hold. */
  settings?: Record<string, unknown>;
  /** Settings that are functions, as the JavaScript of an object's inside. */
  code?: string;
  /** A package of others: its folder in the cache, its name and its version. */
  package?: [place: string, name: string, version: string];
  /** The nodes that use it. */
  nodes?: Flow;
  /** What shows that it is set up: a GET request of this path is answered with this status. */
  proof?: [path: string, status: number];
  /** What shows the same: each accepted request is answered with this header field. */
  answerField?: string;
  /** The `Authorization` of each request; the token is in `X-Token` then. */
  basicAuth?: string;
}

const onTab = { z: "tab", x: 200, y: 200, wires: [[]] };

/** Pages with a text: so the dashboards serve their files and WebSockets. */
const dashboard2: Flow = [
  { id: "base", type: "ui-base", name: "Dashboard", path: "/dashboard" },
  { id: "theme", type: "ui-theme", name: "Theme", colors: {}, sizes: {} },
  { id: "page", type: "ui-page", name: "Page", ui: "base", path: "/page", layout: "grid", theme: "theme" },
  { id: "group", type: "ui-group", name: "Group", page: "page", width: 6, height: 1 },
  { ...onTab, id: "text", type: "ui-text", group: "group", label: "text", format: "{{msg.payload}}" },
];

const dashboard1: Flow = [
  { id: "base", type: "ui_base", theme: { name: "theme-light" }, site: { name: "Dashboard" } },
  { id: "page", type: "ui_tab", name: "Page" },
  { id: "group", type: "ui_group", name: "Group", tab: "page", disp: true, width: 6 },
  { ...onTab, id: "text", type: "ui_text", group: "group", label: "text", format: "{{msg.payload}}" },
];

const staticFolder = temporaryFolder("static");
writeFileSync(join(staticFolder, "file.txt"), "A file.");

/** Where the token is if `Authorization` is taken. */
const tokenField = "X-Token";
/** A user whose password is `password`, by its digest. */
const user = { username: "user", password: "$2b$08$vrL4zyIob88RYqCvnOdMP.Vv80niAAm/L5OMFTqf4vCp2tUkPN8eq" };
const basicAuth = `Basic ${Buffer.from("user:password").toString("base64")}`;
/** A layer that lets everybody pass, and shows that it has run. */
const passOn = '(request, response, next) => { response.setHeader("X-Passed", "1"); next(); }';

const installations: Installation[] = [
  { title: "plain", target: 5 },
  {
    title: "secured editor",
    target: 5,
    settings: { adminAuth: { type: "credentials", users: [{ ...user, permissions: "*" }] } },
    proof: ["/flows", 401],
  },
  {
    title: "FlowFuse dashboard in use",
    target: 5,
    package: ["flowfuse-dashboard", "@flowfuse/node-red-dashboard", "1.31.0"],
    nodes: dashboard2,
    proof: ["/dashboard/_setup", 200],
  },
  {
    title: "uibuilder in use",
    target: 5,
    package: ["uibuilder", "node-red-contrib-uibuilder", "7.7.4"],
    // Otherwise it reports to its makers that it runs.
    settings: { uibuilder: { telemetryEnabled: false } },
    nodes: [{ ...onTab, id: "uib", type: "uibuilder", url: "uib", templateFolder: "blank" }],
    proof: ["/uib/", 200],
  },
  { title: "static files", target: 5, settings: { httpStatic: staticFolder }, proof: ["/file.txt", 200] },
  {
    title: "static files at a path of their own",
    target: 5,
    settings: { httpStatic: [{ path: staticFolder, root: "/files/" }] },
    proof: ["/files/file.txt", 200],
  },
  {
    title: "`httpNodeCors`",
    target: 2,
    settings: { httpNodeCors: { origin: "*", methods: "GET,PUT,POST,DELETE" } },
    answerField: "Access-Control-Allow-Origin",
  },
  {
    title: "`httpNodeMiddleware`",
    target: 2,
    code: `httpNodeMiddleware: ${passOn}`,
    answerField: "X-Passed",
  },
  {
    title: "`httpNodeAuth` by user and password",
    target: 2,
    settings: { httpNodeAuth: { user: user.username, pass: user.password } },
    basicAuth,
    proof: ["/nothing", 401],
  },
  {
    title: "`httpNodeAuth` by a function",
    target: 2,
    code: `httpNodeAuth: ${passOn}`,
    answerField: "X-Passed",
  },
  {
    title: "node-red-dashboard in use",
    target: 2,
    package: ["node-red-dashboard", "node-red-dashboard", "3.6.6"],
    nodes: dashboard1,
    proof: ["/ui/", 200],
  },
];

export async function measureInstallations(): Promise<void> {
  process.stdout.write(`installations on Node ${process.versions.node}\n`);
  const lowest = new Map<number, { title: string; found: number[] }>();
  for (const installation of installations) {
    const { title, target } = installation;
    const found = await measure(installation);
    process.stdout.write(`${title}, vs the \`http in\` flow: ${spread(found)} (≥ ${target})\n`);
    const before = lowest.get(target);
    if (!before || median(found) < median(before.found)) lowest.set(target, { title, found });
  }
  for (const [target, { title, found }] of lowest) {
    const kind = target > 2 ? "nothing in front" : "a guard in front";
    report(`installations with ${kind}, the lowest (${title}), vs the \`http in\` flow`, `≥ ${target}`, spread(found));
  }
}

/**
 * Measures both flows of an installation.
 *
 * @returns how many times the requests of the `http in` flow, round by round
 */
async function measure(installation: Installation): Promise<number[]> {
  const nodeRed = await startInstallation(installation);
  try {
    await prove(nodeRed, installation);
    const load = (path: string, messagesPerRequest: number) => async () => {
      const before = await nodeRed.measure();
      const { requestsPerSecond, served } = await loadFor(Number(new URL(nodeRed.origin).port), installation, path);
      const counted = before.counted + served * messagesPerRequest;
      // The last messages may be on their way when their requests are answered.
      for (let tries = 0; (await nodeRed.measure()).counted !== counted; tries++) {
        if (tries === 100) throw new Error(`the messages of ${path} are not as many as its ${served} requests`);
      }
      return requestsPerSecond;
    };
    const rates = await inTurns("requests/s", { webhook: load("/hook", 1), httpIn: load("/plain", 0) });
    return ratios(rates.webhook, rates.httpIn);
  } finally {
    await nodeRed.stop();
  }
}

/** Starts a Node-RED by its command, with both flows, and with the package and that of others in its user directory. */
async function startInstallation(installation: Installation): Promise<NodeRed> {
  const { settings, code = "", package: other, nodes = [], basicAuth: auth } = installation;
  const userDir = temporaryFolder("installation");
  const link = (folder: string, name: string) => {
    const path = join(userDir, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(folder, path);
  };
  link(join(installedModules(), packageName), packageName);
  if (other) link(installed(...other, ["--ignore-scripts"]), other[1]);
  const both = tab(
    webhook("webhook", "/hook", { ...(auth && { headerParameter: tokenField }), wires: [["count"]] }),
    { id: "count", type: "count", wires: [] },
    ...(auth ? httpInWithCheck("0", "/plain", tokenField.toLowerCase(), token) : httpInWithCheck("0", "/plain")),
  );
  const logging = { console: { level: "warn" } };
  return NodeRed.start({
    userDir,
    flow: [...both, ...nodes],
    code,
    settings: { logging, ...settings },
    env: { QUIET: "1" },
  });
}

/** Fails unless the installation is what it says, and both flows check the token and answer as they are to. */
async function prove({ origin }: NodeRed, { proof, answerField, basicAuth: auth }: Installation): Promise<void> {
  const expectStatus = async (expected: number, path: string, init: RequestInit) => {
    const response = await fetch(origin + path, { ...init, signal: AbortSignal.timeout(maxTurnMs) });
    const text = await response.text();
    if (response.status !== expected)
      throw new Error(`${path} is answered ${response.status}, not ${expected}: ${text}`);
    return { text, headers: response.headers };
  };
  if (proof) await expectStatus(proof[1], proof[0], {});
  for (const path of ["/hook", "/plain"]) {
    const post = (sent: string) => ({ method: "POST", headers: headersWith(sent, auth), body: small });
    await expectStatus(401, path, post("x".repeat(token.length)));
    const { text, headers } = await expectStatus(200, path, post(token));
    if (!text.includes('"accepted"')) throw new Error(`${path} is answered ${text}`);
    if (answerField && !headers.has(answerField)) throw new Error(`${path} is answered without ${answerField}`);
  }
}

/** Loads a path for a turn. @returns how many requests were served in a second, and how many in all */
async function loadFor(port: number, { basicAuth: auth }: Installation, path: string) {
  const deadline = new AbortController();
  const request = requestBytes(path, headersWith(token, auth), small);
  try {
    const timeout = sleep(maxTurnMs, undefined, { signal: deadline.signal });
    const load = await Promise.race([fullLoad(port, request, connections, turnMs), timeout]);
    if (!load) throw new Error(`${path} is not answered`);
    const { "200": served = 0, ...others } = load.statuses;
    const wrong = Object.keys(others).join(", ");
    if (served === 0 || wrong) throw new Error(`${path} is answered ${wrong}, not 200`);
    return { requestsPerSecond: load.rate, served };
  } finally {
    deadline.abort();
  }
}

/** The header fields of a request: with `httpNodeAuth`, the token has another place than `Authorization`. */
function headersWith(sent: string, auth: string | undefined): Record<string, string> {
  const tokenIn = auth ? { Authorization: auth, [tokenField]: sent } : { Authorization: `Bearer ${sent}` };
  return { ...tokenIn, "Content-Type": "application/json", "User-Agent": "bench" };
}
