// How the tables came to be as they are, step by step from an empty file.

import type { Database } from "./module";

/**
 * Each brings the tables from the version of its index to the next one. What has been released is never changed: files
 * have been through it.
 *
 * `seq` is the order in which deliveries came, as the clock may be set back. `rest` is JSON of what is never looked for,
 * `searched` what texts are looked for in.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    node TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER,
    milliseconds REAL,
    rest TEXT NOT NULL,
    searched TEXT NOT NULL
  ) STRICT;
  CREATE INDEX deliveries_in_state ON deliveries (state);
  CREATE INDEX deliveries_of_node_in_state ON deliveries (node, state);
  CREATE INDEX deliveries_finished ON deliveries (at) WHERE state NOT IN ('queued', 'running', 'failed');

  CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE TABLE attempts (
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    ended INTEGER,
    error TEXT,
    PRIMARY KEY (seq, attempt)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER deliveries_dropped AFTER DELETE ON deliveries BEGIN
    DELETE FROM bodies WHERE seq = old.seq;
    DELETE FROM attempts WHERE seq = old.seq;
  END;

  -- The keys of what has been answered, in the order of seq; \`until\` is in ms since the epoch.
  CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    endpoint TEXT NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    until INTEGER NOT NULL,
    status INTEGER,
    fields TEXT,
    UNIQUE (endpoint, key)
  ) STRICT;
  CREATE TABLE answers (seq INTEGER PRIMARY KEY, length INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE TABLE totals (keys INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO totals VALUES (0, 0);
  CREATE TRIGGER keys_added AFTER INSERT ON keys BEGIN
    UPDATE totals SET keys = keys + 1;
  END;
  CREATE TRIGGER keys_dropped AFTER DELETE ON keys BEGIN
    UPDATE totals SET keys = keys - 1;
    DELETE FROM answers WHERE seq = old.seq;
  END;
  CREATE TRIGGER answers_added AFTER INSERT ON answers BEGIN
    UPDATE totals SET bytes = bytes + new.length;
  END;
  CREATE TRIGGER answers_dropped AFTER DELETE ON answers BEGIN
    UPDATE totals SET bytes = bytes - old.length;
  END;

  -- Written to see whether anything more can be.
  CREATE TABLE probes (noise BLOB NOT NULL) STRICT;
  `,
  `
  ALTER TABLE deliveries ADD COLUMN answer TEXT;
  ALTER TABLE attempts ADD COLUMN searched TEXT;
  UPDATE attempts SET searched = lower(error);
  `,
];

/** The file was written by a later version of this package, whose tables this one does not know. */
export class NewerFile extends Error {
  constructor(version: number) {
    super(
      `its tables have version ${version}, of a later webhook-trigger; this one knows them up to ${migrations.length}`,
    );
  }
}

/**
 * Brings the tables to the version that is known here, each step whole or not at all.
 *
 * @throws {NewerFile}
 */
export function migrate(database: Database): void {
  database.exec("CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, at TEXT NOT NULL) STRICT");
  const row = database.prepare("SELECT coalesce(max(version), 0) AS version FROM migrations").get();
  const version = Number(row?.version);
  if (version > migrations.length) throw new NewerFile(version);
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    database.exec("BEGIN IMMEDIATE");
    database.exec(sql);
    database.prepare("INSERT INTO migrations VALUES (?, ?)").run(index + 1, new Date().toISOString());
    database.exec("COMMIT");
  }
}
