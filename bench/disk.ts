/** How a store in a file is to work with when it is full, and when its disk is slow. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileName } from "../src/config/stores";
import { maxBytes, type Position, type Query } from "../src/deliveries/queue";
import { SqliteQueue } from "../src/deliveries/sqlite/sqlite-queue";
import { Fault, Faults, faultyWorker } from "../test/harness/faults";
import { delivered } from "../test/harness/deliveries";
import { Listener } from "../test/harness/listener";
import { connections, milliseconds, report, rounds, spread } from "./figures";

const body = Buffer.alloc(1000, "x");
const gigabyte = 1024 ** 3;
const syncTakes = 100;
const age = 3_600_000;
let last = 0;

export async function disk(): Promise<void> {
  process.stdout.write("a full store in a file\n");
  const folder = mkdtempSync(join(tmpdir(), "webhook-trigger-bench-"));
  const sizeOf = () => statSync(join(folder, fileName)).size / gigabyte;
  await fill(folder, sizeOf);
  await opening(folder, sizeOf);
  rmSync(folder, { recursive: true });
  await slowSyncs();
}

/** @param options of `SqliteQueue` */
async function openedIn(folder: string, options: ConstructorParameters<typeof SqliteQueue>[1]): Promise<SqliteQueue> {
  const store = new SqliteQueue(folder, options);
  await store.open(new Listener());
  return store;
}

/** Adds one after the other over so many connections. */
async function add(store: SqliteQueue, isEnough: () => boolean, over: number): Promise<void> {
  const addInTurn = async () => {
    while (!isEnough()) {
      const node = `n${last % 10}`;
      await store.add(delivered(`${++last}`, { node, at: Date.now() - age }), body);
    }
  };
  await Promise.all(Array.from({ length: over }, addInTurn));
}

async function fill(folder: string, sizeOf: () => number): Promise<void> {
  const store = await openedIn(folder, {});
  await add(store, () => sizeOf() > (maxBytes / gigabyte) * 0.99, 512);
  await store.close();
}

async function opening(folder: string, sizeOf: () => number): Promise<void> {
  const times: number[] = [];
  const queries: Query[] = [
    { limit: 50 },
    { limit: 50, node: "n3" },
    { limit: 50, state: "succeeded" },
    { limit: 50, node: "n3", state: "succeeded" },
    { limit: 50, text: "example.com" },
  ];
  const pages: number[] = [];
  const time = async (act: () => Promise<unknown>, into: number[]) => {
    const start = performance.now();
    await act();
    into.push(performance.now() - start);
  };
  for (let round = 0; round < rounds; round++) {
    const store = new SqliteQueue(folder);
    await time(() => store.open(new Listener()), times);
    for (const query of queries) {
      let before: Position | undefined;
      for (let page = 0; page < 5; page++) {
        await time(async () => (before = (await store.list({ ...query, before })).at(-1)), pages);
      }
    }
    await store.close();
  }
  const file = `a file of ${sizeOf().toFixed(2)} GB`;
  report(`opening ${file}`, "≤ 1,000 ms", `${spread(times, 0)} ms`);
  report(`a page of 50 deliveries out of it, by node, state and text`, "≤ 50 ms", `${spread(pages, 1)} ms`);
}

/** What an event loop is held up by, at most in 99 of 100 cases, while the disk takes its time. */
async function slowSyncs(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "webhook-trigger-bench-"));
  const faults = new Faults();
  const store = await openedIn(folder, { worker: faultyWorker });
  faults.set(Fault.slow, syncTakes);
  const held: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const end = performance.now() + milliseconds;
    delay.enable();
    await add(store, () => performance.now() > end, connections);
    delay.disable();
    held.push(delay.percentile(99) / 1e6);
  }
  report(`99th percentile of the event loop's delay while each sync takes ${syncTakes} ms`, "≤ 20 ms", `${spread(held, 1)} ms`); // prettier-ignore
  faults.clear();
  await store.close();
  rmSync(folder, { recursive: true });
}
