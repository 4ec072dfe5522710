// Notes what became of requests, for the list of deliveries. No request waits for it.

import type { RefusedRequestFacts } from "../auth/authenticator";
import { normaliseAddress, RateBound } from "../auth/limits";
import { mask } from "../auth/present";
import type { Redactor } from "../auth/redactor";
import type { Explanation } from "../auth/result";
import type { RequestHead as RequestHead } from "../auth/signature/fields";
import type { Problem } from "../request/problem";
import type { Delivery, StoredHead, IncomingDelivery, StoredDelivery } from "./delivery";
import type { Change } from "./queue";
import type { RequestOutcome, Recorder, SentRequest } from "./recorder";

/** So many refused requests a second are noted: a flood is to leave room for what was accepted. */
export const maxRefusedPerSecond = 10;
const nothing = Buffer.alloc(0);

/** Where deliveries are noted: in memory, or in the store that the settings file names. */
export interface LogTarget {
  add(delivery: Delivery, body: Buffer): void | Promise<void>;
  update(id: string, change: Change): void | Promise<void>;
}

/** Why a request was refused. */
export interface RefusalCause {
  readonly explanation: Explanation;
  /** The error behind it, where no rule foresees it; redacted. */
  readonly error: string | undefined;
}

interface LogOptions {
  readonly recorder: Recorder;
  /** Where the endpoint is. */
  readonly path: string;
  readonly keepsBodies: boolean;
  readonly keepsAnswers: boolean;
  /** Whether the target is a queue, which would start the flow with what is not finished. */
  readonly isQueue: boolean;
  readonly starts: RecentStarts;
  /** Makes the id of what has started no message. */
  readonly newId: () => string;
}

/** The log of one endpoint. */
export class DeliveryLog {
  readonly #target: LogTarget;
  readonly #options: LogOptions;
  readonly #refused = new RateBound(maxRefusedPerSecond);

  constructor(target: LogTarget, options: LogOptions) {
    this.#target = target;
    this.#options = options;
  }

  get keepsAnswers(): boolean {
    return this.#options.keepsAnswers;
  }

  /** The flow was started with it; or not, as it is a duplicate. */
  came(message: IncomingDelivery, sent: SentRequest, outcome: RequestOutcome): void {
    const { delivery, body } = this.#options.recorder.record(message, sent, this.#withoutAnswer(outcome));
    if (outcome.state === "duplicate") return this.#add(delivery, nothing);
    this.#started(delivery, body);
  }

  /** The flow is started with an earlier delivery once more. */
  replayed({ delivery, body }: StoredDelivery, state: Delivery["state"]): void {
    this.#started({ ...delivery, state }, body);
  }

  /** The flow has replied to it, or has not. */
  answered(id: string, change: Change): void {
    this.#update(id, this.#withoutAnswer(change));
  }

  /**
   * A node has reported an error about its message.
   *
   * @param isAnswered whether the flow replies to it: its reply says how it ended
   * @param describe the error, redacted
   * @returns the error
   */
  failed(id: string, isAnswered: boolean, describe: (redactor: Redactor) => string): string {
    const error = describe(this.#options.recorder.redactor);
    this.#update(id, isAnswered ? { error } : { state: "failed", error });
    return error;
  }

  /** The id of its node. */
  get node(): string {
    return this.#options.recorder.base("").node;
  }

  /** @param explain called only where the request is noted: to find out why takes longer than all else */
  refused({ name, status }: Problem, request: RefusedRequestFacts | undefined, explain: () => RefusalCause): void {
    if (!request || !this.#refused.take()) return;
    const { explanation, error } = explain();
    const { reasons, looksLike } = explanation;
    this.#note(request, {
      ...{ status, state: "refused", problem: name, reasons },
      ...(looksLike && { looksLike }),
      ...(error !== undefined && { error }),
    });
  }

  /** A handshake was answered. */
  greeted(request: RefusedRequestFacts, status: number): void {
    if (this.#refused.take()) this.#note(request, { status, state: "handshake" });
  }

  #started(delivery: Delivery, body: Buffer): void {
    const isAnswered = delivery.state === "running";
    this.#options.starts.add(delivery.id, { log: this, isAnswered });
    this.#add(isAnswered && this.#options.isQueue ? { ...delivery, state: "succeeded" } : delivery, body);
  }

