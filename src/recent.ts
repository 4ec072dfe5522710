// What came last, by its id, for as long as there is room for it.

export class Recent<Of extends object> {
  readonly #least: number;
  #newer = new Map<string, Of>();
  #older = new Map<string, Of>();

  /** @param least so many of the last ones are known, and at most twice as many */
  constructor(least: number) {
    this.#least = least;
  }

  /** Costs the same however many there are. */
  add(id: string, of: Of): void {
    if (this.#newer.size >= this.#least) [this.#older, this.#newer] = [this.#newer, new Map<string, Of>()];
    this.#newer.set(id, of);
  }

  /** What has come with an id, unless it was taken already. */
  take(id: string): Of | undefined {
    const known = this.#newer.get(id) ?? this.#older.get(id);
    if (known && !this.#newer.delete(id)) this.#older.delete(id);
    return known;
  }
}
