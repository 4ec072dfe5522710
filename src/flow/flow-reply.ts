// The reply that a flow owes to a sender.

import type { Express } from "express";
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { types } from "node:util";
import type { Authenticator } from "../auth/authenticator";
import { messageField } from "../auth/present";
import { isWithoutContent } from "../config/parse";
import { DeliveryLog } from "../deliveries/delivery-log";
import { type FirstAnswer, maxAnswerBytes, type Reservation } from "../deliveries/duplicates";
import type { AttemptResult } from "../deliveries/queue";
import type { GuaranteedDelivery } from "../deliveries/recorder";
import { gone, statusError } from "../deliveries/summary";
import { type Problem, problems } from "../request/problem";
import { Outcomes } from "./outcomes";
import { maxNotedBytes, noteAnswer, sendProblem } from "./reply";

/** The fields that an answer is not understood without (RFC 9110 §8). */
const keptFields = ["Content-Type", "Content-Encoding", "Content-Language", "Location"];

/** A request that waits for the flow's reply. */
interface WaitingSender {
  /** The id of its message. */
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When it was met, as `performance.now()` tells time. */
  readonly start: number;
  /** Whether the editor has sent it. */
  readonly isTest?: boolean;
}

/** Who hears how it ended. */
interface Owner {
  readonly nodeId: string;
  readonly outcomes: Outcomes;
  readonly records: DeliveryLog | undefined;
  readonly guaranteed: GuaranteedDelivery | undefined;
  readonly authenticator: Authenticator;
}

/** Owed from when the flow is started: after a time, the sender is told that the flow has not answered. */
export class FlowReply {
  /** What the reply says of the flow: with a status of 500 or more, its sender sends the delivery again. */
  readonly ending: Promise<AttemptResult>;
  readonly response: ServerResponse;
  readonly #waiting: WaitingSender;
  readonly #owner: Owner | undefined;
  readonly #reservation: Reservation | undefined;
  readonly #timer: NodeJS.Timeout;
  /** Those that were there before the flow. */
  readonly #headers: OutgoingHttpHeaders;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #head: Pick<FirstAnswer, "status" | "fields"> | undefined;
  #isSettled = false;
  #end: (result: AttemptResult) => void = () => undefined;

  /**
   * @param owner nothing where no sender waits any more
   * @param timeoutMs how long the flow may take
   * @param reservation of the key by which duplicates are known: they are told the same
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
    // What is written to a sender that has gone must not end the process.
    response.on("error", () => undefined);
    response.once("close", () => {
      // Duplicates wait for the answer, also when the first sender has gone.
      if (!this.#reservation) this.#settle("gone");
    });
    this.#record();
  }

  /**
   * The same for a delivery whose sender waits no more, such as a replay: the answer reaches nobody.
   *
   * @param method of the request as it came
   */
  static detached(app: Express, method: string, timeoutMs: number): FlowReply {
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
    return new FlowReply({ id: "", request, response, start: performance.now() }, undefined, timeoutMs);
  }

