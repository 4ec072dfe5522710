// Who waits until the flows run again.

/** How long requests wait for a deploy to end, in ms, counted from its start. */
export const longestHold = 10_000;
/** How many requests wait at most whose credentials fit, on all paths together. */
export const mostWaiting = 1000;
/** How much memory these take at most, all together, in bytes. */
export const mostBytesWaiting = 64 * 1024 * 1024;
/** How many requests wait at most that have a signature, which nobody can tell to fit before its body is here. */
export const mostClaimants = 500;
/** How much memory these take at most, all together, in bytes. */
const mostBytesClaimed = 32 * 1024 * 1024;
/** How many others wait at most. Of their bodies nothing is read before. */
export const mostStrangers = 100;

/** As what a request waits: by what is known of whether it may come in. */
export type Standing = "guest" | "claimant" | "stranger";

/** A request that wants to wait. */
export interface Waiter {
  /** Tells by `destroyed` whether the caller has gone, as a socket does. Its place is free then. */
  caller: { readonly destroyed: boolean };
  /** How much memory it takes. */
  bytes: number;
}

type Settle = (go: boolean) => void;

/** Somebody who does not go, such as a user of the editor. */
const resident: Waiter = { caller: { destroyed: false }, bytes: 0 };

/**
 * The room in which requests wait while no flows run: bounded in places, in bytes and in time. Those whose credentials
 * are the last ones known have places of their own, which no stranger can take, nor who has a signature that is not
 * proven. Strangers have few: whether what is being deployed brings the credentials that they have, only its end can
 * tell.
 */
export class WaitingRoom {
  readonly #guests = new Places(mostWaiting, mostBytesWaiting);
  readonly #claimants = new Places(mostClaimants, mostBytesClaimed);
  readonly #strangers = new Places(mostStrangers, Infinity);
  /** Until when requests may wait, as `performance.now()` tells time; only while no flows run. */
  #heldUntil: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leaving = false;

  /** Whether requests have to wait. */
  get isHeld(): boolean {
    return this.#heldUntil !== undefined;
  }

  /** From now on requests wait; those who were about to leave wait on. */
  hold(): void {
    this.#heldUntil = performance.now() + longestHold;
    this.#stopTimer();
    if (this.#next) this.#startTimer(longestHold);
  }

  /** Nobody has to wait any more. */
  resume(): void {
    this.#heldUntil = undefined;
    this.#stopTimer();
    if (!this.#leaving) this.#letNextGo();
  }

  /**
   * Waits until the flows run.
   *
   * @returns whether they do; `false` if it takes too long or there is no place
   */
  async settled(waiter: Waiter = resident, as: Standing = "guest"): Promise<boolean> {
    if (this.#heldUntil === undefined) return true;
    const patience = this.#heldUntil - performance.now();
    const places = { guest: this.#guests, claimant: this.#claimants, stranger: this.#strangers }[as];
    if (patience <= 0 || !places.haveRoomFor(waiter)) return false;
    if (!this.#timer) this.#startTimer(patience);
    return new Promise((settle) => places.take(waiter, settle));
  }

  #startTimer(patience: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const places of [this.#guests, this.#claimants, this.#strangers]) places.clear();
    }, patience);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** One after the other, so that a flow has the message of one before the body of the next is decoded. */
  #letNextGo(): void {
    const places = this.#next;
    this.#leaving = places !== undefined && !this.isHeld;
    if (!places?.next || this.isHeld) return;
    places.settle(places.next, true);
    setImmediate(() => this.#letNextGo());
  }

  /** Where the next one waits. */
  get #next(): Places | undefined {
    return [this.#guests, this.#claimants, this.#strangers].find((places) => places.next);
  }
}

/** Places for so many requests with so many bytes. */
class Places {
  /** Who waits, in their order, by what lets them go on. */
  readonly #taken = new Map<Settle, Waiter>();
  #bytes = 0;

  constructor(
    readonly most: number,
    readonly mostBytes: number,
  ) {}

  get next(): Settle | undefined {
    for (const settle of this.#taken.keys()) return settle;
    return undefined;
  }

  /** Whether there is a place left, if need be that of a caller that has gone. */
  haveRoomFor({ bytes }: Waiter): boolean {
    const haveRoom = () => this.#taken.size < this.most && this.#bytes + bytes <= this.mostBytes;
    if (haveRoom()) return true;
    for (const [settle, { caller }] of this.#taken) if (caller.destroyed) this.settle(settle, false);
    return haveRoom();
  }

  take(waiter: Waiter, settle: Settle): void {
    this.#taken.set(settle, waiter);
    this.#bytes += waiter.bytes;
  }

  settle(settle: Settle, go: boolean): void {
    this.#bytes -= this.#taken.get(settle)?.bytes ?? 0;
    this.#taken.delete(settle);
    settle(go);
  }

  clear(): void {
    for (const settle of this.#taken.keys()) this.settle(settle, false);
  }
}
