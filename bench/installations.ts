/**
 * What the webhook trigger serves in installations as people have them, next to an `http in` flow in the same process:
 * settings and other packages put layers of Express in front of HTTP nodes, which cost a request more than its work.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { installed } from "../scripts/setup.mjs";
import { tab, token, webhook } from "../test/harness/flow";
import { type Flow } from "../test/harness/node-red";
import { installedModules, packageName, temporaryFolder } from "../test/harness/package";
import { compare, median, milliseconds, rateOf, report, spread } from "./figures";
import { requestBytes } from "./load";
import { end, httpInWithCheck, nodeRed, runtimeOf, small } from "./subjects";

/** How long each flow is loaded in its turn: short, so that both of a pair meet the same machine. */
const turnMs = Math.min(800, milliseconds);

interface Installation {
  /** Settings that JSON can hold. */
  settings?: Record<string, unknown>;
  /** Settings that are functions, as the JavaScript of an object's inside. */
  code?: string;
  /** A package of others, by its name and version, and the nodes that use it. */
  package?: [name: string, version: string];
  nodes?: Flow;
  /** The `Authorization` of each request; the token is in `X-Token` then. */
  login?: string;
  /** What shows that it is set up: the status for GET of a path, or a field that each reply has. */
  proof?: [path: string, status: number] | string;
}

const onTab = { z: "tab", x: 200, y: 200, wires: [[]] };
/** A page with a text: so the dashboards serve their files and WebSockets. */
const text = { ...onTab, id: "text", group: "group", label: "text", format: "{{msg.payload}}" };
const dashboard2: Flow = [
  { id: "base", type: "ui-base", name: "Dashboard", path: "/dashboard" },
  { id: "theme", type: "ui-theme", name: "Theme", colors: {}, sizes: {} },
  { id: "page", type: "ui-page", name: "Page", ui: "base", path: "/page", layout: "grid", theme: "theme" },
  { id: "group", type: "ui-group", name: "Group", page: "page", width: 6, height: 1 },
  { ...text, type: "ui-text" },
];
const dashboard1: Flow = [
  { id: "base", type: "ui_base", theme: { name: "theme-light" }, site: { name: "Dashboard" } },
  { id: "page", type: "ui_tab", name: "Page" },
  { id: "group", type: "ui_group", name: "Group", tab: "page", disp: true, width: 6 },
  { ...text, type: "ui_text" },
];
const uibuilder: Flow = [{ ...onTab, id: "uib", type: "uibuilder", url: "uib", templateFolder: "blank" }];

const files = temporaryFolder("static");
writeFileSync(join(files, "file.txt"), "A file.");
/** A user whose password is `password`, by its digest. */
const user = { username: "user", password: "$2b$08$vrL4zyIob88RYqCvnOdMP.Vv80niAAm/L5OMFTqf4vCp2tUkPN8eq" };
const login = `Basic ${Buffer.from("user:password").toString("base64")}`;
const passOn = '(request, response, next) => { response.setHeader("X-Passed", "1"); next(); }';

/** With nothing of others in front of an endpoint. */
const open: Record<string, Installation> = {
  plain: {},
  "secured editor": {
    settings: { adminAuth: { type: "credentials", users: [{ ...user, permissions: "*" }] } },
    proof: ["/flows", 401],
  },
  "FlowFuse dashboard in use": {
    package: ["@flowfuse/node-red-dashboard", "1.31.0"],
    nodes: dashboard2,
    proof: ["/dashboard/_setup", 200],
  },
  "uibuilder in use": {
    package: ["node-red-contrib-uibuilder", "7.7.4"],
    // Otherwise it reports to its makers that it runs.
    settings: { uibuilder: { telemetryEnabled: false } },
    nodes: uibuilder,
    proof: ["/uib/", 200],
  },
  "static files": { settings: { httpStatic: files }, proof: ["/file.txt", 200] },
};
const guarded: Record<string, Installation> = {
  "`httpNodeCors`": {
    settings: { httpNodeCors: { origin: "*", methods: "GET,PUT,POST,DELETE" } },
    proof: "Access-Control-Allow-Origin",
  },
  "`httpNodeMiddleware`": { code: `httpNodeMiddleware: ${passOn}`, proof: "X-Passed" },
  "`httpNodeAuth` by user and password": {
    settings: { httpNodeAuth: { user: user.username, pass: user.password } },
    login,
    proof: ["/nothing", 401],
  },
  "node-red-dashboard in use": {
    package: ["node-red-dashboard", "3.6.6"],
    nodes: dashboard1,
    proof: ["/ui/", 200],
  },
};

export async function installations(): Promise<void> {
  await reportLowest("nothing in front", "≥ 4.5", open);
  await reportLowest("a guard in front", "≥ 3", guarded);
}

async function reportLowest(kind: string, target: string, all: Record<string, Installation>): Promise<void> {
  const measured: [title: string, ratios: number[]][] = [];
  for (const [title, installation] of Object.entries(all)) {
    const ratios = await measure(installation);
    process.stdout.write(`  ${title}, vs the \`http in\` flow: ${spread(ratios)}\n`);
    measured.push([title, ratios]);
  }
  const [[title, ratios] = ["", []]] = measured.toSorted(([, one], [, other]) => median(one) - median(other));
  report(`installations with ${kind}, the lowest (${title}), vs the \`http in\` flow`, target, spread(ratios));
}

/** @returns how many times the requests of the `http in` flow are served, round by round */
async function measure({ settings = {}, code = "", package: other, nodes = [], login: auth, proof }: Installation) {
  const userDir = temporaryFolder("installation");
  const link = (folder: string, name: string) => {
    const path = join(userDir, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(folder, path);
  };
  link(join(installedModules(), packageName), packageName);
  const besides = other ? [basename(other[0])] : [];
  if (other) link(installed(other[0].replace("/", "-"), ...other, ["--ignore-scripts"]), other[0]);
  const flow = tab(
    webhook("webhook", "/hook", { ...(auth && { headerParameter: "X-Token" }), wires: [["count"]] }),
    end,
    ...(auth ? httpInWithCheck("/plain", "x-token", token) : httpInWithCheck("/plain")),
  );
  const subject = await nodeRed([...flow, ...nodes], { userDir, settings, code, besides });
  const headersWith = (sent: string) => ({
    ...(auth ? { Authorization: auth, "X-Token": sent } : { Authorization: `Bearer ${sent}` }),
    "Content-Type": "application/json",
  });
  const { origin } = runtimeOf(subject);
  const expectStatus = async (path: string, status: number, init?: RequestInit) => {
    const response = await fetch(origin + path, init);
    if (response.status !== status) throw new Error(`${path} is answered ${response.status}, not ${status}`);
    await response.text();
    return response.headers;
  };
  if (typeof proof === "object") await expectStatus(...proof);
  const rateAt = async (path: string) => {
    const send = (sent: string) => ({ method: "POST", headers: headersWith(sent), body: small });
    await expectStatus(path, 401, send("x".repeat(token.length)));
    const replied = await expectStatus(path, 200, send(token));
    if (typeof proof === "string" && !replied.has(proof)) throw new Error(`${path} is answered without ${proof}`);
    return rateOf(subject, requestBytes(path, headersWith(token), small), "200", turnMs);
  };
  const ratios = await compare(await rateAt("/hook"), await rateAt("/plain"));
  await subject.stop();
  return ratios;
}
