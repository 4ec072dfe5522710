// What became of the requests of an endpoint, for whoever looks. Nothing waits for it.

import type { Delivery as KeptDelivery, Kept } from "./deliveries/delivery";
import { atOnce, type Change, type Store } from "./deliveries/store";
import type { Delivery } from "./endpoint";
import type { Problem } from "./problem";
import type { Recent } from "./recent";
import type { Outcome, Recorder, Sent } from "./recorder";
import { RateBound } from "./rate-bound";
import { lengthOf, shapeOf } from "./shape";
import { normaliseAddress } from "./trust/limits";
import type { Explanation } from "./trust/diagnosis/explanation";
import type { Refused } from "./trust/gate";
import type { Redactor } from "./trust/redactor";

/** So many refused requests a second are kept: a flood is to leave room for what was accepted. */
export const mostRefusedASecond = 10;
const nothing = Buffer.alloc(0);

/** Why a request was refused. */
export interface Why {
  readonly explanation: Explanation;
  /** The error behind it, where no rule foresees it; with nothing in it that nobody may know. */
  readonly error: string | undefined;
}

/** What the flow was started with, and whose end nobody follows. */
export interface Begun {
  readonly records: Records;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  /** Whether the flow answers it: the answer then says how it came to its end. */
  readonly isAnswered: boolean;
}

/** Whose requests are noted, and how. */
interface Lot {
  readonly recorder: Recorder;
  /** Where the endpoint is. */
  readonly path: string;
  readonly keepsBodies: boolean;
  readonly keepsAnswers: boolean;
  /** Where errors of the flow are looked up, by the ids of their messages. */
  readonly begun: Recent<Begun>;
  /** Makes the id of what has started no message. */
  newId(): string;
}

export class Records {
  readonly #store: Pick<Store, "add" | "change" | "outlives">;
  readonly #lot: Lot;
  readonly #refused = new RateBound(mostRefusedASecond);

  /** @param store what keeps them */
  constructor(store: Pick<Store, "add" | "change" | "outlives">, lot: Lot) {
    this.#store = store;
    this.#lot = lot;
  }

  get keepsAnswers(): boolean {
    return this.#lot.keepsAnswers;
  }

  /** The flow was started with it, or not, as it is a repeat of another. */
  came(delivery: Delivery, sent: Sent, outcome: Outcome): void {
    const kept = this.#lot.recorder.record(delivery, sent, this.#noted(outcome));
    if (outcome.state === "duplicate") return this.#add(kept.delivery, nothing);
    this.#begin(kept.delivery);
    this.#add(kept.delivery, kept.body);
  }

  /** The flow is started with an earlier delivery once more. */
  replayed({ delivery, body }: Kept, state: KeptDelivery["state"]): void {
    const noted = { ...delivery, state };
    this.#begin(noted);
    this.#add(noted, body);
  }

  /** The flow has answered it, or has not. */
  answered(id: string, change: Change): void {
    forget(this.#store.change(id, this.#noted(change)));
  }

  /** A node has reported an error about its message. @param tell what it says, redacted */
  failed(id: string, { at, isAnswered }: Omit<Begun, "records">, tell: (redactor: Redactor) => string): void {
    const run = { at, ended: Date.now(), error: tell(this.#lot.recorder.redactor) };
    forget(this.#store.change(id, isAnswered ? { run } : { state: "failed", run }));
  }

  /** @param why asked only where the request is noted: to find it out takes longer than all else */
  refused({ name, status }: Problem, request: Refused | undefined, why: () => Why): void {
    if (!request || !this.#refused.take()) return;
    const { explanation, error } = why();
    const { reasons, looksLike } = explanation;
    this.#note(request, {
      ...{ status, state: "refused", problem: name, reasons },
      ...(looksLike && { looksLike }),
      ...(error !== undefined && { error }),
    });
  }

  /** The sender has asked something, and was answered. */
  greeted(request: Refused, status: number): void {
    if (this.#refused.take()) this.#note(request, { status, state: "handshake" });
  }

  #begin({ id, at, state }: KeptDelivery): void {
    this.#lot.begun.add(id, { records: this, at, isAnswered: state === "running" });
  }

  /** Of what has started no flow, what came where. */
  #note({ head, at, ip = "", body }: Refused, fate: Pick<KeptDelivery, "state"> & Partial<KeptDelivery>): void {
    const shape = shapeOf(head, this.#lot.recorder.redactor);
    const base = this.#lot.recorder.base(this.#lot.newId());
    const kept = { method: head.method, path: this.#lot.path, ...shape, ip: normaliseAddress(ip) ?? "" };
    this.#add({ ...base, at, ...fate, attempt: 0, head: kept, size: body?.length ?? lengthOf(head) }, nothing);
  }

  /** Without what was answered, where that is not kept. */
  #noted<Fate extends Pick<KeptDelivery, "answer">>(fate: Fate): Omit<Fate, "answer"> {
    if (this.keepsAnswers) return fate;
    const { answer: _, ...rest } = fate;
    return rest;
  }

  #add(delivery: KeptDelivery, body: Buffer): void {
    // What is unfinished in a store that outlives the process is delivered again: nobody has promised that of this one.
    const isTakenUp = this.#store.outlives && delivery.state === "running";
    const noted: KeptDelivery = isTakenUp ? { ...delivery, state: "succeeded" } : delivery;
    forget(this.#store.add(noted, this.#lot.keepsBodies ? body : nothing));
  }
}

/** A store in trouble tells of that by itself. */
function forget(kept: Promise<void>): void {
  if (kept !== atOnce) kept.catch(() => undefined);
}
