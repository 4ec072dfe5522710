// Notes with what flows have failed that are not followed to their end.

import type { Node } from "node-red";
import type { JoinedStores } from "../../src/deliveries/joined";
import { Ration } from "../../src/ration";
import { errorOf, longestError } from "./followed";
import type { OpenedNodes } from "./opened";

/** So many errors a second are looked into. */
const mostASecond = 100;

/** What never loses a delivery follows it, and knows more of it. */
export class Failures {
  readonly #stores: JoinedStores;
  readonly #opened: OpenedNodes;
  readonly #ration = new Ration(mostASecond);

  constructor(stores: JoinedStores, opened: OpenedNodes) {
    this.#stores = stores;
    this.#opened = opened;
  }

  /** A node has reported an error about a message. */
  readonly heard = (id: string, error: unknown, node: Node): void => {
    if (!this.#ration.takes()) return;
    // A flow may fail before the delivery is noted.
    setImmediate(() => void this.#note(id, error, node).catch(() => undefined));
  };

  async #note(id: string, error: unknown, node: Node): Promise<void> {
    const found = await this.#stores.find(id);
    if (!found || found.kept.delivery.error !== undefined) return;
    const { kept, shelf } = found;
    const opened = this.#opened.of(kept.delivery.node);
    if (opened === undefined || opened === "switchedOff" || "rule" in opened || opened.config.durable) return;
    const { config, endpoint } = opened;
    // What was to be kept before the last deploy is followed to its end all the same.
    if (config.reply.by === "now" && kept.delivery.state !== "done") return;
    const told = endpoint.gate.secrecy.conceal(errorOf(node, error), longestError);
    const run = { at: kept.runs.at(-1)?.at ?? kept.delivery.at, ended: Date.now(), error: told };
    // Where the flow is to answer, its answer says how it came to its end.
    await shelf.change(id, config.reply.by === "flow" ? { run } : { state: "failed", run });
  }
}
