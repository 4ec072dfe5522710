// Records requests for the list of deliveries. No request waits for it.

import type { Explanation, RefusedRequestFacts } from "../auth/authenticator";
import { normaliseAddress, RateBound } from "../auth/limits";
import { mask } from "../auth/present";
import { redacted, type Redactor } from "../auth/redactor";
import { fieldValues, type RequestHead } from "../request/head";
import type { Problem } from "../request/problem";
import type { Delivery, StoredHead, IncomingDelivery, StoredDelivery } from "./delivery";
import { type Change, type DeliveryList, StoreError } from "./queue";
import { type RecordedRequest, type RequestOutcome, recordRequest, type SentRequest } from "./record";

/** How many refused requests per second are recorded: a flood must leave room for accepted ones. */
export const maxRefusedPerSecond = 10;
/** A larger body of a filtered request is not kept. */
const maxFilteredBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

/** The memory, or the store of the settings file. */
export interface RecordTarget extends Pick<DeliveryList, "update"> {
  /** @returns `undefined` where the delivery is in the list already */
  add(delivery: Delivery, body: Buffer): Promise<void> | undefined;
}

export interface RefusalExplanation {
  readonly explanation: Explanation;
  /** Redacted; of unforeseen problems only. */
  readonly error: string | undefined;
}

interface RecorderOptions {
  /** The id of its node. */
  readonly node: string;
  readonly redactor: Redactor;
  readonly path: string;
  readonly keepsBodies: boolean;
  readonly keepsReplies: boolean;
  /** Where requests are that the filter let not pass. */
  readonly filtered: Pick<RecordTarget, "add">;
  /** Whether the target is a queue, which would start unfinished deliveries. */
  readonly isQueue: boolean;
  readonly recentAttempts: RecentAttempts;
  /** For requests without a message. */
  readonly newId: () => string;
  /** Receives what is no trouble of the store: a store reports its troubles itself. */
  readonly report: (error: unknown) => void;
}

export class DeliveryRecorder {
  readonly #target: RecordTarget;
  readonly #options: RecorderOptions;
  readonly #refused = new RateBound(maxRefusedPerSecond);

  constructor(target: RecordTarget, options: RecorderOptions) {
    this.#target = target;
    this.#options = options;
  }

  get keepsReplies(): boolean {
    return this.#options.keepsReplies;
  }

  /** Makes the record of an accepted request, before its flow is started; `add` follows. */
  record(message: IncomingDelivery, sent: SentRequest): RecordedRequest {
    const { node, redactor, keepsBodies } = this.#options;
    const { delivery, body } = recordRequest(node, redactor, message, sent, keepsBodies);
    const isInMessage = message.rawBody !== undefined || Buffer.isBuffer(sent.content.value);
    return { delivery, body: !keepsBodies ? nothing : isInMessage ? Buffer.from(body) : body };
  }

  /** A request has started its flow, or is a duplicate. */
  add({ delivery: recorded, body }: RecordedRequest, outcome: RequestOutcome): void {
    const delivery = { ...recorded, ...this.#withoutAnswer(outcome) };
    if (outcome.state === "duplicate") return this.#write(delivery, nothing);
    this.#addStarted(delivery, body);
  }

  /** The filter let a request not pass. */
  addFiltered(
    message: Pick<IncomingDelivery, "req" | "webhook">,
    sent: SentRequest,
    outcome: Pick<Delivery, "status" | "milliseconds" | "answer" | "why">,
  ): void {
    const { node, redactor, newId, filtered, keepsReplies } = this.#options;
    const { length } = sent.bytes ?? sent.content.bytes();
    // No guaranteed delivery: its body is kept only where those of others are, as replies.
    const keepsBody = keepsReplies && length <= maxFilteredBytes;
    const { delivery, body } = recordRequest(node, redactor, { id: newId(), ...message }, sent, keepsBody);
    const whole = { ...delivery, ...this.#withoutAnswer(outcome), state: "filtered" as const, attempt: 0 };
    this.#settle(filtered.add(whole, keepsBody ? body : nothing));
  }

  addReplay({ delivery, body }: StoredDelivery, state: Delivery["state"]): void {
    this.#addStarted({ ...delivery, state }, body);
  }

  /** The flow has replied, or not in time. */
  update(id: string, change: Change): void {
    this.#settle(this.#target.update(id, this.#withoutAnswer(change)));
  }

  /** A node has reported an error about the message. Where the flow replies, the reply decides. @returns the error */
  fail(id: string, isAnswered: boolean, describe: (redactor: Redactor) => string): string {
    const error = describe(this.#options.redactor);
    this.update(id, isAnswered ? { error } : { state: "failed", error });
    return error;
  }

  get node(): string {
    return this.#options.node;
  }

  /** @param explain called only if the request is recorded, as it takes time */
  addRefused(
    { name, status }: Problem,
    request: RefusedRequestFacts | undefined,
    explain: () => RefusalExplanation,
  ): void {
    if (!request || !this.#refused.take()) return;
    const { explanation, error } = explain();
    const { reasons, looksLike } = explanation;
    this.#note(request, {
      ...{ status, state: "refused", problem: name, reasons },
      ...(looksLike && { looksLike }),
      ...(error !== undefined && { error }),
    });
  }

  addHandshake(request: RefusedRequestFacts, status: number): void {
    if (this.#refused.take()) this.#note(request, { status, state: "handshake" });
  }

  #addStarted(delivery: Delivery, body: Buffer): void {
    const isAnswered = delivery.state === "running";
    const { id, webhook } = delivery;
    this.#options.recentAttempts.add({ id, recorder: this, isAnswered, caller: webhook?.caller });
    this.#write(isAnswered && this.#options.isQueue ? { ...delivery, state: "succeeded" } : delivery, body);
  }

  #note(request: RefusedRequestFacts, outcome: Pick<Delivery, "state"> & Partial<Delivery>): void {
    const { node, redactor, path, newId } = this.#options;
    const { head, at, ip = "", body, caller } = request;
    const shape = describeShape(head, redactor);
    const shown = caller !== undefined && redactor.contains(caller) ? redacted : caller;
    const webhook = shown !== undefined && { webhook: { credential: "first" as const, caller: shown } };
    const noted = { method: head.method, path, ...shape, ip: normaliseAddress(ip) ?? "" };
    const size = body?.length ?? readContentLength(head);
    this.#write({ id: newId(), node, at, ...outcome, ...webhook, attempt: 0, head: noted, size }, nothing);
  }

  #withoutAnswer<Part extends Pick<Delivery, "answer">>(part: Part): Omit<Part, "answer"> {
    if (this.keepsReplies) return part;
    const { answer: _, ...rest } = part;
    return rest;
  }

