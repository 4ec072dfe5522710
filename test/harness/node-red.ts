import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { installedModules, root, temporaryFolder } from "./package";

/** A message as the `sink` node saw it. */
export interface Received {
  sink: string;
  keys: string[];
  _msgid: string;
  topic?: string;
  payload: unknown;
  rawBody?: unknown;
  req: Record<string, unknown>;
  webhook: Record<string, unknown>;
  /** How many starts of the flows came before it. */
  starts: number;
}

export interface Status {
  fill: string;
  shape: string;
  text: string;
}

export interface Start {
  /** How many layers the app for HTTP nodes has. */
  layers: number;
  /** The enumerable properties of every object. */
  polluted: string[];
}

/** What a Node-RED measures of itself. */
export interface Measure {
  /** How many messages its `count` nodes have had. */
  counted: number;
  cpu: NodeJS.CpuUsage;
  /** The bytes in use on the heap; after a garbage collection where one can be asked for. */
  heap: number;
  /** How many sockets it has open, the one it listens on included. */
  sockets: number;
  /** How many connections its server has open. */
  connections: number;
  /** The enumerable properties of every object. */
  polluted: string[];
}

export interface Options {
  /** The flow it starts with. */
  flow?: Flow;
  /** Settings that JSON can hold. */
  settings?: Record<string, unknown>;
  /** More of the settings file, as the JavaScript of an object's inside. */
  code?: string;
  /** What mounts Node-RED in a host application, as JavaScript that knows `app`, `express`, `RED` and `settings`. */
  host?: string;
  /** The source of a file of nodes that it loads besides, as that of a plugin. */
  plugin?: string;
  env?: Record<string, string>;
  /** Whether it starts without the package. */
  bare?: boolean;
  /** The user directory of one that is no more: it starts in that one's place. */
  userDir?: string;
  /** The files of the only core nodes that it has. */
  only?: readonly string[];
  /** The files of core nodes that it has besides the usual ones. */
  besides?: readonly string[];
  /** The modules that are installed beside the package, of those of this repository. */
  modules?: readonly string[];
}

export type Flow = Record<string, unknown>[];

