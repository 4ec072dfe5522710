// Which messages were sent and have not yet been delivered, and where to.

/** How long a message is followed at most, in ms: a plugin may hold it as long as a person looks at it. */
export const longestFollowed = 600_000;
/** How many messages are followed at most. */
export const mostFollowed = 10_000;

interface Sent {
  /** The id of the node that sent it. */
  source: string;
  /** The ids of the nodes that it has not reached yet; one stands here once for each wire to it. */
  destinations: string[];
  /** As `performance.now()` tells time. */
  at: number;
}

/** The messages that are on their way, in the order in which they were sent. */
export class Underway {
  readonly #sent = new Map<string, Sent>();

  get size(): number {
    return this.#sent.size;
  }

  add(id: string, source: string, destinations: readonly string[]): void {
    if (destinations.length === 0) return;
    this.#sent.set(id, { source, destinations: [...destinations], at: performance.now() });
    // Those that a plugin has dropped never arrive, and nobody tells.
    if (this.#sent.size > mostFollowed) this.delete(this.#sent.keys().next().value ?? "");
  }

  delete(id: string): void {
    this.#sent.delete(id);
  }

  /** Whether a message is on its way to a node; `source` where it is known who sends it there. */
  isTo(id: string | undefined, destination: string, source?: string): boolean {
    const sent = this.#sent.get(id ?? "");
    if (!sent?.destinations.includes(destination)) return false;
    return source === undefined || sent.source === source;
  }

  /** A message has reached a node, or never will. */
  arrived(id: string | undefined, destination: string): void {
    const sent = this.#sent.get(id ?? "");
    const index = sent?.destinations.indexOf(destination) ?? -1;
    if (!sent || index === -1) return;
    sent.destinations.splice(index, 1);
    if (sent.destinations.length === 0) this.#sent.delete(id ?? "");
  }

  /** Forgets those that have been followed for long. @returns when the oldest of the others was sent */
  tidy(): number | undefined {
    const earliest = performance.now() - longestFollowed;
    for (const [id, { at }] of this.#sent) {
      if (at >= earliest) return at;
      this.#sent.delete(id);
    }
    return undefined;
  }
}
