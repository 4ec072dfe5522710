-- The tables of a new file that deliveries are stored in. Times are in ms since the epoch. Where this changes, migrations.ts
-- has to make it of the version before.

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY,          -- the order in which they were stored
  id TEXT NOT NULL UNIQUE,
  node TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  delivery TEXT NOT NULL,           -- JSON of all of it
  attempts TEXT NOT NULL,           -- JSON
  searched TEXT NOT NULL,           -- the text that searches look through, in lower case
  due INTEGER NOT NULL DEFAULT 0,   -- when the next attempt is due, by a clock that nobody sets: see readQueueClock
  wait INTEGER NOT NULL DEFAULT 0   -- how long it waits for that; while one runs, how long if a crash ends it
) STRICT;
CREATE INDEX deliveries_by_time ON deliveries (at, id);
CREATE INDEX deliveries_by_state ON deliveries (state, at, id);
CREATE INDEX deliveries_of_node ON deliveries (node, at, id);
CREATE INDEX deliveries_of_node_by_state ON deliveries (node, state, at, id);
CREATE INDEX deliveries_due ON deliveries (node, due) WHERE state IN ('queued', 'retrying');

-- Beside the deliveries, so that their changes do not write the bodies again.
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

CREATE TRIGGER body_dropped AFTER DELETE ON deliveries BEGIN
  DELETE FROM bodies WHERE seq = old.seq;
END;

-- Counting a million deliveries would block other calls.
CREATE TABLE counts (
  node TEXT NOT NULL,
  state TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (node, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER counted_new AFTER INSERT ON deliveries BEGIN
  INSERT INTO counts VALUES (new.node, new.state, 1) ON CONFLICT (node, state) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER counted_dropped AFTER DELETE ON deliveries BEGIN
  UPDATE counts SET number = number - 1 WHERE node = old.node AND state = old.state;
END;
CREATE TRIGGER counted_changed AFTER UPDATE OF state ON deliveries WHEN old.state <> new.state BEGIN
  UPDATE counts SET number = number - 1 WHERE node = old.node AND state = old.state;
  INSERT INTO counts VALUES (new.node, new.state, 1) ON CONFLICT (node, state) DO UPDATE SET number = number + 1;
END;

-- The nodes that start nothing, and whether a person or the circuit breaker has paused them.
CREATE TABLE pauses (node TEXT PRIMARY KEY, pause TEXT NOT NULL) STRICT;

-- The keys of deliveries that were stored, and what the flow has answered.
CREATE TABLE duplicate_keys (
  seq INTEGER PRIMARY KEY,
  endpoint TEXT NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  until INTEGER NOT NULL,
  answer TEXT,                      -- JSON
  body BLOB,
  kept_for INTEGER NOT NULL DEFAULT 0,
  UNIQUE (endpoint, key)
) STRICT;
