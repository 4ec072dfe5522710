// The health of each node over all its deploys: what its status and its form show besides the counts.

import type { Node, NodeAPI } from "node-red";
import { isLoopback } from "../auth/limits";
import type { Credential, Explanation } from "../auth/authenticator";
import { hasTwoCredentials } from "../config/parse";
import type { Breach } from "../config/fields";
import type { Load } from "../deliveries/queue";
import type { Endpoint } from "../flow/endpoint";
import type { AcceptedEvent, Outcomes } from "../flow/outcomes";

/** After so many refused requests in a row, none older than this (in ms), everything is refused. */
const refusedInARow = 5;
const refusedWithin = 600_000;
/** After so many failed attempts in a row, the flow is failing. */
const failedInARow = 3;
/** An attempt that is not followed has succeeded when no error came for so long, in ms. */
const successAfter = 10_000;

/** How many names of filtered events are remembered, and of how many characters. */
const maxFilteredEvents = 50;
const maxEventLength = 200;

/** Most of ten thousand nodes have nothing to remember. */
const none: readonly never[] = [];

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
  /** When it was first deployed, in ms since the epoch. */
  readonly since = Date.now();
  lastRefused: RefusedRequest | undefined;
  /** When a request was last accepted, test requests aside, in ms since the epoch. */
  acceptedAt: number | undefined;
  /** When each of two credentials was last used since the deploy. */
  used: Partial<Record<Credential, number>> = {};
  /** The secret that the sender has brought, until it is shown. */
  secret: string | undefined;
  /** Failed attempts since the last one that succeeded. */
  failures = 0;
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
  /** The first ids of attempts that failed since the last one that succeeded. */
  #failed: readonly string[] = none;
  /** The first attempt after a failure, where attempts are not followed. */
  #firstAfterFailure: { readonly id: string; readonly at: number } | undefined;

  /** Forgets what depends on the configuration; the history stays. */
  begin(): void {
    this.running = this.breach = this.shadowedBy = this.load = this.secret = this.#credential = undefined;
    this.isOpen = this.isGuarded = false;
    this.used = {};
    this.#withoutKey = 0;
    this.#refusals = none;
    this.#succeed();
  }

  accept({ id, at, lacksKey, authenticated, ip }: AcceptedEvent, outcome: "accepted" | "repeated"): void {
    this.#last = { at, outcome };
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

  /** @param ip missing where the reply to an accepted request went wrong */
  refuse(ip: string | undefined, isRequest: boolean): void {
    this.note("refused");
    if (ip !== undefined) this.#see(ip);
    if (isRequest) this.#refusals = [...this.#refusals.slice(1 - refusedInARow), Date.now()];
  }

  #see(ip: string): void {
    if (this.#hasOnlyLoopback !== false) this.#hasOnlyLoopback = isLoopback(ip);
  }

  note(outcome: "refused" | "handshake" | "filtered" | "unanswered"): void {
    this.#last = { at: Date.now(), outcome };
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

  endAttempt(id: string, attempt: number, hasFailed: boolean): void {
    if (!hasFailed) return this.#succeed();
    this.#endTrial(Date.now());
    this.failures++;
    const key = `${id} ${attempt}`;
    const isNew = this.#failed.length < failedInARow && !this.#failed.includes(key);
    if (isNew) this.#failed = [...this.#failed, key];
    if (this.#firstAfterFailure?.id === id) this.#firstAfterFailure = undefined;
  }

  #endTrial(now: number): void {
    if (this.#firstAfterFailure && this.#firstAfterFailure.at <= now - successAfter) this.#succeed();
  }

  #succeed(): void {
    this.failures = 0;
    this.#failed = none;
    this.#firstAfterFailure = undefined;
  }

  isRefusingAll(now: number): boolean {
    const [first = 0] = this.#refusals;
    return this.#refusals.length === refusedInARow && first > now - refusedWithin;
  }

  isFailingAlways(now: number): boolean {
    this.#endTrial(now);
    return this.#failed.length === failedInARow;
  }

  /** In how many ms the status may change without a request; infinite where it cannot. */
  changesIn(now: number): number {
    const [first = 0] = this.#refusals;
    const refusals = this.isRefusingAll(now) ? first + refusedWithin : Infinity;
    return Math.max(0, Math.min(refusals, (this.#firstAfterFailure?.at ?? Infinity) + successAfter) - now);
  }

  /** What the form shows besides the counts. */
  get report(): Omit<NodeReport, "accepted" | "refused" | "handshakes" | "duplicates" | "filtered" | "unanswered"> {
    const hasTwo = this.running !== undefined && hasTwoCredentials(this.running.config.access);
    return {
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
    outcomes.on("duplicate", (event) => this.get(event.node)?.accept(event, "repeated"));
    outcomes.on("refused", ({ node, request }) => this.get(node)?.refuse(request?.ip, request !== undefined));
    outcomes.on("handshake", ({ node, isVerified }) => this.get(node)?.greet(isVerified));
    outcomes.on("filtered", ({ node, event }) => this.get(node)?.filter(event));
    outcomes.on("unanswered", ({ node }) => this.get(node)?.note("unanswered"));
    outcomes.on("attempt:succeeded", ({ node, id, attempt }) => this.get(node)?.endAttempt(id, attempt, false));
    outcomes.on("attempt:failed", ({ node, id, attempt }) => this.get(node)?.endAttempt(id, attempt, true));
    outcomes.on("load", ({ node, load }) => Object.assign(this.get(node) ?? {}, { load }));
    outcomes.on("shadowed", ({ node, by }) => Object.assign(this.get(node) ?? {}, { shadowedBy: by }));
  }

  get(node: string): NodeHealth | undefined {
    return this.#known.get(node);
  }

  begin(node: string): NodeHealth {
    const health = this.#known.get(node) ?? new NodeHealth();
    this.#known.set(node, health);
    health.begin();
    return health;
  }

  get all(): ReadonlyMap<string, NodeHealth> {
    return this.#known;
  }
}

// What the form shows of a node.

/** The last request, and the counts since the node was started. */
export interface NodeReport {
  accepted: number;
  refused: number;
  handshakes: number;
  duplicates: number;
  /** Requests that the node does not take. */
  filtered: number;
  /** The last different events of these, the latest first. */
  filteredEvents: readonly string[];
  /** Requests without the duplicate key. */
  withoutKey: number;
  /** Accepted requests to which the flow did not reply in time. */
  unanswered: number;
  /** Missing before the first request. */
  last?: { at: number; outcome: "accepted" | "refused" | "handshake" | "filtered" | "repeated" | "unanswered" };
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
  /** The sender's address, where that was the reason. */
  ip?: string;
}
