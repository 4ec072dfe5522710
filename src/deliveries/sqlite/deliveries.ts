// The table of deliveries.

import { finished, type Attempt, type State, unfinished } from "../delivery";
import type { Change } from "../store";
import { Counts } from "./counts";
import type { Database, Row, Statement, Value } from "./module";
import type { Step, WrittenKept } from "./operations";
import type { Read, Written } from "../written";

/** How many deliveries are looked through for a text in one step. */
const scanned = 2000;
/** How many bytes of bodies are claimed in one step, unless one alone has more. */
const mostClaimed = 4 * 1024 * 1024;
const nothing = new Uint8Array();
const states = [...unfinished, ...finished];

/** The last run is that of the last attempt. */
const ofLastAttempt = (column: string) =>
  `SELECT ${column} FROM attempts WHERE attempts.seq = deliveries.seq ORDER BY attempt DESC LIMIT 1`;
const columns = `seq, id, node, at, state, attempt, status, milliseconds, rest, answer, (${ofLastAttempt("error")}) AS error`;
const matching = `AND (instr(searched, ?) OR instr((${ofLastAttempt("searched")}), ?))`;

/** A row with its place in the order in which deliveries came. */
type Placed = { [Column in keyof Read]: Read[Column] } & { seq: number };

export class Deliveries {
  readonly counts: Counts;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
    this.counts = new Counts(database);
  }

  add({ id, node, at, state, attempt, status, milliseconds, rest, searched }: Written, body: Uint8Array): void {
    const sql = `INSERT INTO deliveries (id, node, at, state, attempt, status, milliseconds, rest, searched)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
    const insert = this.#prepared(sql);
    const done = insert.run(id, node, at, state, attempt, status, milliseconds, rest, searched);
    if (done.changes === 0) return;
    this.counts.change(node, state, 1);
    if (body.length > 0) this.#prepared("INSERT INTO bodies VALUES (?, ?)").run(done.lastInsertRowid, body);
  }

  drop(by: "id" | "seq", which: string | number): void {
    const sql = `DELETE FROM deliveries WHERE ${by} = ? RETURNING node, state`;
    const dropped = this.#prepared(sql).get(which) as Placed | undefined;
    if (dropped) this.counts.change(dropped.node, dropped.state, -1);
  }

  change(id: string, change: NullableChange): void {
    const { state = null, status = null, milliseconds = null, answer = null, attempt = null, run } = change;
    const find = this.#prepared("SELECT seq, node, state, attempt FROM deliveries WHERE id = ?");
    const known = find.get(id) as Placed | undefined;
    if (!known) return;
    const sql = `UPDATE deliveries SET state = coalesce(?, state), status = coalesce(?, status),
      milliseconds = coalesce(?, milliseconds), answer = coalesce(?, answer), attempt = coalesce(?, attempt)
      WHERE seq = ?`;
    this.#prepared(sql).run(state, status, milliseconds, answer, attempt, known.seq);
    this.counts.change(known.node, known.state, -1);
    this.counts.change(known.node, state ?? known.state, 1);
    if (!run) return;
    const { at, ended = null, error = null } = run;
    const replace = this.#prepared("REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?)");
    replace.run(known.seq, attempt ?? known.attempt, at, ended, error, error?.toLowerCase() ?? null);
  }

  /** What is unfinished of a node, the oldest first. */
  claim(node: string, most: number, after: number): { kept: WrittenKept[]; next: number | undefined } {
    const sql = `SELECT ${columns} FROM deliveries WHERE node = ? AND state = ? AND seq > ? ORDER BY seq LIMIT ?`;
    const rows = unfinished.flatMap((state) => this.#prepared(sql).all(node, state, after, most) as Placed[]);
    const oldest = rows.sort((one, other) => one.seq - other.seq).slice(0, most);
    const kept: WrittenKept[] = [];
    let bytes = 0;
    for (const row of oldest) {
      if (bytes >= mostClaimed) break;
      const next = this.#whole(row);
      bytes += next.body.length;
      kept.push(next);
    }
    const isLast = rows.length < most && kept.length === oldest.length;
    return { kept, next: isLast ? undefined : oldest[kept.length - 1]?.seq };
  }

  find(id: string): WrittenKept | undefined {
    const row = this.look(id);
    return row && this.#whole(row);
  }

  look(id: string): Placed | undefined {
    return this.#prepared(`SELECT ${columns} FROM deliveries WHERE id = ?`).get(id) as Placed | undefined;
  }

  /** The newest first: a step of a page, which the next one goes on with where there is one. */
  page({ node, state, text, since = -Infinity, before, limit }: Step): { found: Read[]; next: number | undefined } {
    const { where, values } = newestOf(node, state, { before, most: text ? scanned : limit + 1 });
    // What is not looked through is not read.
    const [matches, sought] = text ? [matching, [text, text]] : ["", []];
    const sql = `SELECT ${columns} FROM deliveries WHERE seq IN (${where}) ${matches} ORDER BY seq DESC LIMIT ?`;
    const rows = this.#prepared(sql).all(...values, ...sought, limit + 1) as Placed[];
    const found = rows.slice(0, limit);
    if (rows.length > limit) return { found, next: found.at(-1)?.seq };
    if (!text) return { found, next: undefined };
    // Where there is a minimum, SQLite takes the other columns of its row (its documentation, "Bare columns").
    const oldest = `SELECT count(*) AS number, min(seq) AS last, at FROM deliveries WHERE seq IN (${where})`;
    const looked = this.#prepared(oldest).get(...values);
    const hasMore = looked?.number === scanned && Number(looked.at) >= since;
    return { found, next: hasMore ? Number(looked.last) : undefined };
  }

  #whole(row: Placed): WrittenKept {
    const body = this.#prepared("SELECT body FROM bodies WHERE seq = ?").get(row.seq)?.body as Uint8Array | undefined;
    const attempts = this.#prepared("SELECT at, ended, error FROM attempts WHERE seq = ? ORDER BY attempt").all(
      row.seq,
    );
    return { written: row, body: body ?? nothing, attempts: attempts.map(attemptOf) };
  }

  /** Prepared when it is needed first. */
  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

/** What of a node and of a state is looked at: the numbers of the newest ones, so many at most, before one of them. */
function newestOf(
  node: string | undefined,
  state: State | undefined,
  { before, most }: { before: number; most: number },
): { where: string; values: Value[] } {
  // There is an index by node and state, and none by node alone: it would cost each delivery that comes.
  const each = node !== undefined && state === undefined ? states : [state];
  const parts = each.map((one) => {
    const columns = [node !== undefined && "node = ?", one && "state = ?", "seq < ?"].filter(Boolean).join(" AND ");
    const values = [node, one, before, most].filter((value) => value !== undefined);
    return { sql: `SELECT * FROM (SELECT seq FROM deliveries WHERE ${columns} ORDER BY seq DESC LIMIT ?)`, values };
  });
  const where = `SELECT seq FROM (${parts.map(({ sql }) => sql).join(" UNION ALL ")}) ORDER BY seq DESC LIMIT ?`;
  return { where, values: [...parts.flatMap(({ values }) => values), most] };
}

/** What is missing stays as it is: NULL for `coalesce`. */
type NullableChange = { [K in Exclude<keyof Change, "run">]?: Change[K] | null } & Pick<Change, "run">;

function attemptOf({ at, ended, error }: Row): Attempt {
  return {
    at: Number(at),
    ...(ended !== null && { ended: Number(ended) }),
    ...(error !== null && { error: String(error) }),
  };
}
