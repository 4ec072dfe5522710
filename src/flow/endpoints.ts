// Paths and their endpoints.

import { isPattern } from "../config/paths";
import { getPatternKey, PathPatterns } from "../request/path-patterns";
import { getPathKey } from "../request/target";
import type { Endpoint } from "./endpoint";

/** An endpoint that has its path, or waits for it. */
interface Registration {
  readonly endpoint: Endpoint;
  /** The endpoint has the path, now that the flows run. */
  onActive(): void;
  /** Another endpoint has the path, now that the flows run. */
  onBlocked(): void;
}

interface Registered {
  /** During a deploy, the registration before it. */
  registration: Registration;
  isPresent: boolean;
  told?: "onActive" | "onBlocked" | undefined;
}

/**
 * Paths and their endpoints: the first to register has the path, later ones wait in order. During a deploy nothing
 * changes, so that a node that comes back keeps its place.
 */
export class EndpointRegistry {
  readonly #queues = new Map<string, Registered[]>();
  /** Missing until the next look-up where they have changed. */
  #patterns: PathPatterns | undefined;
  readonly #isAdminPath: (path: string) => boolean;
  #isSuspended = false;

  /** @param isAdminPath whether a path is Node-RED's own, which no pattern matches */
  constructor(isAdminPath: (path: string) => boolean = () => false) {
    this.#isAdminPath = isAdminPath;
  }

  /** Finds the endpoint of a path; during a deploy, the one before it. */
  find(path: string): Endpoint | undefined {
    // Most senders write the path as it is configured.
    const queue = this.#queues.get(path) ?? this.#queues.get(getPathKey(path)) ?? this.#findByPattern(path);
    return queue?.[0]?.registration.endpoint;
  }

  #findByPattern(path: string): Registered[] | undefined {
    this.#patterns ??= new PathPatterns([...this.#queues.keys()].filter(isPattern));
    const key = this.#patterns.find(path);
    return key === undefined || this.#isAdminPath(path) ? undefined : this.#queues.get(key);
  }

  get endpoints(): Endpoint[] {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.registration.endpoint] : []));
  }

  /** Finds the endpoint of a node, if it has its path. */
  findOfNode(id: string): Endpoint | undefined {
    return this.endpoints.find(({ node }) => node.id === id);
  }

  suspend(): void {
    this.#isSuspended = true;
  }

  /** Nodes that did not come back lose their places. */
  resume(): void {
    this.#isSuspended = false;
    for (const [key, queue] of this.#queues) {
      const isComplete = queue.every(({ isPresent }) => isPresent);
      this.#settle(key, isComplete ? queue : queue.filter(({ isPresent }) => isPresent));
    }
  }

  /** Registers an endpoint for its path. @returns the function that gives the path up */
  register(registration: Registration): () => void {
    const { node, config } = registration.endpoint;
    const key = getPatternKey(config.path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ registration: { endpoint }, isPresent }) => endpoint.node.id === node.id && !isPresent);
    if (place) Object.assign(place, { registration, isPresent: true, told: undefined });
    else queue.push((place = { registration, isPresent: true }));
    this.#settle(key, queue);
    return () => this.#release(key, place, registration);
  }

  #release(key: string, place: Registered, registration: Registration): void {
    const queue = this.#queues.get(key);
    if (!queue || place.registration !== registration || !place.isPresent) return;
    place.isPresent = false;
    if (!this.#isSuspended) this.#settle(key, queue.filter((each) => each !== place)); // prettier-ignore
  }

  /** Stores a queue; while the flows run, reports who has the path. */
  #settle(key: string, queue: Registered[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (isPattern(key)) this.#patterns = undefined;
    if (this.#isSuspended) return;
    for (const place of queue) {
      const event = place === queue[0] ? "onActive" : "onBlocked";
      if (place.told === event) continue;
      place.told = event;
      place.registration[event]();
    }
  }
}
