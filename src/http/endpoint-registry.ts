// Which endpoint has a path.

import type { Endpoint } from "../endpoint";
import { getPathKey } from "../request/target";

/** What an endpoint asks a path for. */
export interface Registration {
  readonly endpoint: Endpoint;
  /** Called when the endpoint gets the path, once the flows run. */
  onActive(): void;
  /** Called when another endpoint has the path, once the flows run. */
  onBlocked(): void;
}

/** A place in the queue for a path. */
interface Place {
  /** While its node is being deployed, the registration of before. */
  registration: Registration;
  isPresent: boolean;
  told?: "onActive" | "onBlocked" | undefined;
}

/**
 * Paths and the endpoints that have them: the first to ask for a path has it, later ones wait in their order. While
 * flows are deployed everything stays known as it was, so that a node which comes back finds its place.
 */
export class EndpointRegistry {
  readonly #queues = new Map<string, Place[]>();
  #isSuspended = false;

  /** Finds the endpoint at a path; while flows are deployed, the one of before. The number of endpoints does not matter. */
  find(path: string): Endpoint | undefined {
    // Most senders write the path in the way in which it is configured.
    const queue = this.#queues.get(path) ?? this.#queues.get(getPathKey(path));
    return queue?.[0]?.registration.endpoint;
  }

  /** The endpoints that have a path. */
  get endpoints(): Endpoint[] {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.registration.endpoint] : []));
  }

  /** The flows are about to stop. */
  suspend(): void {
    this.#isSuspended = true;
  }

  /** The flows run: nodes that did not come back lose their places. */
  resume(): void {
    this.#isSuspended = false;
    for (const [key, queue] of this.#queues) {
      const isComplete = queue.every(({ isPresent }) => isPresent);
      this.#settle(key, isComplete ? queue : queue.filter(({ isPresent }) => isPresent));
    }
  }

  /** Asks for the path of an endpoint. @returns what gives it up */
  register(registration: Registration): () => void {
    const { path, nodeId } = registration.endpoint;
    const key = getPathKey(path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ registration: { endpoint }, isPresent }) => endpoint.nodeId === nodeId && !isPresent);
    if (place) Object.assign(place, { registration, isPresent: true, told: undefined });
    else queue.push((place = { registration, isPresent: true }));
    this.#settle(key, queue);
    return () => this.#release(key, place, registration);
  }

  #release(key: string, place: Place, registration: Registration): void {
    const queue = this.#queues.get(key);
    if (!queue || place.registration !== registration || !place.isPresent) return;
    place.isPresent = false;
    if (!this.#isSuspended) this.#settle(key, queue.filter((each) => each !== place)); // prettier-ignore
  }

  /** Keeps a queue; once the flows run, it tells the registrations which of them has the path. */
  #settle(key: string, queue: Place[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (this.#isSuspended) return;
    for (const place of queue) {
      const event = place === queue[0] ? "onActive" : "onBlocked";
      if (place.told === event) continue;
      place.told = event;
      place.registration[event]();
    }
  }
}
