// The allow list and the rate limit.

import type { IncomingMessage } from "node:http";
import { BlockList, isIPv4, type Socket } from "node:net";
import { type Block, parseAddress } from "../config/blocks";
import type { WebhookConfig } from "../config/parse";
import { type Problem, problems } from "../request/problem";

/** The window of the rate limit. */
export const windowMs = 60_000;
/** How many windows are kept; one takes some 200 bytes. */
export const maxWindows = 50_000;

/** Counts requests by endpoint and network. A window begins with its first request and has a fixed length. */
export interface RateCounter {
  count(key: string): RequestCount;
}

/** The requests of a window, and the time left. */
export interface RequestCount {
  readonly requests: number;
  readonly leftMs: number;
}

/** Bounded: with too many networks, the oldest windows are dropped. */
export class MemoryRateCounter implements RateCounter {
  /** The oldest first. */
  readonly #windows = new Map<string, { requests: number; end: number }>();

  count(key: string): RequestCount {
    const now = performance.now();
    let current = this.#windows.get(key);
    if (!current || current.end <= now) {
      this.#windows.delete(key);
      if (this.#windows.size >= maxWindows) this.#dropOldest();
      this.#windows.set(key, (current = { requests: 0, end: now + windowMs }));
    }
    return { requests: ++current.requests, leftMs: current.end - now };
  }

  /** Adds requests that other instances have counted. */
  learn(key: string, { requests, leftMs }: RequestCount): void {
    const current = this.#windows.get(key);
    if (!current) return;
    current.requests = Math.max(current.requests, requests);
    current.end = performance.now() + leftMs;
  }

  /** Drops a tenth: a Map finds its first key slowly after many deletions. */
  #dropOldest(): void {
    for (const key of [...this.#windows.keys()].slice(0, maxWindows / 10)) this.#windows.delete(key);
  }
}

export interface LimitServices {
  readonly counter: RateCounter;
  /** Test requests are not limited. */
  readonly testCredentials: { isFromUs(socket: Socket): boolean };
}

/**
 * Checks a request by the address of its sender, by its credential and by the rate, and counts it once however often it is
 * checked.
 *
 * @param authenticate its result may name the caller
 */
export type JudgeHead = <Result extends object>(
  request: IncomingMessage,
  ip: string,
  authenticate: () => Result,
) => Result | Problem;

/** Counted requests, with the result. */
const judged = new WeakMap<IncomingMessage, Problem | undefined>();

/** @returns nothing where there are no limits */
export function createLimits(
  { allowFrom, rateLimit, rateLimitBy }: Pick<WebhookConfig, "allowFrom" | "rateLimit" | "rateLimitBy">,
  node: string,
  { counter, testCredentials }: LimitServices,
): JudgeHead | undefined {
  if (allowFrom.length === 0 && rateLimit === 0) return undefined;
  const isAllowed = createAllowList(allowFrom);
  const countOnce = (request: IncomingMessage, by: string, problem = problems.rateExceeded) => {
    if (rateLimit === 0) return undefined;
    if (judged.has(request)) return judged.get(request);
    const { requests, leftMs } = counter.count(`${by} ${node}`);
    const seconds = Math.max(Math.ceil(leftMs / 1000), 1);
    const refusal = requests > rateLimit ? problem.retriedAfter(seconds) : undefined;
    judged.set(request, refusal);
    return refusal;
  };
  return (request, ip, authenticate) => {
    if (testCredentials.isFromUs(request.socket)) return authenticate();
    if (!isAllowed(normaliseAddress(ip))) return problems.addressNotAllowed;
    if (rateLimitBy === "address") return countOnce(request, findNetwork(ip)) ?? authenticate();
    // Strangers must not use up the requests of a caller.
    const result = authenticate();
    const caller = "caller" in result ? `caller ${String(result.caller)}` : undefined;
    if (caller === undefined) return countOnce(request, findNetwork(ip)) ?? result;
    return countOnce(request, caller, problems.callerRateExceeded) ?? result;
  };
}

/** As in nginx, IPv6 blocks such as `::/0` do not contain IPv4 addresses: one list per family. */
function createAllowList(blocks: readonly Block[]): (address: string | undefined) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { family, address, prefix } of blocks) lists[family].addSubnet(address, prefix, family);
  return (address = "") => {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    return blocks.length === 0 || (address !== "" && lists[family].check(address, family));
  };
}

/**
 * An IPv4 address, or the /64 of an IPv6 address: the sender chooses the rest (RFC 8981 §3, RFC 6177 §2). All that are
 * no addresses are one network.
 */
export function findNetwork(ip: string): string {
  const address = normaliseAddress(ip) ?? "?";
  if (!address.includes(":")) return address;
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/**
 * The usual form of an address, without a port or zone that a proxy or the system has added.
 *
 * @returns nothing where it is no address, as a proxy may pass on what the sender wrote
 */
export function normaliseAddress(ip: string): string | undefined {
  // As Node.js reports them.
  const plain = ip.startsWith("::ffff:") ? ip.slice(7) : ip;
  if (isIPv4(plain)) return plain;
  return parseAddress(ip.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/, "$1$2").replace(/%.*$/s, ""));
}

/** Whether an address is a loopback address (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(ip: string): boolean {
  const address = normaliseAddress(ip);
  return address === "::1" || address?.startsWith("127.") === true;
}

/** Bounds how often something is done in each second, or how long it takes. What is overspent is missing later. */
export class RateBound {
  readonly #max: number;
  /** The beginning of the current second (`performance.now()`). */
  #second = -Infinity;
  #used = 0;

  /** @param max times, or ms of work, per second */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes one, if there is one left. */
  take(): boolean {
    if (!this.#isLeft()) return false;
    this.#used++;
    return true;
  }

  /** Does work, unless the time of this second is used up. Work that has begun is not interrupted. */
  spend<Done>(work: () => Done): Done | undefined {
    if (!this.#isLeft()) return undefined;
    const start = performance.now();
    const done = work();
    this.#used += performance.now() - start;
    return done;
  }

  #isLeft(): boolean {
    const now = performance.now();
    const seconds = Math.floor((now - this.#second) / 1000);
    if (seconds >= 1) [this.#second, this.#used] = [now, Math.max(this.#used - seconds * this.#max, 0)];
    return this.#used < this.#max;
  }
}
