// How many requests come from where.

import { type Problem, problems } from "../problem";
import { addressOf } from "./addresses";

/** How long requests are counted together, in ms. */
export const minute = 60_000;

/** How many minutes are remembered at once: one takes some 200 bytes. */
export const mostMinutes = 50_000;

/** The requests of one minute from one network, at one endpoint. */
export interface Count {
  /** How many there were, the last one included. */
  readonly requests: number;
  /** How long the minute goes on, in ms. */
  readonly left: number;
}

/** Where requests are counted. */
export interface RateCounter {
  /**
   * Counts a request. The minute begins with the first one, and ends whatever comes.
   *
   * @param key the endpoint and the network
   */
  count(key: string): Count;
}

/** A minute that has begun. */
interface Minute {
  requests: number;
  /** When it ends, as the clock tells time. */
  readonly end: number;
}

/**
 * Counts in memory, which stays bounded whoever comes: when too many networks send at once, the minutes that have begun
 * first are forgotten. A flood from many networks is nothing that a limit for each of them could hold back, and to refuse
 * all who are new instead would let it keep everybody else out.
 */
export class MemoryRateCounter implements RateCounter {
  /** The minutes that have begun last. To forget the rest as a whole costs nothing, however many they are. */
  #young = new Map<string, Minute>();
  #old = new Map<string, Minute>();
  /** When the young ones are no longer the last minute's, as the clock tells time. */
  #turn = 0;
  readonly #now: () => number;
  readonly #most: number;

  /** @param now a clock in ms that is never set back */
  constructor(now: () => number = () => performance.now(), most = mostMinutes) {
    this.#now = now;
    this.#most = most;
  }

  /** How many minutes are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  count(key: string): Count {
    const now = this.#now();
    const known = this.#young.get(key) ?? this.#old.get(key);
    if (known && known.end > now) {
      known.requests++;
      return { requests: known.requests, left: known.end - now };
    }
    if (now >= this.#turn || this.#young.size >= this.#most / 2) this.#age(now);
    this.#young.set(key, { requests: 1, end: now + minute });
    return { requests: 1, left: minute };
  }

  #age(now: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#turn = now + minute;
  }
}

/** By the seconds after which a caller may try again. */
const refusals = Array.from({ length: minute / 1000 + 1 }, (_, seconds) => problems.rateExceeded.retriedAfter(seconds));

/** The limit of one endpoint: so many requests a minute, accepted or refused, from one network. */
export class RateLimit {
  readonly #most: number;
  readonly #endpoint: string;
  readonly #counter: RateCounter;

  /**
   * @param most 0 for any number
   * @param endpoint whose limit it is, over all deploys
   */
  constructor(most: number, endpoint: string, counter: RateCounter) {
    this.#most = most;
    this.#endpoint = endpoint;
    this.#counter = counter;
  }

  /** Counts a request, and tells why it is refused if there were too many. */
  take(ip: string): Problem | undefined {
    if (this.#most === 0) return undefined;
    const { requests, left } = this.#counter.count(`${networkOf(ip)} ${this.#endpoint}`);
    if (requests <= this.#most) return undefined;
    const seconds = Math.min(Math.ceil(left / 1000), refusals.length - 1);
    return refusals[Math.max(seconds, 1)];
  }
}

/** The networks of the addresses that came last: to read an address takes longer than to count it. */
const known = new Map<string, string>();
const mostKnown = 1000;
/** No address is longer, with its zone and its port. */
const longestKnown = 100;

/**
 * Who is counted as one: an IPv4 address, or the 64 bits of an IPv6 address that are the network's. Whoever has an IPv6
 * address may make up the other 64 bits (RFC 4291 §2.5.4, RFC 8981 §3), and no customer is given less (RFC 6177 §2).
 *
 * @returns one word, the same for all that is no address
 */
export function networkOf(ip: string): string {
  const found = known.get(ip);
  if (found !== undefined) return found;
  const network = readNetwork(ip);
  if (known.size >= mostKnown) known.clear();
  if (ip.length <= longestKnown) known.set(ip, network);
  return network;
}

function readNetwork(ip: string): string {
  const address = ip.length <= longestKnown ? addressOf(ip) : undefined;
  if (address?.family !== "ipv6") return address?.text ?? "?";
  const bits = address.groups.slice(0, 4).map((group) => group.toString(16));
  return bits.join(":");
}
