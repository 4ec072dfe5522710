// An endpoint, as requests and observers see it.

import type { Node } from "node-red";
import type { Authenticator } from "../auth/authenticator";
import type { Limits } from "../auth/limits";
import type { Sender } from "../auth/senders/sender";
import type { SenderId } from "../auth/senders/table";
import type { ReplyByFlow, ReplyNow, WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import type { DeliveryLog } from "../deliveries/delivery-log";
import type { DuplicateGuard } from "../deliveries/duplicates";
import type { GuaranteedDelivery, Recorder } from "../deliveries/recorder";
import type { FlowReply } from "./flow-reply";
import type { Outcomes } from "./outcomes";

/** A path that is open for requests, and the flow behind it. */
export interface Endpoint {
  /** The id of its node: after a deploy, the node has another endpoint. */
  readonly nodeId: string;
  /** As configured, below `httpNodeRoot`. */
  readonly path: string;
  readonly authenticator: Authenticator;
  readonly sender: { readonly id: SenderId; readonly row: Sender } | undefined;
  /** How many bytes a body may have, before and after decoding. */
  readonly limit: number;
  /** Allowed addresses and rate; missing: no limits. */
  readonly limits: Limits | undefined;
  /** Ignores duplicates; missing: they start the flow. */
  readonly duplicates: DuplicateGuard | undefined;
  /** Guaranteed delivery; missing where it is off. */
  readonly guaranteed: GuaranteedDelivery | undefined;
  /** The list of deliveries; missing where it is off. */
  readonly records: DeliveryLog | undefined;
  readonly reply: ReplyNow | ReplyByFlow;
  /** Whether messages have the raw body. */
  readonly rawBody: boolean;
  newId(): string;
  /**
   * Starts the flow.
   *
   * @param reply where the flow replies
   */
  deliver(delivery: IncomingDelivery, reply?: FlowReply): void;
  readonly outcomes: Outcomes;
}

/** A node whose endpoint is open or waits for its path, from one deploy to the next. */
export interface OpenNode {
  readonly node: Node;
  readonly config: WebhookConfig;
  readonly endpoint: Endpoint;
  readonly recorder: Recorder;
}
