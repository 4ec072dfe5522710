// Which deliveries go when they are too old, or when there is no room.

import { droppable, lastToGo, type State } from "../delivery";
import type { Database, Statement } from "./module";

/** For how long deliveries are dropped at most while others wait, in ms. */
const maxStepMs = 5;
/** How many are dropped for each that comes all the same: so there is room in the end. */
const minDropped = 2;
/** How much has to fit at least for there to be room, in bytes. */
const minRoom = 64 * 1024;
/** What a delivery takes in the indexes and beside its texts, in bytes: about, and rather too much. */
const frame = 1024;

/** What is unfinished is never dropped; what has failed goes last, and not for its age. */
export class Retention {
  readonly #limits: { maxAge: number; maxBytes: number };
  readonly #drop: (seq: number) => void;
  readonly #database: Database;
  readonly #pages: Statement;
  readonly #free: Statement;
  readonly #pageSize: number;
  readonly #oldest: Statement;
  readonly #tooOld: Statement;
  #deadline = 0;
  /** How many bytes were in use when somebody looked, and what has come since. */
  #known = Infinity;

  constructor(database: Database, limits: { maxAge: number; maxBytes: number }, drop: (seq: number) => void) {
    this.#database = database;
    this.#limits = limits;
    this.#drop = drop;
    this.#pages = database.prepare("PRAGMA page_count");
    this.#free = database.prepare("PRAGMA freelist_count");
    this.#pageSize = Number(database.prepare("PRAGMA page_size").get()?.page_size);
    const oldestIn = (state: State) => `SELECT * FROM (SELECT seq, at FROM deliveries WHERE state = '${state}' ORDER BY at, id LIMIT 1)`; // prettier-ignore
    const oldest = droppable.map(oldestIn).join(" UNION ALL ");
    this.#oldest = database.prepare(`SELECT coalesce((SELECT seq FROM (${oldest}) ORDER BY at LIMIT 1), (SELECT seq FROM (${oldestIn(lastToGo)}))) AS seq`); // prettier-ignore
    this.#tooOld = database.prepare(`SELECT seq FROM (${oldest}) WHERE at < ? LIMIT 1`);
  }

  /** Others wait from now on. */
  begin(): void {
    this.#deadline = performance.now() + maxStepMs;
    this.#known = this.#used;
  }

  /**
   * Drops what has to go for so many bytes. What is left of that after its time is dropped later: there is room then, as
   * there will be.
   *
   * @returns whether there is room
   */
  makeRoom(bytes = minRoom): boolean {
    const { maxBytes } = this.#limits;
    const wanted = bytes + frame;
    if (wanted > maxBytes) return false;
    this.#known += wanted;
    if (this.#known <= maxBytes) return true;
    for (let dropped = 0; this.#used + wanted > maxBytes; dropped++) {
      const oldest = this.#oldest.get()?.seq;
      if (typeof oldest !== "number") return false;
      if (dropped >= minDropped && performance.now() > this.#deadline) return true;
      this.#drop(oldest);
    }
    return true;
  }

  /** @returns whether there may be more to be dropped */
  tidy(): boolean {
    const before = Date.now() - this.#limits.maxAge;
    for (let old = this.#tooOld.get(before); old; old = this.#tooOld.get(before)) {
      this.#drop(Number(old.seq));
      if (performance.now() > this.#deadline) return true;
    }
    return this.makeRoom() && this.#used + minRoom > this.#limits.maxBytes;
  }

  /** @returns whether a delivery with a body of so many bytes can be written */
  probe(bytes: number): boolean {
    const written = Math.max(bytes, minRoom);
    if (!this.makeRoom(written)) return false;
    this.#database.exec(`DELETE FROM probes; INSERT INTO probes VALUES (zeroblob(${written})); DELETE FROM probes`);
    return true;
  }

  /** How many bytes of the file are in use. */
  get #used(): number {
    const pages = Number(this.#pages.get()?.page_count) - Number(this.#free.get()?.freelist_count);
    return pages * this.#pageSize;
  }
}