/** Reports to the test what arrives and what the status of each node is. */
const sinkNode = `
module.exports = (RED) => {
  if (!process.env.QUIET) RED.events.on("node-status", (event) => process.send({ status: event }));
  RED.events.on("flows:started", () => {
    const layers = RED.httpNode._router?.stack.length ?? 0;
    process.send({ started: { layers, polluted: Object.keys(Object.getPrototypeOf({})) } });
  });
  RED.nodes.registerType("sink", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", report);
  });
  function report(msg) {
    const { _msgid, topic, payload, req, webhook } = msg;
    process.send({ message: { sink: this.id, keys: Object.keys(msg), _msgid, topic, payload, req, webhook } });
  }
  RED.server.once("listening", () => process.send({ port: RED.server.address().port }));
  // Of a request with a field X-Trace it is told when the server has met it, has read it and when its caller has gone.
  // A listener at the server would be something that Node-RED has not put there.
  require("node:diagnostics_channel").subscribe("http.server.request.start", ({ request: req }) => {
    const trace = req.headers["x-trace"];
    if (!trace) return;
    process.send({ trace: trace + " arrived" });
    req.on("end", () => process.send({ trace: trace + " read" }));
    req.socket.on("close", () => process.send({ trace: trace + " left" }));
  });
  // From when a slow node closes until the flows run again, no time passes: otherwise it would depend on the machine
  // whether what waits for them waits too long.
  const clock = { ahead: 0, stopped: undefined, now: undefined };
  // Those that are not tested for that have the real one.
  function takeClock() {
    if (clock.now) return;
    clock.now = performance.now.bind(performance);
    performance.now = () => (clock.stopped ?? clock.now()) + clock.ahead;
    const { setTimeout } = globalThis;
    const begin = (run, delay, ...values) => setTimeout(run, clock.stopped && delay > 1000 ? 2 ** 31 - 1 : delay, ...values);
    globalThis.setTimeout = Object.defineProperties(begin, Object.getOwnPropertyDescriptors(setTimeout));
    RED.events.on("flows:started", () => { clock.stopped = undefined; });
  }
  const closing = [];
  let isEnding = false;
  // Reports messages like a sink; and when it is closed, it takes until the test lets it go.
  RED.nodes.registerType("slow", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", report);
    this.on("close", (done) => {
      if (isEnding) return done();
      closing.push(done);
      takeClock();
      clock.stopped ??= clock.now();
      process.send({ trace: "closing" });
    });
  });
  let counted = 0;
  RED.nodes.registerType("count", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", () => { counted++; });
  });
  process.on("message", (message) => {
    if (message === "guard") {
      RED.httpNode.use(function guard(req, res, next) {
        if ("guarded" in req.query) res.sendStatus(403);
        else next();
      });
      process.send({ trace: "guarded" });
    }
    if (message === "watch") {
      // Of the last route, Express asks whether it matches: so the request has come that far.
      const { regexp } = RED.httpAdmin.parent._router.stack.filter(({ route }) => route).at(-1);
      regexp.exec = function (path) {
        process.send({ trace: "admin saw " + path });
        return RegExp.prototype.exec.call(this, path);
      };
      process.send({ trace: "watching" });
    }
    if (message === "end") {
      isEnding = true;
      clock.stopped = undefined;
    }
    if (message === "close" || isEnding) for (const done of closing.splice(0)) done();
    if (message === "later") {
      takeClock();
      clock.ahead += 3_600_000;
      process.send({ trace: "later" });
    }
    if (message === "interrupt") {
      // Once the next message is sent, and before it is delivered, the flows are stopped; then they are started again.
      const flows = require.main.require("@node-red/runtime/lib/flows");
      RED.hooks.add("postDeliver.interrupt", () => {
        RED.hooks.remove("postDeliver.interrupt");
        void flows.stopFlows("full").then(() => flows.startFlows("full"));
      });
      process.send({ trace: "interrupting" });
    }
    if (message !== "measure") return;
    globalThis.gc?.();
    const sockets = process.getActiveResourcesInfo().filter((kind) => kind.startsWith("TCP")).length;
    RED.server.getConnections((error, connections) => {
      const polluted = Object.keys(Object.getPrototypeOf({}));
      const heap = process.memoryUsage().heapUsed;
      process.send({ measure: { counted, cpu: process.cpuUsage(), heap, sockets, connections, polluted } });
    });
  });
};`;

/** The folder of the Node-RED under test. */
export const nodeRedFolder = process.env.NODE_RED_FOLDER ?? join(root, "node_modules", "node-red");

/** The files of the core nodes that tests and examples have in flows: with all, starts and editors take twice as long. */
const usualNodes = [
  ...["05-junction.js", "20-inject.js", "21-debug.js", "25-catch.js", "60-link.js", "90-comment.js", "98-unknown.js"],
  ...["10-function.js", "10-switch.js", "15-change.js", "80-template.js", "89-delay.js"],
  ...["05-tls.js", "06-httpproxy.js", "21-httpin.js"],
];

const coreNodes = readdirSync(
  join(createRequire(join(nodeRedFolder, "package.json")).resolve("@node-red/nodes/package.json"), "..", "core"),
  { recursive: true, encoding: "utf8" },
)
  .map((path) => basename(path))
  .filter((name) => name.endsWith(".js"));

/** The modules in whose folders Node-RED looks for nodes although there are none: all that are installed around it. */
const otherModules = [join(nodeRedFolder, ".."), join(root, "node_modules")].flatMap((folder) => readdirSync(folder));

/** Node-RED runs npm for its version at each start, and waits, unless there is nothing to install. */
const withoutInstaller = { externalModules: { palette: { allowInstall: false } } };

/** Its version. */
export const nodeRedVersion = (
  JSON.parse(readFileSync(join(nodeRedFolder, "package.json"), "utf8")) as { version: string }
).version;

