import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { findProgram } from "../../scripts/setup.mjs";
import { freePort } from "./free-port";
import { temporaryFolder } from "./package";
import { until } from "./until";

const program = process.env.WITHOUT_SERVER ? undefined : findProgram("valkey-server", "redis-server");

/** Whether there is a server to test with: without one, `npm test` says what it leaves out. */
export const serverIsHere = program !== undefined;

const durable = ["--appendonly", "yes", "--appendfsync", "always"];

/** A Valkey or Redis of its own, with all its files in a temporary folder. */
export class ValkeyServer {
  readonly port: number;
  /** Where its files are. */
  readonly folder: string;
  readonly #args: string[];
  #process: ChildProcess;
  #log = "";
  #ended = false;

  /** @param args options of the server, which is durable where nothing else is said */
  static async start(...args: string[]): Promise<ValkeyServer> {
    const folder = temporaryFolder("valkey");
    for (;;) {
      const port = await freePort();
      const server = new ValkeyServer(port, folder, [...durable, ...args]);
      if (await server.#isUp()) return server;
      // Another program may have been faster.
      if (!server.#log.includes("Address already in use")) throw new Error(`it has ended:\n${server.#log}`);
    }
  }

  private constructor(port: number, folder: string, args: string[]) {
    this.port = port;
    this.folder = folder;
    this.#args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", ...args];
    this.#process = this.#spawned();
  }

  /** @param userinfo a user and a password, as they stand in a URL */
  url(userinfo = ""): string {
    return `redis://${userinfo && `${userinfo}@`}127.0.0.1:${this.port}`;
  }

  /** It does nothing, until it is resumed. */
  suspend(): void {
    this.#process.kill("SIGSTOP");
  }

  resume(): void {
    this.#process.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    this.resume();
    await this.#end("SIGTERM");
  }

  /** On the same port, with the same files. */
  async restart(...args: string[]): Promise<void> {
    this.#args.push(...args);
    this.#log = "";
    this.#ended = false;
    this.#process = this.#spawned();
    if (!(await this.#isUp())) throw new Error(`it has not started again:\n${this.#log}`);
  }

  async #isUp(): Promise<boolean> {
    await until(() => this.#ended || /ready to accept connections/i.test(this.#log), "the server to start");
    return !this.#ended;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#ended) return;
    const closed = once(this.#process, "close");
    this.#process.kill(signal);
    await closed;
  }

  #spawned(): ChildProcess {
    if (!program) throw new Error("There is no server: apt-get install redis-server or valkey-server");
    const child = spawn(program, this.#args, { stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    child.once("close", () => (this.#ended = true));
    return child;
  }
}
