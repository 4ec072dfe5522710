// The tables of an open file, in the worker. The main thread calls these methods by name.

import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Delivery, droppable, finished, lastToGo, searchedIn, unfinished, withWords } from "../delivery";
import type { FirstAnswer } from "../duplicates";
import type { Change, Position } from "../queue";
import type { Attempt, Pause, State } from "../summary";

const states = [...unfinished, ...finished];
/** How many deliveries a search reads in one step, so that other calls have their turn. */
const maxScanned = 2000;
/** How many bytes of bodies are taken in one step, unless one is larger. */
const maxTakenBytes = 4 * 1024 * 1024;
/** How many duplicate keys are kept, and how many bytes of replies. */
const maxKeys = 100_000;
const maxAnswerBytes = 32 * 1024 * 1024;
/** After a crash, deliveries that were interrupted more than once start so far from each other (ms), up to a minute. */
const suspectIntervalMs = 100;
const maxSuspectMs = 60_000;
/** The error of an attempt that its process has not survived is `interrupted` in `summary.ts`. */
const columns = `seq, id, node, at, state, attempt, max_attempts, next_at, status, milliseconds, answer, error, rest`;

/** By the names of the columns. */
interface DeliveryRow {
  readonly id: string;
  readonly node: string;
  readonly at: number;
  readonly state: State;
  readonly attempt: number;
  readonly max_attempts: number | null;
  readonly next_at: number | null;
  readonly status: number | null;
  readonly milliseconds: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly rest: string;
}

type StoredRow = DeliveryRow & { readonly seq: number };

export interface WholeRow {
  readonly row: DeliveryRow;
  readonly body: Uint8Array;
  readonly attempts: Attempt[];
}

/** A step of a list. */
interface Step {
  readonly node: string | undefined;
  readonly state: State | undefined;
  /** In lower case. */
  readonly text: string;
  readonly before: Position | undefined;
  readonly limit: number;
}

/** The columns that an attempt changes. */
export type AttemptOutcome = Pick<DeliveryRow, "state" | "attempt" | "next_at" | "error">;

/** The key of a delivery that was answered. */
interface StoredKey {
  readonly endpoint: string;
  readonly key: string;
  readonly id: string;
  readonly until: number;
  readonly answer: Omit<FirstAnswer, "body"> | undefined;
}

export class Tables {
  readonly #database: Database;
  readonly #retention: Retention;
  readonly #statements = new Map<string, Statement>();
  /** How many deliveries of each state a node has: counting a million would block other calls. */
  #counts: Map<string, Partial<Record<State, number>>> | undefined;
  #answerBytes: number | undefined;

  /** @param limits retention in ms, and the bytes of the file */
  constructor(database: Database, limits: { maxAge: number; maxBytes: number }) {
    database.exec(readFileSync(join(__dirname, "schema.sql"), "utf8"));
    this.#database = database;
    this.#retention = new Retention(database, limits, (seq) => this.#drop(seq));
  }

