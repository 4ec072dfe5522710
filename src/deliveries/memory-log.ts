// The last deliveries of each node, in memory: lost at a restart, never retried.

import { type Delivery, type StoredHead, ownMemory, searchedIn, type StoredDelivery, withWords } from "./delivery";
import { type Change, type DeliveryList, isBehind, type Query } from "./queue";
import type { Attempt, State } from "./summary";

export const maxLogPerNode = 200;
/** Over all nodes. */
export const maxLogBytes = 20 * 1024 * 1024;
/** Bytes of a delivery besides its texts and body. */
const overhead = 1024;

/** Strangers can send as many of these as they like. */
const startedNoFlow: readonly State[] = ["refused", "duplicate", "handshake"];

interface LogEntry {
  delivery: Delivery;
  readonly body: Buffer;
  readonly of: NodeDeliveries;
  bytes: number;
  /** When its attempt ended, in ms since the epoch, if known. */
  ended: number | undefined;
}

/** The oldest first. */
interface NodeDeliveries {
  readonly started: LogEntry[];
  readonly startedNoFlow: LogEntry[];
}

/** Every request passes it, so nothing is serialized, and only small parts of large buffers are copied. */
export class MemoryLog implements DeliveryList {
  readonly #entries = new Map<string, LogEntry>();
  readonly #nodes = new Map<string, NodeDeliveries>();
  readonly #changed: () => void;
  readonly #maxPerNode: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param changed called whenever a delivery is new or has changed */
  constructor(changed: () => void = () => undefined, maxPerNode = maxLogPerNode, maxBytes = maxLogBytes) {
    this.#changed = changed;
    this.#maxPerNode = maxPerNode;
    this.#maxBytes = maxBytes;
  }

  /** Ignores a delivery that is larger than the log, or has a known id. */
  add(delivery: Delivery, body: Buffer): void {
    const own = ownMemory(body);
    const bytes = measure(delivery, own);
    if (bytes > this.#maxBytes || this.#entries.has(delivery.id)) return;
    this.#makeRoom(bytes);
    const of = this.#nodeLog(delivery.node);
    const entry: LogEntry = { delivery, body: own, of, bytes, ended: undefined };
    this.#entries.set(delivery.id, entry);
    this.#bytes += bytes;
    (startedNoFlow.includes(delivery.state) ? of.startedNoFlow : of.started).push(entry);
    if (of.started.length + of.startedNoFlow.length > this.#maxPerNode) this.#drop(this.#nextOf(of));
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

  list({ node, state, text = "", before, limit }: Query): Promise<Delivery[]> {
    const folded = text.toLowerCase();
    const found: Delivery[] = [];
    const newestFirst = this.#entriesOf(node).sort((one, other) => (isBehind(one.delivery, other.delivery) ? 1 : -1));
    for (const { delivery, body } of newestFirst) {
      if (found.length === limit) break;
      if ((before && !isBehind(delivery, before)) || (state !== undefined && delivery.state !== state)) continue;
      const shown = withWords(delivery, body);
      if (folded === "" || searchedIn(shown).includes(folded)) found.push(shown);
    }
    return Promise.resolve(found);
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    const delivery = await this.look(id);
    const entry = this.#entries.get(id);
    return entry && delivery && { delivery, body: entry.body, attempts: listAttempts(entry) };
  }

  look(id: string): Promise<Delivery | undefined> {
    const entry = this.#entries.get(id);
    return Promise.resolve(entry && withWords(entry.delivery, entry.body));
  }

  counts(node: string): Promise<Partial<Record<State, number>>> {
    const counts: Partial<Record<State, number>> = {};
    for (const { delivery } of this.#entriesOf(node)) counts[delivery.state] = (counts[delivery.state] ?? 0) + 1;
    return Promise.resolve(counts);
  }

  #entriesOf(node: string | undefined): LogEntry[] {
    if (node === undefined) return [...this.#entries.values()];
    const { started = [], startedNoFlow = [] } = this.#nodes.get(node) ?? {};
    return [...started, ...startedNoFlow];
  }

  #nodeLog(node: string): NodeDeliveries {
    let known = this.#nodes.get(node);
    if (!known) this.#nodes.set(node, (known = { started: [], startedNoFlow: [] }));
    return known;
  }

  /** The oldest; but where more than half have started no flow, the oldest of these: a flood displaces only itself. */
  #nextOf({
    started: [started],
    startedNoFlow: [other],
    startedNoFlow: { length },
  }: NodeDeliveries): LogEntry | undefined {
    if (!started || !other) return started ?? other;
    return length > this.#maxPerNode / 2 || other.delivery.at < started.delivery.at ? other : started;
  }

  /** Drops more than needed: finding the first key of a `Map` takes as long as the number of deleted keys before it. */
  #makeRoom(more: number): void {
    if (this.#bytes + more <= this.#maxBytes) return;
    for (const entry of this.#entries.values()) {
      if (this.#bytes + more <= this.#maxBytes * (15 / 16)) return;
      this.#drop(entry);
    }
  }

  /** The oldest of all is also the oldest of its node. */
  #drop(entry: LogEntry | undefined): void {
    if (!entry) return;
    const { delivery, of, bytes } = entry;
    this.#entries.delete(delivery.id);
    this.#bytes -= bytes;
    (of.started[0] === entry ? of.started : of.startedNoFlow).shift();
    if (of.started.length + of.startedNoFlow.length === 0) this.#nodes.delete(delivery.node);
  }
}

const done = Promise.resolve();

/** Bytes, approximately. */
function measure({ head, webhook, answer = "", error = "" }: Delivery, { buffer }: Buffer): number {
  const told = (webhook?.event?.length ?? 0) + (webhook?.id?.length ?? 0) + answer.length + error.length;
  return overhead + buffer.byteLength + told + measureHead(head);
}

function measureHead({ path, search, headers }: StoredHead): number {
  let length = path.length + search.length;
  for (const name in headers) length += name.length + String(headers[name]).length;
  return length;
}

function listAttempts({ delivery: { at, attempt, error }, ended }: LogEntry): Attempt[] {
  if (attempt === 0) return [];
  return [{ at, ...(ended !== undefined && { ended }), ...(error !== undefined && { error }) }];
}
