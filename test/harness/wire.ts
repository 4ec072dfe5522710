import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Speaks the protocol of Valkey and Redis by itself, to do to a server what no store does. */
export class Wire {
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
  }

  /** One command at a time, whose answer is short. */
  async send(...command: string[]): Promise<string> {
    const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
    this.#socket.write(`*${command.length}\r\n${parts.join("")}`);
    const [answer] = (await once(this.#socket, "data")) as [Buffer];
    return answer.toString();
  }

  close(): void {
    this.#socket.destroy();
  }
}
