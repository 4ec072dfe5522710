import { connect, type Socket } from "node:net";

/** A request as bytes, ready to be sent over and over. */
export function requestBytes(path: string, headers: Record<string, string>, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const fields = { Host: "127.0.0.1", ...headers, "Content-Length": String(bytes.length) };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join("")}\r\n`), bytes]);
}

/** A request that is sent over and over, or what gives the next one. */
export type Requests = Buffer | (() => Buffer);

export interface Load {
  /** Requests answered per second. */
  rate: number;
  /** How many answers of each status there were. */
  statuses: Record<string, number>;
  /** The share of one core that this process, the load generator, used: below 1, it was not the bottleneck. */
  generatorCpu: number;
}

/** Keeps connections busy: each sends its next request when the answer to the last one is complete. */
export async function fullLoad(
  port: number,
  request: Buffer,
  connections: number,
  milliseconds: number,
): Promise<Load> {
  const statuses: Record<string, number> = {};
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + milliseconds;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await Connection.open(port);
      while (performance.now() < end) {
        const status = await connection.exchange(request);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      connection.close();
    }),
  );
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { rate: (answered / elapsed) * 1000, statuses, generatorCpu: (user + system) / 1000 / elapsed };
}

/**
 * Sends requests at a steady rate, however fast the answers come, and waits for all of them.
 *
 * @returns how many answers of each status there were
 */
export async function steadyLoad(
  port: number,
  request: Requests,
  { connections, rate, milliseconds }: { connections: number; rate: number; milliseconds: number },
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const all = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const idle = [...all];
  const pending: Promise<void>[] = [];
  const start = performance.now();
  const total = Math.floor((rate * milliseconds) / 1000);
  while (pending.length < total) {
    const owed = Math.min(total, Math.floor(((performance.now() - start) * rate) / 1000));
    while (pending.length < owed) {
      // In turns, so that all connections are used alike.
      const connection = idle.shift();
      if (!connection) break;
      pending.push(
        connection.exchange(typeof request === "function" ? request() : request).then((status) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
          idle.push(connection);
        }),
      );
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(pending);
  for (const connection of all) connection.close();
  return statuses;
}

/** One keep-alive connection that reads just as much of an answer as it must: its status and its length. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #done: ((status: string) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#fail?.(error));
    socket.on("close", () => this.#fail?.(new Error("the server closed the connection without an answer")));
  }

  exchange(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#fail = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const head = this.#received.toString("latin1", 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    this.#received = this.#received.subarray(headEnd + 4 + length);
    const done = this.#done;
    this.#done = undefined;
    done?.(head.slice(9, 12));
  }
}
