// What became of the requests of a node since the process began, counted so that it costs them nothing.

import type { Ending, Fares } from "../../src/deliveries/flow";

/** What a metric tells of a node besides its id. */
export interface Identity {
  name: string;
  path: string;
}

/** The counts of a node. A deploy does not begin them anew. */
export class Counts {
  accepted = 0;
  repeated = 0;
  handshakes = 0;
  unanswered = 0;
  givenUp = 0;
  /** How often the flow was started with what may not be lost, by how that ended. */
  readonly attempts: Record<Ending["as"], number> = { succeeded: 0, failed: 0, lost: 0 };
  readonly replies = new Buckets();
  readonly #refused = new Map<string, number>();
  /** When a request was last accepted, but for those of the editor, in ms since the epoch. */
  acceptedAt: number | undefined;
  /** How its deliveries fare, where none may be lost. */
  fares: Fares | undefined;
  isOpen = false;
  /** Nothing where its configuration cannot be used. */
  identity: Identity | undefined;

  /** @param problem by its name */
  refuse(problem: string): void {
    this.#refused.set(problem, (this.#refused.get(problem) ?? 0) + 1);
  }

  /** How many were refused, by the name of the problem. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }
}

/** Where one bucket ends and the next one begins, in ms. */
const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** How long replies took. */
export class Buckets {
  /** The last one has no end. */
  readonly #counts = new Array<number>(bounds.length + 1).fill(0);
  #sum = 0;

  /** @param milliseconds how long one took */
  add(milliseconds: number): void {
    let index = 0;
    while (milliseconds > (bounds[index] ?? Infinity)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += milliseconds;
  }

  /** How long all of them took together, in seconds. */
  get seconds(): number {
    return this.#sum / 1000;
  }

  /** How many took at most so long, in seconds; the last one tells of all. */
  get cumulative(): { most: number; count: number }[] {
    let count = 0;
    return this.#counts.map((each, index) => ({
      most: (bounds[index] ?? Infinity) / 1000,
      count: (count += each),
    }));
  }
}
