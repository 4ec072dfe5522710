// The parts of a body that is still coming.

import type { Problem } from "../problem";

/** A part with fewer bytes is put together with others: by itself, it takes some hundreds more of memory. */
const leastByItself = 1024;
const blockSize = 4096;

/** Keeps what has come of a body in hardly more memory than its bytes take, into however many parts it was cut. */
export class Pieces {
  readonly #kept: Buffer[] = [];
  readonly #take: (piece: Buffer) => Problem | undefined;
  /** Where small parts are put together; made when the first one comes. */
  #block: Buffer | undefined;
  #filled = 0;

  /** @param take called with each piece in turn */
  constructor(take: (piece: Buffer) => Problem | undefined) {
    this.#take = take;
  }

  add(part: Buffer): Problem | undefined {
    if (part.length >= leastByItself) return this.#endBlock() ?? this.#keep(part);
    const refusal = this.#filled + part.length > blockSize ? this.#endBlock() : undefined;
    this.#block ??= Buffer.allocUnsafeSlow(blockSize);
    this.#filled += part.copy(this.#block, this.#filled);
    return refusal;
  }

  /** All of it, in one piece. */
  whole(): Buffer | Problem {
    const refusal = this.#endBlock();
    const [only, ...more] = this.#kept;
    return refusal ?? (only && more.length === 0 ? only : Buffer.concat(this.#kept));
  }

  #endBlock(): Problem | undefined {
    if (!this.#block || this.#filled === 0) return undefined;
    const piece = Buffer.from(this.#block.subarray(0, this.#filled));
    this.#filled = 0;
    return this.#keep(piece);
  }

  #keep(piece: Buffer): Problem | undefined {
    this.#kept.push(piece);
    return this.#take(piece);
  }
}
