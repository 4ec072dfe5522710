import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { moduleOf } from "./fixtures";
import { installedModules, packageName, root, temporaryFolder } from "./package";
import { hearLog, hearReports } from "./turns";

/** A message that a node has reported. */
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
  /** More of the settings file, as the JavaScript of an object's inside: a line, or a fixture by `settingsOf`. */
  code?: string;
  /** Mounts Node-RED in a host application; knows `app`, `express`, `server`, `RED` and `settings`: see `hostOf`. */
  host?: string;
  /** The source of a further file of nodes: see `moduleOf`. */
  plugin?: string;
  env?: Record<string, string>;
  /** Further arguments of its command. */
  args?: readonly string[];
  /** Whether it starts without the package. */
  bare?: boolean;
  /** The user directory of one that is no more: it starts in that one's place. */
  userDir?: string;
  /** The files of the only core nodes that it has; else these are what `coreNodesOf` says of its flow. */
  only?: readonly string[];
  /** The files of nodes, and the modules of such, that it has besides the usual ones. */
  besides?: readonly string[];
  /** The modules that are installed beside the package, of those of this repository. */
  modules?: readonly string[];
}

export type Flow = Record<string, unknown>[];

/** The folder of the Node-RED under test. */
export const nodeRedFolder = process.env.NODE_RED_FOLDER ?? join(root, "node_modules", "node-red");

/** The files of the core nodes that each Node-RED has, and of those that flows of tests and examples need besides, by type. */
const coreNodes = {
  always: ["05-junction.js", "21-debug.js", "21-httpin.js", "98-unknown.js"],
  of: {
    ...{ inject: "20-inject.js", catch: "25-catch.js", comment: "90-comment.js" },
    ...{ "link in": "60-link.js", "link out": "60-link.js", "link call": "60-link.js" },
    ...{ function: "10-function.js", switch: "10-switch.js", change: "15-change.js" },
    ...{ template: "80-template.js", delay: "89-delay.js" },
  } as Record<string, string>,
};

/** Each further node makes starts and editors slower: with all, they take twice as long. */
export function coreNodesOf(flow: Flow): string[] {
  return [...coreNodes.always, ...new Set(flow.flatMap(({ type }) => coreNodes.of[String(type)] ?? []))];
}

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

/** What a Node-RED sends to the test: see `fixtures/sink.ts` and `fixtures/channel.ts`. */
interface Report {
  message?: Omit<Received, "starts">;
  status?: { id: string; status: Status };
  started?: boolean;
  measure?: Measure;
  trace?: string;
  address?: { port: number };
}

type DeployType = "full" | "flows" | "nodes" | "reload";

/** A real Node-RED with the packed package installed, unless it is bare, in a process of its own, started by its own command. */
export class NodeRed {
  readonly messages: Received[] = [];
  /** One for each start of the flows. */
  readonly starts: true[] = [];
  readonly statuses = new Map<string, Status>();
  /** Its user directory. */
  readonly userDir: string;
  log = "";
  origin = "";
  #port: number | undefined;
  readonly #measures: Measure[] = [];
  readonly #traces: string[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #child: ChildProcess;
  /** Once it has ended, and all that it has logged and reported is there. */
  readonly #closed: Promise<void>;
  #isClosed = false;
  readonly #adminRoot: string;
  readonly #nodeRoot: string;

  /** @param runs whether its flows can start */
  static async start(options: Options = {}, runs = true): Promise<NodeRed> {
    const nodeRed = new NodeRed(options);
    if (runs) await nodeRed.until(() => nodeRed.starts[0], "the flows to start");
    nodeRed.origin = `http://127.0.0.1:${await nodeRed.until(() => nodeRed.#port, "the server to listen")}`;
    return nodeRed;
  }

