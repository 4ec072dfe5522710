// The connections to the server that instances share, and the meaning of its errors.

import type { ChainableCommander, Cluster, ClusterOptions, Redis, RedisOptions } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import type { ConnectionSettings } from "../../config/stores";
import { StoreError, type StoreAnnouncer, type StoreTrouble, type Warning } from "../queue";

type Client = Redis | Cluster;

/** After a lost connection, all instances are back within so many ms. */
export const maxRetryDelayMs = 1000;
/** In ms, between two tries of what has to be written. */
const persistMs = 250;
/** By so many ms the server's clock may be wrong here before it is read anew. */
const clockToleranceMs = 1000;
/** A blocking command of BullMQ takes up to 10 s. */
const maxSilenceMs = 15_000;

/** By the first word of an error reply. */
const troubles: Readonly<Record<string, StoreTrouble>> = {
  OOM: "full",
  READONLY: "readOnly",
  NOREPLICAS: "readOnly",
  NOAUTH: "denied",
  WRONGPASS: "denied",
  NOPERM: "denied",
  LOADING: "unreachable",
  MASTERDOWN: "unreachable",
  CLUSTERDOWN: "unreachable",
  BUSY: "unreachable",
};
const words = new RegExp(`(?:^|[\\s-])(${Object.keys(troubles).join("|")})\\b`);

function findTrouble(error: Error): StoreTrouble {
  const word = words.exec(error.message)?.[1];
  if (word !== undefined) return troubles[word] ?? "broken";
  if (/AUTH .*password/i.test(error.message)) return "denied";
  if (/No space left/i.test(error.message)) return "full";
  return error.name === "ReplyError" ? "broken" : "unreachable";
}

type RedisPackage = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

/** Optional peers. */
async function loadPackages(): Promise<{ bull: typeof import("bullmq"); redis: RedisPackage }> {
  const [bull, redis] = await Promise.all([import("bullmq"), import("ioredis")]);
  return { bull, redis };
}

/**
 * After the error of a certificate that is not trusted, Node.js may emit a second one of the same socket. ioredis listens for
 * the first alone, and an error that nobody listens for ends the process. Also holds for duplicates, as BullMQ makes them.
 */
function survivable(client: Redis): Redis {
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (options) => survivable(duplicate(options));
  return client.on("error", () => client.stream.on("error", () => undefined));
}

export interface RedisSettings extends ConnectionSettings {
  /** Separates the deliveries of several Node-REDs on one server. */
  readonly namespace?: string;
}

/** Two connections: commands of one fail at once while the server is away, those of the other wait. */
export class RedisClient {
  /** All keys are below it, and in one slot of a cluster. */
  readonly root: string;
  readonly #settings: ConnectionSettings;
  readonly #timeLimit: number;
  readonly #onUp: () => Promise<void>;
  readonly #warned = new Set<Warning>();
  #events: StoreAnnouncer | undefined;
  #bull: typeof import("bullmq") | undefined;
  #redis: Client | undefined;
  #patient: Client | undefined;
  #trouble: StoreTrouble | undefined;
  #starting: Promise<unknown> | undefined;
  #isUp = false;
  #upSince = 0;
  /** Between the server's clock and the monotonic one of this process, in ms. */
  #clockOffset: number | undefined;
  #isClosed = false;

