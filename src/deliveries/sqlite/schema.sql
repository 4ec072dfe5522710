-- The tables of the file that deliveries are stored in. Times are in ms since the epoch.

CREATE TABLE IF NOT EXISTS deliveries (
  seq INTEGER PRIMARY KEY,          -- the order in which they were stored
  id TEXT NOT NULL UNIQUE,
  node TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER,             -- of the node when the last attempt started
  next_at INTEGER,                  -- when the next attempt is due, where the state is 'retrying'
  status INTEGER,
  milliseconds REAL,
  answer TEXT,
  error TEXT,                       -- of the last attempt
  rest TEXT NOT NULL,               -- JSON of what is never looked for
  searched TEXT NOT NULL,           -- what texts are looked for in, in lower case
  searched_error TEXT               -- the error in lower case
) STRICT;
CREATE INDEX IF NOT EXISTS deliveries_by_time ON deliveries (at, id);
CREATE INDEX IF NOT EXISTS deliveries_by_state ON deliveries (state, at, id);
CREATE INDEX IF NOT EXISTS deliveries_of_node ON deliveries (node, state, at, id);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (node, next_at) WHERE state = 'retrying';

CREATE TABLE IF NOT EXISTS bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

CREATE TABLE IF NOT EXISTS attempts (
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ended INTEGER,                    -- missing where the process ended first
  error TEXT,
  PRIMARY KEY (seq, attempt)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER IF NOT EXISTS deliveries_dropped AFTER DELETE ON deliveries BEGIN
  DELETE FROM bodies WHERE seq = old.seq;
  DELETE FROM attempts WHERE seq = old.seq;
END;

-- The nodes that start nothing, and whether a person or the circuit breaker has paused them.
CREATE TABLE IF NOT EXISTS pauses (node TEXT PRIMARY KEY, pause TEXT NOT NULL) STRICT;

-- The keys of deliveries that have been answered, and what the flow has answered.
CREATE TABLE IF NOT EXISTS duplicate_keys (
  seq INTEGER PRIMARY KEY,
  endpoint TEXT NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  until INTEGER NOT NULL,
  status INTEGER,
  fields TEXT,
  body BLOB,
  UNIQUE (endpoint, key)
) STRICT;

-- Written to see whether anything more can be.
CREATE TABLE IF NOT EXISTS probes (noise BLOB NOT NULL) STRICT;
