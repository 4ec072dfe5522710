/**
 * A server that keeps what comes until its flow is done with it, and is killed. Its flow adds to the journal what starts
 * it and what it is done with; every now and then it is held, as in a deploy. Its argument is a `Life` as JSON.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { scheduler } from "node:timers/promises";
import { Custody, type First } from "../../src/custody";
import type { Kept } from "../../src/deliveries/delivery";
import type { Ending, Flow } from "../../src/deliveries/flow";
import { Keeper } from "../../src/deliveries/keeper";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import type { Claim, Store } from "../../src/deliveries/store";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { Problem } from "../../src/problem";
import { Recorder } from "../../src/recorder";
import { Redactor } from "../../src/trust/redactor";
import { Reception } from "./reception";
import { Told } from "./stores";

export interface Life {
  store: { folder: string } | { url: string };
  /** The path of the journal. */
  journal: string;
  /** At which start of the flow it kills itself, counted from 1; at none where it is 0. */
  killAt: number;
}

export const node = "hook";
const limit = 1_000_000;
/** What is dead is to be found soon. */
const beats = { beatEvery: 100, beatLasts: 400 };
const claimEvery = 100;

class JournalFlow implements Flow<First> {
  /** So few that a process which is killed again and again uses them up. */
  readonly retry = { attempts: 5, backoffFirst: 1000, backoffLongest: 60_000 };
  readonly fared = () => undefined;
  readonly gaveUp = () => undefined;
  readonly redelivered = () => undefined;
  readonly #recorder: Recorder;
  readonly #life: Life;
  #starts = 0;

  constructor(recorder: Recorder, life: Life) {
    this.#recorder = recorder;
    this.#life = life;
  }

  async start(kept: Kept, first: First | undefined): Promise<Ending> {
    const delivery = first?.delivery ?? (await this.#recorder.restore(kept, limit, false));
    if (delivery instanceof Problem) throw new Error(delivery.detail);
    const { number } = delivery.body as { number: number };
    write(this.#life, `start ${number} ${delivery.id} ${delivery.webhook.attempt}`);
    if (++this.#starts === this.#life.killAt) process.kill(process.pid, "SIGKILL");
    await scheduler.wait(number % 20);
    write(this.#life, `done ${number}`);
    return { as: "succeeded" };
  }
}

/** Tells what is claimed when it is looked for what was not finished. */
function told(store: Store, life: Life): Store {
  const claim = store.claim.bind(store);
  store.claim = async (...args): Promise<Claim> => {
    const claimed = await claim(...args);
    write(
      life,
      [args[3] === undefined ? "claim" : "more", ...claimed.deliveries.map(({ delivery }) => delivery.id)].join(" "),
    );
    return claimed;
  };
  return store;
}

function write({ journal }: Life, line: string): void {
  appendFileSync(journal, `${line}\n`);
}

async function live(life: Life): Promise<void> {
  const store =
    "url" in life.store
      ? new ValkeyStore({ ...life.store, ...beats })
      : new SqliteStore(life.store.folder, { worker: join(__dirname, "worker.js") });
  await store.open(new Told());
  const keeper = new Keeper<First>(told(store, life), false, { claimEvery });
  const recorder = new Recorder(node, new Redactor([]));
  const custody = new Custody(keeper, recorder);
  keeper.enter(node, new JournalFlow(recorder, life));
  const reception = await Reception.open();
  reception.custody = custody;
  reception.newId = randomUUID;
  reception.deploy();
  process.once("message", () => void end(keeper, reception));
  process.send?.(reception.origin);
  while (process.connected) {
    await scheduler.wait(10);
    keeper.resume();
    await scheduler.wait(60);
    keeper.hold();
  }
}

async function end(keeper: Keeper<First>, reception: Reception): Promise<void> {
  reception.close();
  await keeper.close();
  process.disconnect();
}

void live(JSON.parse(process.argv[2] ?? "") as Life);
