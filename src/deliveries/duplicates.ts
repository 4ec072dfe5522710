// Duplicates: which delivery starts the flow, and what the others are told.

import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type BodyDigest, coversBody, type Scheme, type Sender } from "../auth/senders/sender";
import { readKey, RequestValues } from "../auth/request-values";
import type { RequestHead } from "../request/head";
import type { DuplicatePolicy } from "../config/parse";
import type { DuplicateKey } from "../config/fields";
import type { DecodedBody } from "../request/decode";
import { bodyMemory } from "../request/memory";
import { Problem, problems } from "../request/problem";
import { ownMemory } from "./delivery";
import {
  type Candidate,
  type Duplicates,
  type Earlier,
  type FirstReply,
  maxRepliesBytes,
  maxKeys,
  type Reservation,
  type ReservationEnd,
  type SettledKey,
  StoreError,
} from "./queue";

/** How many duplicates wait at most for the first delivery, over all endpoints. */
const maxWaitingDuplicates = 1000;

export interface DuplicateDelivery {
  readonly isFirst: false;
  /** Of the first delivery's message. */
  readonly id: string;
  readonly reply: FirstReply | undefined;
}

type DuplicateVerdict = Reservation | DuplicateDelivery | Problem;

/** A sender that goes closes its response, while its connection may stay. */
type WaitingResponse = Pick<ServerResponse, "destroyed" | "once" | "off">;

interface ReceivedDelivery extends Omit<DeliveryFacts, "isIdLoose"> {
  /** Of its sender: see `findNetwork`. */
  network: string;
}

/** The settings of an endpoint. */
interface Recognition extends DuplicatePolicy {
  /** The id of the node, as keys outlive a deploy. */
  endpoint: string;
  /** See `isIdLoose`. */
  isIdLoose: boolean;
  /** How long a duplicate waits for the first delivery, in ms. */
  patienceMs: number;
}

export class DuplicateGuard {
  readonly #how: Recognition;
  readonly #duplicates: Duplicates;

  constructor(how: Recognition, duplicates: Duplicates) {
    this.#how = how;
    this.#duplicates = duplicates;
  }

  /** Whether it needs the bytes of the body as sent. */
  get needsBytes(): boolean {
    return this.#how.key === "body" || (this.#how.key === "" && this.#how.isIdLoose);
  }

  /**
   * Reserves the key of a delivery. While another delivery has the key, it waits for that one's result, so that none is
   * lost: if that is refused, one of those that wait takes its place. A reservation that cannot be used is to be released.
   *
   * @param id of its message
   * @param response of the request that waits: when its sender goes, its place is free
   * @returns nothing for a delivery without a key; a problem while the store is in trouble, and the sender sends again
   */
  async judge(
    delivery: ReceivedDelivery,
    id: string,
    response: WaitingResponse,
  ): Promise<DuplicateVerdict | undefined> {
    const { endpoint, key: kind, keptForMs, isIdLoose, patienceMs } = this.#how;
    const key = composeDuplicateKey(kind, { ...delivery, isIdLoose });
    if (key === undefined) return undefined;
    const deadline = performance.now() + patienceMs;
    try {
      for (;;) {
        const found = await this.#duplicates.reserve({ endpoint, key, id, keptForMs });
        if (found.isFirst) return found;
        const { id: first, outcome } = found;
        const end = outcome instanceof Promise ? await wait(outcome, delivery, deadline, response) : outcome;
        if (end instanceof Problem) return end;
        if (end !== "released") return { isFirst: false, id: first, reply: end.reply };
      }
    } catch (error) {
      if (error instanceof StoreError) return problems.storeTroubled;
      throw error;
    }
  }
}

let waiting = 0;

/** Waiting duplicates take places and memory of the whole process. */
async function wait(
  outcome: Promise<ReservationEnd>,
  { network, body }: ReceivedDelivery,
  deadline: number,
  response: WaitingResponse,
): Promise<ReservationEnd | Problem> {
  // A waiting delivery is unpacked, which may be a thousand times what came.
  const { bytes, content } = body;
  const isUnpacked = content !== undefined && !(content instanceof Problem);
  const size = Math.max(bytes.length, isUnpacked ? content.bytes().length : 0);
  const lease = bodyMemory.verified.lease(network);
  if (waiting >= maxWaitingDuplicates || !lease.resize(size)) return problems.duplicatesWaiting;
  waiting++;
  let giveUp: () => void = () => undefined;
  const late = new Promise<Problem>((settle) => (giveUp = () => settle(problems.flowLate)));
  const timer = setTimeout(giveUp, deadline - performance.now());
  response.once("close", giveUp);
  if (response.destroyed) giveUp();
  const settled = await Promise.race([outcome, late]);
  clearTimeout(timer);
  response.off("close", giveUp);
  waiting--;
  lease.release();
  return settled;
}

// The key of a delivery.

export interface DeliveryFacts {
  head: RequestHead;
  body: DecodedBody;
  /** Of all its events, as the sender names them. */
  id: string | undefined;
  /** The parameters of the path: the same id or body for another device is another delivery. */
  params?: Readonly<Record<string, string>> | undefined;
  /** Its name. Callers count their deliveries each on its own, and none can keep those of another out. */
  caller?: string | undefined;
  /** See `isIdLoose`. */
  isIdLoose: boolean;
}

/**
 * Whether a sender signs bodies but not ids. Then the id alone is no key: an old delivery, sent again with the id of a
 * new one, would keep the new one out. The time of the signature is no part of the key, as senders sign retries anew.
 */
