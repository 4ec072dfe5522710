// What becomes of requests, flows and the store, as events: status, metrics, log and alerts subscribe to them.

import { EventEmitter } from "node:events";
import type { Authenticator, RefusedRequestFacts } from "../auth/authenticator";
import type { Authenticated } from "../auth/result";
import type { Load, StoreTrouble, Warning } from "../deliveries/queue";
import type { Problem } from "../request/problem";

/** Of a node, by its id. */
interface NodeEvent {
  readonly node: string;
}

/** A request that was accepted, or is a duplicate of one that was. */
export interface AcceptedEvent extends NodeEvent {
  /** The id of its message. */
  readonly id: string;
  readonly authenticated: Authenticated;
  /** The address of its sender. */
  readonly ip: string;
  /** Whether duplicates of it would be ignored, had it a key. */
  readonly lacksKey: boolean;
  /** In ms since the epoch. */
  readonly at: number;
}

/** The reply to an accepted request. */
export interface RepliedEvent extends NodeEvent {
  readonly id: string;
  /** From the head of the request to the reply. */
  readonly milliseconds: number;
  /** The length of the reply's body, in bytes. */
  readonly contentLength: number;
}

interface HandshakeEvent extends NodeEvent {
  /** What the sender has brought for the operator, if it has. */
  readonly secret: string | undefined;
  readonly request: RefusedRequestFacts;
  /** What it was answered with. */
  readonly status: number;
}

export interface RefusedEvent extends NodeEvent {
  /** Explains and redacts: after a deploy, the node may have another one. */
  readonly authenticator: Authenticator;
  readonly problem: Problem;
  /** Missing where a reply went wrong, whose request was accepted before. */
  readonly request?: RefusedRequestFacts | undefined;
  /** The error behind a problem that no rule foresees. */
  readonly cause?: unknown;
}

/** One start of the flow with a delivery. */
interface AttemptEvent extends NodeEvent {
  readonly id: string;
  readonly attempt: number;
}

/** Nothing was accepted for so long, though it was expected. */
export interface SilentEvent extends NodeEvent {
  readonly hours: number;
  /** When a request was last accepted or, before that, when the node was first opened; in ms since the epoch. */
  readonly since: number;
}

interface OutcomeEvents {
  accepted: [AcceptedEvent];
  /** The same key came before: no flow was started. */
  duplicate: [AcceptedEvent];
  replied: [RepliedEvent];
  /** The flow did not reply in time. */
  unanswered: [NodeEvent & { readonly id: string }];
  handshake: [HandshakeEvent];
  refused: [RefusedEvent];
  /** A request reached no endpoint; `node` is the one that was meant, or empty. */
  missed: [NodeEvent];
  /** A route of another node gets the requests; `by` is its name, or empty. */
  shadowed: [NodeEvent & { readonly by: string }];

  "attempt:started": [AttemptEvent];
  "attempt:succeeded": [AttemptEvent];
  /** Also of flows that are not followed to their end: of these only failures are known. */
  "attempt:failed": [AttemptEvent & { readonly error: string }];
  /** A deploy ended it. */
  "attempt:interrupted": [AttemptEvent];
  /** All attempts are used up; `error` is the last one. */
  failed: [NodeEvent & { readonly id: string; readonly attempts: number; readonly error: string }];
  load: [NodeEvent & { readonly load: Load }];

  silent: [SilentEvent];
  /** A request was accepted again. */
  heard: [NodeEvent];
  /** The node was deleted. */
  removed: [NodeEvent];

  "store:down": [{ readonly trouble: StoreTrouble; readonly cause: unknown }];
  "store:up": [];
  /** A corrupt file was moved to `path`. */
  "store:moved-aside": [{ readonly path: string; readonly cause: unknown }];
  "store:warning": [{ readonly warning: Warning }];
}

/** One for all nodes of the process. What listens must not throw: it runs in the middle of requests. */
export class Outcomes extends EventEmitter<OutcomeEvents> {}
