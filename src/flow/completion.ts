// Follows a message through a flow: when the flow has finished with it, and whether it has failed.

import type { Node, NodeAPI, NodeMessage } from "node-red";
import type { AttemptResult } from "../deliveries/queue";
import { timedOut } from "../deliveries/summary";

/** The hook events of Node-RED, as far as needed: https://nodered.org/docs/api/hooks/messages/. */
interface SendEvent {
  msg: NodeMessage;
  destination: { node?: Node | undefined };
}
interface CompleteEvent {
  msg: NodeMessage;
  node: { node: Node };
}

/** Undocumented properties of a node. */
interface CountingNode {
  _flow?: { getNode(id: string): unknown };
  _expectedDoneCount?: number;
}

type ReportError = (this: Node, error: unknown, message: unknown) => unknown;
/** Receives an error that a node has reported about any message. */
type ErrorListener = (id: string, error: unknown, node: Node) => void;

/** How many characters of an error are kept. */
export const maxErrorLength = 200;
const label = "webhook-trigger-completion";
/** Hooks cost every message of every flow: they are removed when nothing was followed for so long, in ms. */
export const idleMs = 10_000;

/** One node's part in a followed message, from when it is sent there until the node has completed. */
interface Visit {
  readonly attempt: FollowedAttempt;
  readonly node: Node;
  /** Whether the node has completed, perhaps before its handler has returned. */
  isOver: boolean;
}

/** A message, and all messages with the same id that follow from it. */
interface FollowedAttempt {
  readonly id: string;
  readonly open: Set<Visit>;
  readonly redact: (error: string) => string;
  resolve(result: AttemptResult): void;
  failure?: { error: string; retryAfterMs?: number };
  isInterrupted?: boolean;
}

interface FollowOptions {
  /** Redacts an error, before it is shortened. */
  readonly redact: (error: string) => string;
  /** An attempt without an end has failed after this time. */
  readonly timeoutMs: number;
}

/**
 * A flow has finished with a message when every node that received it, or a message with the same `_msgid`, has
 * completed; a node that never calls `done` has completed when its handler returns. It has failed when a node reports
 * an error about such a message, caught or not. A message that a deploy drops is interrupted.
 *
 * Messages that a plugin's hook holds back are not followed, nor what a node sends after it has completed.
 */
export class Completion {
  /** Node-RED's test helper has no hooks. */
  readonly #hooks: NodeAPI["hooks"] | undefined;
  readonly #attempts = new Map<string, FollowedAttempt>();
  /** By the message: a node may change its id before it completes. */
  readonly #visits = new WeakMap<NodeMessage, Visit[]>();
  #isDeploying = false;
  #hasHooks = false;
  #idle: NodeJS.Timeout | undefined;
  #listener: ErrorListener = () => undefined;

  constructor(RED: NodeAPI) {
    this.#hooks = RED.hooks;
    RED.events.on("flows:stopping", () => (this.#isDeploying = true));
    RED.events.on("flows:started", () => this.#deployed());
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** Follows a message that a node is about to send in this turn. */
  follow(id: string, { redact, timeoutMs }: FollowOptions): Promise<AttemptResult> {
    if (!this.#hooks) return delivered();
    this.#addHooks(this.#hooks);
    // Two messages with one id cannot be told apart.
    this.#attempts.get(id)?.resolve({ as: "interrupted" });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#attempts.delete(id);
        this.#idleLater();
        resolve({ as: "failed", error: timedOut });
      }, timeoutMs).unref();
      const attempt: FollowedAttempt = {
        ...{ id, open: new Set(), redact },
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
      };
      this.#attempts.set(id, attempt);
      this.#concludeLater(attempt);
    });
  }

  /** Receives the errors of all nodes. @param node any node */
  onError(node: Node, listener: ErrorListener): void {
    this.#listener = listener;
    wrapNodeError(node, (id, error, reporter, message) => {
      this.#reported(message, reporter, error);
      this.#listener(id, error, reporter);
    });
  }

  #addHooks(hooks: NodeAPI["hooks"]): void {
    clearTimeout(this.#idle);
    if (this.#hasHooks) return;
    this.#hasHooks = true;
    hooks.add(`preDeliver.${label}`, ({ msg, destination: { node } }: SendEvent) => {
      if (node) this.#visit(msg, node);
    });
    hooks.add(`postReceive.${label}`, ({ msg, destination: { node } }: SendEvent) => {
      if (node) this.#handled(msg, node);
    });
    hooks.add(`onComplete.${label}`, ({ msg, node: { node } }: CompleteEvent) => this.#completed(msg, node));
  }

  #removeHooks(hooks: NodeAPI["hooks"]): void {
    this.#hasHooks = false;
    for (const stage of ["preDeliver", "postReceive", "onComplete"]) hooks.remove(`${stage}.${label}`);
  }

  #visit(msg: NodeMessage, node: Node): Visit | undefined {
    const attempt = this.#attempts.get(msg._msgid ?? "");
    if (!attempt) return undefined;
    const visit = { attempt, node, isOver: false };
    attempt.open.add(visit);
    this.#visits.set(msg, [...(this.#visits.get(msg) ?? []), visit]);
    return visit;
  }

  #find(msg: NodeMessage, node: Node): Visit | undefined {
    return this.#visits.get(msg)?.find((visit) => visit.node === node);
  }

