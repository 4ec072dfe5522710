// The last deliveries of each node, in memory: lost at a restart, never retried.

import {
  type Attempt,
  type Delivery,
  firstToGo,
  ownMemory,
  searchedIn,
  type StoredDelivery,
  withWords,
} from "./delivery";
import {
  type Change,
  compareByAge,
  type DeliveryList,
  frameBytes,
  isInRange,
  type Query,
  type Removal,
  type RemovalQuery,
} from "./queue";
import { findFailure, startsFlow } from "./states";

const maxListedPerNode = 200;
/** Over all nodes. */
const maxListBytes = 20 * 1024 * 1024;
const maxFilteredPerNode = 20;
/** Over all nodes. */
const maxFilteredBytes = 8 * 1024 * 1024;

interface ListEntry {
  delivery: Delivery;
  readonly body: Buffer;
  /** Those of its node that have started a flow as well, or none; the oldest first. */
  readonly among: ListEntry[];
  bytes: number;
  /** When its attempt ended, in ms since the epoch, if known. */
  ended: number | undefined;
}

/** Every request passes it, so nothing is serialized, and only small parts of large buffers are copied. */
export class MemoryList implements DeliveryList {
  /** The oldest first. */
  readonly #entries = new Map<string, ListEntry>();
  readonly #nodes = new Map<string, { readonly started: ListEntry[]; readonly others: ListEntry[] }>();
  readonly #changed: () => void;
  readonly #maxPerNode: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param changed called whenever a delivery is new or has changed */
  constructor(changed: () => void = () => undefined, maxPerNode = maxListedPerNode, maxBytes = maxListBytes) {
    this.#changed = changed;
    this.#maxPerNode = maxPerNode;
    this.#maxBytes = maxBytes;
  }

  /** Ignores a delivery that is larger than the list, or has a known id. */
  add(delivery: Delivery, body: Buffer): undefined {
    const own = ownMemory(body);
    const bytes = measure(delivery, own);
    if (bytes > this.#maxBytes || this.#entries.has(delivery.id)) return;
    this.#makeRoom(bytes);
    let node = this.#nodes.get(delivery.node);
    if (!node) this.#nodes.set(delivery.node, (node = { started: [], others: [] }));
    const { started, others } = node;
    // Strangers can send as many of the others as they like.
    const among = startsFlow(delivery.state) ? started : others;
    const entry: ListEntry = { delivery, body: own, among, bytes, ended: undefined };
    this.#entries.set(delivery.id, entry);
    this.#bytes += bytes;
    among.push(entry);
    if (started.length + others.length > this.#maxPerNode) {
      const [[first], [other]] = [started, others];
      // The oldest; but of more than half that have started no flow, the oldest of these: a flood displaces only itself.
      const isOther =
        other && (!first || others.length > this.#maxPerNode / 2 || other.delivery.at < first.delivery.at);
      this.#drop(isOther ? other : first);
    }
    this.#changed();
  }

  update(id: string, change: Change): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return done;
    const delivery = { ...entry.delivery, ...change };
    const bytes = measure(delivery, entry.body);
    this.#makeRoom(bytes - entry.bytes);
    if (!this.#entries.has(id)) return done;
    this.#bytes += bytes - entry.bytes;
    const hasEnded = change.error !== undefined || (change.state !== undefined && change.state !== "running");
    if (hasEnded) entry.ended ??= Date.now();
    Object.assign(entry, { delivery, bytes });
    this.#changed();
    return done;
  }

  list(query: Query): Promise<Delivery[]> {
    const { node, state, text = "", error, limit } = query;
    const looked = text.toLowerCase();
    const found: Delivery[] = [];
    const all = [...this.#entries.values()].sort((one, other) => compareByAge(one.delivery, other.delivery));
    if (!query.after) all.reverse();
    for (const { delivery, body } of all) {
      if (found.length === limit) break;
      if (node !== undefined && delivery.node !== node) continue;
      if (!isInRange(delivery, query) || (state !== undefined && delivery.state !== state)) continue;
      if (error !== undefined && findFailure(delivery) !== error) continue;
      const shown = withWords(delivery, body);
      if (looked === "" || searchedIn(shown).includes(looked)) found.push(shown);
    }
    return Promise.resolve(found);
  }

  find(id: string): Promise<StoredDelivery | undefined> {
    const entry = this.#entries.get(id);
    if (!entry) return Promise.resolve(undefined);
    const { delivery, body } = entry;
    return Promise.resolve({ delivery: withWords(delivery, body), body, attempts: listAttempts(entry) });
  }

  remove(id: string): Promise<Removal> {
    const entry = this.#entries.get(id);
    if (!entry) return Promise.resolve("unknown");
    if (entry.delivery.state === "running") return Promise.resolve("running");
    this.#drop(entry);
    this.#changed();
    return Promise.resolve("removed");
  }

  removeAll({ node, state }: RemovalQuery): Promise<number> {
    const removed = [...this.#entries.values()].filter(
      ({ delivery }) =>
        delivery.state !== "running" &&
        (node === undefined || delivery.node === node) &&
        (state === undefined || delivery.state === state),
    );
    for (const entry of removed) this.#drop(entry);
    if (removed.length > 0) this.#changed();
    return Promise.resolve(removed.length);
  }

  /** Drops more than needed: finding the first key of a `Map` takes as long as the number of deleted keys before it. */
  #makeRoom(more: number): void {
    if (this.#bytes + more <= this.#maxBytes) return;
    for (const states of [firstToGo, undefined]) {
      for (const entry of this.#entries.values()) {
        if (this.#bytes + more <= this.#maxBytes * (15 / 16)) return;
        if (!states || states.includes(entry.delivery.state)) this.#drop(entry);
      }
    }
  }

  /** Mostly the oldest, which is also the oldest of its node. */
  #drop(entry: ListEntry | undefined): void {
    if (!entry) return;
    if (entry.among[0] === entry) entry.among.shift();
    else entry.among.splice(entry.among.indexOf(entry), 1);
    this.#entries.delete(entry.delivery.id);
    this.#bytes -= entry.bytes;
  }
}

/** The last requests that the filter of each node let not pass: many, and no deliveries. */
export class FilteredList extends MemoryList {
  /** @param changed called whenever one is new */
  constructor(changed?: () => void) {
    super(changed, maxFilteredPerNode, maxFilteredBytes);
  }

  /** Lists them only where that is asked for. */
  override list(query: Query): Promise<Delivery[]> {
    return query.state === "filtered" ? super.list(query) : Promise.resolve([]);
  }
}

const done = Promise.resolve();

/** Bytes, approximately. */
function measure({ head, webhook, answer = "", error = "", why }: Delivery, { buffer }: Buffer): number {
  const { event = "", id = "", claims } = webhook ?? {};
  const told =
    event.length +
    id.length +
    (claims ? JSON.stringify(claims).length : 0) +
    answer.length +
    error.length +
    (why?.found?.length ?? 0);
  let fields = head.path.length + head.search.length;
  for (const name in head.headers) fields += name.length + String(head.headers[name]).length;
  return frameBytes + buffer.byteLength + told + fields;
}

function listAttempts({ delivery: { at, attempt, error }, ended }: ListEntry): Attempt[] {
  if (attempt === 0) return [];
  return [{ at, ...(ended !== undefined && { ended }), ...(error !== undefined && { error }) }];
}
