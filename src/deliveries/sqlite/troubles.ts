// What the errors of SQLite and of the file system mean to a store.

import type { Trouble } from "../store";

/** There is no room, and nothing that may be dropped. */
export class NoRoom extends Error {
  constructor() {
    super("deliveries that are not done fill the room");
  }
}

/** By the primary code: https://www.sqlite.org/rescode.html#primary_result_code_list. */
const byCode: Readonly<Record<number, Trouble>> = {
  3: "readOnly", // SQLITE_PERM
  5: "unreachable", // SQLITE_BUSY: another process has it
  7: "full", // SQLITE_NOMEM
  8: "readOnly", // SQLITE_READONLY
  10: "broken", // SQLITE_IOERR
  13: "full", // SQLITE_FULL
  14: "unreachable", // SQLITE_CANTOPEN
};
const corrupt = 11;
const notADatabase = 26;
/** What SQLite says of a statement, and not of its file: SQLITE_TOOBIG, _CONSTRAINT, _MISMATCH, _MISUSE and _RANGE. */
const ofStatement = [18, 19, 20, 21, 25];

/** By the names of https://www.man7.org/linux/man-pages/man3/errno.3.html. */
const byName: Readonly<Record<string, Trouble>> = {
  EACCES: "readOnly",
  EPERM: "readOnly",
  EROFS: "readOnly",
  ENOSPC: "full",
  EDQUOT: "full",
  EIO: "broken",
};

/** The primary code of an error of SQLite; nothing for another's. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && "errcode" in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof NoRoom) return "full";
  const code = codeOf(error);
  if (code !== undefined) return byCode[code] ?? "broken";
  // The rest of what the file system says is about a way that does not lead to a file.
  const isOfSystem = error instanceof Error && "syscall" in error && "code" in error;
  return isOfSystem ? (byName[String(error.code)] ?? "unreachable") : "broken";
}

/** Whether what is in the file is none of SQLite's, or no longer. */
export function isCorruption(error: unknown): boolean {
  const code = codeOf(error);
  return code === corrupt || code === notADatabase;
}

/** Whether an error may be that of one operation alone, so that others can be done without it. */
export function isOfOperation(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const code = codeOf(error);
  return code !== undefined && (byCode[code] === "full" || ofStatement.includes(code));
}
