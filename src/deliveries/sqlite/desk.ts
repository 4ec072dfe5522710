// What comes to the worker is done here: all that has come while a transaction was synced is in the next one.

import type { Trouble } from "../store";
import { moveAside, StoreFile } from "./file";
import {
  type Answer,
  type Asked,
  type FromWorker,
  type Outcome,
  type Request,
  type Setup,
  writing,
} from "./operations";
import { Tables } from "./tables";
import { isCorruption, isOfOperation, NoRoom, troubleOf } from "./troubles";

/** How long it waits while it is in trouble, until it tries whether it works again, in ms. */
const retryAfter = 1000;
/** How often it looks for what is too old, in ms. */
const tidyEvery = 60_000;
/** How long others have their turn between two steps of dropping what is too old, in ms. */
const betweenSteps = 20;
/** How often a corrupt file is moved aside at most, in ms: on a broken disk, all would be corrupt. */
const movedAsideEvery = 60_000;

const tidying: Asked[] = [{ number: undefined, request: { kind: "tidy", asks: undefined, bytes: undefined } }];
const probing: Asked[] = [{ number: undefined, request: { kind: "probe", asks: undefined, bytes: undefined } }];

/** An open file with its tables. */
interface Open {
  file: StoreFile;
  tables: Tables;
}

export class Desk {
  readonly #setup: Setup;
  readonly #say: (what: FromWorker) => void;
  readonly #tidying = setInterval(() => this.take(tidying), tidyEvery);
  #next: NodeJS.Timeout | undefined;
  #waiting: Asked[] = [];
  #open: Open | undefined;
  #trouble: Trouble | undefined;
  #retry: NodeJS.Timeout | undefined;
  #movedAside = -Infinity;
  #isClosed = false;

  constructor(setup: Setup, say: (what: FromWorker) => void) {
    this.#setup = setup;
    this.#say = say;
    this.take(tidying);
  }

  /** It is done when all that came with it is here. */
  take(asked: Asked[]): void {
    if (this.#isClosed) return;
    if (this.#waiting.length === 0) setImmediate(() => this.#work());
    this.#waiting = this.#waiting.concat(asked);
  }

  /** Does what has come, and is done. What has no name by now has one again, or is lost. */
  close(): void {
    if (this.#open) this.take(tidying);
    this.#work();
    this.#isClosed = true;
    clearInterval(this.#tidying);
    clearTimeout(this.#next);
    clearTimeout(this.#retry);
    this.#open?.file.close();
  }

  #work(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    const outcomes = this.#perform(batch.map(({ request }) => request));
    const answers: Answer[] = [];
    for (const [index, { number, request }] of batch.entries()) {
      const outcome = outcomes[index];
      if (!outcome) continue;
      if (number !== undefined) answers.push({ number, ...outcome });
      else if (request.kind === "tidy" && "value" in outcome && outcome.value) this.#tidyOn();
    }
    this.#say({ says: "answers", answers });
  }

  #tidyOn(): void {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.take(tidying), betweenSteps);
  }

  /** @returns what became of each, when it is as safe as it gets */
  #perform(batch: Request[]): Outcome[] {
    try {
      const outcomes = this.#transact(batch);
      this.#note(batch, outcomes);
      return outcomes;
    } catch (error) {
      return this.#fail(batch, error);
    }
  }

  #transact(batch: Request[]): Outcome[] {
    this.#remakeIfGone();
    const { file, tables } = (this.#open ??= this.#opened());
    const isWriting = batch.some(({ kind }) => writing.includes(kind));
    tables.begin();
    if (isWriting) file.database.exec("BEGIN IMMEDIATE");
    const outcomes = batch.map((request) => performed(tables, request));
    if (isWriting) file.database.exec("COMMIT");
    // What was written to a file that nobody finds again is not kept: it is done once more, in the one that is found.
    if (this.#remakeIfGone()) return this.#transact(batch);
    return outcomes;
  }

  #opened(): Open {
    const file = new StoreFile(this.#setup.path);
    try {
      return { file, tables: new Tables(file.database, this.#setup) };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** @returns whether it has been closed, to be opened anew */
  #remakeIfGone(): boolean {
    const file = this.#open?.file;
    if (file?.isGone) file.remake();
    // To be closed writes the log into the file.
    else if (file?.isLogGone) file.close();
    else return false;
    this.#open = undefined;
    return true;
  }

  #fail(batch: Request[], error: unknown): Outcome[] {
    this.#rollBack(error);
    if (isCorruption(error) && this.#moveAside(error)) return this.#perform(batch);
    const trouble = troubleOf(error);
    if (isOfOperation(error)) {
      // So that what cannot be kept takes nothing else along.
      if (batch.length > 1) return batch.flatMap((request) => this.#perform([request]));
      if (trouble !== "full") return [{ trouble, cause: error }];
    }
    this.#tell(trouble, error);
    return batch.map(() => ({ trouble, cause: error }));
  }

  /** What a file does after an error is up to the error, so it is opened anew; but what is gone can be read here only. */
  #rollBack(error: unknown): void {
    if (!this.#open) return;
    this.#open.tables.undone();
    try {
      this.#open.file.database.exec("ROLLBACK");
    } catch {
      // SQLite has done so by itself: https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
    }
    if (isOfOperation(error) || !(isCorruption(error) || this.#open.file.isHere)) return;
    this.#open.file.close();
    this.#open = undefined;
  }

  #moveAside(error: unknown): boolean {
    if (performance.now() - this.#movedAside < movedAsideEvery) return false;
    this.#movedAside = performance.now();
    try {
      const path = moveAside(this.#setup.path);
      this.#say({ says: "movedAside", path, cause: error });
      return true;
    } catch {
      // That it is corrupt says more than that it cannot be moved.
      return false;
    }
  }

  /** It works where something could be added; to change or to read is possible in a full file, too. */
  #note(batch: Request[], outcomes: Outcome[]): void {
    const failure = outcomes.find((outcome) => "trouble" in outcome);
    if (failure) return this.#tell(failure.trouble, failure.cause);
    if (this.#trouble === undefined || !batch.some(({ kind }) => kind === "add" || kind === "probe")) return;
    this.#trouble = undefined;
    clearTimeout(this.#retry);
    this.#say({ says: "mended" });
  }

  #tell(trouble: Trouble, cause: unknown): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.take(probing), retryAfter);
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#say({ says: "troubled", trouble, cause });
  }
}

/** What finds no room has changed nothing, and others go on. */
function performed(tables: Tables, request: Request): Outcome {
  try {
    return { value: tables.perform(request) };
  } catch (error) {
    if (error instanceof NoRoom) return { trouble: "full", cause: error };
    throw error;
  }
}
