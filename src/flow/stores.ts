// The stores of deliveries: a list in memory, and the queue of guaranteed delivery.

import type { NodeAPI } from "node-red";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RateCounter } from "../auth/limits";
import type { Redactor } from "../auth/redactor";
import { getSettings } from "../config/node-red";
import { readOwnSettings } from "../config/own-settings";
import type { WebhookConfig } from "../config/parse";
import type { Breach } from "../config/fields";
import { type StoreKind, chooseStore, fileName, sqliteIsHere } from "../config/stores";
import { getErrorMessage } from "../config/values";
import { BullQueue } from "../deliveries/bullmq/bull-queue";
import type { Delivery, Pause } from "../deliveries/delivery";
import { DeliveryRecorder, ignoreTrouble, type RecordTarget, RecentAttempts } from "../deliveries/recorder";
import { type Consumer, type DeliveryList, type DeliveryQueue, type SharedUses, StoreError } from "../deliveries/queue";
import { FilteredList, MemoryList } from "../deliveries/memory-list";
import { SqliteQueue } from "../deliveries/sqlite/sqlite-queue";
import type { Outcomes } from "./outcomes";

/** Loads are reported at most this often, in ms. */
const loadIntervalMs = 250;
/** How often the loads of a shared store are read, which other instances change, in ms. */
const loadPollMs = 2000;

/** A file is opened when a node needs it; a shared store as soon as there is a node. */
export class DeliveryStores {
  /** Where guaranteed delivery can be stored. */
  readonly storeKind: StoreKind;
  /** Counts over all instances that share a store; missing otherwise. */
  readonly rates: RateCounter | undefined;
  readonly recentAttempts: RecentAttempts;
  /** The last load of each node whose deliveries are processed, as text; empty until it is read. */
  readonly #loadTexts = new Map<string, string>();
  /** Reads the loads again and again. */
  #polling: NodeJS.Timeout | undefined;
  /** The nodes whose loads are about to be read. */
  readonly #reading = new Set<string>();
  readonly #RED: NodeAPI;
  readonly #outcomes: Outcomes;
  /** Why guaranteed delivery cannot be stored, where the settings are the reason. */
  readonly #breach: Breach | undefined;
  /** Whether bodies are listed without guaranteed delivery. */
  readonly #keepsBodies: boolean;
  /** Missing where the settings switch the list off. */
  readonly #memory: MemoryList | undefined;
  readonly #filtered: FilteredList;
  readonly #createQueue: () => DeliveryQueue;
  /** Whether it may have deliveries before it was opened. */
  readonly #wasUsed: () => boolean;
  /** Whether the settings name a store, which then has the deliveries of all nodes. */
  readonly #isConfigured: boolean;
  #opened: DeliveryQueue | undefined;
  #areFlowsRunning = false;
  /** Whether Node-RED has ended, and the queue with it. */
  #isClosed = false;

