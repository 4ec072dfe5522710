// The worker that owns the file: SQLite is synchronous, and each sync would stop every flow.
// All calls that come while a transaction is synced are in the next one.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { StoredDelivery } from "../delivery";
import type { StoreTrouble } from "../queue";
import {
  listTransfers,
  type Method,
  type WorkerCall,
  type WorkerMessage,
  type WorkerResult,
  type WorkerSetup,
} from "./calls";
import { migrations, schemaVersion } from "./migrations";
import { type Database, createError, openDatabase, Tables, type Taken } from "./tables";

/** How often old deliveries are looked for, in ms, and how long other calls have their turn between two steps. */
const tidyIntervalMs = 60_000;
const tidyStepMs = 20;
/** A corrupt file is moved aside at most this often, in ms: on a broken disk every file is corrupt. */
const moveAsideIntervalMs = 60_000;
/** The files of a database in WAL mode: https://www.sqlite.org/walformat.html. */
const parts = ["", "-wal", "-shm"];
const readingMethods: readonly Method[] = ["find", "list", "counts"];

const settings = `
  -- Two processes would start flows with the same deliveries.
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  -- Each transaction is synced before it counts as committed.
  PRAGMA synchronous = FULL;
  -- On macOS, fsync(2) leaves it to the disk when to write: https://www.sqlite.org/pragma.html#pragma_fullfsync
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA journal_size_limit = ${16 * 1024 * 1024};
`;

interface OpenFile {
  readonly database: Database;
  /** Of the file and of its `-wal`, which stays as long as the file is open. */
  readonly inodes: readonly (number | undefined)[];
  tables: Tables;
}

class StoreFile {
  readonly #setup: WorkerSetup;
  readonly #say: (message: WorkerMessage) => void;
  #file: OpenFile | undefined;
  #calls: WorkerCall[] = [];
  #tidying: NodeJS.Timeout | undefined;
  #movedAsideAt = -Infinity;

  constructor(setup: WorkerSetup, say: (message: WorkerMessage) => void) {
    this.#setup = setup;
    this.#say = say;
  }

  take(calls: readonly WorkerCall[]): void {
    if (this.#calls.length === 0) setImmediate(() => this.#work());
    this.#calls.push(...calls);
  }

  close(): void {
    this.#work();
    clearTimeout(this.#tidying);
    this.#file?.database.close();
  }

  #work(): void {
    const answers = this.#answer(this.#calls.splice(0));
    if (answers.length > 0) this.#say({ says: "answers", answers });
  }

  /** @returns the results, when they are synced */
  #answer(calls: readonly WorkerCall[]): WorkerResult[] {
    const [first] = calls;
    if (!first) return [];
    try {
      if (first.method === "open") this.#open();
      const answers = this.#transact(calls);
      if (first.method === "open") this.#tidySoon(0);
      return answers;
    } catch (error) {
      const isAlone = isOfCall(error);
      if (isAlone) this.#rollBack();
      // One call that fails must not fail the others.
      if (isAlone && calls.length > 1) return calls.flatMap((call) => this.#answer([call]));
      const trouble = getTrouble(error);
      if (!isAlone) this.#lose(error, trouble);
      return calls.map(({ number }) => ({ number, trouble, cause: error }));
    }
  }

  #transact(calls: readonly WorkerCall[]): WorkerResult[] {
    const file = this.#file;
    const isWriting = calls.some(({ method }) => !readingMethods.includes(method));
    if (!file) throw createError("the file is gone", 14);
    if (isWriting) file.database.exec("BEGIN IMMEDIATE");
    // What they change is written with the changes of the others.
    const updates = calls.filter(({ method }) => method === "update");
    const answers = [...updates, ...calls.filter((call) => !updates.includes(call))].map(({ number, method, args }) => {
      return { number, value: (file.tables[method] as (...args: unknown[]) => unknown).apply(file.tables, [...args]) };
    });
    if (!isWriting) return answers;
    file.tables.writeChanges();
    file.database.exec("COMMIT");
    this.#checkFiles(file);
    return answers;
  }

  /** What was written to a deleted or replaced file is lost; what is in such a `-wal` can still be read here. */
  #checkFiles({ database, inodes }: OpenFile): void {
    const [file, wal] = findInodes(this.#setup.path);
    if (file !== inodes[0]) throw createError("the file is gone", 14);
    if (wal === inodes[1]) return;
    const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
    const error = createError(`${this.#setup.path}-wal is gone`, 14);
    if (busy !== 0) throw error;
    // All of it is in the file by now, which is opened anew.
    this.#lose(error, getTrouble(error));
  }

