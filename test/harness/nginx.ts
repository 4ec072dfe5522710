import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "./package";
import { until } from "./until";

const program = process.env.NGINX_PATH ?? "/usr/sbin/nginx";

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
    if (!existsSync(program)) throw new Error(`There is no nginx at ${program}: apt-get install nginx, or NGINX_PATH`);
    for (;;) {
      const nginx = new Nginx(await freePort(), configure);
      await until(() => nginx.#ended || nginx.#log.includes("start worker process"), "nginx to start");
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
      configure(port, folder),
      "}",
    ];
    writeFileSync(join(folder, "nginx.conf"), main.join("\n"));
    this.folder = folder;
    this.#process = spawn(program, ["-p", folder, "-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    this.#process.once("close", () => (this.#ended = true));
  }

  readonly folder: string;

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

/** A port that nobody listens on at this moment: nginx does not let the system choose one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