  /** A handler has returned. Some nodes receive a message that was not sent, as `catch` and `link in` do. */
  #handled(msg: NodeMessage, node: Node): void {
    const completes = Boolean((node as Node & CountingNode)._expectedDoneCount);
    const visit = this.#find(msg, node) ?? (completes ? this.#visit(msg, node) : undefined);
    if (!visit) return;
    if (!completes) this.#end(visit);
    if (visit.isOver) this.#forget(msg, visit);
  }

  #completed(msg: NodeMessage, node: Node): void {
    const visit = this.#find(msg, node) ?? this.#visit(msg, node);
    if (visit) this.#end(visit);
  }

  /** A node has reported an error about the message that it has, or a copy of it. */
  #reported(msg: NodeMessage, node: Node, error: unknown): void {
    const attempt = this.#find(msg, node)?.attempt ?? this.#attempts.get(msg._msgid ?? "");
    if (!attempt) return;
    const retryAfterMs = getRetryAfterMs(msg);
    // The first error is kept: later ones follow from it.
    const { error: first = attempt.redact(describeError(node, error)).slice(0, maxErrorLength) } =
      attempt.failure ?? {};
    attempt.failure = { ...attempt.failure, error: first, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    const visit = this.#find(msg, node) ?? [...attempt.open].find((each) => each.node === node);
    if (visit) this.#end(visit);
  }

  #end(visit: Visit): void {
    visit.isOver = true;
    const { attempt, node } = visit;
    if (!attempt.open.delete(visit)) return;
    // A node that is being stopped may complete what it drops.
    if (this.#isDeploying && !isRunning(node)) attempt.isInterrupted = true;
    if (attempt.open.size === 0) this.#concludeLater(attempt);
  }

  #forget(msg: NodeMessage, visit: Visit): void {
    const left = (this.#visits.get(msg) ?? []).filter((each) => each !== visit);
    if (left.length > 0) this.#visits.set(msg, left);
    else this.#visits.delete(msg);
  }

  /** A node may send in the turn in which it completes. */
  #concludeLater(attempt: FollowedAttempt): void {
    setImmediate(() => {
      const { id, open, failure, isInterrupted } = attempt;
      if (open.size > 0 || this.#attempts.get(id) !== attempt) return;
      this.#attempts.delete(id);
      this.#idleLater();
      // A failure matters more than an interruption.
      if (failure) attempt.resolve({ as: "failed", ...failure });
      else attempt.resolve({ as: isInterrupted ? "interrupted" : "succeeded" });
    });
  }

  #idleLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.size > 0) this.#idleLater();
      else if (this.#hooks) this.#removeHooks(this.#hooks);
    }, idleMs).unref();
  }

  /** Messages in nodes that were stopped, or on their way there, are lost. */
  #deployed(): void {
    this.#isDeploying = false;
    for (const attempt of this.#attempts.values()) {
      for (const visit of attempt.open) {
        if (isRunning(visit.node)) continue;
        attempt.isInterrupted = true;
        this.#end(visit);
      }
    }
  }
}

/** The flow of a stopped node no longer returns it. */
function isRunning(node: Node): boolean {
  return (node as Node & CountingNode)._flow?.getNode(node.id) === node;
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

type WrappedListener = (id: string, error: unknown, node: Node, message: NodeMessage) => void;

/** The listener at the common prototype of all nodes; a process has one Node-RED. */
const listeners = new WeakMap<object, WrappedListener>();

/**
 * Wraps `node.error` of all nodes, since there is no hook: core's `http request` reports errors with it, and so does
 * Node-RED when a handler throws.
 *
 * @param node any node
 */
function wrapNodeError(node: Node, listener: WrappedListener): void {
  let common: unknown = Object.getPrototypeOf(node);
  while (isObject(common) && !Object.hasOwn(common, "error")) common = Object.getPrototypeOf(common);
  if (!isObject(common)) return;
  const isWrapped = listeners.has(common);
  listeners.set(common, listener);
  if (isWrapped) return;
  const prototype = common as { error: ReportError };
  const report = prototype.error;
  prototype.error = function error(this: Node, reported, message) {
    const id = isObject(message) ? (message as Partial<NodeMessage>)._msgid : undefined;
    if (typeof id === "string") listeners.get(prototype)?.(id, reported, this, message as NodeMessage);
    return report.call(this, reported, message);
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