  #write(delivery: Delivery, body: Buffer): void {
    this.#settle(this.#target.add(delivery, this.#options.keepsBodies ? body : nothing));
  }

  #settle(written: Promise<void> | undefined): void {
    written?.catch((error: unknown) => {
      if (!(error instanceof StoreError)) this.#options.report(error);
    });
  }
}

/** A store reports its troubles itself. */
export const ignoreTrouble = (): void => undefined;

/** How many of the last attempts are watched for errors, over all nodes. */
export const maxRecentAttempts = 1000;

interface RecentAttempt {
  readonly id: string;
  readonly recorder: DeliveryRecorder;
  readonly isAnswered: boolean;
  readonly caller: string | undefined;
}

/** A flow that is not followed has failed. */
interface RecentFailure extends Pick<RecentAttempt, "caller"> {
  readonly node: string;
  readonly id: string;
  readonly error: string;
}

/** The last attempts of flows that are not followed, by the ids of their messages. */
export class RecentAttempts {
  readonly #report: (failure: RecentFailure) => void;
  /** In a ring: errors are few, and so it is searched rather than indexed. */
  readonly #attempts: (RecentAttempt | undefined)[] = [];
  #next = 0;

  /** @param report receives failures of flows that do not reply */
  constructor(report: (failure: RecentFailure) => void) {
    this.#report = report;
  }

  add(attempt: RecentAttempt): void {
    this.#attempts[this.#next] = attempt;
    this.#next = (this.#next + 1) % maxRecentAttempts;
  }

  /** A node has reported an error about any message. */
  failed(id: string, describe: (redactor: Redactor) => string): void {
    // A delivery is listed one turn after its message was sent. Where Node-RED delivers messages at once
    // (`runtimeSyncDelivery`), the flow has failed before that.
    setImmediate(() => setImmediate(() => this.#fail(id, describe)));
  }

  #fail(id: string, describe: (redactor: Redactor) => string): void {
    const index = this.#attempts.findIndex((each) => each?.id === id);
    const attempt = this.#attempts[index];
    if (!attempt) return;
    // Only the first error of a delivery is recorded: later ones follow from it.
    this.#attempts[index] = undefined;
    const { recorder, isAnswered, caller } = attempt;
    const error = recorder.fail(id, isAnswered, describe);
    // The reply shows how the flow ended.
    if (!isAnswered) this.#report({ node: recorder.node, id, caller, error });
  }
}

/** In characters. */
const maxValueLength = 200;
/** How many names of a request are kept. */
const maxNames = 50;
/** In characters. A token has 40, and proxies may have changed its letter case. */
const maxNameLength = 39;
/** The values of other fields may be credentials with a typing error. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

/** The recorded head of a refused request: names, and a few harmless values. */
export function describeShape(
  { rawHeaders, search }: Pick<RequestHead, "rawHeaders" | "search">,
  redactor: Pick<Redactor, "contains" | "redact">,
): Pick<StoredHead, "search" | "headers"> {
  const fields = rawHeaders.filter((_, index) => index % 2 === 0);
  const kept = harmless.flatMap((field) => {
    const value = fieldValues(rawHeaders, field)[0];
    return value === undefined ? [] : [[field, redactor.redact(value).slice(0, maxValueLength)] as const];
  });
  const headers = { ...masked(fields, redactor, (name) => name.toLowerCase()), ...Object.fromEntries(kept) };
  const parameters = masked([...new URLSearchParams(search).keys()], redactor);
  return { headers, search: String(new URLSearchParams(parameters)) };
}

/** Harmless names, with masked values. */
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

/** The length of the unread body, as the request says. */
export function readContentLength({ rawHeaders }: Pick<RequestHead, "rawHeaders">): number {
  const length = Number(fieldValues(rawHeaders, "content-length")[0]);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
