// Collects what costs less when it is done together.

/** How long what nobody waits for waits for others to go with, in ms. */
const longestWait = 5;

export class Batch<Item> {
  readonly #send: (items: Item[]) => void;
  #items: Item[] = [];
  #turn: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  /** @param send is given all that has come, in its order */
  constructor(send: (items: Item[]) => void) {
    this.#send = send;
  }

  /** @param canWait whether it may be sent a little later than all else that comes in this turn of the event loop */
  put(item: Item, canWait = false): void {
    this.#items.push(item);
    if (canWait) this.#later ??= setTimeout(() => this.flush(), longestWait);
    else this.#turn ??= setImmediate(() => this.flush());
  }

  /** Sends what is there, now. */
  flush(): void {
    const items = this.clear();
    if (items.length > 0) this.#send(items);
  }

  /** @returns what is not to be sent by this any more */
  clear(): Item[] {
    clearImmediate(this.#turn);
    clearTimeout(this.#later);
    this.#turn = this.#later = undefined;
    return this.#items.splice(0);
  }
}
