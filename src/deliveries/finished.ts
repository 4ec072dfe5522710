// What is finished, in the order in which it is dropped where there is no room.

import { type Aged, Aging } from "./aging";
import { lastToGo, type State } from "./delivery";

/** The place of something in the order in which all came. */
interface Numbered {
  readonly number: number;
}

/**
 * The oldest go first, but what has failed goes last; and where more than half of the others were refused, one of these
 * goes: whoever floods an endpoint is not to drive out what was let in.
 */
export class Finished<Item extends Aged<Item> & Numbered & { line: Aging<Item> | undefined }> {
  readonly #refused = new Aging<Item>();
  readonly #others = new Aging<Item>();
  readonly #lastToGo = new Aging<Item>();

  /** What goes next. */
  get oldest(): Item | undefined {
    const [refused, other] = [this.#refused.oldest, this.#others.oldest];
    if (!refused || !other) return refused ?? other ?? this.#lastToGo.oldest;
    return this.#refused.size > this.#others.size || refused.number < other.number ? refused : other;
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
    return state === "refused" ? this.#refused : this.#others;
  }
}
