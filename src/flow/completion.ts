// Follows a message through a flow: when the flow has finished with it, and whether it has failed.

import type { Node, NodeAPI, NodeMessage } from "node-red";
import { isObject } from "../config/values";
import type { AttemptResult } from "../deliveries/queue";
import { statusError, timedOut } from "../deliveries/states";
import {
  type CompleteEvent,
  findHooks,
  hookNames,
  isAstray,
  isRunning,
  type RouteEvent,
  saysDone,
  type SendEvent,
  watchFlows,
  wrapErrors,
} from "./node-red-internals";

/** Receives an error that a node has reported about any message. */
type ErrorListener = (id: string, error: unknown, node: Node) => void;

/** How many characters of an error are kept. */
export const maxErrorLength = 200;

/** A message, and all messages with the same id that follow from it. */
interface FollowedAttempt {
  /** The messages that nodes have, or are about to receive, with these nodes. */
  readonly open: Map<NodeMessage, Set<Node>>;
  readonly options: FollowOptions;
  end(result: AttemptResult): void;
  failure?: { error: string; retryAfterMs?: number };
  isInterrupted?: boolean;
}

interface FollowOptions {
  /** Redacts an error, before it is shortened. */
  readonly redact: (error: string) => string;
  /** An attempt without an end has failed after this time. */
  readonly timeoutMs: number;
  /** Whether it has failed where an `http request` node has got an error, or no answer. */
  readonly httpErrorsFail: boolean;
}

/**
 * A flow has finished with a message when every node that received it, or a message with the same `_msgid`, has
 * completed; a node that never calls `done` has completed when its handler returns. It has failed when a node reports
 * an error about such a message, caught or not, or an API has answered an `http request` with one. A message that a
 * stop of its node drops is interrupted: what a node says of it then means nothing. Core's `delay` is done with what it
 * drops, and so is `exec`, some turns later.
 *
 * Messages that a plugin's hook holds back are not followed, nor what a node sends after it has completed.
 */
export class Completion {
  /** Without them, what was delivered has succeeded. */
  readonly #hooks: NodeAPI["hooks"] | undefined;
  readonly #listener: ErrorListener;
  readonly #attempts = new Map<string, FollowedAttempt>();
  /** By the message: a node may change its id before it completes. */
  readonly #received = new WeakMap<NodeMessage, FollowedAttempt>();
  /** From when nodes are told to stop until flows run again. */
  #areFlowsStopped = false;
  #hasHooks = false;
  #hasErrors = false;

