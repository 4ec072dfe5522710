// The health of each node over all its deploys: what its status and its form show besides the counts.

import type { Node, NodeAPI } from "node-red";
import { isLoopback } from "../auth/limits";
import type { Credential, Explanation } from "../auth/result";
import type { Load } from "../deliveries/queue";
import type { RunningNode } from "../flow/endpoint";
import type { AcceptedEvent, Outcomes } from "../flow/outcomes";

/** After so many refused requests in a row, none older than this (in ms), everything is refused. */
const refusedInARow = 5;
const refusedWithin = 600_000;
/** After so many failed attempts in a row, the flow is failing. */
const failedInARow = 3;
/** An attempt that is not followed has succeeded when no error came for so long, in ms. */
const successAfter = 10_000;
/** How many such attempts are watched at once. */
const maxPending = 100;

/** Most of ten thousand nodes have nothing to remember. */
const none: readonly never[] = [];

export class NodeHealth {
  /** The node as it was last deployed; missing where its configuration breaks a rule. */
  running: RunningNode | undefined;
  isOpen = false;
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
  /** Failed attempts since the last one that succeeded. */
  failures = 0;
  #last: NodeReport["last"];
  #credential: Credential | undefined;
  #withoutKey = 0;
  #secret: string | undefined;
  /** Whether requests came from this computer itself, and from others. */
  readonly #seen = { here: false, elsewhere: false };
  #lastIp = "";
  /** The times of refused requests since the last accepted one. */
  #refusals: readonly number[] = none;
  /** The first ids of attempts that failed since the last one that succeeded. */
  #failed: readonly string[] = none;
  /** Attempts that are not followed and began after the last failure, with their times. */
  #pending: Map<string, number> | undefined;

  /** Forgets what depends on the configuration; the history stays. */
  begin(): void {
    this.running = this.shadowedBy = this.load = undefined;
    this.#credential = this.#secret = undefined;
    this.isOpen = false;
    this.used = {};
    this.#withoutKey = 0;
    this.#refusals = none;
    this.#succeed();
  }

  accept({ id, at, lacksKey, authenticated, ip }: AcceptedEvent, outcome: "accepted" | "repeated"): void {
    this.#last = { at, outcome };
    this.#refusals = none;
    if (lacksKey) this.#withoutKey++;
    if (!authenticated.isTest) this.#use(authenticated, ip, at);
    if (outcome === "accepted" && this.#pending && this.#pending.size < maxPending) this.#pending.set(id, at);
  }

  #use({ credential }: AcceptedEvent["authenticated"], ip: string, at: number): void {
    this.acceptedAt = at;
    this.used[credential] = at;
    this.#credential = credential;
    this.#see(ip);
  }

  #see(ip: string): void {
    if (ip === this.#lastIp) return;
    this.#lastIp = ip;
    this.#seen[isLoopback(ip) ? "here" : "elsewhere"] = true;
  }

  /** @param ip missing where the reply to an accepted request went wrong */
  refuse(ip: string | undefined, isRequest: boolean): void {
    const at = Date.now();
    this.#last = { at, outcome: "refused" };
    if (ip !== undefined) this.#see(ip);
    if (!isRequest) return;
    this.#refusals = [...this.#refusals.slice(1 - refusedInARow), at];
  }

  handshake(): void {
    this.#last = { at: Date.now(), outcome: "handshake" };
    this.#refusals = none;
  }

  missReply(): void {
    this.#last = { at: Date.now(), outcome: "unanswered" };
  }

  endAttempt(id: string, attempt: number, hasFailed: boolean): void {
    if (!hasFailed) return this.#succeed();
    this.failures++;
    const key = `${id} ${attempt}`;
    const isNew = this.#failed.length < failedInARow && !this.#failed.includes(key);
    if (isNew) this.#failed = [...this.#failed, key];
    if (this.running?.isFollowed === false) this.#pending ??= new Map();
    this.#pending?.delete(id);
  }

  #succeed(): void {
    this.failures = 0;
    this.#failed = none;
    this.#pending = undefined;
  }

  isRefusingAll(now: number): boolean {
    const [first = 0] = this.#refusals;
    return this.#refusals.length === refusedInARow && first > now - refusedWithin;
  }

  isFailingAlways(now: number): boolean {
    const oldest = this.#oldestPending ?? Infinity;
    if (oldest <= now - successAfter) this.#succeed();
    return this.#failed.length === failedInARow;
  }

  get #oldestPending(): number | undefined {
    return this.#pending?.values().next().value;
  }

  /** In how many ms the status may change without a request; nothing where it cannot. */
  changesIn(now: number): number | undefined {
    const times: number[] = [];
    const [first = 0] = this.#refusals;
    if (this.isRefusingAll(now)) times.push(first + refusedWithin - now);
    const oldest = this.#oldestPending;
    if (oldest !== undefined) times.push(oldest + successAfter - now);
    return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
  }

  get hasSecret(): boolean {
    return this.#secret !== undefined;
  }

  /**
   * Keeps the secret that the sender has brought; a second one may be a stranger's. @returns whether it is the first
   */
  bringSecret(secret: string): boolean {
    const isFirst = this.#secret === undefined;
    this.#secret ??= secret;
    return isFirst;
  }

  /** Returns the secret that the sender has brought, once. */
  takeSecret(): string | undefined {
    const secret = this.#secret;
    this.#secret = undefined;
    return secret;
  }

  /** What the form shows besides the counts. */
  get report(): Omit<NodeReport, "accepted" | "refused" | "handshakes" | "duplicates" | "unanswered"> {
    return {
      withoutKey: this.#withoutKey,
      hasSecret: this.hasSecret,
      hasOnlyLoopback: this.#seen.here && !this.#seen.elsewhere,
      ...(this.#last && { last: this.#last }),
      ...(this.lastRefused && { lastRefused: this.lastRefused }),
      ...(this.running?.hasTwo && this.#credential && { credential: this.#credential }),
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
    outcomes.on("handshake", ({ node }) => this.get(node)?.handshake());
    outcomes.on("unanswered", ({ node }) => this.get(node)?.missReply());
    outcomes.on("attempt:succeeded", ({ node, id, attempt }) => this.get(node)?.endAttempt(id, attempt, false));
    outcomes.on("attempt:failed", ({ node, id, attempt }) => this.get(node)?.endAttempt(id, attempt, true));
    outcomes.on("load", ({ node, load }) => {
      const health = this.get(node);
      if (health) health.load = load;
    });
    outcomes.on("shadowed", ({ node, by }) => {
      const health = this.get(node);
      if (health) health.shadowedBy = by;
    });
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
  /** Requests without the key that duplicates are known by. */
  withoutKey: number;
  /** Accepted requests that the flow did not answer in time. */
  unanswered: number;
  /** Missing before the first request. */
  last?: { at: number; outcome: "accepted" | "refused" | "handshake" | "repeated" | "unanswered" };
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