  /** @param onUp called before `up`, each time the server is there again */
  constructor({ namespace, ...settings }: RedisSettings, timeLimit: number, onUp: () => Promise<void>) {
    this.root = `{webhook-trigger${namespace === undefined ? "" : `:${namespace}`}}`;
    this.#settings = settings;
    this.#timeLimit = timeLimit;
    this.#onUp = onUp;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** How long the server has been there, in ms. */
  get upFor(): number {
    return this.#isUp ? performance.now() - this.#upSince : 0;
  }

  /**
   * In ms since the epoch, by the server's clock as it was read: all instances have the same one, whatever their own
   * clocks are set to. It never goes back.
   */
  get now(): number {
    return Math.ceil(performance.now() + (this.#clockOffset ?? Date.now() - performance.now()));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Why nothing can be stored, though the server is there. */
  get refusal(): StoreTrouble | undefined {
    return this.#isUp ? this.#trouble : undefined;
  }

  get bull(): typeof import("bullmq") {
    if (!this.#bull) throw new StoreError(this.#trouble ?? "unreachable");
    return this.#bull;
  }

  /** @throws {StoreError} while the server is away */
  get redis(): Client {
    if (!this.#redis || !this.#isUp) throw new StoreError(this.#trouble ?? "unreachable");
    return this.#redis;
  }

  /** For BullMQ's workers, which would fail or spin where a command fails. */
  get patient(): Client {
    if (!this.#patient) throw new StoreError(this.#trouble ?? "unreachable");
    return this.#patient;
  }

  /** The name of a key below the root. */
  key(...names: string[]): string {
    return [this.root, ...names].join(":");
  }

  /** Resolves when the server is there; rejects where it is not at once, and goes on trying. */
  async start(events: StoreAnnouncer): Promise<void> {
    this.#events = events;
    const starting = this.#start();
    this.#starting = starting.catch(() => undefined);
    await starting;
  }

  /** Resolves when it is known whether the server is there: requests right after the start wait for that. */
  async known(): Promise<void> {
    if (!this.#isUp) await this.#starting;
  }

  async #start(): Promise<void> {
    const { bull, redis } = await loadPackages().catch((error: unknown) => {
      const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
      throw this.refuse(isMissing ? "clientMissing" : "broken", error);
    });
    const socketTimeout = this.#timeLimit;
    this.#bull = bull;
    this.#redis = this.#connect(redis, { maxRetriesPerRequest: 0, enableOfflineQueue: false, socketTimeout });
    this.#patient = this.#connect(redis, { maxRetriesPerRequest: null, socketTimeout: maxSilenceMs });
    this.#patient.on("error", () => undefined);
    // ioredis reports neither a server that still loads its data, nor a sentinel that does not answer.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => reject(this.#failed(new Error(`not ready within ${this.#timeLimit} ms`)));
      timer = setTimeout(giveUp, this.#timeLimit);
    });
    await Promise.race([this.#listen(this.#redis), late]).finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const wasUp = this.#isUp;
    this.#isUp = false;
    this.#patient?.disconnect();
    if (wasUp) await this.#redis?.quit().catch(() => undefined);
    this.#redis?.disconnect();
  }

  /** @throws {StoreError} */
  async ask<Result>(work: (redis: Client) => Promise<Result>): Promise<Result> {
    await this.known();
    try {
      return await work(this.redis);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** A transaction. @returns the results, errors only if `isTolerable` */
  async transact(add: (multi: ChainableCommander) => void, isTolerable = (_: Error) => false): Promise<unknown[]> {
    return this.ask(async (redis) => {
      const multi = redis.multi();
      add(multi);
      const results = (await multi.exec()) ?? [];
      return results.map(([error, result]) => {
        if (error && !isTolerable(error)) throw error;
        return error ?? result;
      });
    });
  }

  /** Tries until it succeeds or this is closed. */
  async persist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StoreError) || this.#isClosed) throw error;
        await delay(persistMs, undefined, { ref: false });
      }
    }
  }

  /** Reports once that nothing more can be stored. */
  refuse(trouble: StoreTrouble, cause: unknown): StoreError {
    if (this.#trouble !== trouble && !this.#isClosed) {
      this.#trouble = trouble;
      this.#events?.emit("store:down", { trouble, cause });
    }
    return new StoreError(trouble, cause);
  }

  accept(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#events?.emit("store:up");
  }

  async readClock(): Promise<void> {
    const before = performance.now();
    const [seconds, microseconds] = await this.ask((redis) => redis.time());
    const offset = Number(seconds) * 1000 + Number(microseconds) / 1000 - before;
    // A machine that slept is behind. Where the server's clock was set back, no wait becomes longer.
    if (offset > (this.#clockOffset ?? -Infinity) + clockToleranceMs) this.#clockOffset = offset;
  }

  #connect(redis: RedisPackage, own: RedisOptions): Client {
    const { url, connection, cluster } = this.#settings;
    const options: RedisOptions = {
      connectTimeout: this.#timeLimit,
      keepAlive: this.#timeLimit,
      ...connection,
      ...own,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), maxRetryDelayMs),
    };
    if (!cluster) return survivable(url === undefined ? new redis.Redis(options) : new redis.Redis(url, options));
    // Connections to cluster nodes are made on demand: commands wait for them.
    const { enableOfflineQueue = true, maxRetriesPerRequest: _, ...ofNodes } = options;
    const ofCluster: ClusterOptions = {
      redisOptions: ofNodes,
      enableOfflineQueue,
      clusterRetryStrategy: () => maxRetryDelayMs,
    };
    return new redis.Cluster([...cluster], ofCluster).on("+node", survivable);
  }

  /** @returns when the server is there for the first time, or fails */
  async #listen(redis: Client): Promise<void> {
    return new Promise((resolve, reject) => {
      redis.on("ready", () => {
        this.#isUp = true;
        this.#upSince = performance.now();
        const arriving = this.#arrive();
        arriving.then(resolve, reject);
        // It may accept later what it refuses now, as when its memory is full.
        arriving.catch(async () => this.persist(async () => this.#arrive())).catch(() => undefined);
      });
      redis.on("close", () => {
        this.#isUp = false;
        if (!this.#trouble) this.refuse("unreachable", new Error("the connection has ended"));
      });
      redis.on("error", (error) => reject(this.#failed(error)));
    });
  }

  async #arrive(): Promise<void> {
    await this.#warn();
    await this.readClock();
    await this.#onUp();
    this.accept();
  }

  #failed(error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    // A transaction is discarded because of a command before.
    const first = (error as { previousErrors?: readonly Error[] }).previousErrors?.[0] ?? error;
    const known = first instanceof Error ? first : new Error(String(first));
    return this.refuse(findTrouble(known), known);
  }

  /** Whether the server keeps what it has acknowledged; some do not show their configuration. */
  async #warn(): Promise<void> {
    const text = await this.redis.info().catch(() => "");
    const info = new Map(text.split("\r\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)])); // prettier-ignore
    const appends = info.get("aof_enabled");
    if (appends === "0") this.warn("notPersistent");
    if (appends === "1" && (await this.#findSync()) !== "always") this.warn("everySecond");
    if (![undefined, "noeviction"].includes(info.get("maxmemory_policy"))) this.warn("evicts");
  }

  async #findSync(): Promise<string> {
    const reply = await this.redis.config("GET", "appendfsync").catch(() => undefined);
    return Array.isArray(reply) ? String(reply[1] ?? "always") : "always";
  }

  warn(warning: Warning): void {
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    this.#events?.emit("store:warning", { warning });
  }
}
