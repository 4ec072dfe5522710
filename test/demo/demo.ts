import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/package";
import { until } from "../harness/until";

export type Command = [command: string, ...args: string[]];

const standard: Command = [process.execPath, "scripts/demo.mjs"];
/** The dist/ that is tested, which a demo need not build again. */
const built = join(root, "dist");

/** A demo and all the processes that it starts, in a process group of their own, as a terminal starts it. */
export class Demo {
  output = "";
  readonly exit: Promise<number | null>;
  readonly #process: ChildProcess;

  /** @param dist the dist/ that it takes instead of building one; empty to have it build one */
  constructor(port: number | string, [command, ...args] = standard, dist = built) {
    this.#process = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_OPTIONS: "", PORT: String(port), DEMO_DIST: dist },
      detached: true,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    }
    this.exit = once(this.#process, "close").then(([code]) => code as number | null);
  }

  /** Starts a demo on a port that the system chooses, and waits until it has printed all. */
  static async start(command = standard, dist = built): Promise<Demo> {
    const demo = new Demo(0, command, dist);
    await demo.isReady();
    return demo;
  }

  /** Waits until it has printed all. */
  async isReady(): Promise<void> {
    await this.says(/Ctrl\+C/);
  }

  /** The line that the demo prints to be pasted. */
  get curl(): string {
    return this.#line(/^ *(curl .*)$/m);
  }

  /** The line that the demo prints for the README's examples. */
  get exportToken(): string {
    return this.#line(/^ *(export TOKEN=.*)$/m);
  }

  get token(): string {
    return this.#line(/Bearer ([^"' ]+)/);
  }

  get editor(): string {
    return this.#line(/^ *(http:\/\/\S+\/)$/m);
  }

  /** Its folders, which nobody needs when it has ended. */
  get folders(): string[] {
    const all = join(root, ".cache", "demo");
    return existsSync(all) ? readdirSync(all).filter((name) => name.startsWith(`${this.#pid}-`)) : [];
  }

  get port(): number {
    return Number(new URL(this.editor).port);
  }

  /** Waits until the output has a text. */
  async says(pattern: RegExp): Promise<void> {
    let ended = false;
    void this.exit.then(() => (ended = true));
    await until(() => {
      if (ended && !pattern.test(this.output)) throw new Error(`the demo has ended:\n${this.output}`);
      return pattern.test(this.output);
    }, `the demo to say ${pattern.source}`);
  }

  /** Sends a signal to the process that was started, and to it alone. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends SIGINT to the whole process group, as a terminal does. */
  pressCtrlC(): void {
    process.kill(-this.#pid, "SIGINT");
  }

  /** Reads its output no more, as if its terminal were gone. */
  hangUp(): void {
    this.#process.stdout?.destroy();
  }

  /** Waits until every process that it started is gone. */
  async gone(): Promise<void> {
    await until(() => !this.#runs(), "the end of the demo's processes");
  }

  /** Stops it, and ends by force what is left then. */
  async end(): Promise<void> {
    this.#process.kill();
    try {
      await this.gone();
    } finally {
      if (this.#runs()) process.kill(-this.#pid, "SIGKILL");
    }
  }

  /**
   * Whether a process of its group runs. One that has ended but for a thread (`Zl`) still has its files and its port; others
   * that have ended (`Z`) are only waiting to be counted.
   */
  #runs(): boolean {
    const processes = execFileSync("ps", ["-A", "-o", "pgid=,stat="], { encoding: "utf8" });
    return new RegExp(`^ *${this.#pid} +([^Z]|Z.*l)`, "m").test(processes);
  }

  get #pid(): number {
    if (this.#process.pid === undefined) throw new Error("the demo did not start");
    return this.#process.pid;
  }

  #line(pattern: RegExp): string {
    const line = pattern.exec(this.output)?.[1];
    if (!line) throw new Error(`${pattern.source} is not in the output:\n${this.output}`);
    return line;
  }
}
