// The thread that has the file: SQLite is synchronous, and each sync would stop every flow. All that has come while a
// transaction was synced is in the next one.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { StoreTrouble } from "../queue";
import { type Database, NoRoom, openDatabase, Tables } from "./tables";

/** The methods of the tables that can be asked for. */
export type Method = "open" | "add" | "take" | "putBack" | "end" | "update" | "find" | "look" | "list" | "counts" | "pause" | "resume" | "findKey" | "addKey" | "tidy" | "probe"; // prettier-ignore

/** One question; its answer has the same number. Nobody waits for what has none. */
export interface Question<M extends Method = Method> {
  readonly number?: number;
  readonly method: M;
  readonly args: Parameters<Tables[M]>;
}

export type WorkerAnswer =
  | { readonly number: number | undefined; readonly value: unknown }
  | { readonly number: number | undefined; readonly trouble: StoreTrouble; readonly cause: unknown };

/** What the worker says. */
export type Message =
  | { readonly says: "answers"; readonly answers: readonly WorkerAnswer[] }
  | { readonly says: "down"; readonly trouble: StoreTrouble; readonly cause: unknown }
  | { readonly says: "up" }
  | { readonly says: "movedAside"; readonly path: string; readonly cause: unknown };

/** What the worker is told when it is started. */
export interface Setup {
  readonly path: string;
  /** How long finished deliveries are kept, in ms. */
  readonly maxAge: number;
  /** How much of the file is filled at most, in bytes. */
  readonly maxBytes: number;
}

/** Until it is tried whether a store in trouble works again, in ms. */
const retryAfterMs = 1000;
/** How often it is looked for what is too old, in ms, and how long others have their turn between two steps of dropping. */
const tidyIntervalMs = 60_000;
const tidyStepMs = 20;
/** How often a corrupt file is moved aside at most, in ms: on a broken disk, all would be corrupt. */
const moveAsideIntervalMs = 60_000;
/** What belongs to a database in WAL mode, by what follows its name: https://www.sqlite.org/walformat.html. */
const parts = ["", "-wal", "-shm"];
const readingMethods: readonly Method[] = ["find", "look", "list", "counts", "findKey"];
const tidying: Question = { method: "tidy", args: [] };
/** Of the tables. A file of another version is moved aside. */
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
  /** The largest body that found no room since it last worked, in bytes: that smaller ones find some says little. */
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

  /** @returns what became of each, when it is as safe as it gets */
  #answerAll(questions: readonly Question[]): WorkerAnswer[] {
    try {
      const { database, tables, inode } = (this.#open ??= this.#openFile());
      const isWriting = questions.some(({ method }) => !readingMethods.includes(method));
      // Of a file that was deleted or replaced, nobody would ever see what is written. SQLITE_CANTOPEN: it is opened anew.
      if (isWriting && findInode(this.#setup.path) !== inode) throw Object.assign(new Error("the file is gone"), { errcode: 14 }); // prettier-ignore
      tables.begin();
      if (isWriting) database.exec("BEGIN IMMEDIATE");
      const answers = questions.map((question) => answer(tables, question));
      if (isWriting) database.exec("COMMIT");
      const refused = questions.filter((_, index) => "trouble" in (answers[index] ?? {}));
      const full = answers.find((each) => "trouble" in each);
      if (full && "trouble" in full) this.#isDown(full.trouble, full.cause, refused);
      // To change or to read is possible in a full file, too: that something could be added says that it works.
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
      // So that what cannot be stored takes nothing else along.
      if (questions.length > 1) return questions.flatMap((question) => this.#answerAll([question]));
      if (trouble !== "full") return questions.map(({ number }) => ({ number, trouble, cause: error }));
    }
    this.#isDown(trouble, error, questions);
    return questions.map(({ number }) => ({ number, trouble, cause: error }));
  }

  /** What a file does after an error is up to the error, so it is opened anew. */
  #rollBack(error: unknown): void {
    if (!this.#open) return;
    const { database, tables } = this.#open;
    tables.undone();
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has done so by itself: https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
    }
    if (isOfOperation(error)) return;
    database.close();
    this.#open = undefined;
  }

  #openFile(): { database: Database; tables: Tables; inode: number | undefined } {
    const { path } = this.#setup;
    const isNew = !existsSync(path);
    // With bodies of requests in it, it is nobody else's; SQLite gives what belongs to it the same mode.
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
      // That it is corrupt says more than that it cannot be moved.
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

  /** @param refused what could not be done */
  #isDown(trouble: StoreTrouble, cause: unknown, refused: readonly Question[]): void {
    clearTimeout(this.#retry);
    // A body of more than half of the room may never find any, which is not the trouble of the others.
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

/** How large a body is that a question adds, or tries to add; -1 for one that adds nothing. */
function addedBytes({ method, args }: Question): number {
  if (method === "probe") return Number(args[0]);
  const [, , body] = args;
  return method === "add" && body instanceof Uint8Array ? body.length : -1;
}

/** What finds no room has changed nothing, and others go on. */
function answer(tables: Tables, { number, method, args }: Question): WorkerAnswer {
  try {
    return { number, value: (tables[method] as (...args: unknown[]) => unknown).apply(tables, [...args]) };
  } catch (error) {
    if (error instanceof NoRoom) return { number, trouble: "full", cause: error };
    throw error;
  }
}

/** So that the name of a file is there after a power cut as well: fsync(2). Windows has nothing of the kind. */
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

// What the errors of SQLite and of the file system mean to a store.

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
/** What SQLite says of a statement, and not of its file: SQLITE_TOOBIG, _CONSTRAINT, _MISMATCH, _MISUSE and _RANGE. */
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

/** The primary code of an error of SQLite; nothing for another's. */
function getCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
}

export function getTrouble(error: unknown): StoreTrouble {
  if (error instanceof NoRoom) return "full";
  const code = getCode(error);
  if (code !== undefined) return troubleByCode[code] ?? "broken";
  // The rest of what the file system says is about a way that does not lead to a file.
  const isOfSystem = error instanceof Error && "syscall" in error && "code" in error;
  return isOfSystem ? (troubleByName[String(error.code)] ?? "unreachable") : "broken";
}

/** Whether what is in the file is none of SQLite's, or no longer. */
export function isCorruption(error: unknown): boolean {
  return corruption.includes(getCode(error) ?? 0);
}

/** Whether an error may be that of one operation alone, so that others can be done without it. */
export function isOfOperation(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const code = getCode(error);
  return code !== undefined && (troubleByCode[code] === "full" || ofStatement.includes(code));
}
