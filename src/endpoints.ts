import { pathKey } from "./target";

/** A place in the queue for a path. */
export interface Claim {
  /** Gives the place up; the next claim on the path, if there is one, takes over. */
  release(): void;
}

interface Claimant<Endpoint> {
  endpoint: Endpoint;
  onTurn: () => void;
}

/** Paths and the endpoints that hold them. Finding one costs the same however many there are. */
export class Endpoints<Endpoint> {
  readonly #queues = new Map<string, Claimant<Endpoint>[]>();

  /** @returns the endpoint that holds the path of a request */
  find(path: string): Endpoint | undefined {
    return this.#queues.get(pathKey(path))?.[0]?.endpoint;
  }

  /**
   * Claims a path for an endpoint. The first claim holds it; later ones wait in order.
   *
   * @param onTurn called when the path becomes this endpoint's: at once, or when all earlier claims are released
   * @param onWait called when another endpoint holds the path
   */
  claim(path: string, endpoint: Endpoint, onTurn: () => void, onWait: () => void): Claim {
    const key = pathKey(path);
    const claimant = { endpoint, onTurn };
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    queue.push(claimant);
    (queue[0] === claimant ? onTurn : onWait)();
    return { release: () => this.#release(key, claimant) };
  }

  #release(key: string, claimant: Claimant<Endpoint>): void {
    const queue = this.#queues.get(key) ?? [];
    const held = queue[0] === claimant;
    const rest = queue.filter((other) => other !== claimant);
    if (rest.length > 0) this.#queues.set(key, rest);
    else this.#queues.delete(key);
    if (held) rest[0]?.onTurn();
  }
}