  constructor(RED: NodeAPI, outcomes: Outcomes) {
    this.#RED = RED;
    this.#outcomes = outcomes;
    outcomes.on("store:up", () => this.#readLoads());
    outcomes.on("changed", ({ node }) => node !== undefined && this.#readLoad(node));
    this.recentAttempts = new RecentAttempts((failure) =>
      outcomes.emit("attempt:failed", { ...failure, attempt: 1, isLast: true }),
    );
    const { valid, invalid } = readOwnSettings(RED);
    const { webhookTriggerStore, webhookTriggerDeliveries } = valid;
    const { userDir = process.cwd() } = getSettings(RED);
    const store = webhookTriggerStore ?? { type: "sqlite" };
    const wrong = invalid.find(({ setting }) => setting === "webhookTriggerStore");
    if (wrong) this.#breach = { rule: "storeInvalid", value: wrong.name };
    this.storeKind = wrong ? "none" : chooseStore(store, sqliteIsHere());
    this.#isConfigured = webhookTriggerStore !== undefined && this.storeKind !== "none";
    const { keep, bytes, bodies = true } = webhookTriggerDeliveries ?? {};
    this.#keepsBodies = bodies;
    this.#filtered = new FilteredList(() => outcomes.emit("changed", {}));
    if (keep !== 0) this.#memory = new MemoryList(() => outcomes.emit("changed", {}), keep, bytes);
    const limits = bytes === undefined ? {} : { maxBytes: bytes };
    if (store.type === "bullmq") {
      let queue: BullQueue | undefined;
      this.#createQueue = () => (queue = new BullQueue({ ...store, ...limits }));
      // A node that counts has opened it.
      this.rates = { count: (key) => queue?.rates.count(key) ?? { requests: 1, leftMs: 0 } };
      this.#wasUsed = () => true;
    } else {
      const { folder = userDir } = store;
      this.#createQueue = () => new SqliteQueue(folder, limits);
      this.#wasUsed = () => existsSync(join(folder, fileName));
    }
  }

  /** The rule that keeps a node closed, where guaranteed delivery cannot be stored. */
  breachOf(isGuaranteed: boolean): Breach | undefined {
    if (!isGuaranteed || this.storeKind !== "none") return undefined;
    return this.#breach ?? { rule: "storeMissing", value: process.versions.node };
  }

  /** Where deliveries are: in memory and in the store, as far as these have any. */
  get lists(): DeliveryList[] {
    return [this.#memory, this.#filtered, this.#opened].filter((list) => list !== undefined);
  }

  hold(): void {
    this.#areFlowsRunning = false;
    this.#opened?.hold();
  }

  release(): void {
    this.#areFlowsRunning = true;
    this.#opened?.release();
  }

  /** Node-RED ends. What runs has to end now, or counts as ended by a crash. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.close();
  }

  /** Flows start, maybe again after Node-RED had ended: host applications may do so. */
  reopen(): void {
    if (this.#isClosed) this.#opened = undefined;
    this.#isClosed = false;
  }

  /**
   * The recorder of an endpoint. It writes into memory, unless the settings name a store, or the node's deliveries are in
   * one.
   *
   * @returns nothing where the settings switch the list off
   */
  createRecorder(node: string, redactor: Redactor, { path, guaranteed }: WebhookConfig): DeliveryRecorder | undefined {
    const target = this.#findTarget(guaranteed);
    if (!target) return undefined;
    return new DeliveryRecorder(target, {
      ...{ node, redactor, path, filtered: this.#filtered },
      keepsBodies: guaranteed || this.#keepsBodies,
      keepsReplies: this.#keepsBodies,
      isQueue: target === this.#opened,
      recentAttempts: this.recentAttempts,
      newId: () => this.#RED.util.generateId(),
      report: (error) => this.#RED.log.error(this.#RED._("store.notListed", { cause: getErrorMessage(error) })),
    });
  }

  /** Records a request that reached no endpoint. */
  recordMissed(delivery: Delivery): void {
    this.#findTarget(false)?.add(delivery, Buffer.alloc(0))?.catch(ignoreTrouble);
  }

  /** What instances tell each other of a node; nothing where no other one has its deliveries. */
  sharedUsesOf(isGuaranteed: boolean): SharedUses | undefined {
    return isGuaranteed || this.#isConfigured ? this.queue.uses : undefined;
  }

  /** Whether the queue may have deliveries, also of nodes without guaranteed delivery by now. */
  get hasQueue(): boolean {
    return this.#opened !== undefined || this.#wasUsed();
  }

  /**
   * Processes the stored deliveries of a node.
   *
   * @returns the function to call when the node closes
   */
  process(node: string, consumer: Consumer): () => void {
    const leave = this.queue.process(node, consumer);
    this.#loadTexts.set(node, "");
    this.#readLoad(node);
    if (this.queue.isShared) this.#polling ??= setInterval(() => this.#readLoads(), loadPollMs).unref();
    return () => {
      leave();
      this.#loadTexts.delete(node);
    };
  }

  #readLoads(): void {
    for (const node of this.#loadTexts.keys()) this.#readLoad(node);
  }

  /** Reads the load of a node whose deliveries are processed, and reports it where it has changed. */
  #readLoad(node: string): void {
    if (!this.#loadTexts.has(node) || this.#reading.has(node)) return;
    this.#reading.add(node);
    const read = async () => {
      this.#reading.delete(node);
      const { running = 0, queued = 0, retrying = 0, failed = 0 } = await this.queue.counts(node);
      const load = { running, queued, retrying, failed, pause: this.queue.paused(node) };
      const text = JSON.stringify(load);
      const known = this.#loadTexts.get(node);
      if (known === undefined || known === text) return;
      this.#loadTexts.set(node, text);
      this.#outcomes.emit("load", { node, load });
    };
    setTimeout(() => void read().catch(ignoreTrouble), loadIntervalMs).unref();
  }

  /** As `DeliveryQueue` has it. */
  paused(node: string): Pause | undefined {
    return this.#opened?.paused(node);
  }

  /** Opened on first use. */
  get queue(): DeliveryQueue {
    return (this.#opened ??= this.#open());
  }

  #findTarget(isGuaranteed: boolean): RecordTarget | undefined {
    return this.#memory && (isGuaranteed || this.#isConfigured) ? this.queue : this.#memory;
  }

  #open(): DeliveryQueue {
    const queue = this.#createQueue();
    // It reports its troubles and goes on trying.
    queue.open(this.#outcomes).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    if (this.#areFlowsRunning) queue.release();
    return queue;
  }
}