  private constructor(options: Options) {
    const { settings = {}, host, env = {}, args = [] } = options;
    this.#adminRoot = rootOf(settings.httpAdminRoot);
    this.#nodeRoot = rootOf(settings.httpNodeRoot);
    this.userDir = options.userDir ?? temporaryFolder("node-red");
    writeUserDir(this.userDir, options);
    const command = [join(nodeRedFolder, "red.js"), "--userDir", this.userDir, ...args];
    this.#child = spawn(process.execPath, host === undefined ? command : [join(this.userDir, "host.js")], {
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
    this.#child.on("message", (report: Report) => void hearLog().then(() => this.#take(report)));
    this.#closed = once(this.#child, "close").then(async () => {
      await hearReports();
      this.#isClosed = true;
      this.#events.emit("change");
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return !this.#isClosed;
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
  async deploy(flow: Flow, type: DeployType = "full", headers: Record<string, string> = {}): Promise<void> {
    const starts = this.starts.length;
    await this.sendFlows(flow, type, headers);
    await this.until(() => this.starts[starts], "the flows to start");
  }

  /** Deploys a flow that need not start. */
  async sendFlows(flow: Flow, type: DeployType = "full", headers: Record<string, string> = {}): Promise<void> {
    const version = { "Node-RED-API-Version": "v2", "Node-RED-Deployment-Type": type };
    await this.#post("/flows", { flows: flow }, { ...version, ...headers });
  }

  /**
   * Begins a deploy that closes a `slow` node.
   *
   * @returns once that node is closing: what lets it end, and waits until the flows run
   */
  async beginDeploy(flow: Flow, type: DeployType = "full"): Promise<() => Promise<void>> {
    await this.closeSlowly();
    const deployed = this.deploy(flow, type);
    await this.closing();
    return async () => {
      this.letClose();
      await deployed;
    };
  }

  /** Has `slow` nodes take until `letClose` when they are closed next. */
  async closeSlowly(): Promise<void> {
    await this.tell({ slow: true }, "slow");
  }

  /** Waits until a `slow` node is closing. */
  async closing(): Promise<void> {
    await this.reported("closing");
  }

  /** Lets the `slow` nodes end that are closing, and others at once. */
  letClose(): void {
    this.say({ close: true });
  }

  /** Starts or stops the flows; needs the setting `runtimeState`. */
  async setState(state: "start" | "stop"): Promise<void> {
    await this.#post("/flows/state", { state });
  }

  /** Starts the flows, and waits until they run. */
  async startFlows(): Promise<void> {
    const { length } = this.starts;
    await this.setState("start");
    await this.until(() => this.starts[length], "the flows to start");
  }

  /** Has the flows restarted between the sending of the next message and its delivery. */
  async interruptNextDelivery(): Promise<void> {
    await this.tell({ interrupt: true }, "interrupting");
  }

  /** Waits until requests with this field `X-Trace` have reached the server. */
  async arrived(trace: string, count = 1): Promise<void> {
    await this.reported(`${trace} arrived`, count);
  }

  /** Waits until the server has read the body of the request with this field `X-Trace`. */
  async read(trace: string): Promise<void> {
    await this.reported(`${trace} read`);
  }

  /** Waits until the connection of the request with this field `X-Trace` is closed. */
  async left(trace: string): Promise<void> {
    await this.reported(`${trace} left`);
  }

  /** Sends a command to a fixture. */
  say(command: object): void {
    this.#child.send(command);
  }

  /** Sends a command, and waits for the report that answers it. */
  async tell(command: object, answer: string): Promise<void> {
    this.say(command);
    await this.reported(answer);
  }

  /** Sends a command, and returns the rest of the report that begins so. */
  async ask(command: object, beginning: string): Promise<string> {
    this.say(command);
    const isAnswer = (trace: string) => trace.startsWith(beginning);
    const answer = await this.until(() => this.#traces.find(isAnswer), `"${beginning}…"`);
    this.#traces.splice(this.#traces.indexOf(answer), 1);
    return answer.slice(beginning.length);
  }

  /** Waits until something was reported so often, and forgets these reports. */
  async reported(trace: string, count = 1): Promise<void> {
    const isThere = () => this.#traces.filter((each) => each === trace).length >= count || undefined;
    await this.until(isThere, `${count} times "${trace}"`);
    for (let index = 0; index < count; index++) this.#traces.splice(this.#traces.indexOf(trace), 1);
  }

  /** Waits for the message with an id, the one in the reply to its request. */
  async message(id: unknown): Promise<Received> {
    return this.until(() => this.messages.find((message) => message._msgid === id), `message ${String(id)}`);
  }

  /** Waits for a node to have a status whose text fits. */
  async status(id: string, text: RegExp): Promise<Status> {
    const find = () => {
      const status = this.statuses.get(id);
      return status && text.test(status.text) ? status : undefined;
    };
    return this.until(find, `status ${text.source} of ${id}, which is ${JSON.stringify(this.statuses.get(id))}`);
  }

  async logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.log), `the log to say ${pattern.source}`);
  }

  /** Waits until something is found; it is looked for at every message, status, line of the log, and at the end. */
  async until<T>(find: () => T | undefined | null, what: string): Promise<T> {
    const timeout = AbortSignal.timeout(120_000);
    for (;;) {
      const found = find();
      if (found !== undefined && found !== null) return found;
      if (!this.running) throw new Error(`Node-RED has ended:\n${this.log}`);
      await once(this.#events, "change", { signal: timeout }).catch(() => {
        throw new Error(`waited in vain for ${what}; the log ends with:\n${this.log.slice(-2000)}`);
      });
    }
  }

  async measure(): Promise<Measure> {
    const { length } = this.#measures;
    this.say({ measure: true });
    return this.until(() => this.#measures[length], "a measure");
  }

  /** Waits until its server has so many connections open. */
  async connections(count: number): Promise<void> {
    while ((await this.measure()).connections !== count);
  }

  async stop(): Promise<void> {
    if (this.running && this.#child.connected) this.letClose();
    await this.kill("SIGTERM");
  }

  /** Ends it, unless another signal is given as a power cut does. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.#closed;
  }

  #take({ message, status, started, measure, trace, address }: Report): void {
    if (message) this.messages.push({ ...message, starts: this.starts.length });
    if (status) this.statuses.set(status.id, status.status);
    if (started) this.starts.push(started);
    if (measure) this.#measures.push(measure);
    if (trace !== undefined) this.#traces.push(trace);
    this.#port ??= address?.port;
    this.#events.emit("change");
  }

  async #post(path: string, body: object, headers: Record<string, string> = {}): Promise<void> {
    const response = await fetch(this.admin(path), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    await hearReports();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
  }
}

/** Writes the settings, the flows and the nodes that a Node-RED starts with. */
function writeUserDir(userDir: string, options: Options): void {
  const { flow = [], settings = {}, code = "", host, plugin, only = coreNodesOf(flow), besides = [] } = options;
  const write = (path: string, content: string) => writeFileSync(join(userDir, path), content);
  if (!options.bare && !options.userDir) symlinkSync(installedModules(options.modules), join(userDir, "node_modules"));
  mkdirSync(join(userDir, "nodes"), { recursive: true });
  write("nodes/sink.js", moduleOf("sink"));
  write("nodes/sink.html", nodesForEditor);
  if (plugin !== undefined) {
    write("nodes/plugin.js", plugin);
    write("nodes/plugin.html", "");
  }
  const credentials = flow.filter((node) => node.credentials).map((node) => [node.id, node.credentials]);
  write("flows.json", JSON.stringify(flow.map(({ credentials: _credentials, ...node }) => node)));
  write("flows_cred.json", JSON.stringify(Object.fromEntries(credentials)));
  const fixed = {
    uiHost: "127.0.0.1",
    uiPort: 0,
    flowFile: "flows.json",
    credentialSecret: false,
    telemetry: { enabled: false },
    // No form of ours has an editor of code in it: the smaller one loads sooner.
    editorTheme: { tours: false, codeEditor: { lib: "ace" } },
    // Without such a list, Node-RED asks all modules that are installed around it whether they have nodes.
    nodesIncludes: [...only, ...besides, "sink.js", "plugin.js", basename(packageName)],
    // Node-RED runs npm for its version at each start, and waits, unless there is nothing to install.
    externalModules: { palette: { allowInstall: false } },
    logging: { console: { level: "debug" } },
  };
  write("settings.js", `module.exports = { ...${JSON.stringify({ ...fixed, ...settings })}, ${code} };`);
  if (host !== undefined) write("host.js", hostApplication(host));
}

const nodesForEditor = `<script type="text/javascript">
  for (const type of ["sink", "slow", "count"]) RED.nodes.registerType(type, { category: "function", color: "#ddd", defaults: {}, inputs: 1, outputs: 0 });
</script>`;

function rootOf(setting: unknown): string {
  return typeof setting === "string" && setting !== "/" ? setting : "";
}
