// What an endpoint is to the requests that reach it.

import type { ReplyByFlow, ReplyNow } from "./config/handling";
import type { DeliveryLog } from "./delivery-log";
import type { StoredDelivery, Webhook } from "./deliveries/delivery";
import type { DuplicateGuard } from "./deliveries/duplicate-guard";
import type { AttemptResult } from "./deliveries/queue";
import type { Outcomes } from "./outcomes";
import type { Problem } from "./problem";
import type { Sent } from "./recorder";
import type { FlowReply } from "./http/flow-reply";
import type { Body } from "./request/decode";
import type { RequestInfo } from "./request/request-info";
import type { Gate } from "./trust/gate";
import type { Limits } from "./trust/limits";
import type { Sender } from "./trust/senders/record";
import type { SenderId } from "./trust/senders/table";

/** What a request that may come in starts. */
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
  /** What stores deliveries before they are answered, and starts the flow with them; nothing without that promise. */
  readonly guaranteed: GuaranteedDelivery | undefined;
  /** Where what became of requests is noted for whoever looks; nothing where nobody wants to know. */
  readonly records: DeliveryLog | undefined;
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
  /** Hears how requests fared. */
  readonly outcomes: Outcomes;
}

/** How deliveries are stored before their sender is answered. Each is told of a problem, where that is not possible. */
export interface GuaranteedDelivery {
  /**
   * Stores a delivery safely: the flow is started with it as soon as the node's pace allows.
   *
   * @param answer what its sender is told then
   */
  store(delivery: Delivery, sent: Sent, answer: { answer?: string }): Promise<Problem | undefined>;
  /** The same for one with which the caller starts the flow at once, as its sender waits for the flow's reply: `end` is due then. */
  storeStarted(delivery: Delivery, sent: Sent): Promise<Problem | undefined>;
  end(id: string, result: AttemptResult): void;
  /** Stores a delivery anew, as a delivery of its own. */
  replay(stored: StoredDelivery): Promise<Problem | undefined>;
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