export function isIdLoose({ id }: Pick<Sender, "id">, scheme: Scheme | undefined, bodyDigest?: BodyDigest): boolean {
  const signsBody = bodyDigest !== undefined || (scheme !== undefined && coversBody(scheme));
  return id?.signed === false && signsBody;
}

/**
 * 43 characters, unique for a delivery to the endpoint.
 *
 * @returns nothing where the delivery has no value for it, or several
 */
export function composeDuplicateKey(kind: DuplicateKey, delivery: DeliveryFacts): string | undefined {
  const text = toKeyText(kind, delivery);
  if (text === undefined) return undefined;
  const { params = {}, caller } = delivery;
  const values = [...Object.values(params), ...(caller === undefined ? [] : [{ caller }])];
  const scope = values.length === 0 ? "" : `${JSON.stringify(values)}\n`;
  // With its kind, so that a changed setting does not match old keys.
  return hash("sha256", `${scope}${kind}\n${text}`, "base64url");
}

function toKeyText(kind: DuplicateKey, { head, body, id, isIdLoose }: DeliveryFacts): string | undefined {
  const { bytes } = body;
  if (kind === "body") return bytes.length === 0 ? undefined : digestKey(bytes);
  if (kind !== "") return readKey([kind], new RequestValues(head, body));
  return id === undefined || !isIdLoose ? id : `${digestKey(bytes)} ${id}`;
}

function digestKey(bytes: Buffer): string {
  return hash("sha256", bytes, "base64url");
}

// Duplicate keys in the memory of this process.

/** A longer reply is not kept. */
export const maxReplyBytes = 64 * 1024;

export interface MemoryReservation extends Reservation {
  settle(reply?: FirstReply): void;
  release(): void;
}

interface ReservedKey {
  readonly id: string;
  /** Duplicates that wait for the first delivery. */
  readonly waiting: ((outcome: ReservationEnd) => void)[];
}

interface SettledEntry {
  readonly id: string;
  /** When it expires, by the clock of the class. */
  readonly end: number;
  reply: FirstReply | undefined;
}

/**
 * Bounded in keys and bytes: the oldest go first, but reserved ones never. When full, it drops some more than needed,
 * because finding the first key of a `Map` takes as long as the number of deleted keys before it.
 */
export class MemoryDuplicates implements Duplicates {
  readonly #reserved = new Map<string, ReservedKey>();
  /** In the order in which they were settled. */
  readonly #settled = new Map<string, SettledEntry>();
  #bytes = 0;
  readonly #now: () => number;
  readonly #maxKeys: number;
  readonly #maxBytes: number;

  /** @param now a monotonic clock in ms: a computer that learns the time late keeps its keys */
  constructor(now: () => number = () => performance.now(), keys = maxKeys, bytes = maxRepliesBytes) {
    this.#now = now;
    this.#maxKeys = keys;
    this.#maxBytes = bytes;
  }

  get size(): number {
    return this.#reserved.size + this.#settled.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  reserve(candidate: Candidate): MemoryReservation | Earlier {
    const { id } = candidate;
    const place = findPlace(candidate);
    const reserved = this.#reserved.get(place);
    if (reserved) return { isFirst: false, id: reserved.id, outcome: new Promise((tell) => reserved.waiting.push(tell)) }; // prettier-ignore
    const settled = this.#settled.get(place);
    if (settled && settled.end > this.#now())
      return { isFirst: false, id: settled.id, outcome: { reply: settled.reply } };
    this.#forget(place);
    this.#makeRoom();
    const entry: ReservedKey = { id, waiting: [] };
    this.#reserved.set(place, entry);
    const end = (outcome: ReservationEnd) => {
      if (this.#reserved.get(place) !== entry) return false;
      for (const tell of entry.waiting) tell(outcome);
      return this.#reserved.delete(place);
    };
    return {
      isFirst: true,
      candidate,
      settle: (reply) => {
        // Waiting duplicates get the reply even where it is too long to be kept.
        if (!end({ reply }) || (reply && reply.status >= 500)) return;
        const body = reply?.body && reply.body.length <= maxReplyBytes ? ownMemory(reply.body) : undefined;
        this.remember({ ...candidate, reply: reply && { ...reply, body } });
      },
      release: () => void end("released"),
    };
  }

  /** Also a key of a process before this one. */
  remember({ id, reply, keptForMs, ...place }: SettledKey): void {
    const entry: SettledEntry = { id, end: this.#now() + keptForMs, reply };
    this.#settled.set(findPlace(place), entry);
    if (!reply?.body) return;
    this.#bytes += reply.body.length;
    if (this.#bytes <= this.#maxBytes) return;
    for (const each of this.#settled.values()) {
      this.#dropBody(each);
      if (this.#bytes <= this.#maxBytes * (15 / 16)) return;
    }
  }

  #makeRoom(): void {
    if (this.size < this.#maxKeys) return;
    const room = Math.ceil(this.#maxKeys / 16);
    for (const place of this.#settled.keys()) {
      if (this.size <= this.#maxKeys - room) return;
      this.#forget(place);
    }
  }

  #forget(place: string): void {
    const entry = this.#settled.get(place);
    this.#settled.delete(place);
    if (entry) this.#dropBody(entry);
  }

  #dropBody(entry: SettledEntry): void {
    if (!entry.reply?.body) return;
    this.#bytes -= entry.reply.body.length;
    entry.reply = { ...entry.reply, body: undefined };
  }
}

function findPlace({ endpoint, key }: Pick<Candidate, "endpoint" | "key">): string {
  return `${endpoint} ${key}`;
}
