// What keeps the duplicates of deliveries from the flow of an endpoint.

import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Scheme, Sender } from "../auth/senders/sender";
import { Fields, type RequestHead, parseSource } from "../auth/signature/fields";
import { coversBody } from "../auth/signature/scheme";
import type { DuplicatePolicy } from "../config/parse";
import type { DuplicateKey } from "../config/rules";
import { type Problem, problems } from "../request/problem";
import {
  type Candidate,
  type Duplicates,
  type KnownDuplicate,
  type ReservationEnd,
  type Reservation,
  reserveOrWait,
} from "./duplicates";
import { StoreError } from "./queue";

/** How many deliveries wait at most for what comes of another, over all endpoints. */
export const maxWaitingDuplicates = 1000;
/** How much memory their bodies take at most, all together, in bytes. */
export const maxWaitingDuplicateBytes = 64 * 1024 * 1024;

/** What is to become of a delivery. */
export type DuplicateVerdict = Reservation | KnownDuplicate | Problem;

/** Who waits: a caller that goes closes its response, while its connection may go on. */
type WaitingResponse = Pick<ServerResponse, "destroyed" | "once" | "off">;

/** What the guards of all endpoints have in common: it is the memory of the whole process that those would fill who wait. */
export class Guarding {
  readonly #duplicates: Duplicates;
  readonly #most: number;
  readonly #mostBytes: number;
  #waiting = 0;
  #bytes = 0;

  constructor(duplicates: Duplicates, most = maxWaitingDuplicates, mostBytes = maxWaitingDuplicateBytes) {
    this.#duplicates = duplicates;
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  /**
   * Reserves the key of a delivery. While another has it, it waits for what comes of that one, so that none is lost.
   *
   * @param size how much memory it takes, in bytes; asked when it has to wait
   * @param patience how long it waits at most, in ms
   * @param caller who waits: when it goes, its place is free
   * @returns why nobody can tell, where the store is in trouble: its sender has to keep it
   */
  async judge(
    candidate: Candidate,
    size: () => number,
    patience: number,
    caller: WaitingResponse,
  ): Promise<DuplicateVerdict> {
    const deadline = performance.now() + patience;
    try {
      return await reserveOrWait<Problem>(this.#duplicates, candidate, async (outcome) =>
        this.#wait(outcome, size(), deadline, caller),
      );
    } catch (error) {
      if (error instanceof StoreError) return problems.storeTroubled;
      throw error;
    }
  }

  async #wait(
    outcome: Promise<ReservationEnd>,
    bytes: number,
    deadline: number,
    caller: WaitingResponse,
  ): Promise<ReservationEnd | Problem> {
    if (this.#waiting >= this.#most || this.#bytes + bytes > this.#mostBytes) return problems.duplicatesWaiting;
    this.#waiting++;
    this.#bytes += bytes;
    let giveUp: () => void = () => undefined;
    const late = new Promise<Problem>((settle) => (giveUp = () => settle(problems.flowLate)));
    const timer = setTimeout(giveUp, deadline - performance.now());
    caller.once("close", giveUp);
    if (caller.destroyed) giveUp();
    const settled = await Promise.race([outcome, late]);
    clearTimeout(timer);
    caller.off("close", giveUp);
    this.#waiting--;
    this.#bytes -= bytes;
    return settled;
  }
}

/** How the duplicates of one endpoint's deliveries are known. */
interface Recognition extends DuplicatePolicy {
  /** Whose endpoint it is: what is known of its deliveries outlives a deploy. */
  endpoint: string;
  /** See `isIdLoose`. */
  isIdLoose: boolean;
  /** How long a delivery waits at most for what comes of another, in ms. */
  patience: number;
}

export class DuplicateGuard {
  readonly #how: Recognition;
  readonly #common: Guarding;

  constructor(how: Recognition, common: Guarding) {
    this.#how = how;
    this.#common = common;
  }

  /** Whether it needs the bytes of a body as they were sent. */
  get needsBytes(): boolean {
    return this.#how.key === "body" || (this.#how.key === "" && this.#how.isIdLoose);
  }

  /**
   * Tells what is to become of a delivery.
   *
   * @param id the id that its message is to have
   * @param caller whose it is
   * @returns nothing where it has no key: it is no repeat of anything then
   */
  async judge(
    delivery: Omit<Known, "isIdLoose">,
    id: string,
    caller: WaitingResponse,
  ): Promise<DuplicateVerdict | undefined> {
    const { endpoint, key: kind, keptFor, isIdLoose, patience } = this.#how;
    const key = composeDuplicateKey(kind, { ...delivery, isIdLoose });
    if (key === undefined) return undefined;
    // What waits is unpacked by now, which may be a thousand times what came.
    const size = () => Math.max(delivery.bytes.length, delivery.content().length);
    return this.#common.judge({ endpoint, key, id, keptFor }, size, patience, caller);
  }
}

// By what a delivery is known when it comes again.

/** What is known of a delivery that may come in. */
export interface Known {
  head: RequestHead;
  /** The body as it was sent. */
  bytes: Buffer;
  /** The body without its content codings; it is read only where the key stands in it. */
  content: () => Buffer;
  /** The sender's own id of the delivery, if it tells one. */
  id: string | undefined;
  /** Whether anybody who has seen the delivery could send it under another id: see `isIdLoose`. */
  isIdLoose: boolean;
}

/**
 * Whether a sender signs the bodies of its deliveries, and not their ids. Such an id is no key by itself: with the id of
 * a delivery that is to come, an old one that is sent again would keep that out. The time of the signature is no part of
 * the key, as senders sign anew what they send again.
 *
 * @param scheme by which requests are let in; nothing where that is a token, and all who have it are trusted
 */
export function isIdLoose({ id }: Pick<Sender, "id">, scheme: Scheme | undefined): boolean {
  return id?.signed === false && scheme !== undefined && coversBody(scheme);
}

/**
 * The key of a delivery, which no other delivery to the endpoint has: 43 characters, whatever it is made of.
 *
 * @returns nothing where a delivery has none, or more than one: it is no repeat then
 */
export function composeDuplicateKey(kind: DuplicateKey, delivery: Known): string | undefined {
  const text = toKeyText(kind, delivery);
  // With its kind, so that what is known does not mean something else when the kind is changed.
  return text === undefined ? undefined : hash("sha256", `${kind}\n${text}`, "base64url");
}

function toKeyText(kind: DuplicateKey, { head, bytes, content, id, isIdLoose }: Known): string | undefined {
  if (kind === "body") return bytes.length === 0 ? undefined : digestKey(bytes);
  if (kind !== "") return new Fields(head, content).onlyTextAt(parseSource(kind));
  return id === undefined || !isIdLoose ? id : `${digestKey(bytes)} ${id}`;
}

function digestKey(bytes: Buffer): string {
  return hash("sha256", bytes, "base64url");
}
