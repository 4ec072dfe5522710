// What is to be done after a while; none of it keeps the process alive.

export class Pauses {
  readonly #timers = new Set<NodeJS.Timeout>();
  #once: NodeJS.Timeout | undefined;

  /** How many there are, but for the one that there is once. */
  get size(): number {
    return this.#timers.size;
  }

  after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, milliseconds).unref();
    this.#timers.add(timer);
  }

  /** Waits for so long, whatever else there is to be done. */
  pass(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
  }

  /** Nothing where that has been said before, and is still to be done. */
  onceAfter(milliseconds: number, act: () => void): void {
    this.#once ??= setTimeout(() => {
      this.#once = undefined;
      act();
    }, milliseconds).unref();
  }
}
