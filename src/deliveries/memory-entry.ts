// A delivery in memory, and its places in the lines of what may be dropped.

import type { Aged, Aging } from "./aging";
import { afterAttempt, type Delivery, type Kept, type Attempt, unfinished } from "./delivery";
import { Finished } from "./finished";
import type { Change } from "./store";
import { withWords } from "./words";

/** The place of a delivery among those of its node that may be dropped. */
class InNode implements Aged<InNode> {
  older: InNode | undefined;
  newer: InNode | undefined;
  line: Aging<InNode> | undefined;
  constructor(readonly entry: Entry) {}

  get number(): number {
    return this.entry.number;
  }
}

/** How many deliveries a node has, and which of them may be dropped. */
export class OfNode {
  size = 0;
  readonly finished = new Finished<InNode>();
}

/** A delivery, with its place among all that may be dropped. */
export class Entry implements Aged<Entry> {
  older: Entry | undefined;
  newer: Entry | undefined;
  line: Aging<Entry> | undefined;
  readonly inNode = new InNode(this);
  attempts: Attempt[] = [];
  constructor(
    readonly number: number,
    readonly ofNode: OfNode,
    public delivery: Delivery,
    readonly body: Buffer,
    /** How much memory it takes. */
    public bytes: number,
  ) {}

  get isUnfinished(): boolean {
    return unfinished.includes(this.delivery.state);
  }

  /** As whoever looks is told: the words are found when they are asked for. */
  get shown(): Delivery {
    return withWords(this.delivery, this.body);
  }

  get kept(): Kept {
    return { delivery: this.shown, body: this.body, attempts: [...this.attempts] };
  }

  change({ run, ...rest }: Change): void {
    const isNew = rest.attempt !== undefined && rest.attempt !== this.delivery.attempt;
    this.delivery = { ...(run ? afterAttempt(this.delivery, run) : this.delivery), ...rest };
    if (run && isNew) this.attempts.push(run);
    else if (run) this.attempts.splice(-1, 1, run);
  }
}