  /** What a new process needs to know; attempts of the process before were interrupted. */
  open(interrupted: string): { pauses: [node: string, pause: Pause][]; keysUntil: number } {
    const now = Date.now();
    this.#run(
      `UPDATE deliveries SET state = 'retrying', error = ?1, searched_error = ?1, next_at = ?2 + delay FROM (
         SELECT seq AS cut, iif(attempt > 1, min(${maxSuspectMs}, ${suspectIntervalMs} * row_number() OVER (ORDER BY seq)), 0) AS delay
         FROM deliveries WHERE state = 'running') WHERE seq = cut`,
      interrupted,
      now,
    );
    this.#counts = undefined;
    const pauses = this.#all("SELECT node, pause FROM pauses").map(({ node, pause }) => [node, pause] as [string, Pause]); // prettier-ignore
    return { pauses, keysUntil: Number(this.#get("SELECT coalesce(max(until), 0) AS until FROM duplicate_keys")?.until) }; // prettier-ignore
  }

  /**
   * @returns `false` where its id is stored already
   * @throws {NoRoom} before anything has changed
   */
  add(row: DeliveryRow, searched: string, body: Uint8Array): boolean {
    if (!this.#retention.makeRoom(row.rest.length + searched.length + body.length)) throw new NoRoom();
    const { id, node, at, state, attempt, max_attempts, status, milliseconds, answer, error, rest } = row;
    const done = this.#run(
      `INSERT INTO deliveries (id, node, at, state, attempt, max_attempts, status, milliseconds, answer, error, rest, searched, searched_error)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      ...[id, node, at, state, attempt, max_attempts, status, milliseconds, answer, error, rest],
      ...[searched, error?.toLowerCase() ?? null],
    );
    if (done.changes === 0) return false;
    this.#count(node, state, 1);
    const seq = done.lastInsertRowid;
    if (body.length > 0) this.#run("INSERT INTO bodies VALUES (?, ?)", seq, body);
    if (state === "running") this.#run("INSERT INTO attempts VALUES (?, ?, ?, NULL, NULL)", seq, attempt, Date.now());
    return true;
  }

  /**
   * Takes what is due of a node and counts the attempts: retries first, then queued deliveries in order of arrival. A
   * delivery whose last attempt a crash has ended has failed.
   *
   * @returns what was taken and what has failed, and when the next one is due
   */
  take(
    node: string,
    limit: number,
    maxAttempts: number,
  ): { taken: WholeRow[]; failed: DeliveryRow[]; nextAt: number | undefined } {
    const now = Date.now();
    const due = this.#all(
      `SELECT * FROM (SELECT ${columns} FROM deliveries WHERE node = ?1 AND state = 'retrying' AND next_at <= ?2 ORDER BY next_at LIMIT ?3)
       UNION ALL
       SELECT * FROM (SELECT ${columns} FROM deliveries WHERE node = ?1 AND state = 'queued' ORDER BY at, seq LIMIT ?3) LIMIT ?3`,
      ...[node, now, limit],
    ) as unknown as StoredRow[];
    const taken: WholeRow[] = [];
    const failed: DeliveryRow[] = [];
    let bytes = 0;
    for (const row of due) {
      if (bytes >= maxTakenBytes) break;
      if (row.attempt >= maxAttempts) {
        this.#run("UPDATE deliveries SET state = 'failed', next_at = NULL WHERE seq = ?", row.seq);
        this.#count(node, row.state, -1);
        this.#count(node, "failed", 1);
        failed.push({ ...row, state: "failed", next_at: null });
        continue;
      }
      const attempt = row.attempt + 1;
      this.#run("UPDATE deliveries SET state = 'running', attempt = ?, max_attempts = ?, next_at = NULL WHERE seq = ?", attempt, maxAttempts, row.seq); // prettier-ignore
      this.#run("REPLACE INTO attempts VALUES (?, ?, ?, NULL, NULL)", row.seq, attempt, now);
      this.#count(node, row.state, -1);
      this.#count(node, "running", 1);
      const whole = this.#whole({ ...row, state: "running", attempt, max_attempts: maxAttempts, next_at: null });
      bytes += whole.body.length;
      taken.push(whole);
    }
    const next = this.#get("SELECT min(next_at) AS at FROM deliveries WHERE node = ? AND state = 'retrying'", node)?.at;
    return { taken, failed, nextAt: typeof next === "number" ? next : undefined };
  }

  /**
   * Puts back what is `running` only in the file, since its answer was lost.
   *
   * @param known the ids that really run
   */
  putBack(node: string, known: readonly string[]): void {
    const lost = this.#all(
      `UPDATE deliveries SET state = 'queued', attempt = attempt - 1 WHERE node = ? AND state = 'running'
       AND id NOT IN (SELECT value FROM json_each(?)) RETURNING seq, attempt`,
      ...[node, JSON.stringify(known)],
    );
    for (const { seq = 0, attempt } of lost) this.#run("DELETE FROM attempts WHERE seq = ? AND attempt > ?", seq, Number(attempt)); // prettier-ignore
    this.#count(node, "running", -lost.length);
    this.#count(node, "queued", lost.length);
  }

  /** The end of an attempt. An interrupted one leaves no trace; one that has ended already changes nothing. */
  end(id: string, ended: number, { state, attempt, next_at, error }: AttemptOutcome): void {
    const known = this.#find(id);
    if (known?.state !== "running" || known.attempt !== ended) return;
    const { seq } = known;
    this.#run("UPDATE deliveries SET state = ?, attempt = ?, next_at = ?, error = ?, searched_error = ? WHERE seq = ?", state, attempt, next_at, error, error?.toLowerCase() ?? null, seq); // prettier-ignore
    this.#count(known.node, "running", -1);
    this.#count(known.node, state, 1);
    if (attempt < ended) this.#run("DELETE FROM attempts WHERE seq = ? AND attempt = ?", seq, ended);
    else this.#run("UPDATE attempts SET ended = ?, error = ? WHERE seq = ? AND attempt = ?", Date.now(), error, seq, attempt); // prettier-ignore
  }

  update(id: string, change: { [Name in keyof Change]?: Change[Name] | null }): void {
    const known = this.#find(id);
    if (!known) return;
    const { state = null, status = null, milliseconds = null, answer = null, error = null } = change;
    this.#run(
      `UPDATE deliveries SET state = coalesce(?, state), status = coalesce(?, status),
       milliseconds = coalesce(?, milliseconds), answer = coalesce(?, answer), error = coalesce(?, error),
       searched_error = coalesce(?, searched_error) WHERE seq = ?`,
      ...[state, status, milliseconds, answer, error, error?.toLowerCase() ?? null, known.seq],
    );
    this.#count(known.node, known.state, -1);
    this.#count(known.node, state ?? known.state, 1);
  }

  find(id: string): WholeRow | undefined {
    const row = this.#find(id);
    return row && this.#whole(row);
  }

  look(id: string): DeliveryRow | undefined {
    return this.#find(id);
  }

  /** A step of a list, the newest first. @returns where the next step begins */
  list({ node, state, text, before, limit }: Step): { found: DeliveryRow[]; next: Position | undefined } {
    const most = text ? maxScanned : limit;
    const { where, values } = selectNewest({ node, state, before }, most);
    const matching = text ? "WHERE instr(searched, ?) OR instr(searched_error, ?)" : "";
    const sought = text ? [text, text] : [];
    const sql = `SELECT ${columns} FROM (${where}) ${matching} ORDER BY at DESC, id DESC LIMIT ?`;
    const found = this.#all(sql, ...values, ...sought, limit) as unknown as StoredRow[];
    if (!text || found.length === limit) return { found, next: undefined };
    const last = this.#get(`SELECT at, id FROM (${where}) LIMIT 1 OFFSET ?`, ...values, maxScanned - 1);
    return { found, next: last && { at: Number(last.at), id: String(last.id) } };
  }

  counts(node: string): Partial<Record<State, number>> {
    if (!this.#counts) {
      this.#counts = new Map();
      const rows = this.#all("SELECT node, state, count(*) AS number FROM deliveries GROUP BY node, state");
      for (const row of rows) this.#count(String(row.node), row.state as State, Number(row.number));
    }
    const known = Object.entries(this.#counts.get(node) ?? {}).filter(([, number]) => number > 0);
    return Object.fromEntries(known);
  }

  pause(node: string, pause: Pause): void {
    this.#run("REPLACE INTO pauses VALUES (?, ?)", node, pause);
  }

  resume(node: string): void {
    this.#run("DELETE FROM pauses WHERE node = ?", node);
  }

  findKey(endpoint: string, key: string): { id: string; answer: FirstAnswer | undefined } | undefined {
    const sql = "SELECT id, status, fields, body FROM duplicate_keys WHERE endpoint = ? AND key = ? AND until > ?";
    const row = this.#get(sql, endpoint, key, Date.now());
    if (!row) return undefined;
    const { status, fields, body } = row;
    const answer =
      status === null
        ? undefined
        : {
            status: Number(status),
            fields: JSON.parse(String(fields)) as Record<string, string>,
            body: body instanceof Uint8Array ? Buffer.from(body) : undefined,
          };
    return { id: String(row.id), answer };
  }

  /** Bounded: the oldest keys go first, and of replies the oldest bodies. */
  addKey({ endpoint, key, id, until, answer }: StoredKey, body?: Uint8Array): void {
    this.#answerBytes ??= Number(this.#get("SELECT coalesce(sum(length(body)), 0) AS bytes FROM duplicate_keys")?.bytes); // prettier-ignore
    const dropped = this.#all(
      `DELETE FROM duplicate_keys WHERE (endpoint = ? AND key = ?) OR seq <= (SELECT max(seq) FROM duplicate_keys) - ${maxKeys}
       OR seq IN (SELECT seq FROM (SELECT seq, until FROM duplicate_keys ORDER BY seq LIMIT 2) WHERE until <= ?) RETURNING length(body) AS bytes`,
      ...[endpoint, key, Date.now()],
    );
    for (const { bytes } of dropped) this.#answerBytes -= Number(bytes);
    const fields = answer ? JSON.stringify(answer.fields) : null;
    this.#run("INSERT INTO duplicate_keys (endpoint, key, id, until, status, fields, body) VALUES (?, ?, ?, ?, ?, ?, ?)", endpoint, key, id, until, answer?.status ?? null, fields, body ?? null); // prettier-ignore
    this.#answerBytes += body?.length ?? 0;
    while (this.#answerBytes > maxAnswerBytes) {
      const oldest = this.#get("SELECT seq, length(body) AS bytes FROM duplicate_keys WHERE body IS NOT NULL ORDER BY seq LIMIT 1"); // prettier-ignore
      this.#run("UPDATE duplicate_keys SET body = NULL WHERE seq = ?", oldest?.seq ?? 0);
      this.#answerBytes -= Number(oldest?.bytes ?? Infinity);
    }
  }

  /** Drops some old deliveries. @returns whether there may be more */
  tidy(): boolean {
    return this.#retention.tidy();
  }

  /** Checks that a body of so many bytes can be written. @throws {NoRoom} */
  probe(bytes: number): void {
    if (!this.#retention.probe(bytes)) throw new NoRoom();
  }

  /** Other calls wait from now on. */
  begin(): void {
    this.#retention.begin();
  }

  /** The transaction was rolled back. */
  undone(): void {
    this.#counts = this.#answerBytes = undefined;
  }

  #find(id: string): StoredRow | undefined {
    return this.#get(`SELECT ${columns} FROM deliveries WHERE id = ?`, id) as StoredRow | undefined;
  }

  #whole(row: StoredRow): WholeRow {
    const body = this.#get("SELECT body FROM bodies WHERE seq = ?", row.seq)?.body;
    const attempts = this.#all("SELECT at, ended, error FROM attempts WHERE seq = ? ORDER BY attempt", row.seq);
    return { row, body: body instanceof Uint8Array ? body : new Uint8Array(), attempts: attempts.map(toAttempt) };
  }

  #drop(seq: number): void {
    const dropped = this.#get("DELETE FROM deliveries WHERE seq = ? RETURNING node, state", seq);
    if (dropped) this.#count(String(dropped.node), dropped.state as State, -1);
  }

  #count(node: string, state: State, by: number): void {
    if (!this.#counts) return;
    const known = this.#counts.get(node) ?? {};
    known[state] = (known[state] ?? 0) + by;
    this.#counts.set(node, known);
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

/** The newest of a node and a state behind a position; indexes begin with a state. */
function selectNewest(
  { node, state, before }: Pick<Step, "node" | "state" | "before">,
  most: number,
): { where: string; values: Value[] } {
  const behind = before ? [before.at, before.id] : [];
  const each = node !== undefined && state === undefined ? states : [state];
  const parts = each.map((one) => {
    const conditions = [node !== undefined && "node = ?", one && "state = ?", before && "(at, id) < (?, ?)"].filter(
      Boolean,
    );
    const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
    const values = [node, one, ...behind, most].filter((value) => value !== undefined);
    return { sql: `SELECT * FROM (SELECT * FROM deliveries ${where} ORDER BY at DESC, id DESC LIMIT ?)`, values };
  });
  const where = `SELECT * FROM (${parts.map(({ sql }) => sql).join(" UNION ALL ")}) ORDER BY at DESC, id DESC LIMIT ?`;
  return { where, values: [...parts.flatMap(({ values }) => values), most] };
}

function toAttempt({ at, ended, error }: Readonly<Record<string, Value>>): Attempt {
  return {
    at: Number(at),
    ...(ended !== null && { ended: Number(ended) }),
    ...(error !== null && { error: String(error) }),
  };
}

/** With the text that searches look through. */
export function toRow(delivery: Delivery, body: Buffer): { row: DeliveryRow; searched: string } {
  const shown = withWords(delivery, body);
  const { id, node, at, state, attempt, maxAttempts, nextAt, status, milliseconds, answer, error, ...rest } = shown;
  const { error: _, ...others } = shown;
  const row = {
    ...{ id, node, at, state, attempt },
    max_attempts: maxAttempts ?? null,
    next_at: nextAt ?? null,
    status: status ?? null,
    milliseconds: milliseconds ?? null,
    answer: answer ?? null,
    error: error ?? null,
    rest: JSON.stringify(rest),
  };
  return { row, searched: searchedIn(others) };
}

/** @returns nothing where it is damaged */
export function toDelivery(row: DeliveryRow): Delivery | undefined {
  const { id, node, at, state, attempt, max_attempts, next_at, status, milliseconds, answer, error, rest } = row;
  try {
    return {
      ...{ id, node, at, state, attempt },
      ...(JSON.parse(rest) as Pick<Delivery, "head" | "size">),
      ...(max_attempts !== null && { maxAttempts: max_attempts }),
      ...(next_at !== null && { nextAt: next_at }),
      ...(status !== null && { status }),
      ...(milliseconds !== null && { milliseconds }),
      ...(answer !== null && { answer }),
      ...(error !== null && { error }),
    };
  } catch {
    return undefined;
  }
}

// Retention: what is dropped when it is too old, or when there is no room.

/** How long dropping may block other calls, in ms. */
const maxStepMs = 5;
/** How many are dropped per new delivery even so, so that there is room in the end. */
const minDropped = 2;
/** Bytes that must fit. */
const minRoom = 64 * 1024;
/** Bytes of a delivery in the indexes and besides its texts, rather too many. */
const frame = 1024;

/** Unfinished deliveries are never dropped; failed ones last, and not for their age. */
class Retention {
  readonly #limits: { maxAge: number; maxBytes: number };
  readonly #drop: (seq: number) => void;
  readonly #database: Database;
  readonly #pages: Statement;
  readonly #free: Statement;
  readonly #pageSize: number;
  readonly #oldest: Statement;
  readonly #tooOld: Statement;
  #deadline = 0;
  /** Bytes in use when last measured, and added since. */
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

  /** Other calls wait from now on. */
  begin(): void {
    this.#deadline = performance.now() + maxStepMs;
    this.#known = this.#used;
  }

  /**
   * Drops deliveries until so many bytes fit. What cannot be dropped in time is dropped later.
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

  /** @returns whether there may be more to drop */
  tidy(): boolean {
    const before = Date.now() - this.#limits.maxAge;
    for (let old = this.#tooOld.get(before); old; old = this.#tooOld.get(before)) {
      this.#drop(Number(old.seq));
      if (performance.now() > this.#deadline) return true;
    }
    return this.makeRoom() && this.#used + minRoom > this.#limits.maxBytes;
  }

  /** @returns whether a delivery with so many bytes can be written */
  probe(bytes: number): boolean {
    const written = Math.max(bytes, minRoom);
    if (!this.makeRoom(written)) return false;
    this.#database.exec(`DELETE FROM probes; INSERT INTO probes VALUES (zeroblob(${written})); DELETE FROM probes`);
    return true;
  }

  /** Bytes of the file in use. */
  get #used(): number {
    const pages = Number(this.#pages.get()?.page_count) - Number(this.#free.get()?.freelist_count);
    return pages * this.#pageSize;
  }
}

// The used part of `node:sqlite`, which the types of Node.js 20 lack.

/** A BLOB is read as a `Uint8Array`. */
type Value = null | number | string | Uint8Array;
type AnyRow = Record<string, Value>;

/** https://nodejs.org/api/sqlite.html#class-statementsync */
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

interface Sqlite {
  DatabaseSync: new (path: string) => Database;
}

/** Node.js has SQLite without a flag from 22.13 on. */
export function sqliteIsHere(): boolean {
  return isBuiltin("node:sqlite");
}

/** @throws an error with the `errcode` of SQLite: https://www.sqlite.org/rescode.html */
export function openDatabase(path: string): Database {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as unknown as Sqlite;
  return new DatabaseSync(path);
}

/** There is no room, and nothing may be dropped. */
export class NoRoom extends Error {
  constructor() {
    super("unfinished deliveries fill the room");
  }
}
