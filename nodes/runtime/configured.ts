// Which paths the saved flows have, whether or not they run.

import type { NodeAPI } from "node-red";
import { environmentName, normalisePath, rules, text } from "../../src/config/rules";
import { getPathKey } from "../../src/request/target";

/** A saved node, tab or group, as far as it matters here. */
interface Saved {
  id: string;
  type: string;
  /** Its tab and its group. */
  z?: string;
  g?: string;
  /** Whether it is disabled, for a node and for a tab. */
  d?: boolean;
  disabled?: boolean;
  relativePath?: unknown;
  env?: { name: string; type: string; value: unknown }[];
}

/** The paths of all webhooks that are configured: while no flows run, there are no nodes that could tell. */
export class ConfiguredPaths {
  readonly #RED: NodeAPI;
  /** What was found, until the flows may have changed. */
  #keys: ReadonlySet<string> | undefined;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    // The runtime's word for the editors about starts, stops and deploys; the only one about deploys while stopped.
    RED.events.on("runtime-event", () => (this.#keys = undefined));
  }

  /** Whether the flows may run without us: there is none of our nodes in them, so nothing waited for this package. */
  get needNothing(): boolean {
    this.#keys ??= this.#read();
    return this.#keys?.size === 0;
  }

  /** Whether a webhook is configured at a path. */
  has(key: string): boolean {
    this.#keys ??= this.#read();
    return this.#keys?.has(key) ?? false;
  }

  #read(): Set<string> | undefined {
    const saved = this.#saved();
    if (!saved) return undefined;
    const keys = new Set<string>();
    for (const node of saved.values()) {
      if (node.type !== "webhook-trigger" || node.d || saved.get(node.z ?? "")?.disabled) continue;
      const path = resolve(node.relativePath, node, saved);
      if (rules.relativePath(path) === undefined) keys.add(getPathKey(normalisePath(text(path))));
    }
    return keys;
  }

  #saved(): Map<string, Saved> | undefined {
    const saved = new Map<string, Saved>();
    try {
      this.#RED.nodes.eachNode((node) => saved.set(node.id, node));
      return saved;
    } catch {
      // It fails before the flows are loaded.
      return undefined;
    }
  }
}

/** Takes the value of an environment variable as the runtime does: of the group, the tab, all flows or the process. */
function resolve(value: unknown, node: Saved, saved: ReadonlyMap<string, Saved>): unknown {
  const name = environmentName(value);
  if (name === undefined) return value;
  for (const { env = [] } of scopesOf(node, saved)) {
    const found = env.find((each) => each.name === name);
    if (found) return found.type === "env" ? process.env[text(found.value)] : found.value;
  }
  return process.env[name];
}

function* scopesOf(node: Saved, saved: ReadonlyMap<string, Saved>): Generator<Saved> {
  for (let scope = saved.get(node.g ?? node.z ?? ""); scope; scope = saved.get(scope.g ?? scope.z ?? "")) yield scope;
  for (const each of saved.values()) if (each.type === "global-config") yield each;
}
