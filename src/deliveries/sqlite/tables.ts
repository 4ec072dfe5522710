// The tables of an open file, in the worker. The main thread calls the public methods by name.

import {
  type Attempt,
  type Delivery,
  droppable,
  firstToGo,
  lastToGo,
  type Pause,
  searchedIn,
  type State,
  type StoredDelivery,
  withWords,
} from "../delivery";
import type { Pace } from "../../config/parse";
import { afterCrash, beginAttempt, changeRetry, endAttempt } from "../attempt";
import {
  type Candidate,
  type Change,
  type FirstReply,
  frameBytes,
  maxRepliesBytes,
  maxKeys,
  type Position,
  probeBytes,
  type Query,
  type Removal,
  type RemovalQuery,
  type ReservationEnd,
  type Retention,
  type RetryTime,
  type SettledKey,
} from "../queue";
import { findFailure } from "../states";

/** How many deliveries a search reads, and how many are dropped for their age, before other calls have their turn. */
const maxScanned = 2000;
const maxDropped = 500;
/** How many bytes of bodies are taken in one step, unless one is larger. */
const maxTakenBytes = 4 * 1024 * 1024;
/** What waits for an attempt, as the index of what is due has it. */
const isWaiting = "state IN ('queued', 'retrying')";
/** SQLITE_FULL */
const full = 13;

/** In the file. */
interface StoredRow {
  readonly seq: number;
  readonly due: number;
  readonly waitMs: number;
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
}

/** What the end of an attempt changes. */
type AttemptEnd = { [Name in "state" | "attempt" | "maxAttempts" | "nextAt" | "error"]: Delivery[Name] | undefined }; // prettier-ignore

/** What is written beside a delivery. */
interface WrittenParts {
  readonly attempts: readonly Attempt[];
  /** By the queue's clock. */
  readonly now: number;
  /** See the schema. */
  readonly waitMs?: number;
  readonly key?: Candidate | undefined;
  /** What the end of an attempt makes of the key. */
  readonly keyEnd?: ReservationEnd | undefined;
}

/** What was due of a node. */
export interface Taken {
  /** Their attempts are counted, and are to start. */
  readonly taken: readonly StoredDelivery[];
  /** Their attempts were used up. */
  readonly failed: readonly Delivery[];
  /** When the next one is due, by the queue's clock; nothing where none waits. */
  readonly nextDue: number | undefined;
  /** The bytes of the next one, where there is no room for them. */
  readonly tooLarge: number | undefined;
}

export class Tables {
  readonly #database: Database;
  readonly #retention: Retention;
  readonly #statements = new Map<string, Statement>();
  readonly #pageSize: number;
  readonly #changes = new Map<string, Change>();
  #repliesBytes: number;

  constructor(database: Database, retention: Retention) {
    this.#database = database;
    this.#retention = retention;
    this.#pageSize = this.#number("PRAGMA page_size");
    this.#repliesBytes = this.#number("SELECT coalesce(sum(length(body)), 0) FROM duplicate_keys");
  }

  /**
   * What is `running` in the file alone is started again: after a crash, or where an answer of the file was lost. The
   * process that has planned the waits may have had another time of day: none is longer than planned, from now on.
   *
   * @param now by the queue's clock
   * @param running the ids of what runs in this process; missing when that has just begun
   */
  open(now: number, running?: ReadonlySet<string>): { pauses: [node: string, pause: Pause][]; keys: SettledKey[] } {
    for (const row of this.#rows("WHERE state = 'running'")) {
      if (running?.has(row.delivery.id)) continue;
      const { delivery, attempts, waitMs } = running
        ? endAttempt(row, { as: "interrupted" }, undefined, now)
        : afterCrash(row, row.waitMs, Date.now());
      this.#write({ ...row, delivery, attempts, due: running ? row.due : now + waitMs, waitMs }, row.delivery);
    }
    this.#run(`UPDATE deliveries SET due = ?1 + wait WHERE ${isWaiting} AND due > ?1 + wait`, now);
    const pauses = this.#all("SELECT node, pause FROM pauses").map(({ node, pause }) => [node, pause] as [string, Pause]); // prettier-ignore
    const keys = running ? [] : this.#all("SELECT * FROM duplicate_keys WHERE until > ? ORDER BY seq", Date.now());
    return { pauses, keys: keys.map(toKey) };
  }

