// The worker that owns the file: SQLite is synchronous, and each sync would stop every flow.
// All calls that come while a transaction is synced are in the next one.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { StoreTrouble } from "../queue";
import { type Database, NoRoom, openDatabase, Tables } from "./tables";

/** The methods of the tables that can be called. */
export type Method = "open" | "add" | "take" | "putBack" | "end" | "update" | "find" | "look" | "list" | "counts" | "pause" | "resume" | "findKey" | "addKey" | "tidy" | "probe"; // prettier-ignore

/** A call; its answer has the same number. Without a number nobody waits. */
export interface Question<M extends Method = Method> {
  readonly number?: number;
  readonly method: M;
  readonly args: Parameters<Tables[M]>;
}

export type WorkerAnswer =
  | { readonly number: number | undefined; readonly value: unknown }
  | { readonly number: number | undefined; readonly trouble: StoreTrouble; readonly cause: unknown };

export type Message =
  | { readonly says: "answers"; readonly answers: readonly WorkerAnswer[] }
  | { readonly says: "down"; readonly trouble: StoreTrouble; readonly cause: unknown }
  | { readonly says: "up" }
  | { readonly says: "movedAside"; readonly path: string; readonly cause: unknown };

export interface Setup {
  readonly path: string;
  /** Retention in ms. */
  readonly maxAge: number;
  /** The bytes of the file. */
  readonly maxBytes: number;
}

/** How often a store in trouble is tried again, in ms. */
const retryAfterMs = 1000;
/** How often old deliveries are looked for, in ms, and how long other calls have their turn between two steps. */
const tidyIntervalMs = 60_000;
const tidyStepMs = 20;
/** A corrupt file is moved aside at most this often, in ms: on a broken disk every file is corrupt. */
const moveAsideIntervalMs = 60_000;
/** The files of a database in WAL mode: https://www.sqlite.org/walformat.html. */
const parts = ["", "-wal", "-shm"];
const readingMethods: readonly Method[] = ["find", "look", "list", "counts", "findKey"];
const tidying: Question = { method: "tidy", args: [] };
/** Of the schema. A file of another version is moved aside. */
const version = 1;

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

class StoreFile {
  readonly #setup: Setup;
  readonly #say: (message: Message) => void;
  readonly #tidying = setInterval(() => this.take([tidying]), tidyIntervalMs);
  #open: { database: Database; tables: Tables; inode: number | undefined } | undefined;
  #questions: Question[] = [];
  #trouble: StoreTrouble | undefined;
  /** Bytes of the largest body that did not fit since the store last worked. */
  #refusedBytes = 0;
  #retry: NodeJS.Timeout | undefined;
  #movedAsideAt = -Infinity;

  constructor(setup: Setup, say: (message: Message) => void) {
    this.#setup = setup;
    this.#say = say;
    this.take([tidying]);
  }

