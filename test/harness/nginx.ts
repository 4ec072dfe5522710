import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../scripts/setup.mjs";
import { freePort } from "./free-port";
import { temporaryFolder } from "./package";
import { until } from "./until";

const program = findProgram("nginx");

/** Whether there is one to test with: without one, `npm test` says what it leaves out. */
export const nginxIsHere = program !== undefined;
const begun = "start worker process ";

/** An nginx of its own, with all its files in a temporary folder. */
export class Nginx {
  readonly #process: ChildProcess;
  #log = "";
  #ended = false;

  /**
   * Starts one.
   *
   * @param configure makes what stands in the `http` block, for a port to listen on and a folder for its files
   */
  static async start(configure: (port: number, folder: string) => string): Promise<Nginx> {
    for (;;) {
      const nginx = new Nginx(await freePort(), configure);
      await until(() => nginx.#ended || nginx.#log.includes(begun), "nginx to start");
      if (!nginx.#ended) return nginx;
      // Another program may have been faster.
      if (!nginx.#log.includes("Address already in use")) throw new Error(`nginx has ended:\n${nginx.#log}`);
    }
  }

  private constructor(
    readonly port: number,
    configure: (port: number, folder: string) => string,
  ) {
    const folder = temporaryFolder("nginx");
    this.folder = folder;
    this.#configure(configure);
    this.#process = spawn(program ?? "nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    this.#process.once("close", () => (this.#ended = true));
  }

  readonly folder: string;

  /** Goes on with another configuration; what it has begun, it ends by the one before. */
  async reload(configure: (port: number, folder: string) => string): Promise<void> {
    const count = () => this.#log.split(begun).length;
    const before = count();
    this.#configure(configure);
    this.#process.kill("SIGHUP");
    await until(() => count() > before, "nginx to go on");
  }

  #configure(configure: (port: number, folder: string) => string): void {
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
    const main = [
      // The folder is open to the user who runs the tests alone.
      process.getuid?.() === 0 ? "user root;" : "",
      "worker_processes 1;",
      "pid nginx.pid;",
      "error_log stderr notice;",
      "events {}",
      "http {",
      ...temporary,
      configure(this.port, this.folder),
      "}",
    ];
    writeFileSync(join(this.folder, "nginx.conf"), main.join("\n"));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until a file of its folder has a text, and answers with all that it has. */
  async written(file: string, text: string): Promise<string> {
    const read = () => readFileSync(join(this.folder, file), "utf8");
    await until(() => read().includes(text), `${text} in ${file}`);
    return read();
  }

  /** Waits until its error log has a text. */
  async logged(text: string): Promise<void> {
    await until(() => this.#log.includes(text), `${text} in the error log of nginx`);
  }

  async stop(): Promise<void> {
    if (this.#ended) return;
    const closed = once(this.#process, "close");
    this.#process.kill();
    await closed;
  }
}
