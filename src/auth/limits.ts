// Which addresses may send, and how many requests a minute.

import type { IncomingMessage } from "node:http";
import { BlockList, isIPv4, type Socket } from "node:net";
import { type Block, parseAddress } from "../config/blocks";
import type { Handling } from "../config/parse";
import { type Problem, problems } from "../request/problem";

/** How long requests are counted together. */
export const windowMs = 60_000;
/** How many windows are remembered at once: one takes some 200 bytes. */
export const maxWindows = 50_000;

/** Counts requests by endpoint and network. A window begins with its first request, and later ones do not extend it. */
export interface RateCounter {
  count(key: string): RequestCount;
}

/** How many requests there were in a window, and how long it lasts. */
export interface RequestCount {
  readonly requests: number;
  readonly leftMs: number;
}

/** Counts in memory, which stays bounded: when too many networks send at once, the windows that began first are dropped. */
export class MemoryRateCounter implements RateCounter {
  /** In the order in which they began. */
  readonly #windows = new Map<string, { requests: number; end: number }>();

  /** @param now a clock in ms that is never set back */
  constructor(readonly now: () => number = () => performance.now()) {}

  count(key: string): RequestCount {
    const now = this.now();
    let current = this.#windows.get(key);
    if (!current || current.end <= now) {
      this.#windows.delete(key);
      if (this.#windows.size >= maxWindows) this.#dropOldest();
      this.#windows.set(key, (current = { requests: 0, end: now + windowMs }));
    }
    return { requests: ++current.requests, leftMs: current.end - now };
  }

  /** Others have counted requests, too. */
  learn(key: string, { requests, leftMs }: RequestCount): void {
    const current = this.#windows.get(key);
    if (!current) return;
    current.requests = Math.max(current.requests, requests);
    current.end = this.now() + leftMs;
  }

  /** Drops a tenth of them: a Map finds its first key slowly when many were deleted before it. */
  #dropOldest(): void {
    for (const key of [...this.#windows.keys()].slice(0, maxWindows / 10)) this.#windows.delete(key);
  }
}

/** What the limits of all endpoints share. */
export interface LimitServices {
  readonly counter: RateCounter;
  /** The editor's test requests are not limited. */
  readonly testCredentials: { isFromUs(socket: Socket): boolean };
}

/** The limits of one endpoint. */
export interface Limits {
  /**
   * Says why a request is refused. It is counted once, however often it is judged.
   *
   * @param ip the address of its sender
   */
  judge(request: IncomingMessage, ip: string): Problem | undefined;
}

/** The requests that were counted, with what became of them. */
const judged = new WeakMap<IncomingMessage, Problem | undefined>();

/** @returns nothing where every address may send any number of requests */
export function createLimits(
  { allowFrom, rateLimit }: Pick<Handling, "allowFrom" | "rateLimit">,
  endpoint: string,
  { counter, testCredentials }: LimitServices,
): Limits | undefined {
  if (allowFrom.length === 0 && rateLimit === 0) return undefined;
  const isAllowed = createAllowList(allowFrom);
  const count = (address = "?") => {
    const { requests, leftMs } = counter.count(`${findNetwork(address)} ${endpoint}`);
    if (requests <= rateLimit) return undefined;
    return problems.rateExceeded.retriedAfter(Math.max(Math.ceil(leftMs / 1000), 1));
  };
  return {
    judge(request, ip) {
      if (testCredentials.isFromUs(request.socket)) return undefined;
      const address = normaliseAddress(ip);
      if (!isAllowed(address)) return problems.addressNotAllowed;
      if (rateLimit === 0) return undefined;
      if (!judged.has(request)) judged.set(request, count(address));
      return judged.get(request);
    },
  };
}

/** As in nginx, blocks of IPv6 addresses such as `::/0` do not hold IPv4 addresses: hence one list for each family. */
function createAllowList(blocks: readonly Block[]): (address: string | undefined) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { family, address, prefix } of blocks) lists[family].addSubnet(address, prefix, family);
  return (address = "") => {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    return blocks.length === 0 || (address !== "" && lists[family].check(address, family));
  };
}

/** An IPv4 address, or the /64 of an IPv6 address: its sender can make up the rest (RFC 8981 §3, RFC 6177 §2). */
function findNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/**
 * The usual spelling of a sender's address, without the port that a proxy and the zone that the system may have added.
 *
 * @returns nothing where it is no address: a proxy may pass on what the sender wrote
 */
export function normaliseAddress(ip: string): string | undefined {
  // As Node.js gives them.
  const plain = ip.startsWith("::ffff:") ? ip.slice(7) : ip;
  if (isIPv4(plain)) return plain;
  return parseAddress(ip.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/, "$1$2").replace(/%.*$/s, ""));
}

/** Whether an address is this computer's own (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(ip: string): boolean {
  const address = normaliseAddress(ip);
  return address === "::1" || address?.startsWith("127.") === true;
}

// Bounds how often something is done in a second, and how long it may take.

export class RateBound {
  readonly #most: number;
  /** When the second began in which they are counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one more may be taken; if so, it is. */
  take(): boolean {
    const now = performance.now();
    if (now - this.#second >= 1000) [this.#second, this.#taken] = [now, 0];
    return this.#taken++ < this.#most;
  }
}

export class TimeBudget {
  readonly #most: number;
  /** When the second began in which it is counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #spent = 0;

  /** @param most how many ms of a second may be spent; what is begun is not cut off */
  constructor(most: number) {
    this.#most = most;
  }

  /** Does something, unless too much has been spent in this second. */
  spend<Done>(act: () => Done): Done | undefined {
    const start = performance.now();
    if (start - this.#second >= 1000) [this.#second, this.#spent] = [start, 0];
    if (this.#spent >= this.#most) return undefined;
    const done = act();
    this.#spent += performance.now() - start;
    return done;
  }
}
