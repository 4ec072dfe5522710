// What an endpoint is to the requests that reach it.

import type { Node } from "node-red";
import type { Authenticator } from "../auth/authenticator";
import type { Limits } from "../auth/limits";
import { Redactor } from "../auth/redactor";
import type { Sender } from "../auth/senders/sender";
import type { SenderId } from "../auth/senders/table";
import type { ReplyByFlow, ReplyNow } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import type { DeliveryLog } from "../deliveries/delivery-log";
import type { DuplicateGuard } from "../deliveries/duplicate-guard";
import type { GuaranteedDelivery } from "../deliveries/recorder";
import type { FlowReply } from "./flow-reply";
import type { Outcomes } from "./outcomes";

/** What a request that may come in starts. */
export interface Endpoint {
  /** The id of its node: after a deploy, the same node comes back with another endpoint. */
  readonly nodeId: string;
  /** Below Node-RED's root for nodes, as it is configured. */
  readonly path: string;
  readonly authenticator: Authenticator;
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
  deliver(delivery: IncomingDelivery, reply?: FlowReply): void;
  /** Hears how requests fared. */
  readonly outcomes: Outcomes;
}

/** A node whose endpoint is open or waits for its path, from one deploy to the next. */
export interface RunningNode {
  readonly node: Node;
  readonly path: string;
  /** Its name and its path may have a secret in them. */
  readonly redactor: Redactor;
  /** As it is configured. */
  readonly sender: SenderId | undefined;
  /** Whether there are two secrets or tokens. */
  readonly hasTwo: boolean;
  /** Whether it waits for the sender to bring the secret. */
  readonly isArmed: boolean;
  readonly isGuaranteed: boolean;
  /** Whether it is known when its flow has succeeded: with guaranteed delivery, or with a reply by the flow. */
  readonly isFollowed: boolean;
  /** After so many failed attempts in a row it is paused by itself; 0 for never. */
  readonly breaker: number;
  /** Where what became of its requests is noted. */
  readonly records: DeliveryLog | undefined;
}
