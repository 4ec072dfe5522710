// What became of the requests of an endpoint, for whoever looks. Nothing waits for it.

import type { Delivery as KeptDelivery } from "./deliveries/delivery";
import { namesOnly } from "./deliveries/masks";
import { atOnce, type Change, type Store } from "./deliveries/store";
import type { Delivery } from "./endpoint";
import type { Problem } from "./problem";
import type { Outcome, Recorder, Sent } from "./recorder";
import { addressOf } from "./trust/addresses";
import type { Explanation } from "./trust/diagnosis/explanation";
import type { Refused } from "./trust/gate";

/** So many refused requests a second are kept: a flood is to leave room for what was accepted. */
export const mostRefusedASecond = 10;
/** Of a field of theirs, so many characters are kept. */
const longestField = 200;
const nothing = Buffer.alloc(0);
/** What a refused request may be known by. What else it says may be a token that is almost right. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

/** Why a request was refused; asked for only where that is kept. */
export interface Why {
  readonly explanation: Explanation;
  /** The error behind it, where no rule foresees it; with nothing in it that nobody may know. */
  readonly error: string | undefined;
}

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

  refused({ name, status }: Problem, request: Refused | undefined, why: Why): void {
    if (!request || !this.#mayKeepRefused()) return;
    const { head, at, ip = "", body } = request;
    const { reasons, looksLike } = why.explanation;
    const { error } = why;
    this.#add(
      {
        ...this.#recorder.base(this.#newId()),
        ...{ at, status, state: "refused", problem: name, reasons, attempt: 0 },
        ...(looksLike && { looksLike }),
        ...(error !== undefined && { error }),
        head: { method: head.method, path: this.#path, ...this.#shapeOf(head), ip: addressOf(ip)?.text ?? "" },
        size: body?.length ?? lengthOf(head),
      },
      nothing,
    );
  }

  /** What it had where, without what that was. */
  #shapeOf({ rawHeaders, search }: Refused["head"]): Pick<KeptDelivery["head"], "search" | "headers"> {
    const { secrets } = this.#recorder;
    const isSilent = (text: string) => !secrets.standIn(text);
    const names = rawHeaders.filter((text, index) => index % 2 === 0 && isSilent(text));
    const kept = harmless.flatMap((field) => {
      const value = valueOf(rawHeaders, field);
      return value !== undefined && isSilent(value) ? [[field, value.slice(0, longestField)] as const] : [];
    });
    const headers = { ...namesOnly(names.map((name) => name.toLowerCase())), ...Object.fromEntries(kept) };
    const parameters = namesOnly([...new URLSearchParams(search).keys()].filter(isSilent));
    return { headers, search: String(new URLSearchParams(parameters)) };
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

/** How long its body is, as it says: nobody has read it. */
function lengthOf({ rawHeaders }: Refused["head"]): number {
  const length = Number(valueOf(rawHeaders, "content-length"));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function valueOf(rawHeaders: readonly string[], field: string): string | undefined {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === field);
  return at === -1 ? undefined : rawHeaders[at + 1];
}

/** A store in trouble tells of that by itself. */
function forget(kept: Promise<void>): void {
  if (kept !== atOnce) kept.catch(() => undefined);
}
