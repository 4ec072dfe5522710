// The health of each node over all its deploys: what its status, its form and the metrics show.

import type { Node, NodeAPI } from "node-red";
import { isLoopback } from "../auth/limits";
import type { Credential, Explanation } from "../auth/authenticator";
import type { Breach } from "../config/fields";
import { maxEventLength } from "../deliveries/delivery";
import type { Load } from "../deliveries/queue";
import type { Endpoint } from "../flow/endpoint";
import type { AcceptedEvent, Outcomes, RefusedEvent } from "../flow/outcomes";

/** After so many refused requests in a row, none older than this (in ms), everything is refused. */
const refusedInARow = 5;
const refusedWithin = 600_000;
/** After so many failed attempts in a row, the flow is failing. */
const failedInARow = 3;
/** An attempt that is not followed has succeeded when no error came for so long, in ms. */
const successAfter = 10_000;

/** How many names of filtered events are remembered. */
const maxFilteredEvents = 50;

/** Most of ten thousand nodes have nothing to remember. */
const none: readonly never[] = [];

/** The upper bounds of the histogram of reply times, in seconds. */
export const replyBounds = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long replies took. */
export interface ReplyTimes {
  /** How many took longer than the bound before, and not longer than their own; the last one has none. */
  readonly buckets: number[];
  /** Of all together. */
  seconds: number;
}

export class NodeHealth {
  /** The endpoint of the node as it was last deployed; missing where its configuration breaks a rule. */
  running: Endpoint | undefined;
  /** The rule that keeps it closed. */
  breach: Breach | undefined;
  isOpen = false;
  /** Whether `httpNodeAuth` refuses its requests, as far as the settings tell. */
  isGuarded = false;
  /** The name of the node whose route gets its requests; may be empty. */
  shadowedBy: string | undefined;
  load: Load | undefined;
  lastRefused: RefusedRequest | undefined;
  /** When a request was last accepted, test requests aside, in ms since the epoch. */
  acceptedAt: number | undefined;
  /** When each of two credentials was last used since the deploy. */
  used: Partial<Record<Credential, number>> = {};
  /** The secret that the sender has brought, until it is shown. */
  secret: string | undefined;
  /** Failed attempts since the last one that succeeded. */
  failures = 0;
  /** Requests by what became of them; `unanswered` are among the accepted ones. */
  readonly counts = { accepted: 0, duplicate: 0, handshake: 0, filtered: 0, unanswered: 0 };
  /** Refused requests by the names of their problems. */
  readonly refused: Record<string, number> = {};
  /** Attempts of guaranteed delivery by how they ended, and deliveries that have failed in all of theirs. */
  readonly attempts = { succeeded: 0, failed: 0, interrupted: 0 };
  givenUp = 0;
  /** Missing before the first reply. */
  replies: ReplyTimes | undefined;
  /** When a refusal was last logged with each level (`performance.now()`). */
  readonly logged = { warn: -Infinity, error: -Infinity };
  #last: NodeReport["last"];
  #credential: Credential | undefined;
  #withoutKey = 0;
  /** Whether all requests came from this computer itself; missing before the first one. */
  #hasOnlyLoopback: boolean | undefined;
  /** The last different events that were filtered. */
  #filteredEvents: readonly string[] = none;
  /** The times of refused requests since the last one that has proved its sender. */
  #refusals: readonly number[] = none;
  /** The first attempt after a failure, where attempts are not followed. */
  #firstAfterFailure: { readonly id: string; readonly at: number } | undefined;

  /** Forgets what depends on the configuration; the history stays. */
  reset(): void {
    this.running = this.breach = this.shadowedBy = this.load = this.secret = this.#credential = undefined;
    this.isOpen = this.isGuarded = false;
    this.used = {};
    this.#withoutKey = 0;
    this.#refusals = none;
    this.#succeed();
  }

