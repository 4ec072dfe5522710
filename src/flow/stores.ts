// Where this Node-RED stores deliveries: a log in memory, and the queue of guaranteed delivery.

import type { NodeAPI } from "node-red";

import type { RateCounter } from "../auth/limits";
import { getSettings } from "../config/node-red";
import type { Breach } from "../config/rules";
import {
  type DeliverySettings,
  isMisunderstood,
  type StoreKind,
  chooseStore,
  keepingRule,
  parseDeliverySettings,
  parseStoreSettings,
  type StoreSettings,
} from "../config/stores";
import { BullQueue } from "../deliveries/bullmq/bull-queue";
import { clientPackages } from "../deliveries/bullmq/server";
import type { Delivery } from "../deliveries/delivery";
import { DeliveryLog, ignoreTrouble, type LogTarget, RecentStarts } from "../deliveries/delivery-log";
import { Guarding } from "../deliveries/duplicate-guard";
import { DeliveryLists } from "../deliveries/lists";
import { MemoryLog } from "../deliveries/memory-log";
import {
  type Consumer,
  type DeliveryQueue,
  type Load,
  StoreError,
  type StoreEvents,
  type StoreTrouble,
} from "../deliveries/queue";
import type { Recorder } from "../deliveries/recorder";
import { SqliteQueue } from "../deliveries/sqlite/sqlite-queue";
import { sqliteIsHere } from "../deliveries/sqlite/tables";
import type { Pause } from "../deliveries/summary";
import { problems } from "../request/problem";
import type { Outcomes } from "./outcomes";

const emptyLoad = { running: 0, queued: 0, retrying: 0, failed: 0 };

