// Whether a server keeps what it has acknowledged, as far as it tells.

import type { Warning } from "../store";
import type { Connection } from "./connection";

/** What a server that is not set up for this is to be warned of. Some let nobody see how they are set up. */
export async function warningsOf(connection: Connection): Promise<Warning[]> {
  const info = await fields(connection, "INFO");
  const appendsOnly = info.get("aof_enabled");
  const evicts = ![undefined, "noeviction"].includes(info.get("maxmemory_policy")) && info.get("maxmemory") !== "0";
  const sync = appendsOnly === "1" ? await syncOf(connection) : "always";
  return [
    ...(appendsOnly === "0" ? (["notPersistent"] as const) : []),
    ...(sync !== "always" ? (["everySecond"] as const) : []),
    ...(evicts ? (["evicts"] as const) : []),
  ];
}

async function syncOf(connection: Connection): Promise<string> {
  const reply = await connection.command("CONFIG", "GET", "appendfsync").catch(() => undefined);
  return Array.isArray(reply) ? String(reply[1] ?? "always") : "always";
}

/** By the names of https://valkey.io/commands/info/; none where that is not allowed. */
async function fields(connection: Connection, command: string): Promise<Map<string, string>> {
  const text = await connection.command(command).catch(() => "");
  const lines = String(text).split("\r\n");
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}
