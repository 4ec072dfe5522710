// Which deliveries go when they are too old, or when there is no room.

import { droppable, lastToGo, type State } from "../delivery";
import type { Deliveries } from "./deliveries";
import type { Database, Statement } from "./module";
import type { Setup } from "./operations";

/** For how long deliveries are dropped at most while others wait, in ms. */
const longestStep = 5;
/** How many are dropped for each that comes all the same: so there is room in the end. */
const leastDropped = 2;
/** How much has to fit at least for there to be room, in bytes. */
const leastRoom = 64 * 1024;
/** What a delivery takes in the indexes and beside its texts, in bytes: about, and rather too much. */
const frame = 1024;

/** What is unfinished is never dropped; what has failed goes last, and not for its age. */
export class Retention {
  readonly #maxAge: number;
  readonly #maxBytes: number;
  readonly #pages: Statement;
  readonly #free: Statement;
  readonly #pageSize: number;
  readonly #oldest: Statement;
  readonly #tooOld: Statement;
  readonly #deliveries: Deliveries;
  readonly #database: Database;
  #deadline = 0;
  /** How many bytes were in use when somebody looked, and what has come since. */
  #known = Infinity;

  constructor(database: Database, deliveries: Deliveries, { maxAge, maxBytes }: Setup) {
    this.#database = database;
    this.#deliveries = deliveries;
    this.#maxAge = maxAge;
    this.#maxBytes = maxBytes;
    this.#pages = database.prepare("PRAGMA page_count");
    this.#free = database.prepare("PRAGMA freelist_count");
    this.#pageSize = Number(database.prepare("PRAGMA page_size").get()?.page_size);
    // In the order in which they came: by time, those of a clock that was set back would go first.
    const oldestIn = (state: State) => `SELECT (SELECT seq FROM deliveries WHERE state = '${state}' ORDER BY seq LIMIT 1) AS seq`; // prettier-ignore
    const oldest = `SELECT min(seq) AS seq FROM (${droppable.map(oldestIn).join(" UNION ALL ")})`;
    this.#oldest = database.prepare(`SELECT coalesce((${oldest}), (${oldestIn(lastToGo)})) AS seq`);
    const tooOld =
      "SELECT seq FROM deliveries WHERE state NOT IN ('queued', 'running', 'failed') AND at < ? ORDER BY at LIMIT 1";
    this.#tooOld = database.prepare(tooOld);
  }

  /** Others wait from now on. */
  begin(): void {
    this.#deadline = performance.now() + longestStep;
    this.#known = this.#used;
  }

  /**
   * Drops what has to go for so many bytes. What is left of that after its time is dropped later: there is room then, as
   * there will be.
   *
   * @returns whether there is room
   */
  makeRoom(bytes = leastRoom): boolean {
    const wanted = bytes + frame;
    if (wanted > this.#maxBytes) return false;
    this.#known += wanted;
    if (this.#known <= this.#maxBytes) return true;
    for (let dropped = 0; this.#used + wanted > this.#maxBytes; dropped++) {
      const oldest = this.#oldest.get()?.seq;
      if (typeof oldest !== "number") return false;
      if (dropped >= leastDropped && performance.now() > this.#deadline) return true;
      this.#deliveries.drop("seq", oldest);
    }
    return true;
  }

  /** @returns whether there may be more to be dropped */
  tidy(): boolean {
    this.#database.exec("DELETE FROM probes");
    const before = Date.now() - this.#maxAge;
    for (let old = this.#tooOld.get(before); old; old = this.#tooOld.get(before)) {
      this.#deliveries.drop("seq", Number(old.seq));
      if (performance.now() > this.#deadline) return true;
    }
    return this.makeRoom() && this.#used + leastRoom > this.#maxBytes;
  }

  /** @returns whether as much as may be needed for a delivery can be written */
  probe(): boolean {
    if (!this.makeRoom()) return false;
    this.#database.exec(`DELETE FROM probes; INSERT INTO probes VALUES (zeroblob(${leastRoom}))`);
    return true;
  }

  /** How many bytes of the file are in use. */
  get #used(): number {
    const pages = Number(this.#pages.get()?.page_count) - Number(this.#free.get()?.freelist_count);
    return pages * this.#pageSize;
  }
}