  /** @param listener receives the errors that nodes report about any message */
  constructor(RED: NodeAPI, listener: ErrorListener) {
    this.#hooks = findHooks(RED);
    this.#listener = listener;
    watchFlows(RED, {
      stopping: () => this.#stop(),
      stopped: () => this.endStopped(),
      started: () => this.#start(),
    });
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** Follows a message that a node is about to send in this turn. */
  follow(id: string, options: FollowOptions): Promise<AttemptResult> {
    if (!this.#hooks) return delivered();
    this.#addHooks(this.#hooks);
    // Two messages with one id cannot be told apart.
    this.#attempts.get(id)?.end({ as: "interrupted" });
    return new Promise((resolve) => {
      const end = (result: AttemptResult) => {
        clearTimeout(timer);
        if (this.#attempts.get(id) === attempt) this.#attempts.delete(id);
        resolve(result);
      };
      const timer = setTimeout(() => end({ as: "failed", error: timedOut }), options.timeoutMs).unref();
      const attempt: FollowedAttempt = { open: new Map(), options, end };
      this.#attempts.set(id, attempt);
      concludeLater(attempt);
    });
  }

  /** @param node any node: the errors of all are heard */
  watchErrors(node: Node): void {
    if (this.#hasErrors) return;
    this.#hasErrors = true;
    wrapErrors(node, (reporter, error, message) => this.#hear(reporter, error, message));
  }

  /** Only where deliveries are followed: hooks cost every message of every flow. */
  #addHooks(hooks: NodeAPI["hooks"]): void {
    if (this.#hasHooks) return;
    this.#hasHooks = true;
    const open = ({ msg, destination: { node } }: SendEvent) => {
      if (node) this.#open(msg, node);
    };
    hooks.add(hookNames.preDeliver, open);
    // Some nodes receive a message that was not sent, as `catch` and `link in` do.
    hooks.add(hookNames.onReceive, open);
    hooks.add(hookNames.postReceive, ({ msg, destination: { node } }: SendEvent) => {
      if (node && !saysDone(node)) this.#close(this.#received.get(msg), msg, node);
    });
    hooks.add(hookNames.onComplete, ({ msg, node: { node } }: CompleteEvent) => {
      const attempt = this.#received.get(msg);
      const httpError = attempt?.options.httpErrorsFail && !this.#hasStopped(node) && findHttpError(node, msg);
      if (attempt && httpError) fail(attempt, node, httpError, msg);
      this.#close(attempt, msg, node);
    });
  }

  #open(msg: NodeMessage, node: Node): void {
    const attempt = this.#attempts.get(msg._msgid ?? "");
    if (!attempt) return;
    this.#received.set(msg, attempt);
    attempt.open.set(msg, (attempt.open.get(msg) ?? new Set()).add(node));
  }

  /** A node has completed with a message. */
  #close(attempt: FollowedAttempt | undefined, msg: NodeMessage, node: Node): void {
    const nodes = attempt?.open.get(msg);
    if (!attempt || !nodes?.delete(node)) return;
    if (this.#hasStopped(node)) attempt.isInterrupted = true;
    if (nodes.size === 0) attempt.open.delete(msg);
    if (attempt.open.size === 0) concludeLater(attempt);
  }

  /** A node has reported an error about the message that it has, or a copy of it. */
  #hear(node: Node, error: unknown, message: unknown): void {
    const id = isObject(message) ? message._msgid : undefined;
    if (typeof id !== "string") return;
    const msg = message as NodeMessage;
    const attempt = this.#received.get(msg) ?? this.#attempts.get(id);
    if (attempt) {
      if (!this.#hasStopped(node)) fail(attempt, node, error, msg);
      const copied = [...attempt.open].find(([, nodes]) => nodes.has(node))?.[0] ?? msg;
      this.#close(attempt, attempt.open.get(msg)?.has(node) ? msg : copied, node);
    }
    this.#listener(id, error, node);
  }

  /** Messages in nodes that have stopped, or on their way there, are lost. */
  endStopped(): void {
    for (const attempt of this.#attempts.values()) {
      const open = [...attempt.open].flatMap(([msg, nodes]) => [...nodes].map((node) => ({ msg, node })));
      for (const { msg, node } of open) if (!isRunning(node)) this.#close(attempt, msg, node);
    }
  }

  #stop(): void {
    if (this.#hasHooks && !this.#areFlowsStopped) {
      // What a running node sends to one that has stopped is lost, too.
      this.#hooks?.add(hookNames.preRoute, ({ msg, source, destination }: RouteEvent) => {
        const attempt = this.#attempts.get(msg._msgid ?? "");
        if (attempt && isAstray(source.node, destination.id)) attempt.isInterrupted = true;
      });
    }
    this.#areFlowsStopped = true;
  }

  #start(): void {
    this.endStopped();
    if (this.#hasHooks && this.#areFlowsStopped) this.#hooks?.remove(hookNames.preRoute);
    this.#areFlowsStopped = false;
  }

  #hasStopped(node: Node): boolean {
    return this.#areFlowsStopped && !isRunning(node);
  }
}

function fail(attempt: FollowedAttempt, node: Node, error: unknown, msg: NodeMessage): void {
  const retryAfterMs = getRetryAfterMs(msg);
  // The first error is kept: later ones follow from it.
  const first = attempt.failure?.error ?? attempt.options.redact(describeError(node, error)).slice(0, maxErrorLength);
  attempt.failure = { ...attempt.failure, error: first, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/**
 * What an API has answered to core's `http request`, which completes with each status. Before that, it reports an error
 * where no answer came, and has the code of that in the place of the status.
 */
function findHttpError({ type }: Node, { statusCode }: NodeMessage & { statusCode?: unknown }): string | undefined {
  if (type !== "http request" || Number(statusCode) < 400) return undefined;
  return typeof statusCode === "number" ? statusError(statusCode) : "no answer";
}

/** After this turn of the event loop: a node may call `done` before it sends. */
function concludeLater(attempt: FollowedAttempt): void {
  setImmediate(() => {
    if (attempt.open.size > 0) return;
    // A failure matters more than an interruption.
    if (attempt.failure) attempt.end({ as: "failed", ...attempt.failure });
    else attempt.end({ as: attempt.isInterrupted ? "interrupted" : "succeeded" });
  });
}

/** 30 days */
const maxRetryAfterMs = 30 * 24 * 3_600_000;

/** `msg.webhook.retryAfter` (seconds), in whole ms. */
function getRetryAfterMs({ webhook }: NodeMessage & { webhook?: { retryAfter?: unknown } }): number | undefined {
  const { retryAfter } = webhook ?? {};
  const seconds = typeof retryAfter === "string" && retryAfter.trim() !== "" ? Number(retryAfter) : retryAfter;
  return typeof seconds === "number" && seconds >= 0 ? Math.min(Math.ceil(seconds * 1000), maxRetryAfterMs) : undefined;
}

/** When a message sent in this turn has been delivered. */
function delivered(): Promise<AttemptResult> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve({ as: "succeeded" })));
  });
}

/** The error with the node that reported it. */
export function describeError({ name, type }: Pick<Node, "name" | "type">, error: unknown): string {
  return `${name === undefined || name === "" ? type : name}: ${errorText(error)}`;
}

function errorText(error: unknown): string {
  try {
    return String(typeof error === "object" && error && "message" in error ? error.message : error);
  } catch {
    // Anything may be thrown, even what throws when it is inspected.
    return typeof error;
  }
}
