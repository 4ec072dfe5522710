// The reply that a flow owes to a caller.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Problem, problems } from "../problem";
import { markAsOurs } from "./ours";
import { type Recording } from "./recording";
import { abandon, refuse } from "./reply";

/** What became of it. */
export type Settlement =
  /** The flow has given all of it. */
  | "answered"
  /** The flow did not give it in time, or could not. */
  | "failed"
  /** The caller has gone, and nobody else wants it. */
  | "gone";

/** Why an answer of the flow's is not sent. */
export type Dropped = "late" | "second";

/** Who hears of it. */
export interface Creditor {
  /** @param failure what the caller was told instead of an answer, and the error behind it */
  settled(settlement: Settlement, failure?: { problem: Problem; cause: unknown }): void;
  dropped(why: Dropped): void;
}

/** Owed from when the flow is started, for a time: then the caller is told that the flow has not answered. */
export class OwedReply {
  /** Keeps what the flow answers, where somebody else wants it, too. */
  readonly recording: Recording | undefined;
  readonly response: ServerResponse;
  readonly request: IncomingMessage;
  readonly #creditor: Creditor;
  readonly #timer: NodeJS.Timeout;
  /** The head as it was before the flow. */
  readonly #head: OutgoingHttpHeaders;
  /** Why a part of the answer could not be sent, if that is so. */
  #obstacle: { cause: unknown } | undefined;
  #settlement: Settlement | undefined;

  /** @param timeout how long it may be owed, in ms */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    timeout: number,
    creditor: Creditor,
    recording?: Recording,
  ) {
    this.request = request;
    this.response = response;
    this.recording = recording;
    this.#creditor = creditor;
    this.#head = { ...response.getHeaders() };
    markAsOurs(response);
    this.#timer = setTimeout(() => this.#expire(), timeout);
    // What a caller does that goes, or a layer that ends the response twice, must not end the process.
    response.on("error", () => undefined);
    if (recording?.isShared) return;
    const onClose = () => this.#settle("gone");
    if (response.destroyed) onClose();
    else response.once("close", onClose);
  }

  /** Whether there is nothing left to be said: what the flow says now is dropped. */
  get isOver(): boolean {
    return this.#settlement === "answered" || this.#settlement === "failed" || this.response.writableEnded;
  }

  /** The flow has given all of its answer. */
  end(): void {
    this.#settle("answered");
  }

  /** A part of the answer could not be sent. The flow may have another; if it has none in time, nobody waits for that. */
  obstruct(cause: unknown): void {
    this.#obstacle = { cause };
  }

  /** The flow has given an answer that is not sent. */
  drop(): void {
    // Nobody misses it.
    if (this.#settlement === "gone") return;
    this.#creditor.dropped(this.#settlement === "answered" ? "second" : "late");
  }

  /** The caller is told of a problem instead of the flow's answer, if nothing of that is on its way. */
  fail(problem: Problem, cause?: unknown): void {
    if (this.#settlement) return;
    this.#forgetHead();
    const told = refuse(this.request, this.response, problem);
    this.#settle("failed", { problem: told.problem, cause: cause ?? told.cause });
  }

  #expire(): void {
    if (this.response.destroyed) this.#settle("gone");
    else if (!this.response.headersSent) this.fail(problems.flowLate);
    else if (this.#obstacle) this.#breakOff(this.#obstacle.cause);
    // An answer that has begun in time may take its time, unless its caller goes.
    else this.response.once("close", () => this.#settle("gone"));
  }

  #breakOff(cause: unknown): void {
    abandon(this.request);
    this.#settle("failed", { problem: problems.unforeseen, cause });
  }

  /** With half of the flow's head, such as its content coding, nobody could read the problem. */
  #forgetHead(): void {
    const { response } = this;
    if (response.headersSent) return;
    try {
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      for (const [name, value] of Object.entries(this.#head)) if (value !== undefined) response.setHeader(name, value);
      // Node puts its own in the place of an empty one.
      response.statusMessage = "";
    } catch {
      // What a layer makes it throw, it throws as well when the problem is told: there it is taken care of.
    }
  }

  #settle(settlement: Settlement, failure?: { problem: Problem; cause: unknown }): void {
    if (this.#settlement) return;
    this.#settlement = settlement;
    clearTimeout(this.#timer);
    this.#creditor.settled(settlement, failure);
  }
}
