// How many requests come from where, to all instances that share a server.

import { maxWindows, type RateCounter, type RequestCount, windowMs } from "../../trust/limits";
import { Script } from "./script";
import type { Server } from "./server";

/** How many minutes are brought to the server at once. */
const mostAtOnce = 500;

/**
 * Counts requests, in `rate:<key>` below the root. Arguments: keys, each with how many came.
 *
 * It answers for each how many there were in its minute, and how long that goes on, in ms.
 */
export const rate = new Script<[requests: number, left: number][]>(`
local counts = {}
for index = 3, #ARGV, 2 do
  local requests = redis.call('INCRBY', key('rate', ARGV[index]), ARGV[index + 1])
  local left = redis.call('PTTL', key('rate', ARGV[index]))
  if left < 0 then
    left = ${windowMs}
    redis.call('PEXPIRE', key('rate', ARGV[index]), left)
  end
  counts[#counts + 1] = {requests, left}
end
return counts
`);

/** A minute that has begun, here or elsewhere. */
interface Minute {
  /** How many there were, as far as is known here. */
  requests: number;
  /** How many of these the server does not know yet. */
  unsent: number;
  /** When it ends, as the clock tells time. */
  end: number;
}

/** What the server is told of a minute. */
interface News {
  readonly key: string;
  readonly known: Minute;
  /** How many more there were. */
  readonly news: number;
}

/**
 * Counts here at once, and tells the server what is new without delay: one round trip later, instances know what the
 * others have counted. While the server is away, each counts alone, and then adds what the minutes that go on have come to.
 *
 * As in memory, the minutes that have begun first are forgotten where there are too many.
 */
export class SharedRateCounter implements RateCounter {
  #young = new Map<string, Minute>();
  #old = new Map<string, Minute>();
  /** When the young ones are no longer the last minute's, as the clock tells time. */
  #turn = 0;
  readonly #now: () => number;
  readonly #most: number;
  readonly #unsent = new Map<string, Minute>();
  #server: Pick<Server, "ask"> | undefined;
  #isSending = false;

  /** @param now a clock in ms that is never set back */
  constructor(now: () => number = () => performance.now(), most = maxWindows) {
    this.#now = now;
    this.#most = most;
  }

  /** How many minutes are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** From now on, all that share the server count together. */
  share(server: Pick<Server, "ask">): void {
    this.#server = server;
  }

  /** From now on, this instance counts alone. */
  close(): void {
    this.#server = undefined;
    this.#unsent.clear();
  }

  count(key: string): RequestCount {
    const now = this.#now();
    const counted = this.#minuteOf(key, now);
    counted.requests++;
    if (this.#server) {
      counted.unsent++;
      this.#unsent.set(key, counted);
      this.#sendSoon();
    }
    return { requests: counted.requests, leftMs: counted.end - now };
  }

  #minuteOf(key: string, now: number): Minute {
    const known = this.#young.get(key) ?? this.#old.get(key);
    if (known && known.end > now) return known;
    if (now >= this.#turn || this.#young.size >= this.#most / 2) this.#age(now);
    const begun = { requests: 0, unsent: 0, end: now + windowMs };
    this.#young.set(key, begun);
    return begun;
  }

  /** What is forgotten is not sent, either. */
  #age(now: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#turn = now + windowMs;
    for (const [key, each] of this.#unsent) if (this.#old.get(key) !== each) this.#unsent.delete(key);
  }

  /** What comes while others are under way goes together. */
  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    let isTaken = true;
    while (isTaken && this.#server && this.#unsent.size > 0) isTaken = await this.#sendSome(this.#server);
    this.#isSending = false;
  }

  /** @returns whether the server has taken it; what it has not goes with the next one that comes */
  async #sendSome(server: Pick<Server, "ask">): Promise<boolean> {
    const some = this.#takeSome();
    try {
      const counts = await server.ask(rate, some.flatMap(({ key, news }) => [key, news])); // prettier-ignore
      for (const [index, [requests, left]] of counts.entries()) this.#learn(some[index], requests, left);
      return true;
    } catch {
      for (const { key, known } of some) if (known.end > this.#now()) this.#unsent.set(key, known);
      return false;
    }
  }

  #takeSome(): News[] {
    const some: News[] = [];
    for (const [key, known] of this.#unsent) {
      this.#unsent.delete(key);
      some.push({ key, known, news: known.unsent });
      if (some.length === mostAtOnce) break;
    }
    return some;
  }

  #learn(news: News | undefined, requests: number, left: number): void {
    if (!news) return;
    news.known.unsent -= news.news;
    news.known.requests = requests + news.known.unsent;
    news.known.end = this.#now() + left;
  }
}
