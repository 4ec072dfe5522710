// What became of the requests of an endpoint, for whoever looks. Nothing waits for it.

import type { Delivery as KeptDelivery } from "./deliveries/delivery";
import { atOnce, type Change, type Store } from "./deliveries/store";
import type { Delivery } from "./endpoint";
import type { Problem } from "./problem";
import type { Outcome, Recorder, Sent } from "./recorder";
import { addressOf } from "./trust/addresses";
import type { Refused } from "./trust/gate";

/** So many refused requests a second are kept: a flood is to leave room for what was accepted. */
export const mostRefusedASecond = 10;
/** Of a field of theirs, so many characters are kept. */
const longestField = 200;
const nothing = Buffer.alloc(0);
/** What a refused request may be known by. What else it says may be a token that is almost right. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

export class Records {
  readonly #store: Pick<Store, "add" | "change">;
  readonly #recorder: Recorder;
  readonly #path: string;
  readonly #newId: () => string;
  /** When the second began in which refused requests are counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #refused = 0;

  /**
   * @param store what keeps them
   * @param path where the endpoint is
   * @param newId makes the id of what has started no message
   */
  constructor(store: Pick<Store, "add" | "change">, recorder: Recorder, path: string, newId: () => string) {
    this.#store = store;
    this.#recorder = recorder;
    this.#path = path;
    this.#newId = newId;
  }

  /** The flow was started with it, or not, as it is a repeat of another. */
  came(delivery: Delivery, sent: Sent, outcome: Outcome): void {
    const kept = this.#recorder.record(delivery, sent, outcome);
    this.#add(kept.delivery, outcome.state === "duplicate" ? nothing : kept.body);
  }

  /** The flow has answered it, or has not. */
  answered(id: string, change: Change): void {
    forget(this.#store.change(id, change));
  }

  refused({ name, status }: Problem, request: Refused | undefined): void {
    if (!request || !this.#mayKeepRefused()) return;
    const { head, at, ip = "", body } = request;
    const fields = head.rawHeaders.flatMap((value, index, all) => {
      const field = index % 2 === 1 ? all[index - 1]?.toLowerCase() : undefined;
      const isKept = field !== undefined && harmless.includes(field) && !this.#recorder.secrets.standIn(value);
      return isKept ? [[field, value.slice(0, longestField)] as const] : [];
    });
    this.#add(
      {
        ...this.#recorder.base(this.#newId()),
        ...{ at, status, state: "refused", problem: name, attempt: 0 },
        head: {
          method: head.method,
          path: this.#path,
          search: "",
          headers: Object.fromEntries(fields),
          ip: addressOf(ip)?.text ?? "",
        },
        size: body?.length ?? 0,
      },
      nothing,
    );
  }

  #add(delivery: KeptDelivery, body: Buffer): void {
    forget(this.#store.add(delivery, body));
  }

  #mayKeepRefused(): boolean {
    const now = performance.now();
    if (now - this.#second >= 1000) [this.#second, this.#refused] = [now, 0];
    return this.#refused++ < mostRefusedASecond;
  }
}

/** A store in trouble tells of that by itself. */
function forget(kept: Promise<void>): void {
  if (kept !== atOnce) kept.catch(() => undefined);
}
