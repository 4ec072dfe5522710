// How deliveries come to the server.

import { randomBytes } from "node:crypto";
import type { Condition } from "../condition";
import type { Delivery } from "../delivery";
import { StoreError } from "../store";
import { write } from "../written";
import * as scripts from "./scripts";
import type { Part, Server } from "./server";
import { Together } from "./together";
import { mayBeDone } from "./troubles";

/** How much waits at most to be kept, in bytes, unless one alone has more. */
export const mostWaiting = 64 * 1024 * 1024;
/** What a delivery takes besides its texts and its body, in bytes: about, with its places in the indexes. */
const frame = 1024;

export class Adding {
  readonly #server: Server;
  readonly #condition: Condition<Part>;
  readonly #together: Together;
  /** What is being added, by its id. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Tells what it adds from what others add. */
  readonly #name = randomBytes(6).toString("base64url");
  #bytes = 0;
  #last = 0;

  constructor(server: Server, condition: Condition<Part>, maxBytes: number, changes: Together) {
    this.#server = server;
    this.#condition = condition;
    this.#together = new Together(server, scripts.add, (bytes, number) => [maxBytes, bytes, number], changes);
  }

  /** @throws {StoreError} `busy` where too much waits; then, and whenever else it is refused, it is not kept */
  async add(delivery: Delivery, body: Buffer): Promise<void> {
    const { id, node, at, state, rest, searched, attempt, status, milliseconds } = write(delivery, body);
    const bytes = frame + 2 * (rest.length + searched.length) + body.length;
    this.#begin(bytes);
    const token = `${this.#name}-${++this.#last}`;
    const fields = ["id", id, "attempt", attempt, "rest", rest, "searched", searched, "body", body];
    if (status !== null) fields.push("status", status);
    if (milliseconds !== null) fields.push("milliseconds", milliseconds);
    try {
      const asked = this.#together.ask([token, id, node, state, at, bytes, fields.length, ...fields], { bytes });
      this.#underWay.set(id, asked);
      await asked;
      this.#server.works();
    } catch (error) {
      // Who was told so sends it again.
      if (mayBeDone(error)) void this.#server.surely(scripts.forget, [id, token]);
      throw error;
    } finally {
      this.#underWay.delete(id);
      this.#end(bytes);
    }
  }

  /** Fulfilled when a delivery is added, or is not; nothing where it is not being added. */
  over(id: string): Promise<unknown> | undefined {
    return this.#underWay.get(id)?.catch(() => undefined);
  }

  /** Sends what is there, now. */
  flush(): void {
    this.#together.flush();
  }

  #begin(bytes: number): void {
    if (this.#bytes > 0 && this.#bytes + bytes > mostWaiting) {
      const error = new StoreError("busy");
      this.#condition.begin("queue", "busy", error);
      throw error;
    }
    this.#bytes += bytes;
  }

  #end(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < mostWaiting / 2) this.#condition.end("queue");
  }
}
