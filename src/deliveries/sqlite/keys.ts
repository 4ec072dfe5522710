// The table of the keys of deliveries that have been answered.

import { mostBytesOfAnswers, mostKeys } from "../memory-duplicates";
import { longestAnswer } from "../duplicates";
import type { Database, Statement } from "./module";
import type { FoundKey, KeptKey, Operations } from "./operations";

/** Bounded as in memory: the oldest go first. */
export class Keys {
  readonly #until: Statement;
  readonly #find: Statement;
  readonly #forget: Statement;
  readonly #keep: Statement;
  readonly #keepBody: Statement;
  readonly #forgetExpired: Statement;
  readonly #totals: Statement;
  readonly #forgetOldest: Statement;
  readonly #forgetOldestBody: Statement;

  constructor(database: Database) {
    this.#until = database.prepare("SELECT coalesce(max(until), 0) AS until FROM keys");
    this.#find = database.prepare(
      "SELECT id, status, fields, body FROM keys LEFT JOIN answers USING (seq) WHERE endpoint = ? AND key = ? AND until > ?",
    );
    this.#forget = database.prepare("DELETE FROM keys WHERE endpoint = ? AND key = ?");
    this.#keep = database.prepare(
      "INSERT INTO keys (endpoint, key, id, until, status, fields) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#keepBody = database.prepare("INSERT INTO answers VALUES (?, ?, ?)");
    // Each that comes takes two along: there are never more that are over than were kept at once.
    this.#forgetExpired = database.prepare(
      "DELETE FROM keys WHERE until <= ? AND seq IN (SELECT seq FROM keys ORDER BY seq LIMIT 2)",
    );
    this.#totals = database.prepare("SELECT keys, bytes FROM totals");
    this.#forgetOldest = database.prepare("DELETE FROM keys WHERE seq = (SELECT min(seq) FROM keys)");
    this.#forgetOldestBody = database.prepare("DELETE FROM answers WHERE seq = (SELECT min(seq) FROM answers)");
  }

  /** Until when any key is known, in ms since the epoch. */
  get until(): number {
    return Number(this.#until.get()?.until);
  }

  find({ endpoint, key, now }: Operations["findKey"]["asks"]): FoundKey | undefined {
    const row = this.#find.get(endpoint, key, now);
    if (!row) return undefined;
    const { id, status, fields, body } = row;
    if (status === null) return { id: String(id), answer: undefined };
    const known = { status: Number(status), fields: JSON.parse(String(fields)) as Record<string, string> };
    return { id: String(id), answer: { ...known, body: body instanceof Uint8Array ? body : undefined } };
  }

  keep({ kept: { endpoint, key, id, until, answer }, now }: { kept: KeptKey; now: number }, body?: Uint8Array): void {
    this.#forgetExpired.run(now);
    this.#forget.run(endpoint, key);
    const fields = answer ? JSON.stringify(answer.fields) : null;
    const { lastInsertRowid } = this.#keep.run(endpoint, key, id, until, answer?.status ?? null, fields);
    if (body && body.length <= longestAnswer) this.#keepBody.run(lastInsertRowid, body.length, body);
    while (this.#total("keys") > mostKeys) this.#forgetOldest.run();
    while (this.#total("bytes") > mostBytesOfAnswers) this.#forgetOldestBody.run();
  }

  #total(of: "keys" | "bytes"): number {
    return Number(this.#totals.get()?.[of]);
  }
}
