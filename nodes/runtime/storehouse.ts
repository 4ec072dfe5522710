// Where this Node-RED keeps deliveries, and who hears how that fares.

import type { NodeAPI } from "node-red";
import { type Keeping, keepingRule } from "../../src/config/keeping";
import type { Breach } from "../../src/config/rules";
import type { First } from "../../src/custody";
import { Guarding } from "../../src/deliveries/guard";
import { Keeper } from "../../src/deliveries/keeper";
import { MemoryStore } from "../../src/deliveries/memory-store";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { type Store, StoreError, type StoreEvents, type Trouble, type Warning } from "../../src/deliveries/store";
import { clientName } from "../../src/deliveries/valkey/module";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import type { Recorder } from "../../src/recorder";
import { Records } from "../../src/records";
import type { RateCounter } from "../../src/trust/rates";
import { settingsOf } from "./host";
import { keepingBy, parseStoreSettings, type StoreSettings } from "./store-settings";

/** Who is told how the store fares. */
interface Listener {
  /** @param trouble nothing where it works again */
  storeFares(trouble: Trouble | undefined): void;
}

/** What nodes have in common that never lose a delivery. */
export interface Kept {
  readonly keeper: Keeper<First>;
  /** The keys of their deliveries are in the store. */
  readonly guarding: Guarding;
}

/** A file is not opened before a node needs it; what is shared with other instances is, as soon as there is a node. */
export class Storehouse implements StoreEvents {
  /** Where what must not be lost can be kept. */
  readonly keeping: Keeping;
  /** Counts over all instances, where they share a store; nothing where this one counts alone. */
  readonly rates: RateCounter | undefined;
  readonly #RED: NodeAPI;
  readonly #store: Store;
  /** Whether the settings file names it. */
  readonly #isNamed: boolean;
  /** The last deliveries of each node; nothing where nobody wants to know of them. */
  readonly #memory: MemoryStore | undefined;
  readonly #listeners = new Set<Listener>();
  readonly #misunderstood: Breach | undefined;
  #kept: Kept | undefined;
  #trouble: Trouble | undefined;
  #areRunning = false;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    const { webhookTriggerStore, webhookTriggerDeliveries } = settingsOf(RED);
    const settings = parseStoreSettings(webhookTriggerStore);
    if ("field" in settings) this.#misunderstood = { rule: "storeMisunderstood", value: settings.field };
    this.keeping = keepingBy(settings, sqliteIsHere());
    if (keepsDeliveries(webhookTriggerDeliveries)) this.#memory = new MemoryStore();
    const store = this.#storeBy("field" in settings ? { type: "sqlite" } : settings);
    this.#store = store;
    this.#isNamed = webhookTriggerStore !== undefined && this.keeping !== "none";
    if (store instanceof ValkeyStore) this.rates = store.rates;
  }

  /** Why a node stays closed, if it does, as there is nowhere to keep what it must not lose. */
  breachOf(isDurable: boolean): Breach | undefined {
    const rule = keepingRule(isDurable, this.keeping);
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
  recordsOf(recorder: Recorder, path: string, isDurable: boolean): Records | undefined {
    const memory = this.#memory;
    if (!memory) return undefined;
    const store = isDurable || this.#isNamed ? this.kept.keeper.store : memory;
    return new Records(store, recorder, path, () => this.#RED.util.generateId());
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

  /** Has somebody told how the store fares, now and later. @returns what ends that */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#trouble) listener.storeFares(this.#trouble);
    return () => this.#listeners.delete(listener);
  }

  troubled(trouble: Trouble, cause: unknown): void {
    this.#tell(trouble);
    const values = { cause: messageOf(cause), client: clientName, folder: this.#folder };
    this.#RED.log.error(this.#RED._(`store.${trouble}`, values));
  }

  mended(): void {
    this.#tell(undefined);
    this.#RED.log.info(this.#RED._("store.mended"));
  }

  movedAside(path: string, cause: unknown): void {
    this.#RED.log.error([this.#RED._("store.movedAside", { path }), messageOf(cause)].join(" ").trim());
  }

  warned(warning: Warning): void {
    this.#RED.log.warn(this.#RED._(`store.${warning}`));
  }

  get #folder(): string {
    return settingsOf(this.#RED).userDir ?? process.cwd();
  }

  #tell(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    for (const listener of this.#listeners) listener.storeFares(trouble);
  }

  #storeBy(settings: StoreSettings): Store {
    if (settings.type === "valkey") return new ValkeyStore(settings);
    return new SqliteStore(settings.folder ?? this.#folder);
  }

  #open(): Kept {
    // It tells of its troubles by itself, and goes on trying.
    this.#store.open(this).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    return {
      keeper: new Keeper<First>(this.#store, this.#areRunning),
      guarding: new Guarding(this.#store.repeats),
    };
  }
}

/** `{ keep: 0 }` switches it off. */
function keepsDeliveries(wanted: unknown): boolean {
  return !(typeof wanted === "object" && wanted !== null && "keep" in wanted && wanted.keep === 0);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}
