import should from "should";
import type { StoreTrouble } from "../../../src/deliveries/queue";
import { getTrouble, isCorruption, isOfCall } from "../../../src/deliveries/sqlite/worker";

const ofSqlite = (errcode: number) => Object.assign(new Error("of SQLite"), { code: "ERR_SQLITE_ERROR", errcode });
const ofSystem = (code: string) => Object.assign(new Error("of the system"), { code, syscall: "open" });

describe("what an error of the file means:", () => {
  const errors: [string, unknown, StoreTrouble, string][] = [
    ["SQLITE_FULL", ofSqlite(13), "full", "call"],
    ["SQLITE_NOMEM", ofSqlite(7), "full", "call"],
    ["SQLITE_READONLY_DBMOVED", ofSqlite(1032), "readOnly", "file"],
    ["SQLITE_IOERR_WRITE", ofSqlite(778), "broken", "file"],
    ["SQLITE_CANTOPEN_ISDIR", ofSqlite(526), "unreachable", "file"],
    ["SQLITE_BUSY", ofSqlite(5), "unreachable", "file"],
    ["SQLITE_CORRUPT_INDEX", ofSqlite(779), "broken", "corruption"],
    ["SQLITE_NOTADB", ofSqlite(26), "broken", "corruption"],
    ["a newer version's tables", ofSqlite(17), "newer", "file"],
    ["SQLITE_TOOBIG", ofSqlite(18), "broken", "file"],
    ["SQLITE_ERROR", ofSqlite(1), "broken", "file"],
    ["EACCES", ofSystem("EACCES"), "readOnly", "file"],
    ["EROFS", ofSystem("EROFS"), "readOnly", "file"],
    ["ENOSPC", ofSystem("ENOSPC"), "full", "file"],
    ["ENOENT", ofSystem("ENOENT"), "unreachable", "file"],
    ["EISDIR", ofSystem("EISDIR"), "unreachable", "file"],
    ["EIO", ofSystem("EIO"), "broken", "file"],
    ["a value that SQLite does not take", new TypeError("no"), "broken", "call"],
    ["anything else", new Error("no"), "broken", "call"],
    ["damaged JSON", new SyntaxError("no"), "broken", "corruption"],
  ];
  for (const [name, error, trouble, of] of errors) {
    it(`${name} is "${trouble}", of the ${of}`, () => {
      getTrouble(error).should.equal(trouble);
      should(isOfCall(error)).equal(of === "call");
      should(isCorruption(error)).equal(of === "corruption");
    });
  }
});
