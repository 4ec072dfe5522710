import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installedModules, root, temporaryFolder } from "./package";

/** A message as the `sink` node saw it. */
export interface Received {
  sink: string;
  keys: string[];
  _msgid: string;
  payload: unknown;
  req: Record<string, unknown>;
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
  env?: Record<string, string>;
}

export type Flow = Record<string, unknown>[];

/** Reports to the test what arrives and what the status of each node is. */
const sinkNode = `
module.exports = (RED) => {
  RED.events.on("node-status", (event) => process.send({ status: event }));
  RED.events.on("flows:started", () => {
    const layers = RED.httpNode._router?.stack.length ?? 0;
    process.send({ started: { layers, polluted: Object.keys(Object.getPrototypeOf({})) } });
  });
  RED.nodes.registerType("sink", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", (msg) => {
      const { _msgid, payload, req } = msg;
      process.send({ message: { sink: this.id, keys: Object.keys(msg), _msgid, payload, req } });
    });
  });
  RED.server.once("listening", () => process.send({ port: RED.server.address().port }));
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
    }
    if (message !== "measure") return;
    globalThis.gc?.();
    RED.server.getConnections((error, connections) => {
      const polluted = Object.keys(Object.getPrototypeOf({}));
      const heap = process.memoryUsage().heapUsed;
      process.send({ measure: { counted, cpu: process.cpuUsage(), heap, connections, polluted } });
    });
  });
};`;

/** The folder of the Node-RED under test. */
export const nodeRedFolder = process.env.NODE_RED_FOLDER ?? join(root, "node_modules", "node-red");

/** A real Node-RED with the packed package installed, in a process of its own, started by its own command. */
export class NodeRed {
  readonly messages: Received[] = [];
  /** What was seen at each start of the flows. */
  readonly starts: Start[] = [];
  readonly statuses = new Map<string, Status>();
  log = "";
  #port: number | undefined;
  readonly #measures: Measure[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #child: ChildProcess;
  readonly #userDir: string;
  readonly #adminRoot: string;
  readonly #nodeRoot: string;
  origin = "";

  static async start(options: Options = {}): Promise<NodeRed> {
    const nodeRed = new NodeRed(options);
    await nodeRed.until(() => nodeRed.starts[0], "the flows to start");
    nodeRed.origin = `http://127.0.0.1:${await nodeRed.until(() => nodeRed.#port, "the server to listen")}`;
    return nodeRed;
  }

  private constructor({ flow = [], settings = {}, code = "", env = {} }: Options) {
    this.#adminRoot = rootOf(settings.httpAdminRoot);
    this.#nodeRoot = rootOf(settings.httpNodeRoot);
    this.#userDir = temporaryFolder("node-red");
    symlinkSync(installedModules(), join(this.#userDir, "node_modules"));
    mkdirSync(join(this.#userDir, "nodes"));
    writeFileSync(join(this.#userDir, "nodes", "sink.js"), sinkNode);
    writeFileSync(
      join(this.#userDir, "nodes", "sink.html"),
      `<script type="text/javascript">
        for (const type of ["sink", "count"]) RED.nodes.registerType(type, { category: "function", color: "#ddd", defaults: {}, inputs: 1, outputs: 0 });
      </script>`,
    );
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
      editorTheme: { tours: false },
      logging: { console: { level: "debug", metrics: true } },
    };
    writeFileSync(
      join(this.#userDir, "settings.js"),
      `module.exports = { ...${JSON.stringify({ ...fixed, ...settings })}, ${code} };`,
    );
    this.#child = spawn(process.execPath, [join(nodeRedFolder, "red.js"), "--userDir", this.#userDir], {
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
        message?: Received;
        status?: { id: string; status: Status };
        started?: Start;
        measure?: Measure;
        port?: number;
      }) => {
        if (report.message) this.messages.push(report.message);
        this.#port ??= report.port;
        if (report.measure) this.#measures.push(report.measure);
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
    const timeout = AbortSignal.timeout(15_000);
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
  addGuard(): void {
    this.#child.send("guard");
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

  /** Fires every timer that is set for so many ms, now. Needs `hastyTimers` in the settings. */
  expire(milliseconds: number): void {
    this.#child.send({ expire: milliseconds });
  }

  async stop(): Promise<void> {
    if (this.running) {
      const exit = once(this.#child, "exit");
      this.#child.kill();
      await exit;
    }
  }

  #logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.log), `the log to say ${pattern.source}`);
  }
}

function rootOf(setting: unknown): string {
  return typeof setting === "string" && setting !== "/" ? setting : "";
}
