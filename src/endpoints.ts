import { pathKey } from "./request/target";

/** How long requests wait for a deploy to end, in ms, counted from its start. */
export const longestHold = 10_000;
/** How many requests wait at most, on all paths together. */
export const mostWaiting = 1000;

/** A place in the queue for a path. */
export interface Claim {
  /** Gives the place up; the next claim on the path, if there is one, takes over. */
  release(): void;
}

/** What a claim is made for. */
export interface Claimant<Endpoint> {
  /** Who claims: after a deploy, the same owner gets the same place in the queue again. */
  owner: string;
  endpoint: Endpoint;
  /** Called when the path becomes this endpoint's: at once, or when all earlier claims are released. */
  onTurn: () => void;
  /** Called when another endpoint holds the path. */
  onWait: () => void;
}

interface Place<Endpoint> {
  owner: string;
  /** Missing while the owner is being deployed. */
  claimant: Claimant<Endpoint> | undefined;
}

/** Where a request goes: to an endpoint, to nobody, or to somebody who is only just being deployed. */
export type Found<Endpoint> = Endpoint | undefined | "deploying";

/**
 * Paths and the endpoints that hold them. Finding one costs the same however many there are.
 *
 * While flows are being deployed, the paths that were open stay known, and their requests wait: a flow that is only
 * half there would lose the message.
 */
export class Endpoints<Endpoint extends object> {
  readonly #queues = new Map<string, Place<Endpoint>[]>();
  readonly #waiting = new Set<() => void>();
  /** Until when requests may wait, as `performance.now()` tells time; only while flows are being deployed. */
  #heldUntil: number | undefined;

  /** Finds who serves a path. */
  find(path: string): Found<Endpoint> {
    // Most callers write the path as it was configured, in lower case.
    const queue = this.#queues.get(path) ?? this.#queues.get(pathKey(path));
    if (!queue) return undefined;
    return this.#heldUntil === undefined ? queue[0]?.claimant?.endpoint : "deploying";
  }

  /** The paths that are claimed, in lower case. */
  paths(): string[] {
    return [...this.#queues.keys()];
  }

  /**
   * Waits until the flows run again.
   *
   * @returns whether they do; `false` if it takes too long or too many wait already
   */
  async settled(): Promise<boolean> {
    const heldUntil = this.#heldUntil;
    if (heldUntil === undefined) return true;
    const patience = heldUntil - performance.now();
    if (patience <= 0 || this.#waiting.size >= mostWaiting) return false;
    return new Promise((resolve) => {
      const settle = () => {
        this.#waiting.delete(settle);
        clearTimeout(timer);
        resolve(this.#heldUntil === undefined);
      };
      const timer = setTimeout(settle, patience);
      this.#waiting.add(settle);
    });
  }

  /** Flows are about to be deployed: from now on requests wait. */
  hold(): void {
    this.#heldUntil = performance.now() + longestHold;
  }

  /** The flows run again: places whose owners did not come back are given up, and waiting requests go on. */
  resume(): void {
    this.#heldUntil = undefined;
    for (const [key, queue] of this.#queues) {
      if (queue.some(({ claimant }) => !claimant))
        this.#replace(
          key,
          queue,
          queue.filter(({ claimant }) => claimant),
        );
    }
    for (const settle of this.#waiting) settle();
  }

  /** Claims a path. The first claim holds it; later ones wait in order. */
  claim(path: string, claimant: Claimant<Endpoint>): Claim {
    const key = pathKey(path);
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    const kept = queue.find(({ owner, claimant: present }) => owner === claimant.owner && !present);
    const place = kept ?? { owner: claimant.owner, claimant };
    place.claimant = claimant;
    if (!kept) queue.push(place);
    (queue[0] === place ? claimant.onTurn : claimant.onWait)();
    return { release: () => this.#release(key, place, claimant) };
  }

  #release(key: string, place: Place<Endpoint>, claimant: Claimant<Endpoint>): void {
    const queue = this.#queues.get(key);
    if (!queue || place.claimant !== claimant) return;
    place.claimant = undefined;
    if (this.#heldUntil === undefined)
      this.#replace(
        key,
        queue,
        queue.filter((other) => other !== place),
      );
  }

  #replace(key: string, before: Place<Endpoint>[], after: Place<Endpoint>[]): void {
    if (after.length > 0) this.#queues.set(key, after);
    else this.#queues.delete(key);
    if (after[0] !== before[0]) after[0]?.claimant?.onTurn();
  }
}
