// How many deliveries each node has of each state.

import type { State } from "../delivery";
import type { Database, Statement } from "./module";

type OfNode = Partial<Record<State, number>>;

/** Counted once, and then kept up to date here: to count a million would hold up what comes meanwhile. */
export class Counts {
  readonly #count: Statement;
  #nodes: Map<string, OfNode> | undefined;

  constructor(database: Database) {
    this.#count = database.prepare("SELECT node, state, count(*) AS number FROM deliveries GROUP BY node, state");
  }

  of(node: string): OfNode {
    this.#nodes ??= this.#counted();
    const known = Object.entries(this.#nodes.get(node) ?? {}).filter(([, number]) => number > 0);
    return Object.fromEntries(known);
  }

  /** There is one more, or one less. */
  change(node: string, state: State, by: 1 | -1): void {
    if (!this.#nodes) return;
    const known = this.#nodes.get(node) ?? {};
    known[state] = (known[state] ?? 0) + by;
    this.#nodes.set(node, known);
  }

  /** What was done in the last transaction has not happened. */
  forget(): void {
    this.#nodes = undefined;
  }

  #counted(): Map<string, OfNode> {
    const nodes = new Map<string, OfNode>();
    for (const { node, state, number } of this.#count.all()) {
      nodes.set(String(node), { ...nodes.get(String(node)), [String(state)]: Number(number) });
    }
    return nodes;
  }
}
