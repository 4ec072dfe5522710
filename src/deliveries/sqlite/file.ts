// The file in which deliveries are kept: opened, moved aside when it is corrupt, made anew when it was deleted.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { migrate } from "./migrations";
import { type Database, openDatabase } from "./module";

/** What belongs to a database in WAL mode, by what follows its name: https://www.sqlite.org/walformat.html. */
const parts = ["", "-wal", "-shm"];
/** To how many bytes the log is cut down once it has been written back. */
const longestLog = 16 * 1024 * 1024;

const settings = `
  -- Two processes would deliver the same deliveries; without it, the index of the log would be a file besides.
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  -- Each transaction is synced before it counts as committed.
  PRAGMA synchronous = FULL;
  -- On macOS, fsync(2) leaves it to the disk when to write: https://www.sqlite.org/pragma.html#pragma_fullfsync
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA journal_size_limit = ${longestLog};
`;

/** What moves to a new file where the old one was deleted: what may never be dropped, and the keys. */
const unfinished = "SELECT seq FROM main.deliveries WHERE state IN ('queued', 'running')";
const rescue = `
  INSERT INTO fresh.deliveries SELECT * FROM main.deliveries WHERE seq IN (${unfinished});
  INSERT INTO fresh.bodies SELECT * FROM main.bodies WHERE seq IN (${unfinished});
  INSERT INTO fresh.attempts SELECT * FROM main.attempts WHERE seq IN (${unfinished});
  INSERT INTO fresh.keys SELECT * FROM main.keys;
  INSERT INTO fresh.answers SELECT * FROM main.answers;
`;

/** An open file. */
export class StoreFile {
  readonly #path: string;
  readonly database: Database;
  readonly #is: string;
  readonly #log: string;

  /** @throws an error of SQLite or of the file system, or `NewerFile` */
  constructor(path: string) {
    this.#path = path;
    create(path);
    this.database = opened(path);
    this.#is = identityOf(path);
    this.#log = identityOf(`${path}-wal`);
  }

  /**
   * Whether the file has its name no more: SQLite goes on to write to one that nobody finds again.
   *
   * @throws where nobody can tell
   */
  get isGone(): boolean {
    return identityOf(this.#path) !== this.#is;
  }

  /** Whether it is certain that the file can be opened anew. */
  get isHere(): boolean {
    try {
      return !this.isGone;
    } catch {
      return false;
    }
  }

  /** Whether the log alone has gone, in which the last transactions are: a new process would not find them. */
  get isLogGone(): boolean {
    return identityOf(`${this.#path}-wal`) !== this.#log;
  }

  close(): void {
    this.database.close();
  }

  /**
   * Makes the file anew where it was deleted, with what must not be lost, and closes what was open.
   *
   * @throws where that cannot be done; it is as it was then
   */
  remake(): void {
    const fresh = `${this.#path}.new`;
    for (const part of parts) rmSync(fresh + part, { force: true });
    create(fresh);
    opened(fresh).close();
    this.database.prepare("ATTACH ? AS fresh").run(fresh);
    try {
      this.database.exec(rescue);
    } finally {
      this.database.exec("DETACH fresh");
    }
    // With the log of another file beside it, it would be corrupt.
    for (const part of parts.slice(1)) rmSync(this.#path + part, { force: true });
    renameSync(fresh, this.#path);
    syncFolderOf(this.#path);
    this.close();
  }
}

/** @returns where a corrupt file is now */
export function moveAside(path: string): string {
  const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  for (const part of parts) {
    if (identityOf(path + part)) renameSync(path + part, aside + part);
  }
  syncFolderOf(path);
  return aside;
}

function opened(path: string): Database {
  const database = openDatabase(path);
  try {
    database.exec(settings);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** With bodies of requests in it, it is nobody else's; SQLite gives what belongs to it the same mode. */
function create(path: string): void {
  const isNew = !identityOf(path);
  closeSync(openSync(path, "a", 0o600));
  if (isNew) syncFolderOf(path);
}

/** So that the name of a file is there after a power cut as well: fsync(2). Windows has nothing of the kind. */
function syncFolderOf(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * What tells a file from another of its name; empty where there is none.
 *
 * @throws where nobody can tell: the disk or the permissions say no
 */
function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino}` : "";
}