  /** The sender is told of a problem instead of the flow's answer, if nothing of that is on its way. */
  fail(problem: Problem): void {
    if (this.#isSettled || this.response.headersSent) return;
    const { request } = this.#waiting;
    this.#isSettled = true;
    // With half of the flow's head, such as its content coding, the problem could not be read.
    for (const name of this.response.getHeaderNames()) this.response.removeHeader(name);
    for (const [name, value] of Object.entries(this.#headers)) {
      if (value !== undefined) this.response.setHeader(name, value);
    }
    this.response.statusMessage = "";
    const error = sendProblem(request, this.response, problem);
    this.#isSettled = false;
    this.#settle("failed", problem, error);
  }

  #expire(): void {
    if (this.response.destroyed) this.#settle("gone");
    // An answer that has begun in time may take its time, unless its sender goes.
    else if (!this.response.headersSent) this.fail(problems.flowLate);
    else this.response.once("close", () => this.#settle("gone"));
  }

  /** Keeps what the flow answers for duplicates and for the list of deliveries, before layers in front change it. */
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
      // RFC 9110 §15.2: after an interim response the sender would wait for ever.
      if (response.statusCode < 200) throw new RangeError(`status ${response.statusCode}`);
      const head = getHead(response);
      // Where this throws, as with an impossible status, the flow may give another answer.
      const result = end(...args);
      this.#keep(head, args[0], args[1]);
      this.#settle("answered");
      return result;
    }) as typeof end;
  }

  #keep(head: Pick<FirstAnswer, "status" | "fields">, chunk: unknown, encoding: unknown): void {
    this.#head ??= head;
    const max = this.#reservation ? maxAnswerBytes : 2 * maxNotedBytes;
    const bytes = toBytes(chunk, encoding);
    if (this.#length < max) this.#chunks.push(Buffer.from(bytes.subarray(0, max - this.#length)));
    this.#length += bytes.length;
  }

  #settle(how: "answered" | "failed" | "gone", problem?: Problem, cause?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    const { id, start, response } = this.#waiting;
    const milliseconds = performance.now() - start;
    if (how === "answered") {
      void this.#reservation?.settle(this.#answer);
      this.#owner?.outcomes.emit("replied", {
        node: this.#owner.nodeId,
        id,
        milliseconds,
        contentLength: this.#length,
      });
    } else {
      void this.#reservation?.release();
      if (problem) this.#emitFailure(problem, cause);
    }
    const result = toResult(how, problem?.status ?? response.statusCode, this.#owner !== undefined);
    const told = { milliseconds, ...(how !== "gone" && { status: response.statusCode }) };
    this.#end(result);
    this.#emitAttempt(result);
    // With guaranteed delivery, the state depends on more.
    const state = this.#owner?.guaranteed
      ? {}
      : ({ state: result.as === "succeeded" ? "succeeded" : "failed" } as const);
    const noted = how === "gone" ? {} : this.#note(problem);
    this.#owner?.records?.answered(id, { ...told, ...noted, ...state });
  }

  #emitFailure(problem: Problem, cause: unknown): void {
    if (!this.#owner) return;
    const { outcomes, nodeId: node, authenticator } = this.#owner;
    const isLate = problem === problems.flowLate && cause === undefined;
    if (isLate) outcomes.emit("unanswered", { node, id: this.#waiting.id });
    else outcomes.emit("refused", { node, authenticator, problem, cause });
  }

  /** Guaranteed delivery tells of its attempts by itself. */
  #emitAttempt(result: AttemptResult): void {
    if (!this.#owner || this.#owner.guaranteed) return;
    const { outcomes, nodeId: node } = this.#owner;
    const attempt = { node, id: this.#waiting.id, attempt: 1 };
    if (result.as === "succeeded") outcomes.emit("attempt:succeeded", attempt);
    else if (result.as === "failed") outcomes.emit("attempt:failed", { ...attempt, error: result.error });
  }

  /** The whole of what the flow has answered, for duplicates. */
  get #answer(): FirstAnswer | undefined {
    const isWhole = this.#length <= maxAnswerBytes;
    return this.#head && { ...this.#head, body: isWhole ? Buffer.concat(this.#chunks) : undefined };
  }

  #note(problem: Problem | undefined): ReturnType<typeof noteAnswer> {
    const { redactor } = this.#owner?.authenticator ?? {};
    if (!redactor || isWithoutContent(this.response.statusCode)) return {};
    return noteAnswer(problem?.body ?? Buffer.concat(this.#chunks), redactor);
  }
}

/** RFC 9110 §15.6: after an answer of 500 or more, the sender sends the delivery again. */
function toResult(how: "answered" | "failed" | "gone", status: number, isTold: boolean): AttemptResult {
  if (how === "answered" && status < 500) return { as: "succeeded" };
  const error = how === "gone" ? gone : statusError(status);
  return isTold ? { as: "failed", error, isTold } : { as: "failed", error };
}

function getHead(response: ServerResponse): Pick<FirstAnswer, "status" | "fields"> {
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
  // Those of a function node may be of another realm.
  return types.isUint8Array(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.alloc(0);
}

/** A connection that takes what is written to it, as one does whose other end reads it. */
class NullSocket extends Socket {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

/** What `msg.res` has, as core's `http in` makes it: methods that are deprecated, and the response in `_res`. */
interface MessageResponse {
  readonly _res: ServerResponse;
  readonly [method: string]: unknown;
}

/** The methods that core's `http in` has there. */
const wrappedMethods = [
  ...["append", "attachment", "cookie", "clearCookie", "download", "end", "format", "get", "json", "jsonp", "links"],
  ...["location", "redirect", "render", "send", "sendfile", "sendFile", "sendStatus", "set", "status", "type", "vary"],
];

/** @param warn tells the user that a flow has called one of the deprecated methods */
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