/** The script of an application that runs Node-RED inside its own web server. */
function hostApplication(mount: string): string {
  const requireOf = createRequire(join(nodeRedFolder, "package.json"));
  return `
    const express = require(${JSON.stringify(requireOf.resolve("express"))});
    const RED = require(${JSON.stringify(requireOf.resolve(nodeRedFolder))});
    const settings = { ...require("./settings.js"), userDir: __dirname };
    const app = express();
    const server = require("node:http").createServer(app);
    RED.init(server, settings);
    ${mount}
    RED.start().then(() => server.listen(0, "127.0.0.1"));
  `;
}

/** A real Node-RED with the packed package installed, unless it is bare, in a process of its own, started by its own command. */
export class NodeRed {
  readonly messages: Received[] = [];
  /** What was seen at each start of the flows. */
  readonly starts: Start[] = [];
  readonly statuses = new Map<string, Status>();
  log = "";
  #port: number | undefined;
  readonly #measures: Measure[] = [];
  /** What the helper nodes told, in their order. */
  readonly #traces: string[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #child: ChildProcess;
  readonly #userDir: string;
  readonly #adminRoot: string;
  readonly #nodeRoot: string;
  origin = "";

  /** @param runs whether its flows can start */
  static async start(options: Options = {}, runs = true): Promise<NodeRed> {
    const nodeRed = new NodeRed(options);
    if (runs) await nodeRed.until(() => nodeRed.starts[0], "the flows to start");
    nodeRed.origin = `http://127.0.0.1:${await nodeRed.until(() => nodeRed.#port, "the server to listen")}`;
    return nodeRed;
  }

