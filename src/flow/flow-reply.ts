// The reply that a flow sends to the sender.

import type { Express } from "express";
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { types } from "node:util";
import type { Authenticator } from "../auth/authenticator";
import { messageField } from "../auth/present";
import type { ReplyByFlow, ReplyNow } from "../config/parse";
import { isWithoutContent } from "../config/values";
import { DeliveryRecorder } from "../deliveries/recorder";
import { maxReplyBytes } from "../deliveries/duplicates";
import type { AttemptResult, Change, FirstReply, Reservation } from "../deliveries/queue";
import { gone, interrupted, statusError } from "../deliveries/states";
import { type Problem, problems } from "../request/problem";
import { Outcomes } from "./outcomes";
import { maxNotedBytes, noteReply, sendProblem } from "./reply";

/** The header fields that a reply needs to be understood (RFC 9110 §8). */
const keptFields = ["Content-Type", "Content-Encoding", "Content-Language", "Location"];

/** A request that waits for the flow's reply. */
interface WaitingSender {
  readonly id: string;
  readonly caller?: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When it was received (`performance.now()`). */
  readonly startedAt: number;
  /** Whether it is a test request. */
  readonly isTest?: boolean;
}

/** The flow has replied, it has not, a stop has ended it, or the sender has gone. */
type Ending = "answered" | "failed" | "interrupted" | "gone";

/** The endpoint whose flow replies. */
interface Owner {
  readonly node: { readonly id: string };
  readonly config: { readonly guaranteed: boolean };
  readonly outcomes: Outcomes;
  readonly recorder: DeliveryRecorder | undefined;
  readonly authenticator: Authenticator;
}

/** Waits for the flow's reply from when the flow is started; after the timeout the sender gets 504. */
export class FlowReply {
  /** The end of the attempt: a status of 500 or more makes the sender send the delivery again. */
  readonly ending: Promise<AttemptResult>;
  readonly response: ServerResponse;
  readonly #waiting: WaitingSender;
  readonly #owner: Owner | undefined;
  readonly #reservation: Reservation | undefined;
  readonly #timer: NodeJS.Timeout;
  /** The header fields set before the flow was started. */
  readonly #headers: OutgoingHttpHeaders;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #head: Pick<FirstReply, "status" | "fields"> | undefined;
  #isSettled = false;
  #end: (result: AttemptResult) => void = () => undefined;

