/** How many deliveries the engines take, by themselves: in memory, in a file next to what the disk gives, in a server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { MemoryStore } from "../src/deliveries/memory-store";
import { openDatabase } from "../src/deliveries/sqlite/module";
import { SqliteStore } from "../src/deliveries/sqlite-store";
import type { Store } from "../src/deliveries/store";
import { ValkeyStore } from "../src/deliveries/valkey-store";
import { claimsOf, delivered, Told } from "../test/harness/stores";
import { ValkeyServer } from "../test/harness/valkey";
import { connections, inTurns, median, milliseconds, ratios, report, rounds, spread } from "./figures";

const body = Buffer.from(JSON.stringify({ text: "x".repeat(89) }));
const unfinished = 100_000;
let last = 0;

export async function store(): Promise<void> {
  process.stdout.write("deliveries that are kept\n");
  const folder = mkdtempSync(join(tmpdir(), "webhook-trigger-bench-"));
  const server = await ValkeyServer.start();
  const inMemory = new MemoryStore();
  const inFile = await opened(new SqliteStore(folder));
  const inServer = await opened(new ValkeyStore({ url: server.url() }));
  const own = ownPace(join(folder, "own.sqlite"));
  const paces = await inTurns("/s", {
    own,
    file: () => pace(inFile, "queued"),
    server: () => pace(inServer, "queued"),
    memory: () => pace(inMemory, "succeeded"),
  });
  report(`deliveries kept in a file by ${connections} at once, vs its own pace in batches of as many`, "–", spread(ratios(paces.file, paces.own))); // prettier-ignore
  report("the same in a second", "≥ 3,000, or half of its own pace", spread(paces.file, 0));
  report(`deliveries kept in Valkey or Redis by ${connections} at once, each synced, vs in memory`, "–", spread(ratios(paces.server, paces.memory), 3)); // prettier-ignore
  report("the same in a second", "–", spread(paces.server, 0));
  report("deliveries kept in memory, in a second", "–", `**${median(paces.memory).toFixed(0)}**`);
  for (const each of [inFile, inServer]) await each.close();
  rmSync(folder, { recursive: true });
  await pauses("in a file", (place) => new SqliteStore(place));
  await pauses("in Valkey or Redis", () => new ValkeyStore({ url: server.url(), namespace: "pauses" }));
  await server.stop();
}

async function opened<Each extends Store>(each: Each): Promise<Each> {
  await each.open(new Told());
  return each;
}

/** Deliveries in a second. */
async function pace(of: Store, state: "queued" | "succeeded"): Promise<number> {
  const start = performance.now();
  const [end, before] = [start + milliseconds, last];
  const add = async () => {
    while (performance.now() < end) await of.add(delivered(`${++last}`, { state }), body);
  };
  await Promise.all(Array.from({ length: connections }, add));
  return ((last - before) / (performance.now() - start)) * 1000;
}

/** The least that a file can be: one table, in transactions of as many rows as there are connections. */
function ownPace(path: string): () => Promise<number> {
  const database = openDatabase(path);
  database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE deliveries (id TEXT NOT NULL UNIQUE, head TEXT NOT NULL, body BLOB NOT NULL)");
  const insert = database.prepare("INSERT INTO deliveries VALUES (?, ?, ?)");
  return () => {
    const start = performance.now();
    let rows = 0;
    for (; performance.now() < start + milliseconds; rows += connections) {
      database.exec("BEGIN");
      for (let row = 0; row < connections; row++) insert.run(`${++last}`, JSON.stringify(delivered("")), body);
      database.exec("COMMIT");
    }
    return Promise.resolve((rows / (performance.now() - start)) * 1000);
  };
}

/**
 * How long everything else waits while a start pages through what is unfinished.
 *
 * @param create in an empty folder
 */
async function pauses(where: string, create: (folder: string) => Store): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "webhook-trigger-bench-"));
  const kept = await opened(create(folder));
  for (let sent = 0; sent < unfinished; sent += 10_000) {
    await Promise.all(
      Array.from({ length: 10_000 }, () => kept.add(delivered(`${++last}`, { state: "queued" }), body)),
    );
  }
  const longest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await claimsOf(kept, "n", 100);
    delay.disable();
    longest.push(delay.max / 1e6);
  }
  const count = unfinished.toLocaleString("en");
  report(
    `longest pause while ${count} unfinished deliveries ${where} are claimed`,
    "≤ 50 ms",
    `${spread(longest, 0)} ms`,
  );
  await kept.close();
  rmSync(folder, { recursive: true });
}