  private constructor(options: Options) {
    const { flow = [], settings = {}, code = "", host, plugin, env = {}, bare = false, userDir } = options;
    const { only = usualNodes, besides = [], modules } = options;
    const wanted = [...only, ...besides];
    this.#adminRoot = rootOf(settings.httpAdminRoot);
    this.#nodeRoot = rootOf(settings.httpNodeRoot);
    this.#userDir = userDir ?? temporaryFolder("node-red");
    if (!bare && !userDir) symlinkSync(installedModules(modules), join(this.#userDir, "node_modules"));
    mkdirSync(join(this.#userDir, "nodes"), { recursive: true });
    writeFileSync(join(this.#userDir, "nodes", "sink.js"), sinkNode);
    writeFileSync(
      join(this.#userDir, "nodes", "sink.html"),
      `<script type="text/javascript">
        for (const type of ["sink", "slow", "count"]) RED.nodes.registerType(type, { category: "function", color: "#ddd", defaults: {}, inputs: 1, outputs: 0 });
      </script>`,
    );
    if (plugin !== undefined) {
      writeFileSync(join(this.#userDir, "nodes", "plugin.js"), plugin);
      writeFileSync(join(this.#userDir, "nodes", "plugin.html"), "");
    }
    const nodes = flow.map(({ credentials, ...node }) => node);
    const credentials = flow.flatMap((node) => (node.credentials ? [[node.id, node.credentials]] : []));
    writeFileSync(join(this.#userDir, "flows.json"), JSON.stringify(nodes));
    writeFileSync(join(this.#userDir, "flows_cred.json"), JSON.stringify(Object.fromEntries(credentials)));
    const fixed = {
      uiHost: "127.0.0.1",
      uiPort: 0,
      flowFile: "flows.json",
      credentialSecret: false,
      telemetry: { enabled: false },
      // No form of ours has an editor of code in it: the smaller one loads sooner.
      editorTheme: { tours: false, codeEditor: { lib: "ace" } },
      nodesExcludes: [...coreNodes.filter((name) => !wanted.includes(name)), ...otherModules],
      ...withoutInstaller,
      logging: { console: { level: "debug", metrics: true } },
    };
    writeFileSync(
      join(this.#userDir, "settings.js"),
      `module.exports = { ...${JSON.stringify({ ...fixed, ...settings })}, ${code} };`,
    );
    const hostScript = join(this.#userDir, "host.js");
    if (host !== undefined) writeFileSync(hostScript, hostApplication(host));
    const command = host === undefined ? [join(nodeRedFolder, "red.js"), "--userDir", this.#userDir] : [hostScript];
    this.#child = spawn(process.execPath, command, {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      serialization: "advanced",
      env: { ...process.env, NODE_OPTIONS: "", ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
        this.#events.emit("change");
      });
    }
    this.#child.on(
      "message",
      (report: {
        message?: Omit<Received, "starts">;
        status?: { id: string; status: Status };
        started?: Start;
        measure?: Measure;
        trace?: string;
        port?: number;
      }) => {
        if (report.message) this.messages.push({ ...report.message, starts: this.starts.length });
        this.#port ??= report.port;
        if (report.measure) this.#measures.push(report.measure);
        if (report.trace) this.#traces.push(report.trace);
        if (report.started) this.starts.push(report.started);
        if (report.status) this.statuses.set(report.status.id, report.status.status);
        this.#events.emit("change");
      },
    );
    this.#child.on("exit", () => this.#events.emit("change"));
  }

  /** The id of its process. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get userDir(): string {
    return this.#userDir;
  }

  /** The URL of a path below the root of HTTP nodes. */
  node(path: string): string {
    return this.origin + this.#nodeRoot + path;
  }

  /** The URL of a path below the root of the editor and its API. */
  admin(path: string): string {
    return this.origin + this.#adminRoot + path;
  }

  /** Deploys and waits until the flows run. */
  async deploy(flow: Flow, type: "full" | "flows" | "nodes" | "reload" = "full"): Promise<void> {
    const starts = this.starts.length;
    const response = await fetch(this.admin("/flows"), {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Node-RED-API-Version": "v2",
        "Node-RED-Deployment-Type": type,
      },
      body: JSON.stringify({ flows: flow }),
    });
    if (!response.ok) throw new Error(`deploying answered ${response.status}: ${await response.text()}`);
    await this.until(() => this.starts[starts], "the flows to start");
  }

  /**
   * Begins a deploy that closes a `slow` node.
   *
   * @returns once that node is closing: what lets it go, and waits until the flows run
   */
  async beginDeploy(flow: Flow, type: "full" | "flows" | "nodes" | "reload" = "full"): Promise<() => Promise<void>> {
    const deployed = this.deploy(flow, type);
    await this.closing();
    return async () => {
      this.letClose();
      await deployed;
    };
  }

  /** Waits until a `slow` node is closing. */
  async closing(): Promise<void> {
    await this.#traced("closing", 1);
  }

  /** Lets the `slow` nodes go that are closing. */
  letClose(): void {
    this.#child.send("close");
  }

  /** Starts or stops the flows; needs the setting `runtimeState`. */
  async setState(state: "start" | "stop"): Promise<void> {
    const response = await fetch(this.admin("/flows/state"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ state }),
    });
    if (!response.ok) throw new Error(`${state} answered ${response.status}: ${await response.text()}`);
  }

  /** Has the flows restarted between the sending of the next message and its delivery. */
  async interruptNextDelivery(): Promise<void> {
    this.#child.send("interrupt");
    await this.#traced("interrupting", 1);
  }

  /** Waits until requests with this field `X-Trace` have reached the server. */
  async arrived(trace: string, count = 1): Promise<void> {
    await this.#traced(`${trace} arrived`, count);
  }

  /** Waits until the server has read the body of the request with this field `X-Trace`. */
  async read(trace: string): Promise<void> {
    await this.#traced(`${trace} read`, 1);
  }

  /** Puts the clock that time spans are measured with forward by an hour. */
  async putClockForward(): Promise<void> {
    this.#child.send("later");
    await this.#traced("later", 1);
  }

  /** Waits until the server knows that the caller with this field `X-Trace` has hung up. */
  async left(trace: string): Promise<void> {
    await this.#traced(`${trace} left`, 1);
  }

  /** Tells the plugin something. */
  say(message: object): void {
    this.#child.send(message);
  }

  /** Tells the plugin something, and waits until it has answered. */
  async tell(message: object, answer: string): Promise<void> {
    this.#child.send(message);
    await this.#traced(answer, 1);
  }

  /** Tells the plugin something, and answers with what it tells by a trace that begins so. */
  async ask(message: object, beginning: string): Promise<string> {
    this.#child.send(message);
    const isAnswer = (trace: string) => trace.startsWith(beginning);
    const answer = await this.until(() => this.#traces.find(isAnswer), `"${beginning}…"`);
    this.#traces.splice(this.#traces.indexOf(answer), 1);
    return answer.slice(beginning.length);
  }

  /** Waits until the plugin has told this so often. */
  async told(trace: string, count = 1): Promise<void> {
    await this.#traced(trace, count);
  }

  /** Waits for something to be told so often, and forgets it. */
  async #traced(told: string, count: number): Promise<void> {
    const fits = () => this.#traces.filter((trace) => trace === told);
    await this.until(() => (fits().length >= count ? true : undefined), `${count} times "${told}"`);
    for (let index = 0; index < count; index++) this.#traces.splice(this.#traces.indexOf(told), 1);
  }

  /** Waits for the message with an id, the one in the reply to its request. */
  async message(id: unknown): Promise<Received> {
    return this.until(() => this.messages.find((message) => message._msgid === id), `message ${String(id)}`);
  }

  /** Waits for a node to have a status whose text fits. */
  async status(id: string, text: RegExp): Promise<Status> {
    return this.until(
      () => {
        const status = this.statuses.get(id);
        return status && text.test(status.text) ? status : undefined;
      },
      `status ${text.source} of ${id}, which is ${JSON.stringify(this.statuses.get(id))}`,
    );
  }

  /** Waits until something is there; every message, status, line of log and the end of the process is a try. */
  async until<T>(find: () => T | undefined | null, what: string): Promise<T> {
    const timeout = AbortSignal.timeout(60_000);
    for (;;) {
      const found = find();
      if (found !== undefined && found !== null) return found;
      if (!this.running) throw new Error(`Node-RED has ended:\n${this.log}`);
      await once(this.#events, "change", { signal: timeout }).catch(() => {
        throw new Error(`waited in vain for ${what}; the log ends with:\n${this.log.slice(-2000)}`);
      });
    }
  }

  async logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#logged(pattern);
  }

  /** Lets a node put a layer in front of all HTTP nodes, which refuses requests with a parameter `guarded`. */
  async addGuard(): Promise<void> {
    this.#child.send("guard");
    await this.#traced("guarded", 1);
  }

  /** Has the admin app tell from now on which requests pass its routes. */
  async watchAdmin(): Promise<void> {
    this.#child.send("watch");
    await this.#traced("watching", 1);
  }

  /** Waits until a request for a path has passed the admin app; answers with all that have since it is watched. */
  async passedAdmin(path: string): Promise<string[]> {
    const seen = () => this.#traces.filter((trace) => trace.startsWith("admin saw "));
    await this.until(() => seen().includes(`admin saw ${path}`) || undefined, `${path} to pass the admin app`);
    return seen().map((trace) => trace.replace("admin saw ", ""));
  }

  async measure(): Promise<Measure> {
    const { length } = this.#measures;
    this.#child.send("measure");
    return this.until(() => this.#measures[length], "a measure");
  }

  /** Waits until its server has so many connections open. */
  async connections(count: number): Promise<void> {
    while ((await this.measure()).connections !== count);
  }

  async stop(): Promise<void> {
    if (this.running) {
      const exit = once(this.#child, "exit");
      // Nobody is left to let its slow nodes go.
      if (this.#child.connected) this.#child.send("end");
      this.#child.kill();
      await exit;
    }
  }

  /** Ends it as a power cut does: it gets to do nothing more. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  #logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.log), `the log to say ${pattern.source}`);
  }
}

function rootOf(setting: unknown): string {
  return typeof setting === "string" && setting !== "/" ? setting : "";
}
