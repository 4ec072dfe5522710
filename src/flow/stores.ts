// The stores of deliveries: a log in memory, and the queue of guaranteed delivery.

import type { NodeAPI } from "node-red";

import type { RateCounter } from "../auth/limits";
import { getSettings } from "../config/node-red";
import type { Breach } from "../config/rules";
import {
  type DeliverySettings,
  type StoreKind,
  chooseStore,
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

/** A file is opened when a node needs it; a shared store as soon as there is a node. */
export class DeliveryStores implements NodeQueues {
  /** Where guaranteed delivery can be stored. */
  readonly keeping: StoreKind;
  /** Counts over all instances that share a store; missing otherwise. */
  readonly rates: RateCounter | undefined;
  readonly lists = new DeliveryLists(() => [this.#log, this.#opened].filter((list) => list !== undefined));
  readonly starts: RecentStarts;
  readonly loads = new Map<string, Load>();
  readonly #RED: NodeAPI;
  readonly #events: StoreEvents;
  readonly #settings: DeliverySettings;
  readonly #misunderstood: Breach | undefined;
  /** Missing where the settings switch the list off. */
  readonly #log: MemoryLog | undefined;
  readonly #queue: DeliveryQueue;
  readonly #isNamed: boolean;
  #opened: DeliveryQueue | undefined;
  #guarding: Guarding | undefined;
  #areFlowsRunning = false;

  /** @param changed called whenever a delivery or a load is new or has changed */
  constructor(RED: NodeAPI, outcomes: Outcomes, changed: () => void) {
    this.#RED = RED;
    this.#events = emitStoreEvents(outcomes, changed);
    this.starts = new RecentStarts((node, id, error) =>
      outcomes.emit("attempt:failed", { node, id, attempt: 1, error }),
    );
    outcomes.on("load", ({ node, load }) => {
      if (!this.loads.has(node)) return;
      this.loads.set(node, load);
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

  /** The rule that keeps a node closed, where guaranteed delivery cannot be stored. */
  breachOf(isGuaranteed: boolean): Breach | undefined {
    if (!isGuaranteed || this.keeping !== "none") return undefined;
    return this.#misunderstood ?? { rule: "storeMissing", value: process.versions.node };
  }

  hold(): void {
    this.#areFlowsRunning = false;
    this.#opened?.hold();
  }

  release(): void {
    this.#areFlowsRunning = true;
    this.#opened?.release();
  }

  /**
   * The log of an endpoint: in memory, unless the settings name a store or the node's deliveries are in one.
   *
   * @returns nothing where the settings switch the list off
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

  /** Records a request that reached no endpoint. */
  note(delivery: Delivery): void {
    ignoreTrouble(this.#target(false)?.add(delivery, Buffer.alloc(0)));
  }

  /** The store where a node's deliveries survive a restart; nothing where they do not. */
  lastingOf(isGuaranteed: boolean): DeliveryQueue | undefined {
    return isGuaranteed || this.#isNamed ? this.queue : undefined;
  }

  /** Whether the queue may have deliveries, also of nodes without guaranteed delivery by now. */
  get hasQueue(): boolean {
    if (this.#opened || this.#queue.isShared) return true;
    return this.#queue instanceof SqliteQueue && this.#queue.exists;
  }

  /**
   * Processes the stored deliveries of a node.
   *
   * @param isGuaranteed whether more will be stored
   * @returns the function to call when the node closes
   */
  process(node: string, consumer: Consumer, isGuaranteed: boolean): () => void {
    const leave = this.queue.process(node, consumer);
    if (isGuaranteed) this.loads.set(node, { ...emptyLoad, pause: this.queue.paused(node) });
    return () => {
      leave();
      this.loads.delete(node);
    };
  }

  /** Why an open node with guaranteed delivery is paused; nothing where it is not. */
  paused(node: string): Pause | undefined {
    return this.loads.has(node) ? this.queue.paused(node) : undefined;
  }

  /** Duplicate keys of guaranteed delivery are in the store. */
  get guarding(): Guarding {
    return (this.#guarding ??= new Guarding(this.queue.duplicates));
  }

  /** Opened on first use. */
  get queue(): DeliveryQueue {
    return (this.#opened ??= this.#open());
  }

  #target(isGuaranteed: boolean): LogTarget | undefined {
    return this.#log && (isGuaranteed || this.#isNamed) ? this.queue : this.#log;
  }

  #deliverySettings(given: unknown): DeliverySettings {
    const settings = parseDeliverySettings(given);
    if (!("field" in settings)) return settings;
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
    // It reports its troubles and goes on trying.
    this.#queue.open(this.#events).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    if (this.#areFlowsRunning) this.#queue.release();
    return this.#queue;
  }
}

// The health of the store, for the log and the statuses.

/** A full store works again when it has refused nothing for so long (ms): small bodies fit where large ones do not. */
const fullForMs = 60_000;

export class StoreHealth {
  trouble: StoreTrouble | undefined;
  readonly #changed: () => void;
  readonly #logUp: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param changed called when the trouble has changed or ended */
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

/** Turns the callbacks of a store into events. */
function emitStoreEvents(outcomes: Outcomes, changed: StoreEvents["changed"]): StoreEvents {
  return {
    down: (trouble, cause) => outcomes.emit("store:down", { trouble, cause }),
    up: () => outcomes.emit("store:up"),
    movedAside: (path, cause) => outcomes.emit("store:moved-aside", { path, cause }),
    warned: (warning) => outcomes.emit("store:warning", { warning }),
    changed,
  };
}

export interface NodeQueues {
  /** The load of each open node. */
  readonly loads: ReadonlyMap<string, Load>;
  readonly queue: DeliveryQueue;
  /** Nothing where it is not paused. */
  paused(node: string): Pause | undefined;
}
