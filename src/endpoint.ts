// What an endpoint is to the requests that reach it.

import type { ReplyByFlow, ReplyNow } from "./config/handling";
import type { Custody } from "./custody";
import type { Webhook } from "./deliveries/delivery";
import type { DuplicateGuard } from "./deliveries/duplicate-guard";
import type { Problem } from "./problem";
import type { Records } from "./records";
import type { FlowReply } from "./http/flow-reply";
import type { Body } from "./request/decode";
import type { RequestInfo } from "./request/request-info";
import type { Gate, Refused } from "./trust/gate";
import type { Limits } from "./trust/limits";
import type { Sender } from "./trust/senders/record";
import type { SenderId } from "./trust/senders/table";
import type { Admission } from "./trust/signature/why";

/** What a request that may come in starts, and who hears how requests fared. */
export interface Endpoint {
  /** The id of its node: after a deploy, the same node comes back with another endpoint. */
  readonly nodeId: string;
  /** Below Node-RED's root for nodes, as it is configured. */
  readonly path: string;
  readonly gate: Gate;
  /** Who sends, where that is known. */
  readonly sender: { readonly id: SenderId; readonly row: Sender } | undefined;
  /** The most bytes a body may have, before and after its content codings are undone. */
  readonly limit: number;
  /** From where requests may come, and how many; nothing where anybody may send as much as they like. */
  readonly limits: Limits | undefined;
  /** What keeps repeated deliveries from the flow; nothing where they are as good as the first. */
  readonly duplicates: DuplicateGuard | undefined;
  /** What keeps deliveries until the flow is done with them; nothing where they end with the process. */
  readonly custody: Custody | undefined;
  /** Where what became of requests is noted for whoever looks; nothing where nobody wants to know. */
  readonly records: Records | undefined;
  readonly reply: ReplyNow | ReplyByFlow;
  /** Whether messages have the bytes of the body as they were sent. */
  readonly rawBody: boolean;
  /** Makes the id of a message. */
  newId(): string;
  /**
   * Starts the flow.
   *
   * @param reply the one that the flow owes, where it does
   */
  deliver(delivery: Delivery, reply?: FlowReply): void;
  /** A request has started the flow. */
  accepted(acceptance: Acceptance): void;
  /** Its caller has its reply. */
  replied(reply: Replied): void;
  /** The flow has not answered it in time. */
  unanswered(): void;
  /** It has started no flow, as one with the same key has before. */
  repeated(acceptance: Acceptance): void;
  /**
   * Another node gets its requests.
   *
   * @param by its name; empty where that is not known
   */
  shadowed(by: string): void;
  /**
   * A handshake was answered.
   *
   * @param secret what the sender has brought for the operator, if it has
   * @param request what came
   * @param status what it was answered with
   */
  greeted(secret: string | undefined, request: Refused, status: number): void;
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
  /** The body as it was sent, where that is asked for. */
  rawBody?: Buffer;
  /** Whether the body is all of the message's payload, whatever that is made of otherwise. */
  isPayload?: boolean;
  req: RequestInfo;
  webhook: Webhook;
}

/** An accepted request, as the status wants it. */
export interface Acceptance {
  id: string;
  admission: Admission;
  /** The address of its sender. */
  ip: string;
  /** Whether duplicates of it would be ignored, had it a key. */
  lacksKey?: boolean;
}

/** The reply to an accepted request, as metrics want it. */
export interface Replied {
  id: string;
  /** From the head of the request to the reply. */
  milliseconds: number;
  /** The length of the reply's body, in bytes. */
  contentLength: number;
}
