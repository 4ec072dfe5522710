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
 * The oldest go first, but what has failed goes last; and where more than half of the others have started no flow, one
 * of these goes: whoever floods an endpoint is not to drive out what has.
 */
export class Finished<Item extends Aged<Item> & Numbered & { line: Aging<Item> | undefined }> {
  readonly #startedNone = new Aging<Item>();
  readonly #others = new Aging<Item>();
  readonly #lastToGo = new Aging<Item>();

  /** What goes next. */
  get oldest(): Item | undefined {
    const [idle, other] = [this.#startedNone.oldest, this.#others.oldest];
    if (!idle || !other) return idle ?? other ?? this.#lastToGo.oldest;
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