  #note(request: RefusedRequestFacts, outcome: Pick<Delivery, "state"> & Partial<Delivery>): void {
    const { recorder, path, newId } = this.#options;
    const { head, at, ip = "", body } = request;
    const noted = {
      method: head.method,
      path,
      ...describeShape(head, recorder.redactor),
      ip: normaliseAddress(ip) ?? "",
    };
    const size = body?.length ?? countCharacters(head);
    this.#add({ ...recorder.base(newId()), at, ...outcome, attempt: 0, head: noted, size }, nothing);
  }

  #withoutAnswer<Part extends Pick<Delivery, "answer">>(part: Part): Omit<Part, "answer"> {
    if (this.keepsAnswers) return part;
    const { answer: _, ...rest } = part;
    return rest;
  }

  #add(delivery: Delivery, body: Buffer): void {
    ignoreTrouble(this.#target.add(delivery, this.#options.keepsBodies ? body : nothing));
  }

  #update(id: string, change: Change): void {
    ignoreTrouble(this.#target.update(id, change));
  }
}

/** A store in trouble reports that by itself. */
export function ignoreTrouble(noted: void | Promise<void>): void {
  if (noted instanceof Promise) noted.catch(() => undefined);
}

/** Of so many starts of flows, the last of all nodes, errors are noted. */
export const maxRecentStarts = 1000;

interface Start {
  readonly log: DeliveryLog;
  readonly isAnswered: boolean;
}

/** The last starts of flows whose end nothing follows, of all nodes, by the ids of their messages. */
export class RecentStarts {
  readonly #report: (node: string, id: string, error: string) => void;
  #newer = new Map<string, Start>();
  #older = new Map<string, Start>();

  /** @param report hears of each flow that has failed, and does not reply */
  constructor(report: (node: string, id: string, error: string) => void) {
    this.#report = report;
  }

  /** Costs the same however many there are: so many are known at least, and twice as many at most. */
  add(id: string, start: Start): void {
    if (this.#newer.size >= maxRecentStarts) [this.#older, this.#newer] = [this.#newer, new Map<string, Start>()];
    this.#newer.set(id, start);
  }

  /** A node has reported an error about a message, which may have nothing to do with us. */
  failed(id: string, describe: (redactor: Redactor) => string): void {
    // A flow may fail before the delivery is noted.
    setImmediate(() => {
      const start = this.#newer.get(id) ?? this.#older.get(id);
      // Of each delivery the first error is noted: what follows from it says less.
      if (!this.#newer.delete(id)) this.#older.delete(id);
      if (!start) return;
      const error = start.log.failed(id, start.isAnswered, describe);
      // A reply says by itself how its flow has ended.
      if (!start.isAnswered) this.#report(start.log.node, id, error);
    });
  }
}

/** Of a value, so many characters are kept. */
const maxValueLength = 200;
/** Of a request, so many names are kept. */
const maxNames = 50;
/** In characters. A token has 40, and proxies may have changed its letter case. */
const maxNameLength = 39;
/** Fields whose values are kept. Other values may be credentials that are almost right. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

/** What is kept of the head of a refused request: names of fields, and a few values that are harmless. */
export function describeShape(
  { rawHeaders, search }: Pick<RequestHead, "rawHeaders" | "search">,
  redactor: Pick<Redactor, "contains" | "redact">,
): Pick<StoredHead, "search" | "headers"> {
  const fields = rawHeaders.filter((_, index) => index % 2 === 0);
  const kept = harmless.flatMap((field) => {
    const value = getValue(rawHeaders, field);
    return value === undefined ? [] : [[field, redactor.redact(value).slice(0, maxValueLength)] as const];
  });
  const headers = { ...masked(fields, redactor, (name) => name.toLowerCase()), ...Object.fromEntries(kept) };
  const parameters = masked([...new URLSearchParams(search).keys()], redactor);
  return { headers, search: String(new URLSearchParams(parameters)) };
}

/** Harmless names, each with a mask for its value. */
function masked(
  names: readonly string[],
  redactor: Pick<Redactor, "contains">,
  written = (name: string) => name,
): Record<string, string> {
  const kept = names.filter(
    (name) => name.length <= maxNameLength && /^[\w.-]+$/.test(name) && !redactor.contains(name),
  );
  return Object.fromEntries(kept.slice(0, maxNames).map((name) => [written(name), mask]));
}

/** How long a body is, in bytes, as the request says: nobody has read it. */
export function countCharacters({ rawHeaders }: Pick<RequestHead, "rawHeaders">): number {
  const length = Number(getValue(rawHeaders, "content-length"));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function getValue(rawHeaders: readonly string[], field: string): string | undefined {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === field);
  return at === -1 ? undefined : rawHeaders[at + 1];
}
