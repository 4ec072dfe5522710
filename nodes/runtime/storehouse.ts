// Where this Node-RED keeps deliveries.

import type { NodeAPI } from "node-red";
import { type Keeping, keepingRule } from "../../src/config/keeping";
import type { Breach } from "../../src/config/rules";
import type { Delivery } from "../../src/deliveries/delivery";
import type { First } from "../../src/custody";
import { Guarding } from "../../src/deliveries/duplicate-guard";
import { Keeper } from "../../src/deliveries/keeper";
import { JoinedStores } from "../../src/deliveries/joined";
import { MemoryStore } from "../../src/deliveries/memory-store";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { type Store, StoreError } from "../../src/deliveries/store";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { type Watcher, WatchedStore } from "../../src/deliveries/watched";
import type { Recorder } from "../../src/recorder";
import { Recent } from "../../src/recent";
import { type Begun, Records } from "../../src/records";
import type { RateCounter } from "../../src/trust/limits";
import { settingsOf } from "./host";
import {
  type DeliverySettings,
  isMisunderstood,
  keepingBy,
  parseDeliverySettings,
  parseStoreSettings,
  type StoreSettings,
} from "./store-settings";
import { StoreNews } from "./store-news";

/** Of so many deliveries, the last of all nodes, errors of their flows are noted. */
export const mostBegun = 1000;

/** What nodes have in common that never lose a delivery. */
export interface Kept {
  readonly keeper: Keeper<First>;
  /** The keys of their deliveries are in the store. */
  readonly guarding: Guarding;
}

/** A file is not opened before a node needs it; what is shared with other instances is, as soon as there is a node. */
export class Storehouse {
  /** Where what must not be lost can be kept. */
  readonly keeping: Keeping;
  /** Counts over all instances, where they share a store; nothing where this one counts alone. */
  readonly rates: RateCounter | undefined;
  /** All that is kept, for whoever looks. */
  readonly shown = new JoinedStores(() => [
    ...(this.#memory ? [this.#memory] : []),
    ...(this.#kept ? [this.#kept.keeper.store] : []),
  ]);
  /** What flows were started with, besides what must not be lost. */
  readonly begun = new Recent<Begun>(mostBegun);
  /** Who tells how the store fares. */
  readonly news: StoreNews;
  readonly #RED: NodeAPI;
  readonly #store: Store;
  /** Whether the settings file names it. */
  readonly #isNamed: boolean;
  /** The last deliveries of each node; nothing where nobody wants to know of them. */
  readonly #memory: Store | undefined;
  readonly #watch: Watcher;
  readonly #settings: DeliverySettings;
  readonly #misunderstood: Breach | undefined;
  #kept: Kept | undefined;
  #areRunning = false;

  /** @param watch told of each delivery that comes or changes */
  constructor(RED: NodeAPI, watch: Watcher) {
    this.#RED = RED;
    this.#watch = watch;
    this.news = new StoreNews(RED, this.#folder);
    const { webhookTriggerStore, webhookTriggerDeliveries } = settingsOf(RED);
    const settings = parseStoreSettings(webhookTriggerStore);
    if ("field" in settings) this.#misunderstood = { rule: "storeMisunderstood", value: settings.field };
    this.keeping = keepingBy(settings, sqliteIsHere());
    this.#settings = this.#deliverySettings(webhookTriggerDeliveries);
    const { keep, bytes } = this.#settings;
    if (keep !== 0) this.#memory = new WatchedStore(new MemoryStore(keep, bytes), watch);
    const store = this.#storeBy("field" in settings ? { type: "sqlite" } : settings);
    this.#store = store;
    this.#isNamed = webhookTriggerStore !== undefined && this.keeping !== "none";
    if (store instanceof ValkeyStore) this.rates = store.rates;
  }

  /** Why a node stays closed, if it does, as there is nowhere to keep what it must not lose. */
  breachOf(isGuaranteed: boolean): Breach | undefined {
    const rule = keepingRule(isGuaranteed, this.keeping);
    return rule && (this.#misunderstood ?? { rule, value: process.versions.node });
  }

  /** Flows are about to be deployed, or to be stopped. */
  hold(): void {
    this.#areRunning = false;
    this.#kept?.keeper.hold();
  }

  /** The flows run. */
  resume(): void {
    this.#areRunning = true;
    this.#kept?.keeper.resume();
  }

  /**
   * Where what became of the requests of an endpoint is noted: in memory, unless the settings file names a store, or all
   * else of the node is there.
   *
   * @returns nothing where nobody wants to know
   */
  recordsOf(recorder: Recorder, path: string, isGuaranteed: boolean): Records | undefined {
    const store = this.#noteIn(isGuaranteed);
    if (!store) return undefined;
    const keepsAnswers = this.#settings.bodies;
    const keeps = { keepsBodies: isGuaranteed || keepsAnswers, keepsAnswers };
    return new Records(store, {
      recorder,
      path,
      ...keeps,
      begun: this.begun,
      newId: () => this.#RED.util.generateId(),
    });
  }

  /** Notes what came to no endpoint. A store in trouble tells of that by itself. */
  note(delivery: Delivery): void {
    this.#noteIn(false)
      ?.add(delivery, Buffer.alloc(0))
      .catch(() => undefined);
  }

  #noteIn(isGuaranteed: boolean): Store | undefined {
    return this.#memory && (isGuaranteed || this.#isNamed) ? this.kept.keeper.store : this.#memory;
  }

  #deliverySettings(given: unknown): DeliverySettings {
    const settings = parseDeliverySettings(given);
    if (!isMisunderstood(settings)) return settings;
    this.#RED.log.warn(this.#RED._("settings.deliveries", { field: settings.field }));
    return parseDeliverySettings(undefined) as DeliverySettings;
  }

  /** Where what came to a node is known after a restart; nothing where it is not. */
  lastingOf(isGuaranteed: boolean): Store | undefined {
    return isGuaranteed || this.#isNamed ? this.kept.keeper.store : undefined;
  }

  /** Whether there may be deliveries that were to be kept, also of nodes that keep none any more. */
  get hasKept(): boolean {
    if (this.#kept !== undefined || this.#store.isShared) return true;
    return this.#store instanceof SqliteStore && this.#store.exists;
  }

  /** What keeps deliveries that must not be lost; opened when it is asked for first. */
  get kept(): Kept {
    return (this.#kept ??= this.#open());
  }

  get #folder(): string {
    return settingsOf(this.#RED).userDir ?? process.cwd();
  }

  #storeBy(settings: StoreSettings): Store {
    const { bytes } = this.#settings;
    const limits = bytes === undefined ? {} : { maxBytes: bytes };
    if (settings.type === "valkey") return new ValkeyStore({ ...settings, ...limits });
    return new SqliteStore(settings.folder ?? this.#folder, limits);
  }

  #open(): Kept {
    // It tells of its troubles by itself, and goes on trying.
    this.#store.open(this.news).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    return {
      keeper: new Keeper<First>(new WatchedStore(this.#store, this.#watch), this.#areRunning),
      guarding: new Guarding(this.#store.duplicates),
    };
  }
}
