// Ignores the duplicates of an endpoint.

import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Scheme, Sender } from "../auth/senders/sender";
import { Fields, type RequestHead } from "../auth/signature/fields";
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

/** How many duplicates wait at most for the first delivery, over all endpoints. */
export const maxWaitingDuplicates = 1000;
/** The bytes of their bodies, all together. */
export const maxWaitingDuplicateBytes = 64 * 1024 * 1024;

export type DuplicateVerdict = Reservation | KnownDuplicate | Problem;

/** A sender that goes closes its response, while its connection may stay. */
type WaitingResponse = Pick<ServerResponse, "destroyed" | "once" | "off">;

/** Shared by all endpoints, since waiting duplicates take the memory of the whole process. */
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

/** The settings of an endpoint. */
interface Recognition extends DuplicatePolicy {
  /** The id of its node: keys outlive a deploy. */
  endpoint: string;
  /** See `isIdLoose`. */
  isIdLoose: boolean;
  /** How long a duplicate waits for the first delivery, in ms. */
  patience: number;
}

export class DuplicateGuard {
  readonly #how: Recognition;
  readonly #common: Guarding;

  constructor(how: Recognition, common: Guarding) {
    this.#how = how;
    this.#common = common;
  }

  /** Whether it needs the bytes of the body as sent. */
  get needsBytes(): boolean {
    return this.#how.key === "body" || (this.#how.key === "" && this.#how.isIdLoose);
  }

  /**
   * Decides what becomes of a delivery.
   *
   * @param id of its message
   * @param caller its response
   * @returns nothing where it has no key
   */
  async judge(
    delivery: Omit<Known, "isIdLoose">,
    id: string,
    caller: WaitingResponse,
  ): Promise<DuplicateVerdict | undefined> {
    const { endpoint, key: kind, keptFor, isIdLoose, patience } = this.#how;
    const key = composeDuplicateKey(kind, { ...delivery, isIdLoose });
    if (key === undefined) return undefined;
    // A waiting delivery is unpacked, which may be a thousand times what came.
    const size = () => Math.max(delivery.bytes.length, delivery.content().length);
    return this.#common.judge({ endpoint, key, id, keptFor }, size, patience, caller);
  }
}

// The key of a delivery.

export interface Known {
  head: RequestHead;
  /** As sent. */
  bytes: Buffer;
  /** The body without its content codings; read only if the key is in it. */
  content: () => Buffer;
  /** The sender's own id. */
  id: string | undefined;
  /** See `isIdLoose`. */
  isIdLoose: boolean;
}

/**
 * Whether a sender signs bodies but not ids. Then the id alone is no key: an old delivery, sent again with the id of a
 * new one, would keep the new one out. The time of the signature is no part of the key, as senders sign retries anew.
 */
export function isIdLoose({ id }: Pick<Sender, "id">, scheme: Scheme | undefined): boolean {
  return id?.signed === false && scheme !== undefined && coversBody(scheme);
}

/**
 * 43 characters, unique for a delivery to the endpoint.
 *
 * @returns nothing where the delivery has no value for it, or several
 */
export function composeDuplicateKey(kind: DuplicateKey, delivery: Known): string | undefined {
  const text = toKeyText(kind, delivery);
  // With its kind, so that a changed setting does not match old keys.
  return text === undefined ? undefined : hash("sha256", `${kind}\n${text}`, "base64url");
}

function toKeyText(kind: DuplicateKey, { head, bytes, content, id, isIdLoose }: Known): string | undefined {
  if (kind === "body") return bytes.length === 0 ? undefined : digestKey(bytes);
  if (kind !== "") return new Fields(head, content).onlyText(kind);
  return id === undefined || !isIdLoose ? id : `${digestKey(bytes)} ${id}`;
}

function digestKey(bytes: Buffer): string {
  return hash("sha256", bytes, "base64url");
}
