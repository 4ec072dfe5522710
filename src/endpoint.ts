// What an endpoint is to the requests that reach it.

import type { Problem } from "./problem";
import type { Body } from "./request/decode";
import type { RequestSummary } from "./request/summary";
import type { Gate, Refused } from "./trust/gate";
import type { Sender } from "./trust/senders/record";
import type { SenderId } from "./trust/senders/table";
import type { Admission, Credential } from "./trust/signature/why";

/** What a request that may come in starts, and who hears how requests fared. */
export interface Endpoint {
  readonly gate: Gate;
  /** Who sends, where that is known. */
  readonly sender: { readonly id: SenderId; readonly row: Sender } | undefined;
  /** The most bytes a body may have, before and after its content codings are undone. */
  readonly limit: number;
  /** Makes the id of a message. */
  newId(): string;
  /** Starts the flow. */
  deliver(delivery: Delivery): void;
  accepted(acceptance: Acceptance): void;
  /** @param secret what the sender has brought for the operator, if it has */
  greeted(secret: string | undefined): void;
  /**
   * @param request what came
   * @param cause the error behind a problem that no rule foresees
   */
  refused(problem: Problem, request: Refused | undefined, cause?: unknown): void;
}

/** What a message is made of. */
export interface Delivery {
  id: string;
  body: Body;
  req: RequestSummary;
  webhook: Webhook;
}

/** What is known of who sent it. */
export interface Webhook {
  sender?: SenderId;
  /** The type of the event. */
  event?: string;
  /** The sender's own id of the delivery. */
  id?: string;
  /** When it was signed, in ms since the epoch. */
  sentAt?: number;
  /** Which of two secrets or tokens it had. */
  credential: Credential;
}

/** An accepted request, as metrics and the status want it. */
export interface Acceptance {
  id: string;
  admission: Admission;
  /** From the head of the request to the reply. */
  milliseconds: number;
  /** The length of the reply's body, in bytes. */
  contentLength: number;
}