  accept({ id, at, lacksKey, authenticated, ip }: AcceptedEvent, outcome: "accepted" | "duplicate"): void {
    this.note(outcome, at);
    this.#refusals = none;
    this.isGuarded = false;
    if (lacksKey) this.#withoutKey++;
    if (!authenticated.isTest) {
      this.acceptedAt = at;
      this.used[authenticated.credential] = at;
      this.#credential = authenticated.credential;
      this.#see(ip);
    }
    const { config } = this.running ?? {};
    const isFollowed = config?.guaranteed === true || config?.reply.by === "flow";
    if (outcome === "accepted" && this.failures > 0 && !isFollowed) this.#firstAfterFailure ??= { id, at };
  }

  /** @param request missing where the reply to an accepted request went wrong */
  refuse({ problem, request }: RefusedEvent): void {
    const at = Date.now();
    this.#last = { at, outcome: "refused" };
    this.refused[problem.name] = (this.refused[problem.name] ?? 0) + 1;
    if (!request) return;
    if (request.ip !== undefined) this.#see(request.ip);
    this.#refusals = [...this.#refusals.slice(1 - refusedInARow), at];
  }

  #see(ip: string): void {
    if (this.#hasOnlyLoopback !== false) this.#hasOnlyLoopback = isLoopback(ip);
  }

  note(outcome: keyof NodeHealth["counts"], at = Date.now()): void {
    this.#last = { at, outcome };
    this.counts[outcome]++;
  }

  /** Many checks can be sent by anybody: those prove nothing. */
  greet(isVerified: boolean): void {
    this.note("handshake");
    if (isVerified) this.#refusals = none;
  }

