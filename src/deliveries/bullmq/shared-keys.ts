// Duplicate keys and request counts of all instances.

import type { ChainableCommander } from "ioredis";
import { randomUUID } from "node:crypto";
import { MemoryRateCounter, type RateCounter, type RequestCount, windowMs } from "../../auth/limits";
import {
  type Candidate,
  type Duplicates,
  type FirstAnswer,
  type Found,
  maxAnswerBytes,
  type ReservationEnd,
  type Reservation,
} from "../duplicates";
import type { Server } from "./server";

/** How long a reservation of an instance without a sign of life is kept, in ms. */
const reservedFor = 20_000;
/** How often reservations are renewed, in ms. */
const renewedEvery = 5000;
/** How often the outcome of other instances' deliveries is read, in ms. */
const lookEvery = 100;
/** How long waiting duplicates can read the outcome of a released key, in ms. */
const toldFor = 10_000;

interface KeyEntry {
  readonly id: string;
  readonly token: string;
  readonly isSettled?: true;
  readonly answer?: {
    readonly status: number;
    readonly fields: Readonly<Record<string, string>>;
    readonly body?: string;
  };
}

/** A delivery that duplicates in this process wait for. */
interface Awaited {
  readonly key: string;
  readonly outcome: Promise<ReservationEnd>;
  readonly tell: (outcome: ReservationEnd) => void;
}

/** Duplicates that wait at another instance do not get a body that is too long to be stored. */
export class SharedDuplicates implements Duplicates {
  readonly #server: Server;
  readonly #root: string;
  /** The keys reserved by this instance, by token. */
  readonly #held = new Map<string, string>();
  /** By the token of the reservation. */
  readonly #awaited = new Map<string, Awaited>();
  readonly #renewing: NodeJS.Timeout;
  #looking: NodeJS.Timeout | undefined;

  constructor(server: Server, root: string) {
    this.#server = server;
    this.#root = root;
    this.#renewing = setInterval(() => void this.#renew(), renewedEvery).unref();
  }