  #rollBack(): void {
    if (!this.#file) return;
    const { database } = this.#file;
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has done so itself: https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
    }
    this.#file.tables = new Tables(database, this.#setup);
  }

  /** After an error of the file it is opened anew. */
  #lose(error: unknown, trouble: StoreTrouble): void {
    this.#file?.database.close();
    this.#file = undefined;
    if (isCorruption(error)) this.#moveAside(error);
    this.#say({ says: "closed", trouble, cause: error });
  }

  #open(): void {
    this.#file?.database.close();
    this.#file = undefined;
    try {
      this.#file = openFile(this.#setup);
    } catch (error) {
      if (!isCorruption(error) || !this.#moveAside(error)) throw error;
      this.#file = openFile(this.#setup);
    }
  }

  #moveAside(error: unknown): boolean {
    if (performance.now() - this.#movedAsideAt < moveAsideIntervalMs) return false;
    this.#movedAsideAt = performance.now();
    const { path } = this.#setup;
    const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    try {
      for (const part of parts) if (existsSync(path + part)) renameSync(path + part, aside + part);
      syncFolder(path);
    } catch {
      // The corruption matters more than that the file cannot be moved.
      return false;
    }
    this.#say({ says: "movedAside", path: aside, cause: error });
    return true;
  }

  #tidySoon(delay: number): void {
    clearTimeout(this.#tidying);
    this.#tidying = setTimeout(() => {
      const [answer] = this.#answer([{ number: 0, method: "tidy", args: [] }]);
      const hasMore = answer && "value" in answer && answer.value === true;
      this.#tidySoon(hasMore ? tidyStepMs : tidyIntervalMs);
    }, delay);
  }
}

function openFile(setup: WorkerSetup): OpenFile {
  const { path } = setup;
  const isNew = !existsSync(path);
  // For this user only, as it contains bodies; SQLite gives its other files the same mode.
  closeSync(openSync(path, "a", 0o600));
  if (isNew) syncFolder(path);
  const database = openDatabase(path);
  try {
    prepareSchema(database);
    return { database, inodes: findInodes(path), tables: new Tables(database, setup) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Creates the tables of a new file, and migrates an older one. */
function prepareSchema(database: Database): void {
  database.exec(settings);
  const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (found > schemaVersion) throw createError(`its tables have version ${found}`, newer);
  if (!isNew && found < 1) throw createError("it has tables of something else", 26);
  const steps = isNew ? [readFileSync(join(__dirname, "schema.sql"), "utf8")] : migrations.slice(found - 1);
  if (steps.length === 0) return;
  database.exec(`BEGIN IMMEDIATE; ${steps.join("")}; PRAGMA user_version = ${schemaVersion}; COMMIT`);
}

function findInodes(path: string): (number | undefined)[] {
  return [path, `${path}-wal`].map((part) => statSync(part, { throwIfNoEntry: false })?.ino);
}

/** So that the file's name survives a power cut: fsync(2). Not on Windows. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function listBodies(message: WorkerMessage): Uint8Array[] {
  if (message.says !== "answers") return [];
  return message.answers.flatMap((answer) => {
    const { taken = [], body } = (("value" in answer && answer.value) || {}) as Partial<Taken & StoredDelivery>;
    return body ? [body] : taken.map((stored) => stored.body);
  });
}

function serve(port: MessagePort): void {
  const file = new StoreFile(workerData as WorkerSetup, (message) =>
    port.postMessage(message, listTransfers(listBodies(message))),
  );
  port.on("message", (calls: readonly WorkerCall[] | "close") => {
    if (calls !== "close") return file.take(calls);
    file.close();
    port.close();
  });
}

if (parentPort) serve(parentPort);

// The meaning of errors of SQLite and of the file system.

/** SQLITE_SCHEMA; SQLite itself only uses it within a statement. */
const newer = 17;
/** By the primary code: https://www.sqlite.org/rescode.html#primary_result_code_list. */
const troubleByCode: Readonly<Record<number, StoreTrouble>> = {
  3: "readOnly", // SQLITE_PERM
  5: "unreachable", // SQLITE_BUSY: another process has it
  7: "full", // SQLITE_NOMEM
  8: "readOnly", // SQLITE_READONLY
  10: "broken", // SQLITE_IOERR
  13: "full", // SQLITE_FULL
  14: "unreachable", // SQLITE_CANTOPEN
  [newer]: "newer",
};
/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const corruption = [11, 26];

/** By the names of https://www.man7.org/linux/man-pages/man3/errno.3.html. */
const troubleByName: Readonly<Record<string, StoreTrouble>> = {
  EACCES: "readOnly",
  EPERM: "readOnly",
  EROFS: "readOnly",
  ENOSPC: "full",
  EDQUOT: "full",
  EIO: "broken",
};

/** The primary code of an SQLite error; nothing for another error. */
function getCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
}

/** Of the file system. */
function isOfSystem(error: unknown): error is Error & { code: unknown } {
  return error instanceof Error && "syscall" in error && "code" in error;
}

export function getTrouble(error: unknown): StoreTrouble {
  const code = getCode(error);
  if (code !== undefined) return troubleByCode[code] ?? "broken";
  // Other errors of the file system: the path leads to no file.
  return isOfSystem(error) ? (troubleByName[String(error.code)] ?? "unreachable") : "broken";
}

/** Whether the file is no SQLite database, or a damaged one; damaged JSON is a `SyntaxError`. */
export function isCorruption(error: unknown): boolean {
  return error instanceof SyntaxError || corruption.includes(getCode(error) ?? 0);
}

/** Whether an error may concern one call alone. */
export function isOfCall(error: unknown): boolean {
  const code = getCode(error);
  return code === undefined ? !isOfSystem(error) && !isCorruption(error) : troubleByCode[code] === "full";
}
