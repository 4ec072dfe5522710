import { readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { fileName, sqliteIsHere } from "../../../src/config/stores";
import type { State } from "../../../src/deliveries/delivery";
import { schemaVersion } from "../../../src/deliveries/sqlite/migrations";
import type { SqliteQueue } from "../../../src/deliveries/sqlite/sqlite-queue";
import { openDatabase } from "../../../src/deliveries/sqlite/tables";
import { Listener } from "../../harness/listener";
import { root, temporaryFolder } from "../../harness/package";
import { delivered, openFile, succeeded, TestFlow } from "../../harness/queues";
import { until } from "../../harness/until";

const states = ["refused", "duplicate", "handshake", "queued", "running", "retrying", "succeeded", "failed"] as const;
const hour = 3_600_000;

/** A file as version 1 has written it, with a delivery in each state, whose id is the state. */
function writeVersion1(path: string): void {
  const database = openDatabase(path);
  database.exec(readFileSync(join(root, "test/data/deliveries-1.sql"), "utf8"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA user_version = 1");
  const insert = database.prepare(`INSERT INTO deliveries (id, node, at, state, next_at, delivery, attempts, searched)
    VALUES (?, 'n', ?, ?, ?, ?, ?, ?)`);
  const now = Date.now();
  for (const [index, state] of states.entries()) {
    const at = now - 1000 + index;
    // It was planned before the clock was set back by a year.
    const nextAt = state === "retrying" ? now + 365 * 24 * hour : undefined;
    const attempts = nextAt === undefined ? [] : [{ at, ended: nextAt - 100, error: "no" }];
    const delivery = delivered(state, { at, state, attempt: attempts.length, maxAttempts: 3, ...(nextAt && { nextAt }) }); // prettier-ignore
    const { lastInsertRowid } = insert.run(state, at, state, nextAt ?? null, JSON.stringify(delivery), JSON.stringify(attempts), `text of ${state}`); // prettier-ignore
    database.prepare("INSERT INTO bodies VALUES (?, ?)").run(lastInsertRowid, Buffer.from(`body of ${state}`));
  }
  database.prepare("INSERT INTO pauses VALUES ('n', 'manual')").run();
  const key = database.prepare("INSERT INTO duplicate_keys (endpoint, key, id, until, answer, body) VALUES ('n', ?, ?, ?, ?, ?)"); // prettier-ignore
  key.run("answered", "1", now + hour, JSON.stringify({ status: 201, fields: {} }), Buffer.from("done"));
  key.run("stored", "2", now + hour, null, null);
  key.run("old", "3", now - 1, null, null);
  database.close();
}

/** Tables by their columns, as a migration adds them elsewhere in the text; the rest by their text. */
function describeSchema(path: string): { version: number; parts: object[] } {
  const database = openDatabase(path);
  const rows = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const columns = database.prepare("SELECT * FROM pragma_table_xinfo(?)");
  const parts = rows.map(({ type, name, tbl_name, sql }) =>
    type === "table"
      ? { name, columns: columns.all(String(name)), end: /\)[^)]*$/.exec(String(sql))?.[0].trim() }
      : { type, name, tbl_name, sql },
  );
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  database.close();
  return { version, parts };
}

// A Node without SQLite has no tests of it: they would all be left out.
if (sqliteIsHere()) {
  describe("a file of version 1", () => {
    let folder: string;
    let listener: Listener;
    let queue: SqliteQueue;
    beforeEach(async () => {
      folder = temporaryFolder("migrations");
      listener = new Listener();
      writeVersion1(join(folder, fileName));
      queue = openFile(folder);
      await queue.open(listener);
    });
    afterEach(async () => queue.close());

    it("has all its deliveries, bodies, counts, pauses and keys in this version", async () => {
      listener.said.should.eql([]);
      // A crash has ended what was running.
      const stateOf = (state: State) => (state === "running" ? "retrying" : state);
      for (const state of states) {
        const found = await queue.find(state);
        should(found?.body.toString()).equal(`body of ${state}`);
        should(found?.delivery).match({ id: state, node: "n", state: stateOf(state) });
      }
      (await queue.list({ limit: 10 })).map(({ id }) => id).should.eql([...states].reverse());
      (await queue.list({ text: "text of failed", limit: 10 })).should.match([{ id: "failed" }]);
      const { running: _, ...counts } = Object.fromEntries(states.map((state) => [state, 1]));
      (await queue.counts("n")).should.eql({ ...counts, retrying: 2 });
      should(queue.paused("n")).equal("manual");
      const reserve = async (key: string) => queue.duplicates.reserve({ endpoint: "n", key, id: "0", keptForMs: hour });
      should(await reserve("answered")).match({ isFirst: false, id: "1", outcome: { reply: { status: 201, body: Buffer.from("done") } } }); // prettier-ignore
      should(await reserve("stored")).match({ isFirst: false, id: "2", outcome: { reply: undefined } });
      should(await reserve("old")).match({ isFirst: true });
    });

    it("has what waits started", async () => {
      await queue.resume("n");
      const flow = new TestFlow(succeeded, { concurrency: 1 });
      queue.process("n", flow);
      queue.release();
      await until(() => flow.ends.length === 3, "the flows");
      flow.ids.should.eql(["queued", "running", "retrying"]);
      flow.starts.should.match([{ attempt: 1 }, { attempt: 1 }, { attempt: 2 }]);
    });

    it("has the tables of a new file afterwards", async () => {
      await queue.close();
      const fresh = temporaryFolder("migrations");
      const other = openFile(fresh);
      await other.open(listener);
      await other.close();
      const expected = describeSchema(join(fresh, fileName));
      describeSchema(join(folder, fileName)).should.eql(expected);
      expected.version.should.equal(schemaVersion);
      expected.parts.length.should.be.above(10);
    });

    it("is migrated once", async () => {
      await queue.close();
      queue = openFile(folder);
      await queue.open(listener);
      (await queue.list({ limit: 10 })).should.have.length(states.length);
      listener.said.should.eql([]);
    });
  });
}