  async reserve(candidate: Candidate): Promise<Found> {
    const key = `${this.#root}:duplicate:${candidate.endpoint} ${candidate.key}`;
    const own: KeyEntry = { id: candidate.id, token: randomUUID() };
    for (;;) {
      const [isFirst, text] = await this.#server.pipeline((commands) => {
        commands.set(key, JSON.stringify(own), "PX", reservedFor, "NX").get(key);
      });
      if (isFirst) return this.#reservation(key, own, candidate.keptFor);
      // It may have expired between the two commands.
      const known = parse(text as string | null);
      if (known) return { isFirst: false, id: known.id, outcome: known.isSettled ? readOutcome(known) : this.#wait(key, known.token) }; // prettier-ignore
    }
  }

  close(): void {
    clearInterval(this.#renewing);
    clearTimeout(this.#looking);
    for (const token of [...this.#awaited.keys()]) this.#tell(token, "released");
  }

  /** What the server does not take now is sent when it is back. */
  #reservation(key: string, own: KeyEntry, keptFor: number): Reservation {
    this.#held.set(own.token, key);
    const end = async (outcome: ReservationEnd, keeps: boolean) => {
      if (!this.#held.delete(own.token)) return;
      const answer = outcome === "released" ? undefined : writeAnswer(outcome.answer);
      const written = JSON.stringify({ ...own, isSettled: true, ...(answer && { answer }) } satisfies KeyEntry);
      this.#tell(own.token, outcome);
      const write = async () => {
        const known = parse(await this.#server.ask((redis) => redis.get(key)));
        // The server was away so long that another instance has the key.
        if (known && known.token !== own.token) return;
        await this.#server.transact((multi) => {
          if (keeps) multi.set(key, written, "PX", Math.max(Math.ceil(keptFor), 1));
          else multi.del(key).set(this.#toldKey(own.token), outcome === "released" ? "" : written, "PX", toldFor);
        });
      };
      await this.#server.persist(write).catch(() => undefined);
    };
    return {
      isFirst: true,
      settle: async (answer) => end({ answer }, !answer || answer.status < 500),
      release: async () => end("released", false),
    };
  }

  #toldKey(token: string): string {
    return `${this.#root}:told:${token}`;
  }

  async #wait(key: string, token: string): Promise<ReservationEnd> {
    const known = this.#awaited.get(token);
    if (known) return known.outcome;
    let tell: (outcome: ReservationEnd) => void = () => undefined;
    const outcome = new Promise<ReservationEnd>((resolve) => (tell = resolve));
    this.#awaited.set(token, { key, outcome, tell });
    this.#looking ??= setTimeout(() => void this.#look(), lookEvery);
    return outcome;
  }

  #tell(token: string, outcome: ReservationEnd): void {
    this.#awaited.get(token)?.tell(outcome);
    this.#awaited.delete(token);
  }

  /** While the server is away, duplicates go on waiting. */
  async #look(): Promise<void> {
    const others = [...this.#awaited].filter(([token]) => !this.#held.has(token));
    const add = (commands: { mget(...keys: string[]): unknown }) => {
      for (const [token, { key }] of others) commands.mget(key, this.#toldKey(token));
    };
    const found = await this.#server.pipeline(add).catch(() => []);
    for (const [index, row] of (found as (string | null)[][]).entries()) {
      const [token = ""] = others[index] ?? [];
      const [text = null, told = null] = row;
      const known = parse(text);
      if (told !== null) this.#tell(token, told === "" ? "released" : readOutcome(parse(told)));
      else if (known?.token !== token) this.#tell(token, "released");
      else if (known.isSettled) this.#tell(token, readOutcome(known));
    }
    this.#looking = undefined;
    if (this.#awaited.size > 0) this.#looking = setTimeout(() => void this.#look(), lookEvery);
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0 || !this.#server.isUp) return;
    const renew = this.#server.pipeline((commands) => {
      for (const key of this.#held.values()) commands.pexpire(key, reservedFor);
    });
    await renew.catch(() => undefined);
  }
}

function parse(text: string | null): KeyEntry | undefined {
  return text === null ? undefined : (JSON.parse(text) as KeyEntry);
}

function writeAnswer(answer: FirstAnswer | undefined): KeyEntry["answer"] {
  if (!answer) return undefined;
  const { status, fields, body } = answer;
  return { status, fields, ...(body && body.length <= maxAnswerBytes && { body: body.toString("base64") }) };
}

function readOutcome(entry: KeyEntry | undefined): ReservationEnd {
  if (!entry?.answer) return { answer: undefined };
  const { status, fields, body } = entry.answer;
  return { answer: { status, fields, body: body === undefined ? undefined : Buffer.from(body, "base64") } };
}

/**
 * Counts in this process at once, and over all instances one round trip later, since a request does not wait for it.
 * While the server is away, each instance counts alone.
 */
export class SharedRates implements RateCounter {
  readonly #server: Server;
  readonly #root: string;
  readonly #counter = new MemoryRateCounter();
  /** Counts that the server does not have yet, by key. */
  #news = new Map<string, number>();
  #isTelling = false;

  constructor(server: Server, root: string) {
    this.#server = server;
    this.#root = root;
  }

  count(key: string): RequestCount {
    if (this.#server.isUp) {
      this.#news.set(key, (this.#news.get(key) ?? 0) + 1);
      void this.#tell();
    }
    return this.#counter.count(key);
  }

  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    while (this.#news.size > 0) {
      const news = [...this.#news];
      this.#news = new Map();
      const add = (multi: ChainableCommander) => {
        for (const [key, requests] of news) {
          const window = `${this.#root}:rate:${key}`;
          multi.set(window, 0, "PX", windowMs, "NX").incrby(window, requests).pttl(window);
        }
      };
      const counts = await this.#server.transact(add).catch(() => undefined);
      for (const [index, [key]] of news.entries()) {
        const [requests, leftMs] = (counts ?? []).slice(3 * index + 1);
        if (counts) this.#counter.learn(key, { requests: Number(requests), leftMs: Number(leftMs) });
      }
    }
    this.#isTelling = false;
  }
}
