// When each endpoint with an inactivity alert, and the token of each caller, was last used: known over deploys and restarts
// and, with a shared store, over instances.

import type { NodeAPI } from "node-red";
import { join } from "node:path";
import { KeptFile } from "../auth/kept-file";
import { getSettings } from "../config/node-red";
import type { WebhookConfig } from "../config/parse";
import { getErrorMessage, isObject, tryParseJson } from "../config/values";
import type { SharedUses } from "../deliveries/queue";
import { listSavedNodes } from "../flow/node-red-internals";
import type { Outcomes } from "../flow/outcomes";

/** The name of the file in the user directory. */
export const usesFileName = "webhook-trigger.uses.json";
/** In bytes; each caller takes some 80. */
const maxFileBytes = 64 * 1024 * 1024;
/** The file is written at most this often, in ms: a use after a quiet time is written at once, and survives a crash. */
const writeIntervalMs = 60_000;
/** So many digits of a digest tell tokens apart, and are of no use to others. */
const keyLength = 16;
/** The key of the endpoint itself. */
const ownKey = "node";

export interface Use {
  /** Identifies the token, whatever its caller is called. */
  readonly key: string;
  /** When its node was first deployed with it, or with an alert, in ms since the epoch. */
  since: number;
  /** In ms since the epoch; missing where it was never used. */
  lastUsedAt?: number;
}

interface OpenNode {
  /** By the names of callers; that of the endpoint itself, if it has an alert, without one. */
  readonly uses: ReadonlyMap<string | undefined, Use>;
  readonly shared: SharedUses | undefined;
}

export class Uses {
  readonly #file: KeptFile | undefined;
  readonly #nodes = new Map<string, OpenNode>();
  /** The uses of nodes that were not opened since the start. */
  readonly #kept: Map<string, readonly Use[]>;
  #writing: NodeJS.Timeout | undefined;
  /** When the file was last written or, before that, when Node-RED started; in ms since the epoch. */
  #writtenAt = Date.now();

  constructor(RED: NodeAPI, outcomes: Outcomes) {
    const { userDir } = getSettings(RED);
    const report = (file: string, error: unknown) =>
      RED.log.warn(RED._("settings.usesUnkept", { file, cause: getErrorMessage(error) }));
    if (userDir !== undefined) this.#file = new KeptFile(join(userDir, usesFileName), maxFileBytes, report);
    this.#kept = parseUses(this.#file?.read() ?? "");
    outcomes.on("called", ({ node, caller }) => this.#note(node, caller));
    for (const event of ["accepted", "duplicate"] as const) {
      outcomes.on(event, ({ node, authenticated, at }) => !authenticated.isTest && this.#note(node, undefined, at));
    }
    RED.events.on("flows:started", () => this.#forgetDeleted(RED));
  }

  /**
   * Begins to note the uses of a node. Those of the tokens that it had before go on.
   *
   * @param shared missing where no other instance has the node
   */
  open(
    node: string,
    { access, alertWhenSilent }: Pick<WebhookConfig, "access" | "alertWhenSilent">,
    shared: SharedUses | undefined,
  ): void {
    const known = this.#kept.get(node) ?? [...this.of(node).values()];
    const keys = new Map<string | undefined, string>(alertWhenSilent > 0 ? [[undefined, ownKey]] : []);
    for (const { name, digest } of access.callers) keys.set(name, digest.slice(0, keyLength));
    if (keys.size === 0 && known.length === 0 && !shared) return;
    const earlier = new Map(known.map((use) => [use.key, use]));
    const since = Date.now();
    const uses = Array.from(keys, ([name, key]) => [name, earlier.get(key) ?? { key, since }] as const);
    this.#nodes.set(node, { uses: new Map(uses), shared });
    this.#kept.delete(node);
    this.#change();
  }

  of(node: string): OpenNode["uses"] {
    return this.#nodes.get(node)?.uses ?? new Map();
  }

  /** Whether other instances have the node. */
  isShared(node: string): boolean {
    return this.#nodes.get(node)?.shared !== undefined;
  }

  /** Learns what other instances know of a node. Where their store is away, this one goes on alone. */
  async refresh(node: string): Promise<void> {
    const { uses, shared } = this.#nodes.get(node) ?? {};
    const times = await shared?.read(node).catch(() => undefined);
    if (!uses || !times) return;
    const now = Date.now();
    for (const use of uses.values()) {
      const at = times.get(use.key);
      // The clock of another instance may be ahead.
      if (isTime(at)) use.lastUsedAt = Math.max(use.lastUsedAt ?? 0, Math.min(at, now));
    }
  }

  /** Writes the file now; none where there never was anything to note. */
  async write(): Promise<void> {
    if (this.#writing === undefined && this.#nodes.size === 0) return;
    clearTimeout(this.#writing);
    this.#writing = undefined;
    this.#writtenAt = Date.now();
    await this.#file?.write(() => this.#compose());
  }

  #note(node: string, caller: string | undefined, at = Date.now()): void {
    const { uses, shared } = this.#nodes.get(node) ?? {};
    const use = uses?.get(caller);
    // Instances forget no time: also where there is no alert by now, the one that they know must be the last one.
    if (use || caller === undefined) shared?.note(node, use?.key ?? ownKey, at);
    if (!use) return;
    use.lastUsedAt = at;
    this.#change();
  }

  /** Nodes of a disabled tab are saved, too. */
  #forgetDeleted(RED: NodeAPI): void {
    if (this.#nodes.size + this.#kept.size === 0) return;
    const saved = new Set(listSavedNodes(RED)?.map(({ id }) => id));
    for (const node of [...this.#nodes.keys(), ...this.#kept.keys()]) {
      if (saved.has(node) || (RED.nodes.getNode(node) as unknown)) continue;
      this.#nodes.delete(node);
      this.#kept.delete(node);
      this.#change();
    }
  }

  #change(): void {
    if (this.#writing) return;
    const left = this.#writtenAt + writeIntervalMs - Date.now();
    // The clock may have been set.
    const wait = Math.min(Math.max(left, 0), writeIntervalMs);
    this.#writing = setTimeout(() => void this.write(), wait).unref();
  }

  #compose(): string {
    const all = new Map(this.#kept);
    for (const [node, { uses }] of this.#nodes) if (uses.size > 0) all.set(node, [...uses.values()]);
    return JSON.stringify(Object.fromEntries(all));
  }
}

/** Leaves out damaged parts. The clock may have been set back meanwhile. */
function parseUses(json: string): Map<string, readonly Use[]> {
  const all = tryParseJson(json);
  const now = Date.now();
  const parse = (saved: unknown): Use[] => {
    const { key, since, lastUsedAt } = isObject(saved) ? saved : {};
    if (typeof key !== "string" || !isTime(since)) return [];
    return [{ key, since: Math.min(since, now), ...(isTime(lastUsedAt) && { lastUsedAt: Math.min(lastUsedAt, now) }) }];
  };
  const nodes = Object.entries(isObject(all) ? all : {});
  return new Map(nodes.map(([node, uses]) => [node, Array.isArray(uses) ? uses.flatMap(parse) : []]));
}

/** Whether it is a time since the epoch (ECMA-262 §21.4.1.1). */
function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15;
}