  /**
   * @param owner missing where no sender waits
   * @param timeoutMs how long the flow may take
   * @param reservation of the duplicate key: duplicates get the same reply
   */
  constructor(waiting: WaitingSender, owner: Owner | undefined, timeoutMs: number, reservation?: Reservation) {
    const { response, isTest, id } = waiting;
    this.#waiting = waiting;
    this.#owner = owner;
    this.#reservation = reservation;
    this.response = response;
    this.ending = new Promise((resolve) => (this.#end = resolve));
    if (isTest) response.setHeader(messageField, id);
    this.#headers = { ...response.getHeaders() };
    this.#timer = setTimeout(() => this.#expire(), timeoutMs);
    // Writing to a sender that has gone must not end the process.
    response.on("error", () => undefined);
    response.once("close", () => {
      // Duplicates wait for the reply, even when the first sender has gone.
      if (!this.#reservation) this.#settle("gone");
    });
    this.#record();
  }

  /**
   * A reply that nobody receives, as for a replay.
   *
   * @param method of the original request
   * @returns nothing where the flow does not reply
   */
  static detached(app: Express, method: string, reply: ReplyNow | ReplyByFlow): FlowReply | undefined {
    if (reply.by === "now") return undefined;
    const socket = new NullSocket();
    const request = new IncomingMessage(socket);
    request.method = method;
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    Object.assign(Object.setPrototypeOf(request, app.request) as object, {
      res: response,
      query: {},
      next: () => undefined,
    });
    Object.assign(Object.setPrototypeOf(response, app.response) as object, { req: request, locals: {} });
    return new FlowReply({ id: "", request, response, startedAt: performance.now() }, undefined, reply.timeoutMs);
  }

  /** A stop has ended the flow: the sender is asked to try again. */
  interrupt(): void {
    if (this.response.headersSent || this.response.destroyed) this.#settle("interrupted");
    else this.fail(problems.deploying);
  }

  /** Replies with a problem, unless the flow's reply has begun. */
  fail(problem: Problem): void {
    if (this.#isSettled || this.response.headersSent) return;
    const { request } = this.#waiting;
    this.#isSettled = true;
    // Fields that the flow has set, such as a content coding, would make the problem unreadable.
    for (const name of this.response.getHeaderNames()) this.response.removeHeader(name);
    for (const [name, value] of Object.entries(this.#headers)) {
      if (value !== undefined) this.response.setHeader(name, value);
    }
    this.response.statusMessage = "";
    const error = sendProblem(request, this.response, problem);
    this.#isSettled = false;
    this.#settle(problem === problems.deploying ? "interrupted" : "failed", problem, error);
  }

  #expire(): void {
    if (this.response.destroyed) this.#settle("gone");
    // A reply that began in time may go on, unless the sender goes.
    else if (!this.response.headersSent) this.fail(problems.flowLate);
    else this.response.once("close", () => this.#settle("gone"));
  }

  /** Records the flow's reply for duplicates and the list of deliveries, before middleware changes it. */
  #record(): void {
    const { response } = this;
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    const isWanted = this.#owner !== undefined;
    response.write = ((...args: Parameters<typeof write>) => {
      const head = getHead(response);
      const result = write(...args);
      if (isWanted) this.#keep(head, args[0], args[1]);
      return result;
    }) as typeof write;
    response.end = ((...args: Parameters<typeof end>) => {
      if (this.#isSettled) return end(...args);
      // RFC 9110 §15.2: after an interim response the sender would wait forever.
      if (response.statusCode < 200) throw new RangeError(`status ${response.statusCode}`);
      const head = getHead(response);
      // Where this throws, as with an invalid status, the flow may reply again.
      const result = end(...args);
      this.#keep(head, args[0], args[1]);
      this.#settle("answered");
      return result;
    }) as typeof end;
  }

  #keep(head: Pick<FirstReply, "status" | "fields">, chunk: unknown, encoding: unknown): void {
    this.#head ??= head;
    const max = this.#reservation ? maxReplyBytes : 2 * maxNotedBytes;
    const bytes = toBytes(chunk, encoding);
    if (this.#length < max) this.#chunks.push(Buffer.from(bytes.subarray(0, max - this.#length)));
    this.#length += bytes.length;
  }

  #settle(how: Ending, problem?: Problem, cause?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    const status = problem?.status ?? this.response.statusCode;
    const reply = this.#reservation && how === "answered" ? this.#wholeReply : undefined;
    const result = toResult(how, status, this.#owner !== undefined, reply);
    // What was put back is started again, and a repeat of it is a duplicate.
    const isPutBack = how === "interrupted" && this.#owner?.config.guaranteed === true;
    if (how === "answered" || isPutBack) void this.#reservation?.settle(reply);
    else void this.#reservation?.release();
    if (this.#owner) this.#report(this.#owner, how, result, problem, cause);
    this.#end(result);
  }

  #report(owner: Owner, how: Ending, result: AttemptResult, problem?: Problem, cause?: unknown): void {
    const { outcomes, authenticator, recorder } = owner;
    const { guaranteed } = owner.config;
    const { id: node } = owner.node;
    const { id, caller, startedAt } = this.#waiting;
    const milliseconds = performance.now() - startedAt;
    if (how === "answered") outcomes.emit("replied", { node, id, milliseconds, contentLength: this.#length });
    else if (problem === problems.flowLate && cause === undefined) outcomes.emit("unanswered", { node, id, caller });
    else if (problem) outcomes.emit("refused", { node, authenticator, problem, cause });
    // Guaranteed delivery emits its own.
    const attempt = { node, id, caller, attempt: 1 };
    if (!guaranteed && result.as === "succeeded") outcomes.emit("attempt:succeeded", attempt);
    if (!guaranteed && result.as === "failed")
      outcomes.emit("attempt:failed", { ...attempt, error: result.error, isLast: true });
    recorder?.update(id, {
      milliseconds,
      ...(how !== "gone" && { status: this.response.statusCode, ...this.#note(authenticator, problem) }),
      ...(!guaranteed && toChange(result)),
    });
  }

  /** The whole reply, for duplicates. */
  get #wholeReply(): FirstReply | undefined {
    const isWhole = this.#length <= maxReplyBytes;
    return this.#head && { ...this.#head, body: isWhole ? Buffer.concat(this.#chunks) : undefined };
  }

  #note({ redactor }: Authenticator, problem: Problem | undefined): ReturnType<typeof noteReply> {
    if (isWithoutContent(this.response.statusCode)) return {};
    return noteReply(problem?.body ?? Buffer.concat(this.#chunks), redactor);
  }
}

/** RFC 9110 §15.6: the sender sends the delivery again. */
function toResult(how: Ending, status: number, isSenderTold: boolean, reply: FirstReply | undefined): AttemptResult {
  if (how === "answered" && status < 500) return { as: "succeeded", ...(reply && { reply }) };
  if (how === "interrupted") return { as: "interrupted" };
  const error = how === "gone" ? gone : statusError(status);
  return isSenderTold ? { as: "failed", error, isSenderTold } : { as: "failed", error };
}

/** What becomes of a delivery that is not started again. */
export function toChange(result: AttemptResult): Pick<Change, "state" | "error"> {
  if (result.as === "interrupted") return { state: "failed", error: interrupted };
  return { state: result.as };
}

/** The replies that flows owe. */
export class OwedReplies {
  readonly #owed = new Set<FlowReply>();

  add(reply: FlowReply): void {
    this.#owed.add(reply);
    void reply.ending.then(() => this.#owed.delete(reply));
  }

  /** All flows have stopped. */
  interrupt(): void {
    for (const reply of this.#owed) reply.interrupt();
  }
}

function getHead(response: ServerResponse): Pick<FirstReply, "status" | "fields"> {
  const fields = keptFields.flatMap((name) => {
    const value = response.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status: response.statusCode, fields: Object.fromEntries(fields) };
}

function toBytes(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === "string") {
    return Buffer.from(chunk, typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8");
  }
  // A function node's bytes may be of another realm.
  return types.isUint8Array(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.alloc(0);
}

/** A connection that discards what is written. */
class NullSocket extends Socket {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

/** `msg.res` as core's `http in` makes it: deprecated methods, and the response in `_res`. */
interface MessageResponse {
  readonly _res: ServerResponse;
  readonly [method: string]: unknown;
}

const wrappedMethods = [
  ...["append", "attachment", "cookie", "clearCookie", "download", "end", "format", "get", "json", "jsonp", "links"],
  ...["location", "redirect", "render", "send", "sendfile", "sendFile", "sendStatus", "set", "status", "type", "vary"],
];

/** @param warn reports the use of a deprecated method */
export function wrapResponse(response: ServerResponse, warn: (method: string) => void): MessageResponse {
  const wrapper: Record<string, unknown> = {};
  for (const name of wrappedMethods) {
    wrapper[name] = (...args: unknown[]) => {
      warn(`msg.res.${name}`);
      const method = Reflect.get(response, name) as (...args: unknown[]) => unknown;
      const result: unknown = method.apply(response, args);
      return result === response ? wrapper : result;
    };
  }
  return Object.assign(wrapper, { _res: response });
}
