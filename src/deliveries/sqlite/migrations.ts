// How the file of an older version becomes one of this version.

/** The first makes version 2 of version 1, and so on. What is here was published: it never changes. */
export const migrations: readonly string[] = [
  // One order for new deliveries and retries; keys know how long they are kept.
  `
    DROP INDEX deliveries_due;
    ALTER TABLE deliveries ADD COLUMN due INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE deliveries ADD COLUMN wait INTEGER NOT NULL DEFAULT 0;
    UPDATE deliveries SET due = at WHERE state = 'queued';
    UPDATE deliveries
      SET due = next_at, wait = max(0, next_at - coalesce(json_extract(attempts, '$[#-1].ended'), next_at))
      WHERE state = 'retrying';
    ALTER TABLE deliveries DROP COLUMN next_at;
    CREATE INDEX deliveries_due ON deliveries (node, due) WHERE state IN ('queued', 'retrying');
    ALTER TABLE duplicate_keys ADD COLUMN kept_for INTEGER NOT NULL DEFAULT 0;
    UPDATE duplicate_keys SET kept_for = 720 * 3600000;
  `,
];

/** Of the schema of a new file: `PRAGMA user_version`. */
export const schemaVersion = migrations.length + 1;
