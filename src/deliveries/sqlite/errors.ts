// What the errors of SQLite and of the file system mean to a store.

import type { Trouble } from "../queue";

/** There is no room, and nothing that may be dropped. */
export class NoRoom extends Error {
  constructor() {
    super("unfinished deliveries fill the room");
  }
}

/** By the primary code: https://www.sqlite.org/rescode.html#primary_result_code_list. */
const troubleByCode: Readonly<Record<number, Trouble>> = {
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
const troubleByName: Readonly<Record<string, Trouble>> = {
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

export function getTrouble(error: unknown): Trouble {
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
