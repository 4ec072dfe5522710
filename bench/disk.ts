/** How a store in a file is to work with when it is full, and when its disk is slow. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Position, Query } from "../src/deliveries/queue";
import { fileName, maxBytes, SqliteQueue } from "../src/deliveries/sqlite/sqlite-queue";
import { Fault, Faults, faultyWorker } from "../test/harness/faults";
import { delivered } from "../test/harness/deliveries";
import { Listener } from "../test/harness/listener";
import { connections, detail, milliseconds, report, rounds, spread } from "./figures";

const body = Buffer.alloc(1000, "x");
const gigabyte = 1024 ** 3;
const many = 100_000;
const syncTakes = 100;
const age = 3_600_000;
let last = 0;

export async function disk(): Promise<void> {
  process.stdout.write("a full store in a file\n");
  const folder = mkdtempSync(join(tmpdir(), "webhook-trigger-bench-"));
  const sizeOf = () => statSync(join(folder, fileName)).size / gigabyte;
  await dropping(folder, sizeOf);
  await opening(folder, sizeOf);
  await aging(folder);
  rmSync(folder, { recursive: true });
  await slowSyncs();
}

/** @param options of `SqliteQueue` */
async function openedIn(folder: string, options: ConstructorParameters<typeof SqliteQueue>[1]): Promise<SqliteQueue> {
  const store = new SqliteQueue(folder, options);
  await store.open(new Listener());
  return store;
}

/** Adds one after the other over so many connections. @returns how many in a second, and how long each took, in ms */
async function add(store: SqliteQueue, isEnough: (added: number) => boolean, over = connections, at = Date.now()) {
  const start = performance.now();
  const latencies: number[] = [];
  const one = async () => {
    while (!isEnough(latencies.length)) {
      const begin = performance.now();
      const node = `n${last % 10}`;
      await store.add(delivered(`${++last}`, { node, at }), body);
      latencies.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: over }, one));
  return { rate: (latencies.length / (performance.now() - start)) * 1000, latencies };
}

/** What comes when there is no room: the oldest goes for it. */
async function dropping(folder: string, sizeOf: () => number): Promise<void> {
  const store = await openedIn(folder, {});
  const old = Date.now() - age;
  const before = await add(store, (added) => added >= many, connections, old);
  await add(store, () => sizeOf() > (maxBytes / gigabyte) * 0.99, 512, old);
  const after = await add(store, (added) => added >= many, connections, old);
  detail("deliveries stored in a second in a full file, vs in one with room", `**${(after.rate / before.rate).toFixed(2)}**`); // prettier-ignore
  detail("the slowest of them", `**${Math.max(...after.latencies).toFixed(0)}** ms`);
  detail("the size of the file after them (about 1 GB)", `**${sizeOf().toFixed(2)}** GB`);
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

/** All of it is too old at once, while others come. */
async function aging(folder: string): Promise<void> {
  const store = await openedIn(folder, { maxAge: age / 2 });
  const start = performance.now();
  let isOver = false;
  const adding = add(store, () => isOver, 1);
  const began = { at: Date.now() - age / 2, id: "" };
  while ((await store.list({ limit: 1, before: began })).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const seconds = (performance.now() - start) / 1000;
  isOver = true;
  const { latencies } = await adding;
  detail("until all of it is dropped for its age", `**${seconds.toFixed(0)}** s`);
  detail("the slowest delivery meanwhile, one after the other", `**${Math.max(...latencies).toFixed(0)}** ms`);
  await store.close();
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
    await add(store, () => performance.now() > end);
    delay.disable();
    held.push(delay.percentile(99) / 1e6);
  }
  report(`99th percentile of the event loop's delay while each sync takes ${syncTakes} ms`, "≤ 20 ms", `${spread(held, 1)} ms`); // prettier-ignore
  faults.clear();
  await store.close();
  rmSync(folder, { recursive: true });
}
