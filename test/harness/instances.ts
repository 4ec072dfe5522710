import { moduleOf } from "./fixtures";
import { endHeld } from "./guaranteed";
import { send, type Call, type Reply } from "./http";
import { Nginx } from "./nginx";
import { type Flow, NodeRed, type Options, type Received } from "./node-red";
import { Page } from "./pages";
import { until } from "./until";
import { ValkeyServer } from "./valkey";

/** Where the page has the addresses of the instances. */
const serverLines = /^ *server 10\..*\n/gm;

/** How several Node-REDs are set up. */
export interface Setup {
  /** Further options of the server of deliveries. */
  readonly serverArgs: readonly string[];
  /** How each of them is started. */
  options(server: ValkeyServer): Options;
  /** What nginx has in its `http` block. */
  configure(port: number, instances: readonly NodeRed[]): string;
}

/** As the page for operators says. */
const byPage: Setup = {
  serverArgs: [],
  options: (server) => ({ settings: { webhookTriggerStore: { type: "bullmq", url: server.url() } } }),
  configure: configuration,
};

/** Several Node-REDs with the same flows, behind nginx, on one server of deliveries. */
export class Instances {
  /** Those that were started, in the order of their places; a replacement follows at the end. */
  readonly all: NodeRed[];
  readonly server: ValkeyServer;
  readonly #options: Options;
  readonly #setup: Setup;
  readonly #nginx: Nginx;

  static async start(count: number, flow: Flow, setup = byPage): Promise<Instances> {
    const server = await ValkeyServer.start(...setup.serverArgs);
    const options = { flow, plugin: moduleOf("hold"), modules: ["bullmq", "ioredis"], ...setup.options(server) };
    const all = await Promise.all(Array.from({ length: count }, () => NodeRed.start(options)));
    const nginx = await Nginx.start((port) => setup.configure(port, all));
    return new Instances(server, setup, options, all, nginx);
  }

  private constructor(server: ValkeyServer, setup: Setup, options: Options, all: NodeRed[], nginx: Nginx) {
    this.server = server;
    this.#setup = setup;
    this.#options = options;
    this.all = all;
    this.#nginx = nginx;
  }

  /** Those that run. */
  get running(): NodeRed[] {
    return this.all.filter(({ running }) => running);
  }

  /** Sends a request to whichever nginx chooses. */
  async post(path: string, call: Call = {}): Promise<Reply> {
    return send(this.#nginx.origin + path, call);
  }

  /** Takes an instance out of nginx. */
  async takeOut(instance: NodeRed): Promise<void> {
    await this.#balance(this.running.filter((each) => each !== instance));
  }

  /** Starts one in the place of one that is no more, and has nginx send requests to it. */
  async replace(gone: NodeRed, flow: Flow): Promise<NodeRed> {
    const next = await NodeRed.start({ ...this.#options, flow, userDir: gone.userDir });
    this.all.push(next);
    await this.#balance(this.running);
    return next;
  }

  /** All messages that a node has had, of whichever instance. */
  messagesOf(sink: string): (Received & { instance: NodeRed })[] {
    return this.all.flatMap((instance) =>
      instance.messages.filter((message) => message.sink === sink).map((message) => ({ ...message, instance })),
    );
  }

  /** Waits until the messages that a node has had are as they are to be. */
  async had(sink: string, isThere: (messages: (Received & { instance: NodeRed })[]) => boolean): Promise<void> {
    await until(() => isThere(this.messagesOf(sink)), `what ${sink} is to have`);
  }

  /** Has the flows of a node be done with the messages that they have. */
  async end(id: string): Promise<void> {
    await Promise.all(this.running.map((instance) => endHeld(instance, id)));
  }

  async stop(): Promise<void> {
    await this.#nginx.stop();
    await Promise.all(this.all.map((instance) => instance.stop()));
    await this.server.stop();
  }

  async #balance(instances: NodeRed[]): Promise<void> {
    await this.#nginx.reload((port) => this.#setup.configure(port, instances));
  }
}

/** What the page says of nginx, with the addresses of these. */
function configuration(port: number, instances: readonly NodeRed[]): string {
  const lines = instances.map(({ origin }) => `server ${new URL(origin).host};\n`).join("");
  const page = new Page("guaranteed-delivery.md").block("nginx", "upstream");
  const parts = page.split(serverLines);
  if (parts.length < 2 || !page.includes("listen 80;")) throw new Error("The page has no addresses to be replaced");
  return [parts[0], lines, ...parts.slice(1)].join("").replace("listen 80;", `listen 127.0.0.1:${port};`);
}