/** A file is not opened before a node needs it; what other instances share is, as soon as there is a node. */
export class DeliveryStores implements NodeQueues {
  /** Where what must not be lost can be stored. */
  readonly keeping: StoreKind;
  /** Counts over all instances, where they share a store; nothing where this one counts alone. */
  readonly rates: RateCounter | undefined;
  readonly lists = new DeliveryLists(() => [this.#log, this.#opened].filter((list) => list !== undefined));
  readonly starts: RecentStarts;
  readonly loads = new Map<string, Load>();
  readonly #RED: NodeAPI;
  readonly #events: StoreEvents;
  readonly #settings: DeliverySettings;
  readonly #misunderstood: Breach | undefined;
  /** The last deliveries of each node; nothing where nobody wants to know of them. */
  readonly #log: MemoryLog | undefined;
  readonly #queue: DeliveryQueue;
  /** Whether the settings file names the store. */
  readonly #isNamed: boolean;
  #opened: DeliveryQueue | undefined;
  #guarding: Guarding | undefined;
  #areFlowsRunning = false;

  /** @param changed called whenever a delivery, or what waits for a node, has come or has changed */
  constructor(RED: NodeAPI, outcomes: Outcomes, changed: () => void) {
    this.#RED = RED;
    this.#events = emitStoreEvents(outcomes, changed);
    this.starts = new RecentStarts((node, id, error) =>
      outcomes.emit("attempt:failed", { node, id, attempt: 1, error }),
    );
    outcomes.on("load", ({ node, load }) => {
      if (!this.loads.has(node)) return;
      this.loads.set(node, load);
      // Whether it is paused, and how many wait.
      changed();
    });
    const { webhookTriggerStore, webhookTriggerDeliveries } = getSettings(RED);
    const settings = parseStoreSettings(webhookTriggerStore);
    if ("field" in settings) this.#misunderstood = { rule: "storeMisunderstood", value: settings.field };
    this.keeping = chooseStore(settings, sqliteIsHere());
    this.#settings = this.#deliverySettings(webhookTriggerDeliveries);
    const { keep, bytes } = this.#settings;
    if (keep !== 0) this.#log = new MemoryLog(changed, keep, bytes);
    this.#queue = this.#createQueue("field" in settings ? { type: "sqlite" } : settings);
    this.#isNamed = webhookTriggerStore !== undefined && this.keeping !== "none";
    if (this.#queue instanceof BullQueue) this.rates = this.#queue.rates;
  }

  /** Why a node stays closed, if it does, as there is nowhere to store what it must not lose. */
  breachOf(isGuaranteed: boolean): Breach | undefined {
    const rule = keepingRule(isGuaranteed, this.keeping);
    return rule && (this.#misunderstood ?? { rule, value: process.versions.node });
  }

  /** Flows are about to be stopped. */
  hold(): void {
    this.#areFlowsRunning = false;
    this.#opened?.hold();
  }

  /** Flows run. */
  release(): void {
    this.#areFlowsRunning = true;
    this.#opened?.release();
  }

  /**
   * Where what became of the requests of an endpoint is noted: in memory, unless the settings file names a store, or all
   * else of the node is there.
   *
   * @returns nothing where nobody wants to know
   */
  logOf(recorder: Recorder, path: string, isGuaranteed: boolean): DeliveryLog | undefined {
    const target = this.#target(isGuaranteed);
    if (!target) return undefined;
    const { bodies } = this.#settings;
    const { starts } = this;
    const newId = () => this.#RED.util.generateId();
    const keeps = { keepsBodies: isGuaranteed || bodies, keepsAnswers: bodies };
    return new DeliveryLog(target, { recorder, path, ...keeps, isQueue: target === this.#opened, starts, newId });
  }

  /** Notes what came to no endpoint. */
  note(delivery: Delivery): void {
    ignoreTrouble(this.#target(false)?.add(delivery, Buffer.alloc(0)));
  }

  /** Where what came to a node is known after a restart; nothing where it is not. */
  lastingOf(isGuaranteed: boolean): DeliveryQueue | undefined {
    return isGuaranteed || this.#isNamed ? this.queue : undefined;
  }

  /** Whether there may be deliveries in the queue, also of nodes that have no guaranteed delivery any more. */
  get hasQueue(): boolean {
    if (this.#opened || this.#queue.isShared) return true;
    return this.#queue instanceof SqliteQueue && this.#queue.exists;
  }

  /**
   * Starts the flow of a node with what is stored for it, from now on.
   *
   * @param isGuaranteed whether more is to come
   * @returns what to call when the node is closed
   */
  process(node: string, consumer: Consumer, isGuaranteed: boolean): () => void {
    const leave = this.queue.process(node, consumer);
    if (isGuaranteed) this.loads.set(node, { ...emptyLoad, pause: this.queue.paused(node) });
    return () => {
      leave();
      this.loads.delete(node);
    };
  }

  /** Why an open node with guaranteed delivery starts no flow; nothing where it does. */
  paused(node: string): Pause | undefined {
    return this.loads.has(node) ? this.queue.paused(node) : undefined;
  }

  /** What keeps duplicates from flows with guaranteed delivery: the keys are in the store. */
  get guarding(): Guarding {
    return (this.#guarding ??= new Guarding(this.queue.duplicates));
  }

  /** What guaranteed delivery is made of; opened when it is asked for first. */
  get queue(): DeliveryQueue {
    return (this.#opened ??= this.#open());
  }

  #target(isGuaranteed: boolean): LogTarget | undefined {
    return this.#log && (isGuaranteed || this.#isNamed) ? this.queue : this.#log;
  }

  #deliverySettings(given: unknown): DeliverySettings {
    const settings = parseDeliverySettings(given);
    if (!isMisunderstood(settings)) return settings;
    this.#RED.log.warn(this.#RED._("settings.deliveries", { field: settings.field }));
    return parseDeliverySettings(undefined) as DeliverySettings;
  }

  #createQueue(settings: StoreSettings): DeliveryQueue {
    const { bytes } = this.#settings;
    const limits = bytes === undefined ? {} : { maxBytes: bytes };
    const folder = getSettings(this.#RED).userDir ?? process.cwd();
    if (settings.type === "bullmq") return new BullQueue({ ...settings, ...limits });
    return new SqliteQueue(settings.folder ?? folder, limits);
  }

  #open(): DeliveryQueue {
    // It tells of its troubles by itself, and goes on trying.
    this.#queue.open(this.#events).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    if (this.#areFlowsRunning) this.#queue.release();
    return this.#queue;
  }
}

// How the store of deliveries fares, for the log and for the statuses of its nodes.

/** A store that was full works again when it has refused nothing for so long, in ms: small bodies fit where large ones do not. */
const fullForMs = 60_000;

export class StoreHealth {
  /** What it is in trouble with. */
  trouble: StoreTrouble | undefined;
  readonly #changed: () => void;
  readonly #logUp: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param changed called when the trouble is another, or over */
  constructor(RED: NodeAPI, outcomes: Outcomes, changed: () => void) {
    this.#changed = changed;
    this.#logUp = () => RED.log.info(RED._("store.mended"));
    const folder = getSettings(RED).userDir ?? process.cwd();
    outcomes.on("store:down", ({ trouble, cause }) => {
      clearTimeout(this.#timer);
      if (trouble === this.trouble) return;
      this.trouble = trouble;
      RED.log.error(RED._(`store.${trouble}`, { cause: getMessage(cause), client: clientPackages, folder }));
      changed();
    });
    outcomes.on("store:up", () => {
      if (this.trouble === "full") this.#waitForRefusals();
      else this.#end();
    });
    outcomes.on("refused", ({ problem }) => {
      if (this.#timer && problem === problems.storeTroubled) this.#waitForRefusals();
    });
    outcomes.on("store:moved-aside", ({ path, cause }) => {
      RED.log.error([RED._("store.movedAside", { path }), getMessage(cause)].join(" ").trim());
    });
    outcomes.on("store:warning", ({ warning }) => RED.log.warn(RED._(`store.${warning}`)));
  }

  #waitForRefusals(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), fullForMs).unref();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.trouble === undefined) return;
    this.trouble = undefined;
    this.#logUp();
    this.#changed();
  }
}

function getMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}

/** Has a store tell what happens to it as events. @param changed a delivery was stored or has changed */
function emitStoreEvents(outcomes: Outcomes, changed: StoreEvents["changed"]): StoreEvents {
  return {
    down: (trouble, cause) => outcomes.emit("store:down", { trouble, cause }),
    up: () => outcomes.emit("store:up"),
    movedAside: (path, cause) => outcomes.emit("store:moved-aside", { path, cause }),
    warned: (warning) => outcomes.emit("store:warning", { warning }),
    changed,
  };
}

/** The queues of nodes with guaranteed delivery. */
export interface NodeQueues {
  /** Of the open nodes, what waits for them. */
  readonly loads: ReadonlyMap<string, Load>;
  readonly queue: DeliveryQueue;
  /** Why a node starts no flow; nothing where it does. */
  paused(node: string): Pause | undefined;
}