  filter(event: string | undefined): void {
    this.note("filtered");
    this.#refusals = none;
    if (event === undefined || this.#filteredEvents.includes(event)) return;
    if (event.length <= maxEventLength) this.#filteredEvents = [event, ...this.#filteredEvents].slice(0, maxFilteredEvents); // prettier-ignore
  }

  reply(seconds: number): void {
    const replies = (this.replies ??= { buckets: Array<number>(replyBounds.length + 1).fill(0), seconds: 0 });
    let bucket = 0;
    while (seconds > (replyBounds[bucket] ?? Infinity)) bucket++;
    replies.buckets[bucket] = (replies.buckets[bucket] ?? 0) + 1;
    replies.seconds += seconds;
  }

  /** Flows that are not followed report only failures, which do not count. */
  countAttempt(end: keyof NodeHealth["attempts"]): void {
    if (this.running?.config.guaranteed) this.attempts[end]++;
  }

  endAttempt(id: string, hasFailed: boolean, isGivenUp = false): void {
    this.countAttempt(hasFailed ? "failed" : "succeeded");
    if (!hasFailed) return this.#succeed();
    if (isGivenUp) this.givenUp++;
    this.#endTrial(Date.now());
    this.failures++;
    if (this.#firstAfterFailure?.id === id) this.#firstAfterFailure = undefined;
  }

  #endTrial(now: number): void {
    if (this.#firstAfterFailure && this.#firstAfterFailure.at <= now - successAfter) this.#succeed();
  }

  #succeed(): void {
    this.failures = 0;
    this.#firstAfterFailure = undefined;
  }

  isRefusingAll(now: number): boolean {
    const [first = 0] = this.#refusals;
    return this.#refusals.length === refusedInARow && first > now - refusedWithin;
  }

  isFailingAlways(now: number): boolean {
    this.#endTrial(now);
    return this.failures >= failedInARow;
  }

  /** In how many ms the status may change without a request; infinite where it cannot. */
  changesIn(now: number): number {
    const [first = 0] = this.#refusals;
    const refusals = this.isRefusingAll(now) ? first + refusedWithin : Infinity;
    return Math.max(0, Math.min(refusals, (this.#firstAfterFailure?.at ?? Infinity) + successAfter) - now);
  }

  /** The counts as the status and the form show them. */
  get totals(): NodeCounts {
    const { duplicate: duplicates, handshake: handshakes, ...counts } = this.counts;
    const refused = Object.values(this.refused).reduce((sum, count) => sum + count, 0);
    return { ...counts, refused, handshakes, duplicates };
  }

  get report(): NodeReport {
    const hasTwo = Boolean(this.running?.config.access.second);
    return {
      ...this.totals,
      withoutKey: this.#withoutKey,
      filteredEvents: this.#filteredEvents,
      hasSecret: this.secret !== undefined,
      hasOnlyLoopback: this.#hasOnlyLoopback === true,
      ...(this.#last && { last: this.#last }),
      ...(this.lastRefused && { lastRefused: this.lastRefused }),
      ...(hasTwo && this.#credential && { credential: this.#credential }),
    };
  }
}

/** The health of all nodes by their ids, as long as the process runs and the node exists. */
export class NodeHealths {
  readonly #known = new Map<string, NodeHealth>();

  constructor({ events, nodes }: NodeAPI, outcomes: Outcomes) {
    events.on("flows:started", () => {
      for (const node of this.#known.keys()) {
        if (nodes.getNode(node) as Node | null) continue;
        this.#known.delete(node);
        outcomes.emit("removed", { node });
      }
    });
    outcomes.on("accepted", (event) => this.get(event.node)?.accept(event, "accepted"));
    outcomes.on("duplicate", (event) => this.get(event.node)?.accept(event, "duplicate"));
    outcomes.on("refused", (event) => this.get(event.node)?.refuse(event));
    outcomes.on("handshake", ({ node, isVerified }) => this.get(node)?.greet(isVerified));
    outcomes.on("filtered", ({ node, event }) => this.get(node)?.filter(event));
    outcomes.on("unanswered", ({ node }) => this.get(node)?.note("unanswered"));
    outcomes.on("replied", ({ node, milliseconds }) => this.get(node)?.reply(milliseconds / 1000));
    outcomes.on("attempt:succeeded", ({ node, id }) => this.get(node)?.endAttempt(id, false));
    outcomes.on("attempt:failed", ({ node, id, isGivenUp }) => this.get(node)?.endAttempt(id, true, isGivenUp));
    outcomes.on("attempt:interrupted", ({ node }) => this.get(node)?.countAttempt("interrupted"));
    outcomes.on("load", ({ node, load }) => Object.assign(this.get(node) ?? {}, { load }));
    outcomes.on("shadowed", ({ node, by }) => Object.assign(this.get(node) ?? {}, { shadowedBy: by }));
  }

  get(node: string): NodeHealth | undefined {
    return this.#known.get(node);
  }

  reset(node: string): NodeHealth {
    const health = this.#known.get(node) ?? new NodeHealth();
    this.#known.set(node, health);
    health.reset();
    return health;
  }

  get all(): ReadonlyMap<string, NodeHealth> {
    return this.#known;
  }
}

// What the form shows of a node.

/** How many requests came since the node was started, by what became of them. */
export interface NodeCounts {
  accepted: number;
  refused: number;
  handshakes: number;
  duplicates: number;
  /** Requests that the node does not take. */
  filtered: number;
  /** Accepted requests to which the flow did not reply in time. */
  unanswered: number;
}

/** The last request, and the counts. */
export interface NodeReport extends NodeCounts {
  /** The last different events that were filtered, the latest first. */
  filteredEvents: readonly string[];
  /** Requests without the duplicate key. */
  withoutKey: number;
  /** Missing before the first request. */
  last?: { at: number; outcome: "accepted" | "refused" | "handshake" | "filtered" | "duplicate" | "unanswered" };
  /** Missing before the first refused request. */
  lastRefused?: RefusedRequest;
  /** Which of two credentials the last accepted request had; missing where there is only one. */
  credential?: Credential;
  /** Whether the sender has brought a secret that was not shown yet. */
  hasSecret: boolean;
  /**
   * Whether all requests seem to come from this computer itself: a proxy may stand in front that Node-RED does not
   * trust.
   */
  hasOnlyLoopback?: boolean;
  /** Whether `trust proxy` trusts every proxy, so that a sender can claim any address. */
  trustsEveryProxy?: boolean;
}

export interface RefusedRequest extends Explanation {
  /** When it came, in ms since the epoch. */
  at: number;
  /** The key of its text under `refused` in the message catalog. */
  problem: string;
  status: number;
  /** The name of its caller, redacted, or the sender's address, where that was the reason. */
  from?: string;
}