  /** Ignored where its id is stored already. */
  add(given: Delivery, body: Uint8Array, { attempts, now, waitMs = 0, key }: WrittenParts): void {
    const delivery = withWords(given, Buffer.from(body.buffer, body.byteOffset, body.length));
    const [text, searched] = [JSON.stringify(delivery), searchedIn(delivery)];
    this.#makeRoom(text.length + searched.length + body.length);
    const { id, node, at, state } = delivery;
    const { changes, lastInsertRowid } = this.#run(
      `INSERT INTO deliveries (id, node, at, state, delivery, attempts, searched, due, wait)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      ...[id, node, at, state, text, JSON.stringify(attempts), searched, now, Math.ceil(waitMs)],
    );
    if (changes > 0 && body.length > 0) this.#run("INSERT INTO bodies VALUES (?, ?)", lastInsertRowid, body);
    if (key) this.#addKey({ ...key, reply: undefined });
  }

  /**
   * Takes what is due of a node, in that order, and counts the attempts.
   *
   * @param places how many at most
   * @param bytes of their bodies
   * @param now by the queue's clock
   */
  take(node: string, pace: Pace, places: number, bytes: number, now: number): Taken {
    const due = this.#rows(`WHERE node = ? AND ${isWaiting} AND due <= ? ORDER BY due, seq LIMIT ?`, node, now, places);
    const taken: StoredDelivery[] = [];
    const failed: Delivery[] = [];
    let takenBytes = 0;
    let tooLarge: number | undefined;
    for (const row of due) {
      const { delivery, attempts, waitMs } = beginAttempt(row, pace, Date.now());
      const isRunning = delivery.state === "running";
      const body = isRunning ? this.#body(row.seq) : Buffer.alloc(0);
      if (takenBytes + body.length > (takenBytes === 0 ? bytes : Math.min(bytes, maxTakenBytes))) {
        tooLarge = body.length;
        break;
      }
      this.#write({ ...row, delivery, attempts, waitMs }, row.delivery);
      if (isRunning) taken.push({ delivery, body, attempts });
      else failed.push(delivery);
      takenBytes += body.length;
    }
    const next = this.#get(`SELECT due FROM deliveries WHERE node = ? AND ${isWaiting} ORDER BY due LIMIT 1`, node);
    return { taken, failed, nextDue: next && Number(next.due), tooLarge };
  }

  /** The end of an attempt; one that has ended already changes nothing. */
  end(id: string, attempt: number, change: AttemptEnd, { attempts, now, waitMs = 0, key, keyEnd }: WrittenParts): void {
    const known = this.#row(id);
    if (known?.delivery.state !== "running" || known.delivery.attempt !== attempt) return;
    // What was put back keeps its place.
    const due = change.state === "retrying" ? now + waitMs : known.due;
    const delivery = { ...known.delivery, ...change } as Delivery;
    this.#write({ ...known, delivery, attempts, due, waitMs }, known.delivery);
    if (!key || !keyEnd) return;
    if (keyEnd !== "released") this.#addKey({ ...key, ...keyEnd });
    else this.#run("DELETE FROM duplicate_keys WHERE endpoint = ? AND key = ?", key.endpoint, key.key);
  }

  /** @param now by the queue's clock @returns the node of the delivery; nothing where that is not `retrying` */
  retry(id: string, when: RetryTime, now: number): string | undefined {
    const known = this.#row(id);
    if (known?.delivery.state !== "retrying") return undefined;
    const delivery = changeRetry(known.delivery, when, Date.now());
    this.#write({ ...known, delivery, due: now, waitMs: 0 }, known.delivery);
    return delivery.node;
  }

  /** Written with what else changes the delivery in the same transaction, as its attempt does: see `writeChanges`. */
  update(id: string, change: Change): void {
    this.#changes.set(id, { ...this.#changes.get(id), ...change });
  }

  /** Called at the end of a transaction. */
  writeChanges(): void {
    for (const id of this.#changes.keys()) {
      const row = this.#row(id);
      if (row) this.#write(row, row.delivery);
    }
    this.#changes.clear();
  }

  find(id: string): StoredDelivery | undefined {
    const known = this.#row(id);
    return known && { delivery: known.delivery, body: this.#body(known.seq), attempts: known.attempts };
  }

  /** A step of a list. @returns where the next step begins; nothing at the end */
  list(query: Query): { found: Delivery[]; next: Position | undefined } {
    const { node, state, text = "", error, before, after, limit } = query;
    const conditions = [
      ...[node !== undefined && "node = ?", state && "state = ?"],
      ...[before && "(at, id) < (?, ?)", after && "(at, id) > (?, ?)"],
    ];
    const where = conditions.filter((each) => typeof each === "string").join(" AND ");
    const values = [node, state, before?.at, before?.id, after?.at, after?.id].filter((value) => value !== undefined);
    const isSearch = text !== "" || error !== undefined;
    const most = isSearch ? maxScanned : limit;
    const order = after ? "ASC" : "DESC";
    const sql = `SELECT * FROM deliveries ${where && `WHERE ${where}`} ORDER BY at ${order}, id ${order} LIMIT ?`;
    const rows = this.#all(sql, ...values, most);
    const found = rows.filter(({ searched }) => text === "" || String(searched).includes(text));
    const deliveries = found.map((row) => toStored(row).delivery);
    const wanted = error === undefined ? deliveries : deliveries.filter((each) => findFailure(each) === error);
    return {
      found: wanted.slice(0, limit),
      next: rows.length === most ? toStored(rows[most - 1] ?? {}).delivery : undefined,
    };
  }

  counts(node: string): Partial<Record<State, number>> {
    const rows = this.#all("SELECT state, number FROM counts WHERE node = ? AND number > 0", node);
    return Object.fromEntries(rows.map(({ state, number }) => [state as State, Number(number)]));
  }

  pause(node: string, pause: Pause | undefined): void {
    if (pause) this.#run("REPLACE INTO pauses VALUES (?, ?)", node, pause);
    else this.#run("DELETE FROM pauses WHERE node = ?", node);
  }

  remove(id: string): { removal: Removal; node?: string } {
    const known = this.#row(id);
    if (!known) return { removal: "unknown" };
    const { seq, delivery } = known;
    if (delivery.state === "running") return { removal: "running" };
    this.#drop({ seq });
    return { removal: "removed", node: delivery.node };
  }

  /** A step of a removal. @returns the node of each that was removed */
  removeSome({ node, state }: RemovalQuery): { nodes: string[]; hasMore: boolean } {
    const conditions = ["state <> 'running'", ...(node === undefined ? [] : ["node = ?"]), ...(state ? ["state = ?"] : [])]; // prettier-ignore
    const values = [node, state].filter((value) => value !== undefined);
    const some = `SELECT seq FROM deliveries WHERE ${conditions.join(" AND ")} ORDER BY at, id LIMIT ${maxDropped}`;
    const removed = this.#all(`DELETE FROM deliveries WHERE seq IN (${some}) RETURNING node`, ...values);
    return { nodes: removed.map((row) => String(row.node)), hasMore: removed.length === maxDropped };
  }

  /** Bounded: the oldest keys go first, and of replies the oldest bodies. */
  #addKey({ endpoint, key, id, keptForMs, reply }: SettledKey): void {
    const { body, ...head } = reply ?? {};
    const now = Date.now();
    const dropped = this.#all(
      `DELETE FROM duplicate_keys WHERE (endpoint = ? AND key = ?) OR seq <= (SELECT max(seq) FROM duplicate_keys) - ${maxKeys}
       OR seq IN (SELECT seq FROM (SELECT seq, until FROM duplicate_keys ORDER BY seq LIMIT 2) WHERE until <= ?) RETURNING length(body) AS bytes`,
      ...[endpoint, key, now],
    );
    for (const { bytes } of dropped) this.#repliesBytes -= Number(bytes);
    this.#run("INSERT INTO duplicate_keys (endpoint, key, id, until, kept_for, answer, body) VALUES (?, ?, ?, ?, ?, ?, ?)", endpoint, key, id, now + keptForMs, keptForMs, reply ? JSON.stringify(head) : null, body ?? null); // prettier-ignore
    this.#repliesBytes += body?.length ?? 0;
    while (this.#repliesBytes > maxRepliesBytes) {
      const oldest = this.#get("SELECT seq, length(body) AS bytes FROM duplicate_keys WHERE body IS NOT NULL ORDER BY seq LIMIT 1"); // prettier-ignore
      this.#run("UPDATE duplicate_keys SET body = NULL WHERE seq = ?", oldest?.seq ?? 0);
      this.#repliesBytes -= Number(oldest?.bytes ?? Infinity);
    }
  }

  /** Drops some deliveries that are too old or, with a new limit, too many. @returns whether there may be more */
  tidy(): boolean {
    const { maxAge, maxBytes } = this.#retention;
    const before = Date.now() - maxAge;
    for (let dropped = 0; dropped < maxDropped; dropped++) {
      const isTooMuch = this.#used > maxBytes;
      const oldest = (isTooMuch ? this.#oldest(firstToGo) : undefined) ?? this.#oldest(droppable);
      if (!oldest || (Number(oldest.at) >= before && !isTooMuch)) return false;
      this.#drop(oldest);
    }
    return true;
  }

  /** Checks that more can be written. */
  probe(): void {
    this.#makeRoom(probeBytes);
    this.#database.exec(`INSERT INTO bodies VALUES (-1, zeroblob(${probeBytes})); DELETE FROM bodies WHERE seq = -1`);
  }

  /** Drops deliveries until so many bytes fit: of three kinds, one after the other, the oldest; unfinished ones never. */
  #makeRoom(bytes: number): void {
    const wanted = bytes + frameBytes;
    const { maxBytes } = this.#retention;
    while (this.#used + wanted > maxBytes) {
      const oldest = this.#oldest(firstToGo) ?? this.#oldest(droppable) ?? this.#oldest([lastToGo]);
      if (!oldest || wanted > maxBytes) throw createError("unfinished deliveries fill the room", full);
      this.#drop(oldest);
    }
  }

  /** Bytes of the file in use. */
  get #used(): number {
    return (this.#number("PRAGMA page_count") - this.#number("PRAGMA freelist_count")) * this.#pageSize;
  }

  #oldest(states: readonly State[]): AnyRow | undefined {
    const ofEach = states.map((state) => `SELECT * FROM (SELECT seq, at FROM deliveries WHERE state = '${state}' ORDER BY at, id LIMIT 1)`); // prettier-ignore
    return this.#get(`${ofEach.join(" UNION ALL ")} ORDER BY at LIMIT 1`);
  }

  #drop({ seq = 0 }: AnyRow): void {
    this.#run("DELETE FROM deliveries WHERE seq = ?", seq);
  }

  #rows(where: string, ...values: Value[]): StoredRow[] {
    return this.#all(`SELECT * FROM deliveries ${where}`, ...values).map(toStored);
  }

  #row(id: string): StoredRow | undefined {
    return this.#rows("WHERE id = ?", id)[0];
  }

  #body(seq: number): Buffer {
    const body = this.#get("SELECT body FROM bodies WHERE seq = ?", seq)?.body;
    return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.length) : Buffer.alloc(0);
  }

  #write({ seq, delivery: changed, attempts, due, waitMs }: StoredRow, before: Delivery): void {
    const delivery = { ...changed, ...this.#changes.get(changed.id) };
    this.#changes.delete(changed.id);
    const values = [
      delivery.state,
      JSON.stringify(delivery),
      JSON.stringify(attempts),
      Math.ceil(due),
      Math.ceil(waitMs),
    ];
    this.#run(
      "UPDATE deliveries SET state = ?, delivery = ?, attempts = ?, due = ?, wait = ? WHERE seq = ?",
      ...values,
      seq,
    );
    // Nothing else of what is searched changes.
    if (delivery.error !== before.error) this.#run("UPDATE deliveries SET searched = ? WHERE seq = ?", searchedIn(delivery), seq); // prettier-ignore
  }

  #number(sql: string): number {
    return Number(Object.values(this.#get(sql) ?? {})[0]);
  }

  #run(sql: string, ...values: Value[]): ReturnType<Statement["run"]> {
    return this.#prepared(sql).run(...values);
  }

  #get(sql: string, ...values: Value[]): ReturnType<Statement["get"]> {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: Value[]): ReturnType<Statement["all"]> {
    return this.#prepared(sql).all(...values);
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function toStored({ seq, due, wait, delivery, attempts }: AnyRow): StoredRow {
  return {
    ...{ seq: Number(seq), due: Number(due), waitMs: Number(wait) },
    delivery: JSON.parse(String(delivery)) as Delivery,
    attempts: JSON.parse(String(attempts)) as Attempt[],
  };
}

function toKey({ endpoint, key, id, until, kept_for: keptForMs, answer, body }: AnyRow): SettledKey {
  const head = answer === null ? undefined : (JSON.parse(String(answer)) as Omit<FirstReply, "body">);
  return {
    ...{ endpoint: String(endpoint), key: String(key), id: String(id) },
    // The clock may have been set back.
    keptForMs: Math.min(Number(until) - Date.now(), Number(keptForMs)),
    reply: head && { ...head, body: body instanceof Uint8Array ? Buffer.from(body) : undefined },
  };
}

/** An error as SQLite's, by its code: https://www.sqlite.org/rescode.html. */
export function createError(message: string, errcode: number): Error {
  return Object.assign(new Error(message), { errcode });
}

// The used part of `node:sqlite`, which the types of Node.js 20 lack.

/** A BLOB is read as a `Uint8Array`. */
type Value = null | number | string | Uint8Array;
type AnyRow = Record<string, Value>;

interface Statement {
  run(...values: Value[]): { changes: number; lastInsertRowid: number };
  get(...values: Value[]): AnyRow | undefined;
  all(...values: Value[]): AnyRow[];
}

/** https://nodejs.org/api/sqlite.html#class-databasesync */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** @throws an error with the `errcode` of SQLite: https://www.sqlite.org/rescode.html */
export function openDatabase(path: string): Database {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as unknown as { DatabaseSync: new (path: string) => Database }; // prettier-ignore
  return new DatabaseSync(path);
}
