// What is finished, in the order in which it is dropped where there is no room.

import { type Aged, Aging } from "./aging";
import { lastToGo, type State } from "./delivery";

/** What has started no flow: others may send as much of it as they like. */
const startedNone: readonly State[] = ["refused", "duplicate", "handshake"];

/** The place of something in the order in which all came. */
interface Numbered {
  readonly number: number;
}

/**
 * The oldest go first, but what has failed goes last, unless that is more than half of all: a flow that always fails is
 * not to drive out what tells of that. And where more than half of the others have started no flow, one of these goes:
 * whoever floods an endpoint is not to drive out what has.
 */
export class Finished<Item extends Aged<Item> & Numbered & { line: Aging<Item> | undefined }> {
  readonly #startedNone = new Aging<Item>();
  readonly #others = new Aging<Item>();
  readonly #lastToGo = new Aging<Item>();

  /** What goes next. */
  get oldest(): Item | undefined {
    const [idle, other] = [this.#startedNone.oldest, this.#others.oldest];
    const hasMostFailed = this.#lastToGo.size > this.#startedNone.size + this.#others.size;
    if (hasMostFailed || (!idle && !other)) return this.#lastToGo.oldest;
    if (!idle || !other) return idle ?? other;
    return this.#startedNone.size > this.#others.size || idle.number < other.number ? idle : other;
  }

  join(item: Item, state: State): void {
    item.line = this.#lineOf(state);
    item.line.join(item);
  }

  leave(item: Item): void {
    item.line?.leave(item);
    item.line = undefined;
  }

  #lineOf(state: State): Aging<Item> {
    if (state === lastToGo) return this.#lastToGo;
    return startedNone.includes(state) ? this.#startedNone : this.#others;
  }
}
