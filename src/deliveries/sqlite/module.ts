// What is used of `node:sqlite`, which the types of Node.js 20 do not know.

import { isBuiltin } from "node:module";

/** What a column holds; a BLOB is a `Uint8Array` when it is read. */
export type Value = null | number | string | Uint8Array;
export type Row = Record<string, Value>;

/** https://nodejs.org/api/sqlite.html#class-statementsync */
export interface Statement {
  run(...values: Value[]): { changes: number; lastInsertRowid: number };
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
}

/** https://nodejs.org/api/sqlite.html#class-databasesync */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Sqlite {
  DatabaseSync: new (path: string) => Database;
}

/** Whether this Node.js has SQLite without a flag: from 22.13 on. */
export function sqliteIsHere(): boolean {
  return isBuiltin("node:sqlite");
}

/** @throws an error with the `errcode` of SQLite: https://www.sqlite.org/rescode.html */
export function openDatabase(path: string): Database {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as unknown as Sqlite;
  return new DatabaseSync(path);
}
