// The tables of an open file, and what each operation does with them.

import type { Database } from "./module";
import { Deliveries } from "./deliveries";
import { Keys } from "./keys";
import type { Kind, Operations, Request, Setup } from "./operations";
import { Retention } from "./retention";
import { NoRoom } from "./troubles";

const nothing = new Uint8Array();

type Performers = { [K in Kind]: (asks: Operations[K]["asks"], bytes?: Uint8Array) => Operations[K]["gives"] };

export class Tables {
  readonly #deliveries: Deliveries;
  readonly #retention: Retention;
  readonly #performers: Performers;

  constructor(database: Database, setup: Setup) {
    const deliveries = new Deliveries(database);
    const retention = new Retention(database, deliveries, setup);
    const keys = new Keys(database);
    this.#deliveries = deliveries;
    this.#retention = retention;
    this.#performers = {
      open: () => keys.until,
      add: (written, body = nothing) => {
        if (!retention.makeRoom(written.rest.length + written.searched.length + body.length)) throw new NoRoom();
        deliveries.add(written, body);
      },
      forget: (id) => deliveries.drop("id", id),
      change: ({ id, change }) => deliveries.change(id, change),
      claim: ({ node, most, after }) => deliveries.claim(node, most, after),
      find: (id) => deliveries.find(id),
      look: (id) => deliveries.look(id),
      page: (step) => deliveries.page(step),
      counts: (node) => deliveries.counts.of(node),
      findKey: (asks) => keys.find(asks),
      keepKey: (asks, body) => keys.keep(asks, body),
      tidy: () => retention.tidy(),
      probe: () => {
        if (!retention.probe()) throw new NoRoom();
      },
    };
  }

  /** Others wait from now on. */
  begin(): void {
    this.#retention.begin();
  }

  /** The transaction was rolled back. */
  undone(): void {
    this.#deliveries.counts.forget();
  }

  /** @throws {NoRoom} before anything has been changed; an error of SQLite */
  perform<K extends Kind>({ kind, asks, bytes }: Request<K>): Operations[K]["gives"] {
    return this.#performers[kind](asks, bytes);
  }
}
