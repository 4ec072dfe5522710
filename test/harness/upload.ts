import { once } from "node:events";
import type { Socket } from "node:net";
import { bearer } from "./flow";
import { dial } from "./http";
import type { NodeRed } from "./node-red";

export function headOf(path: string, fields: Record<string, string | number>): string {
  const lines = Object.entries({ Host: "x", ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** A connection with a request whose body is sent piece by piece. */
export class Upload {
  #received = "";
  #rest: string;
  readonly #socket: Socket;

  /** Sends the head and the first character of a request; the server has received it then. */
  static async begin(
    nodeRed: NodeRed,
    body: string,
    path = "/hook",
    credential: Record<string, string> = bearer,
  ): Promise<Upload> {
    const url = new URL(nodeRed.node(path));
    const upload = new Upload(dial(url.origin), body.slice(1));
    const fields = { ...credential, "X-Trace": body, "Content-Type": "text/plain" };
    upload.#socket.write(headOf(url.pathname + url.search, { ...fields, "Content-Length": body.length }));
    upload.#socket.write(body.slice(0, 1));
    await nodeRed.arrived(body);
    return upload;
  }

  private constructor(socket: Socket, rest: string) {
    this.#socket = socket;
    this.#rest = rest;
    socket.setEncoding("utf8").on("data", (text: string) => (this.#received += text));
  }

  /** Sends one more character of the body. */
  more(): void {
    this.#socket.write(this.#rest.slice(0, 1));
    this.#rest = this.#rest.slice(1);
  }

  finish(): void {
    this.#socket.write(this.#rest);
  }

  /** Waits for the reply, and returns the statuses of all that have arrived. */
  async statuses(): Promise<number[]> {
    while (!this.#received.includes("HTTP/1.1 ")) await once(this.#socket, "data");
    this.hangUp();
    return Array.from(this.#received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));
  }

  hangUp(): void {
    this.#socket.destroy();
  }
}
