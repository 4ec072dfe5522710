// What is finished, in the order in which it is dropped where there is no room.

import { type Aged, Aging } from "./aging";
import { lastToGo, type State } from "./delivery";

/** The oldest go first, but what has failed goes last. */
export class Finished<Item extends Aged<Item> & { line: Aging<Item> | undefined }> {
  readonly #droppable = new Aging<Item>();
  readonly #lastToGo = new Aging<Item>();

  /** What goes next. */
  get oldest(): Item | undefined {
    return this.#droppable.oldest ?? this.#lastToGo.oldest;
  }

  join(item: Item, state: State): void {
    item.line = state === lastToGo ? this.#lastToGo : this.#droppable;
    item.line.join(item);
  }

  leave(item: Item): void {
    item.line?.leave(item);
    item.line = undefined;
  }
}
