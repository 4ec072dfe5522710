// Waits for room, but not for ever.

export class Room {
  readonly #isThere: () => boolean;
  readonly #patience: number;
  #onRoom: () => void = () => undefined;

  /** @param patience how long it is waited for at most, in ms */
  constructor(isThere: () => boolean, patience: number) {
    this.#isThere = isThere;
    this.#patience = patience;
  }

  /** There may be some now. */
  changed(): void {
    if (this.#isThere()) this.#onRoom();
  }

  /** One waits at a time. */
  async wait(): Promise<void> {
    if (this.#isThere()) return;
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
      setTimeout(resolve, this.#patience).unref();
    });
  }
}
