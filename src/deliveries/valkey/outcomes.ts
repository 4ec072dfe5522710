// What came of deliveries that others wait for: told at once within this instance, looked for where another has them.

import type { Outcome } from "../duplicates";
import { look, type Told } from "./duplicate-scripts";
import type { Server } from "./server";

/** How often it looks, in ms, while anybody waits. */
const lookEvery = 100;
/** How many it looks for at once. */
const mostAtOnce = 500;

/** A delivery that others wait for. */
interface Awaited {
  readonly place: string;
  readonly outcome: Promise<Outcome>;
  tell(outcome: Outcome): void;
}

export class Outcomes {
  readonly #server: Server;
  /** The tokens of this instance's own reservations. */
  readonly #held = new Set<string>();
  /** By the tokens of their reservations. */
  readonly #awaited = new Map<string, Awaited>();
  #looking: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(server: Server) {
    this.#server = server;
  }

  hold(token: string): void {
    this.#held.add(token);
  }

  /** Waits for what comes of who has a place by this token. */
  wait(place: string, token: string): Promise<Outcome> {
    const known = this.#awaited.get(token);
    if (known) return known.outcome;
    if (this.#isClosed) return Promise.resolve("released");
    let tell: (outcome: Outcome) => void = () => undefined;
    const outcome = new Promise<Outcome>((settle) => (tell = settle));
    this.#awaited.set(token, { place, outcome, tell });
    this.#looking ??= setTimeout(() => void this.#look(), lookEvery);
    return outcome;
  }

  /** Tells those who wait here. */
  tell(token: string, outcome: Outcome): void {
    this.#held.delete(token);
    this.#awaited.get(token)?.tell(outcome);
    this.#awaited.delete(token);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#looking);
    for (const token of [...this.#awaited.keys()]) this.tell(token, "released");
  }

  /** While the server is away, everybody goes on waiting. */
  async #look(): Promise<void> {
    const others = [...this.#awaited].filter(([token]) => !this.#held.has(token));
    for (let first = 0; first < others.length; first += mostAtOnce) {
      const some = others.slice(first, first + mostAtOnce);
      const told = await this.#server.ask(look, some.flatMap(([token, { place }]) => [place, token])).catch(() => []); // prettier-ignore
      for (const [index, [token]] of some.entries()) {
        const outcome = told[index] ?? 0;
        if (outcome !== 0) this.tell(token, outcome === 1 ? "released" : outcomeOf(outcome));
      }
    }
    this.#looking = undefined;
    if (this.#awaited.size > 0) this.#looking = setTimeout(() => void this.#look(), lookEvery);
  }
}

export function outcomeOf([status, fields, body]: Told): Outcome {
  if (!status) return { answer: undefined };
  const known = JSON.parse(String(fields)) as Record<string, string>;
  return { answer: { status: Number(status), fields: known, body: body ?? undefined } };
}
