// Who waits for an answer, and what it and the operator are told.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "./endpoint";
import { type Problem, problems } from "./problem";
import type { Arrival } from "./request/summary";
import { refuse, sendAnswer } from "./reply/reply";
import type { Answer } from "./trust/answer";
import type { Refused } from "./trust/gate";
import type { Head } from "./trust/signature/fields";

/** What it takes to answer it. */
type Call = Pick<Arrival, "request" | "search" | "continue"> & Partial<Pick<Arrival, "ip">>;

/** When those came that have waited for a deploy: they are met anew, and were sent in time. */
const arrivals = new WeakMap<IncomingMessage, number>();

/** When a request came, in ms since the epoch. */
export function arrivalOf(request: IncomingMessage): number {
  return arrivals.get(request) ?? Date.now();
}

export class Caller {
  readonly head: Head;
  /** When its request came, in ms since the epoch. */
  readonly at: number;
  /** All of the body, as it came. */
  bytes: Buffer | undefined;
  readonly #arrival: Call;
  readonly #response: ServerResponse;
  /** Whether it has not been told to send its body, and may be waiting for that. */
  #expectsContinue: boolean;

  constructor(arrival: Call, response: ServerResponse) {
    const { request, search } = arrival;
    this.at = arrivalOf(request);
    this.#arrival = arrival;
    this.#response = response;
    this.#expectsContinue = arrival.continue !== undefined;
    this.head = { method: request.method ?? "", rawHeaders: request.rawHeaders, search };
  }

  /**
   * Whether nobody would hear the answer. RFC 9112 §9.6: what follows on a connection that is being closed is not served;
   * and whoever has gone will try again. Something else may have answered, which is for the operator to know.
   */
  get isGone(): boolean {
    return !this.#arrival.request.socket.writable && !this.#response.headersSent;
  }

  /** It is about to wait for a deploy. */
  wait(): void {
    arrivals.set(this.#arrival.request, this.at);
  }

  /** Tells it to send its body (RFC 9110 §10.1.1), which is about to be read. */
  readonly letSend = (): void => {
    if (this.#expectsContinue) this.#arrival.continue?.();
    this.#expectsContinue = false;
  };

  /** Answers a handshake, which starts no flow. */
  answer(answer: Answer, endpoint: Endpoint): undefined {
    sendAnswer(this.#arrival.request, this.#response, answer, this.#expectsContinue);
    if (answer.status < 400) endpoint.greeted(answer.show, this.#refused, answer.status);
    else endpoint.refused(problems.handshakeRefused, this.#refused);
  }

  /**
   * @param endpoint the one that counts it; there may be none
   * @param cause the error behind a problem that no rule foresees
   */
  refuse(problem: Problem, endpoint: Endpoint | undefined, cause?: unknown): void {
    // RFC 9110 §10.1.1: it may or may not send its body.
    const manner = { close: this.#expectsContinue, isEmpty: endpoint?.sender?.row.emptyReply?.to === "all" };
    const told = refuse(this.#arrival.request, this.#response, problem, manner);
    endpoint?.refused(told.problem, this.#refused, cause ?? told.cause);
  }

  get #refused(): Refused {
    return { head: this.head, body: this.bytes, at: this.at, ip: this.#arrival.ip };
  }
}
