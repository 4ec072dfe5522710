// Duplicate keys and request counts of all instances.

import type { ChainableCommander } from "ioredis";
import { randomUUID } from "node:crypto";
import { scheduler } from "node:timers/promises";
import { MemoryRateCounter, type RateCounter, type RequestCount, windowMs } from "../../auth/limits";
import { maxAnswerBytes } from "../duplicates";
import type { Candidate, Duplicates, FirstAnswer, Found, Reservation, ReservationEnd } from "../queue";
import type { Server } from "./server";

/** How long a reservation of an instance without a sign of life is kept, in ms. */
const reservedFor = 20_000;
/** How often reservations are renewed, in ms. */
export const renewInterval = 5000;
/** How often the outcome of other instances' deliveries is read, in ms. */
const lookEvery = 100;

interface KeyEntry {
  readonly id: string;
  readonly token: string;
  readonly isSettled?: true;
  /** Its body in base64. */
  readonly answer?: Omit<FirstAnswer, "body"> & { readonly body: string | undefined };
}

/** Of this instance. */
interface OwnReservation {
  readonly key: string;
  readonly ended: Promise<ReservationEnd>;
  isOpen: boolean;
}

/**
 * Duplicates that wait at another instance do not get a body that is too long to be stored, and no reply of a failure:
 * one of them starts the flow then.
 */
export class SharedDuplicates implements Duplicates {
  readonly #server: Server;
  readonly #root: string;
  /** By their tokens. */
  readonly #own = new Map<string, OwnReservation>();
  /** The outcomes of other instances' deliveries that duplicates wait for, by token. */
  readonly #awaited = new Map<string, Promise<ReservationEnd>>();

  constructor(server: Server, root: string) {
    this.#server = server;
    this.#root = root;
  }

  async reserve(candidate: Candidate): Promise<Found> {
    const key = this.#place(candidate);
    const own: KeyEntry = { id: candidate.id, token: randomUUID() };
    for (;;) {
      const [isFirst, known] = await this.#server.transact((multi) => {
        multi.set(key, JSON.stringify(own), "PX", reservedFor, "NX").get(key);
      });
      if (isFirst) return this.#reservation(key, own, candidate);
      // It may have expired between the two commands.
      const other = parse(known as string | null);
      if (other) return { isFirst: false, id: other.id, outcome: readOutcome(other) ?? this.#wait(key, other.token) };
    }
  }

  /** The key of a delivery that is stored in the same transaction. */
  keep(multi: ChainableCommander, candidate: Candidate): void {
    const entry: KeyEntry = { id: candidate.id, token: randomUUID(), isSettled: true };
    multi.set(this.#place(candidate), JSON.stringify(entry), "PX", Math.max(Math.ceil(candidate.keptFor), 1));
  }

  #place({ endpoint, key }: Candidate): string {
    return `${this.#root}:duplicate:${endpoint} ${key}`;
  }

  /** What the server does not take now is sent when it is back. */
  #reservation(key: string, own: KeyEntry, candidate: Candidate): Reservation {
    let tell: (outcome: ReservationEnd) => void = () => undefined;
    const ended = new Promise<ReservationEnd>((resolve) => (tell = resolve));
    const reservation = { key, ended, isOpen: true };
    this.#own.set(own.token, reservation);
    const end = async (outcome: ReservationEnd) => {
      if (!reservation.isOpen) return;
      reservation.isOpen = false;
      tell(outcome);
      const write = async () => {
        const known = parse(await this.#server.ask((redis) => redis.get(key)));
        // The server was away so long that another instance has the key.
        if (known && known.token !== own.token) return;
        const isFree = outcome === "released" || (outcome.answer && outcome.answer.status >= 500);
        const text = isFree ? "" : JSON.stringify(settle(own, outcome.answer));
        await this.#server.transact((multi) => {
          if (isFree) multi.del(key);
          else multi.set(key, text, "PX", Math.max(Math.ceil(candidate.keptFor), 1));
        });
      };
      await this.#server.persist(write).catch(() => undefined);
      this.#own.delete(own.token);
    };
    return {
      isFirst: true,
      candidate,
      settle: async (answer) => end({ answer }),
      release: async () => end("released"),
    };
  }

  async #wait(key: string, token: string): Promise<ReservationEnd> {
    const own = this.#own.get(token);
    if (own) return own.ended;
    const known = this.#awaited.get(token);
    if (known) return known;
    const outcome = this.#poll(key, token).finally(() => this.#awaited.delete(token));
    this.#awaited.set(token, outcome);
    return outcome;
  }

  /** While the server is away, duplicates go on waiting. */
  async #poll(key: string, token: string): Promise<ReservationEnd> {
    while (!this.#server.isClosed) {
      await scheduler.wait(lookEvery);
      const text = await this.#server.ask((redis) => redis.get(key)).catch(() => undefined);
      const known = text === undefined ? undefined : parse(text);
      if (text !== undefined && known?.token !== token) break;
      const outcome = known && readOutcome(known);
      if (outcome) return outcome;
    }
    return "released";
  }

  async renew(): Promise<void> {
    const open = [...this.#own.values()].filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    await this.#server.transact((multi) => {
      for (const { key } of open) multi.pexpire(key, reservedFor);
    });
  }
}

function parse(text: string | null): KeyEntry | undefined {
  return text === null ? undefined : (JSON.parse(text) as KeyEntry);
}

function settle(own: KeyEntry, answer: FirstAnswer | undefined): KeyEntry {
  if (!answer) return { ...own, isSettled: true };
  const body = answer.body && answer.body.length <= maxAnswerBytes ? answer.body.toString("base64") : undefined;
  return { ...own, isSettled: true, answer: { ...answer, body } };
}

/** @returns nothing where it is not settled */
function readOutcome({ isSettled, answer }: KeyEntry): ReservationEnd | undefined {
  if (!isSettled) return undefined;
  const body = answer?.body === undefined ? undefined : Buffer.from(answer.body, "base64");
  return { answer: answer && { ...answer, body } };
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
  readonly #news = new Map<string, number>();

  constructor(server: Server, root: string) {
    this.#server = server;
    this.#root = root;
  }

  count(key: string): RequestCount {
    if (this.#server.isUp) {
      if (this.#news.size === 0) setImmediate(() => void this.#tell());
      this.#news.set(key, (this.#news.get(key) ?? 0) + 1);
    }
    return this.#counter.count(key);
  }

  async #tell(): Promise<void> {
    const news = [...this.#news];
    this.#news.clear();
    const counts = await this.#server.transact((multi) => {
      for (const [key, requests] of news) {
        const window = `${this.#root}:rate:${key}`;
        multi.set(window, 0, "PX", windowMs, "NX").incrby(window, requests).pttl(window);
      }
    }).catch(() => []); // prettier-ignore
    for (const [index, [key]] of news.entries()) {
      const [requests, leftMs] = counts.slice(3 * index + 1);
      if (requests !== undefined) this.#counter.learn(key, { requests: Number(requests), leftMs: Number(leftMs) });
    }
  }
}
