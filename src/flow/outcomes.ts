// Events of requests, flows and the store. Status, metrics, log and alerts subscribe to them.

import { EventEmitter } from "node:events";
import type { Authenticated, Authenticator, RefusedRequestFacts } from "../auth/authenticator";
import type { Load, StoreEvents, StoreTrouble } from "../deliveries/queue";
import type { Problem } from "../request/problem";

interface NodeEvent {
  readonly node: string;
}

/** An accepted request, or a duplicate. */
export interface AcceptedEvent extends NodeEvent {
  /** The id of its message. */
  readonly id: string;
  readonly authenticated: Authenticated;
  readonly ip: string;
  /** Whether duplicates are ignored, but this request has no key. */
  readonly lacksKey: boolean;
  /** In ms since the epoch. */
  readonly at: number;
}

interface RepliedEvent extends NodeEvent {
  readonly id: string;
  /** From the head of the request to the reply. */
  readonly milliseconds: number;
  /** In bytes. */
  readonly contentLength: number;
}

interface HandshakeEvent extends NodeEvent {
  /** A secret that the sender has brought. */
  readonly secret: string | undefined;
  /** Whether it was authenticated, as a request that starts the flow is. */
  readonly isVerified: boolean;
  readonly request: RefusedRequestFacts;
  readonly status: number;
}

export interface RefusedEvent extends NodeEvent {
  /** After a deploy, the node may have another one. */
  readonly authenticator: Authenticator;
  readonly problem: Problem;
  /** Missing where the reply to an accepted request went wrong. */
  readonly request?: RefusedRequestFacts | undefined;
  /** The error behind an unforeseen problem. */
  readonly cause?: unknown;
}

/** One attempt. */
interface AttemptEvent extends NodeEvent {
  readonly id: string;
  /** The caller of its delivery; missing where the token was no caller's. */
  readonly caller?: string | undefined;
  readonly attempt: number;
}

/** Nothing was accepted for so many hours; with `caller`, no request of that one came. */
export interface Silence extends NodeEvent {
  readonly caller?: string | undefined;
  readonly hours: number;
  /** When the last one came or, before the first one, when the alert or the caller was first deployed; in ms since the epoch. */
  readonly since: number;
}

/** What a verified request says of its subscription. */
export interface SubscriptionEvent extends NodeEvent {
  /** The sender's id of it. */
  readonly id: string;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

interface OutcomeEvents extends StoreEvents {
  accepted: [AcceptedEvent];
  /** The flow was not started. */
  duplicate: [AcceptedEvent];
  /** The flow was not started: the node takes other requests only. `event` is the sender's name of it. */
  filtered: [NodeEvent & { readonly event: string | undefined }];
  replied: [RepliedEvent];
  /** The flow did not reply in time. */
  unanswered: [NodeEvent & { readonly id: string; readonly caller?: string | undefined }];
  handshake: [HandshakeEvent];
  subscription: [SubscriptionEvent];
  refused: [RefusedEvent];
  /** A route of another node takes the requests; `by` is its name, or empty. */
  shadowed: [NodeEvent & { readonly by: string }];

  "attempt:succeeded": [AttemptEvent];
  /**
   * Without guaranteed delivery, only failures are reported. `isLast`: the delivery has failed, and is not started again;
   * `isGivenUp`: its attempts are used up, and its sender was not told.
   */
  "attempt:failed": [AttemptEvent & { readonly error: string; readonly isLast: boolean; readonly isGivenUp?: boolean }];
  /** By a deploy or a stop. */
  "attempt:interrupted": [AttemptEvent];
  load: [NodeEvent & { readonly load: Load }];

  /** A request with the token of a caller was received, test requests aside, whatever becomes of it then. */
  called: [NodeEvent & { readonly caller: string }];

  /** Those whose silence was found at the same time, with the same number of hours. */
  silent: [NodeEvent & { readonly silent: readonly Silence[] }];
  /** A request was accepted after a silence; with `caller`, one of a silent caller came. */
  heard: [NodeEvent & Pick<Silence, "caller">];
  /** The subscription that requests belong to is about to expire. */
  "subscription-expiring": [NodeEvent & Pick<SubscriptionEvent, "expiresAt">];
  /** The node was deleted. */
  removed: [NodeEvent];

  /** The trouble as the status shows it has changed or, where it is missing, ended. */
  "store:trouble": [{ readonly trouble: StoreTrouble | undefined }];
}

/** One for all nodes of the process. Listeners run in the middle of requests and must not throw. */
export class Outcomes extends EventEmitter<OutcomeEvents> {}
