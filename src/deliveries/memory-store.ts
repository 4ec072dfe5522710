// Deliveries in the memory of this process: the last ones of each node.

import { type Delivery, type Head, type Kept, searchedIn, type State } from "./delivery";
import { Finished } from "./finished";
import { Entry, OfNode } from "./memory-entry";
import { MemoryDuplicates } from "./memory-duplicates";
import { atOnce, type Change, type Claim, type Page, type Query, type Store, StoreError } from "./store";

/** How many deliveries of a node are kept, besides unfinished ones. */
export const mostOfNode = 200;
/** How much memory they take, all together, in bytes. */
export const mostBytesInMemory = 20 * 1024 * 1024;
/** What a delivery takes besides its texts and its body, in bytes. */
const frame = 1024;

/**
 * Stands in the way of every request: nothing is copied or written out, and what is done for a delivery costs the same
 * however many there are.
 */
export class MemoryStore implements Store {
  readonly outlives = false;
  readonly isShared = false;
  readonly duplicates = new MemoryDuplicates();
  readonly #entries = new Map<string, Entry>();
  readonly #nodes = new Map<string, OfNode>();
  readonly #finished = new Finished<Entry>();
  readonly #mostOfNode: number;
  readonly #mostBytes: number;
  #bytes = 0;
  #last = 0;
  #slab: ArrayBufferLike | undefined;

  constructor(most = mostOfNode, mostBytes = mostBytesInMemory) {
    this.#mostOfNode = most;
    this.#mostBytes = mostBytes;
  }

  /** There is nothing to open. */
  open(): Promise<void> {
    return atOnce;
  }

  /** There is nothing to let go of. */
  close(): Promise<void> {
    return atOnce;
  }

  add(delivery: Delivery, body: Buffer): Promise<void> {
    if (this.#entries.has(delivery.id)) return atOnce;
    const bytes = this.#weigh(delivery, body);
    while (this.#bytes + bytes > this.#mostBytes) {
      if (!this.#finished.oldest) return Promise.reject(new StoreError("full"));
      this.#drop(this.#finished.oldest);
    }
    const entry = new Entry(++this.#last, this.#ofNode(delivery.node), delivery, body, bytes);
    this.#entries.set(delivery.id, entry);
    entry.ofNode.size++;
    this.#bytes += bytes;
    if (!entry.isUnfinished) this.#finish(entry);
    this.#trim(entry.ofNode);
    return atOnce;
  }

  change(id: string, change: Change): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return atOnce;
    const { state } = entry.delivery;
    entry.change(change);
    if (entry.delivery.state !== state) {
      this.#begin(entry);
      if (!entry.isUnfinished) this.#finish(entry);
      this.#trim(entry.ofNode);
    }
    if (change.answer !== undefined && this.#entries.has(id)) this.#reweigh(entry, change.answer.length);
    return atOnce;
  }

  claim(node: string, most: number, known: ReadonlySet<string>, after = "0"): Promise<Claim> {
    const open = this.#of(node).filter((entry) => entry.isUnfinished && entry.number > Number(after));
    const rest = open.filter(({ delivery }) => !known.has(delivery.id));
    const step = rest.slice(0, most);
    const next = rest.length > most ? step.at(-1)?.number.toString() : undefined;
    return Promise.resolve({ deliveries: step.map(({ kept }) => kept), next });
  }

  find(id: string): Promise<Kept | undefined> {
    return Promise.resolve(this.#entries.get(id)?.kept);
  }

  look(id: string): Promise<Delivery | undefined> {
    return Promise.resolve(this.#entries.get(id)?.shown);
  }

  page({ node, state, text = "", since = -Infinity, before = "Infinity", limit }: Query): Promise<Page> {
    const folded = text.toLowerCase();
    const found: Entry[] = [];
    for (const entry of this.#of(node).reverse()) {
      const { number, delivery } = entry;
      if (delivery.at < since) break;
      if (number >= Number(before) || (state && delivery.state !== state)) continue;
      if (folded && !searchedIn(entry.shown).includes(folded)) continue;
      if (found.push(entry) > limit) break;
    }
    const page = found.slice(0, limit);
    const next = found.length > limit ? page.at(-1)?.number.toString() : undefined;
    return Promise.resolve({ deliveries: page.map(({ shown }) => shown), next });
  }

  counts(node: string): Promise<Partial<Record<State, number>>> {
    const counts: Partial<Record<State, number>> = {};
    for (const { delivery } of this.#of(node)) counts[delivery.state] = (counts[delivery.state] ?? 0) + 1;
    return Promise.resolve(counts);
  }

  /** In the order in which they came. */
  #of(node: string | undefined): Entry[] {
    const all = [...this.#entries.values()];
    return node === undefined ? all : all.filter(({ delivery }) => delivery.node === node);
  }

  #ofNode(node: string): OfNode {
    const known = this.#nodes.get(node);
    if (known) return known;
    const fresh = new OfNode();
    this.#nodes.set(node, fresh);
    return fresh;
  }

  #finish(entry: Entry): void {
    const { state } = entry.delivery;
    this.#finished.join(entry, state);
    entry.ofNode.finished.join(entry.inNode, state);
  }

  /** It has become larger: what is older gives way. */
  #reweigh(entry: Entry, more: number): void {
    entry.bytes += more;
    this.#bytes += more;
    while (this.#bytes > this.#mostBytes && this.#finished.oldest) this.#drop(this.#finished.oldest);
  }

  #begin(entry: Entry): void {
    this.#finished.leave(entry);
    entry.ofNode.finished.leave(entry.inNode);
  }

  #trim({ size, finished }: OfNode): void {
    for (let over = size - this.#mostOfNode; over > 0 && finished.oldest; over--) this.#drop(finished.oldest.entry);
  }

  #drop(entry: Entry): void {
    const { delivery, ofNode, bytes } = entry;
    this.#begin(entry);
    this.#entries.delete(delivery.id);
    this.#bytes -= bytes;
    if (--ofNode.size === 0) this.#nodes.delete(delivery.node);
  }

  /** A body holds all of the memory that it is a part of, which its neighbours share: small ones lie side by side. */
  #weigh({ head, webhook, answer = "" }: Delivery, { buffer, length }: Buffer): number {
    const bytes = length === 0 || buffer === this.#slab ? 0 : buffer.byteLength;
    if (length > 0) this.#slab = buffer;
    const told = (webhook?.event?.length ?? 0) + (webhook?.id?.length ?? 0);
    return frame + bytes + lengthOf(head) + told + answer.length;
  }
}

/** How many bytes its texts take, about. */
function lengthOf({ path, search, headers }: Head): number {
  let length = path.length + search.length;
  for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  return length;
}