  take(questions: readonly Question[]): void {
    if (this.#questions.length === 0) setImmediate(() => this.#work());
    this.#questions.push(...questions);
  }

  close(): void {
    this.#work();
    clearInterval(this.#tidying);
    clearTimeout(this.#retry);
    this.#open?.database.close();
  }

  #work(): void {
    const questions = this.#questions.splice(0);
    if (questions.length === 0) return;
    const answers = this.#answerAll(questions);
    const hasMore = questions.some(({ method }, index) => method === "tidy" && Reflect.get(answers[index] ?? {}, "value") === true); // prettier-ignore
    if (hasMore) setTimeout(() => this.take([tidying]), tidyStepMs);
    this.#say({ says: "answers", answers: answers.filter(({ number }) => number !== undefined) });
  }

  /** @returns the results, when they are synced */
  #answerAll(questions: readonly Question[]): WorkerAnswer[] {
    try {
      const { database, tables, inode } = (this.#open ??= this.#openFile());
      const isWriting = questions.some(({ method }) => !readingMethods.includes(method));
      // A deleted or replaced file would lose what is written. SQLITE_CANTOPEN: it is opened anew.
      if (isWriting && findInode(this.#setup.path) !== inode) throw Object.assign(new Error("the file is gone"), { errcode: 14 }); // prettier-ignore
      tables.begin();
      if (isWriting) database.exec("BEGIN IMMEDIATE");
      const answers = questions.map((question) => answer(tables, question));
      if (isWriting) database.exec("COMMIT");
      const refused = questions.filter((_, index) => "trouble" in (answers[index] ?? {}));
      const full = answers.find((each) => "trouble" in each);
      if (full && "trouble" in full) this.#isDown(full.trouble, full.cause, refused);
      // Reading and changing work in a full file, too: only adding proves that there is room.
      else if (questions.some((question) => addedBytes(question) >= this.#refusedBytes)) this.#works();
      return answers;
    } catch (error) {
      return this.#fail(questions, error);
    }
  }

  #fail(questions: readonly Question[], error: unknown): WorkerAnswer[] {
    this.#rollBack(error);
    if (isCorruption(error) && this.#moveAside(error)) return this.#answerAll(questions);
    const trouble = getTrouble(error);
    if (isOfOperation(error)) {
      // One call that fails must not fail the others.
      if (questions.length > 1) return questions.flatMap((question) => this.#answerAll([question]));
      if (trouble !== "full") return questions.map(({ number }) => ({ number, trouble, cause: error }));
    }
    this.#isDown(trouble, error, questions);
    return questions.map(({ number }) => ({ number, trouble, cause: error }));
  }

  /** After an error the file is opened anew. */
  #rollBack(error: unknown): void {
    if (!this.#open) return;
    const { database, tables } = this.#open;
    tables.undone();
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has done so itself: https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
    }
    if (isOfOperation(error)) return;
    database.close();
    this.#open = undefined;
  }

  #openFile(): { database: Database; tables: Tables; inode: number | undefined } {
    const { path } = this.#setup;
    const isNew = !existsSync(path);
    // For this user only, as it contains bodies; SQLite gives its other files the same mode.
    closeSync(openSync(path, "a", 0o600));
    if (isNew) syncFolder(path);
    const database = openDatabase(path);
    try {
      database.exec(settings);
      const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
      const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
      if (!isEmpty && found !== version) throw Object.assign(new Error(`its tables have version ${found}`), { errcode: 26 }); // prettier-ignore
      database.exec(`PRAGMA user_version = ${version}`);
      return { database, tables: new Tables(database, this.#setup), inode: findInode(path) };
    } catch (error) {
      database.close();
      throw error;
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

  #works(): void {
    clearTimeout(this.#retry);
    this.#refusedBytes = 0;
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#say({ says: "up" });
  }

  /** @param refused the calls that failed */
  #isDown(trouble: StoreTrouble, cause: unknown, refused: readonly Question[]): void {
    clearTimeout(this.#retry);
    // A body of more than half of the room may never fit, which does not concern the others.
    this.#refusedBytes = Math.min(Math.max(this.#refusedBytes, ...refused.map(addedBytes)), this.#setup.maxBytes / 2);
    this.#retry = setTimeout(() => this.take([{ method: "probe", args: [this.#refusedBytes] }]), retryAfterMs);
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#say({ says: "down", trouble, cause });
  }
}

function findInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Bytes of the body that a call adds; -1 where it adds none. */
function addedBytes({ method, args }: Question): number {
  if (method === "probe") return Number(args[0]);
  const [, , body] = args;
  return method === "add" && body instanceof Uint8Array ? body.length : -1;
}

/** A call that finds no room has changed nothing. */
function answer(tables: Tables, { number, method, args }: Question): WorkerAnswer {
  try {
    return { number, value: (tables[method] as (...args: unknown[]) => unknown).apply(tables, [...args]) };
  } catch (error) {
    if (error instanceof NoRoom) return { number, trouble: "full", cause: error };
    throw error;
  }
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

function serve(port: MessagePort): void {
  const file = new StoreFile(workerData as Setup, (message) => port.postMessage(message));
  port.on("message", (questions: readonly Question[] | "close") => {
    if (questions !== "close") return file.take(questions);
    file.close();
    port.close();
  });
}

if (parentPort) serve(parentPort);

// The meaning of errors of SQLite and of the file system.

/** By the primary code: https://www.sqlite.org/rescode.html#primary_result_code_list. */
const troubleByCode: Readonly<Record<number, StoreTrouble>> = {
  3: "readOnly", // SQLITE_PERM
  5: "unreachable", // SQLITE_BUSY: another process has it
  7: "full", // SQLITE_NOMEM
  8: "readOnly", // SQLITE_READONLY
  10: "broken", // SQLITE_IOERR
  13: "full", // SQLITE_FULL
  14: "unreachable", // SQLITE_CANTOPEN
};
/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const corruption = [11, 26];
/** Errors of a statement, not of the file: SQLITE_TOOBIG, _CONSTRAINT, _MISMATCH, _MISUSE and _RANGE. */
const ofStatement = [18, 19, 20, 21, 25];

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

export function getTrouble(error: unknown): StoreTrouble {
  if (error instanceof NoRoom) return "full";
  const code = getCode(error);
  if (code !== undefined) return troubleByCode[code] ?? "broken";
  // Other errors of the file system: the path leads to no file.
  const isOfSystem = error instanceof Error && "syscall" in error && "code" in error;
  return isOfSystem ? (troubleByName[String(error.code)] ?? "unreachable") : "broken";
}

/** Whether the file is no SQLite database, or a damaged one. */
export function isCorruption(error: unknown): boolean {
  return corruption.includes(getCode(error) ?? 0);
}

/** Whether an error may concern one call alone. */
export function isOfOperation(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const code = getCode(error);
  return code !== undefined && (troubleByCode[code] === "full" || ofStatement.includes(code));
}
