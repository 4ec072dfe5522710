// Which endpoint holds a path.

import { pathKey } from "./request/target";
import { type Standing, type Waiter, WaitingRoom } from "./waiting";

/** A place in the queue for a path. */
export interface Place {
  /** Gives the place up; the next one in the queue, if there is one, takes over. */
  release(): void;
}

/** Whom a place is for. */
export interface Tenant<Endpoint> {
  /** Who asks: after a deploy, the same owner gets the same place in the queue again. */
  owner: string;
  endpoint: Endpoint;
  /** Called when the path becomes this endpoint's, once the flows run. */
  onTurn: () => void;
  /** Called when another endpoint holds the path, once the flows run. */
  onWait: () => void;
}

interface Kept<Endpoint> {
  /** The present tenant or, while its owner is being deployed, the last one. */
  tenant: Tenant<Endpoint>;
  isPresent: boolean;
  /** What the tenant has been told. */
  told?: "onTurn" | "onWait" | undefined;
}

/** Where a request goes: to an endpoint, to nobody, or to somebody who is only just being deployed. */
export type Found<Endpoint> = Endpoint | undefined | "deploying";

/**
 * Paths and the endpoints that hold them. Finding one costs the same however many there are.
 *
 * While no flows run, the paths that were open stay known, and their requests wait: a flow that is only half there would
 * lose the message.
 */
export class Endpoints<Endpoint extends object> {
  readonly #queues = new Map<string, Kept<Endpoint>[]>();
  readonly #room = new WaitingRoom();
  readonly #isExpected: (key: string) => boolean;

  /** @param isExpected whether a path, by its key, will be some endpoint's when the flows run; asked while they do not */
  constructor(isExpected: (key: string) => boolean = () => false) {
    this.#isExpected = isExpected;
  }

  /** Finds who serves a path. */
  find(path: string): Found<Endpoint> {
    const queue = this.#queueFor(path);
    if (this.#room.isHeld) return (queue ?? this.#isExpected(pathKey(path))) ? "deploying" : undefined;
    return queue?.[0]?.tenant.endpoint;
  }

  /** The endpoint that holds a path or, while flows are being deployed, held it last. */
  lastKnown(path: string): Endpoint | undefined {
    return this.#queueFor(path)?.[0]?.tenant.endpoint;
  }

  /** The keys of all paths that are held. */
  get keys(): Iterable<string> {
    return this.#queues.keys();
  }

  /** Those that hold them. */
  get all(): Iterable<Endpoint> {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.tenant.endpoint] : []));
  }

  /** Who holds a path, or held it last, as it has named itself. */
  ownerOf(path: string): string | undefined {
    return this.#queueFor(path)?.[0]?.tenant.owner;
  }

  /**
   * Waits until the flows run.
   *
   * @returns whether they do; `false` if it takes too long or too many wait already
   */
  async settled(waiter?: Waiter, as?: Standing): Promise<boolean> {
    return this.#room.settled(waiter, as);
  }

  /** Flows are about to be deployed, or to be stopped: from now on requests wait. */
  hold(): void {
    this.#room.hold();
  }

  /** The flows run: places whose owners did not come back are given up, and waiting requests go on. */
  resume(): void {
    this.#room.resume();
    for (const [key, queue] of this.#queues) {
      const present = queue.every(({ isPresent }) => isPresent) ? queue : queue.filter(({ isPresent }) => isPresent);
      this.#settle(key, present);
    }
  }

  /** Asks for a path. The first to ask holds it; later ones wait in order. */
  enter(path: string, tenant: Tenant<Endpoint>): Place {
    const key = pathKey(path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ tenant: { owner }, isPresent }) => owner === tenant.owner && !isPresent);
    if (place) Object.assign(place, { tenant, isPresent: true, told: undefined });
    else queue.push((place = { tenant, isPresent: true }));
    this.#settle(key, queue);
    return { release: () => this.#release(key, place, tenant) };
  }

  #queueFor(path: string): Kept<Endpoint>[] | undefined {
    // Most callers write the path as it was configured, in lower case.
    return this.#queues.get(path) ?? this.#queues.get(pathKey(path));
  }

  #release(key: string, place: Kept<Endpoint>, tenant: Tenant<Endpoint>): void {
    const queue = this.#queues.get(key);
    if (!queue || place.tenant !== tenant || !place.isPresent) return;
    place.isPresent = false;
    if (this.#room.isHeld) return;
    this.#settle(key, queue.filter((other) => other !== place)); // prettier-ignore
  }

  /** Keeps a queue and, if the flows run, tells those in it whose turn it is: before, all may change again. */
  #settle(key: string, queue: Kept<Endpoint>[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (this.#room.isHeld) return;
    for (const place of queue) {
      const lot = place === queue[0] ? "onTurn" : "onWait";
      if (place.told !== lot) place.tenant[(place.told = lot)]();
    }
  }
}
