// Which endpoint has a path.

import type { Node, NodeAPI } from "node-red";
import type { WebhookConfig } from "../config/parse";
import { type Breach, environmentName, normalisePath, rules, text } from "../config/rules";
import type { Recorder } from "../deliveries/recorder";
import { getPathKey } from "../request/target";
import type { Endpoint } from "./endpoint";

/** What an endpoint asks a path for. */
interface Registration {
  readonly endpoint: Endpoint;
  /** Called when the endpoint gets the path, once the flows run. */
  onActive(): void;
  /** Called when another endpoint has the path, once the flows run. */
  onBlocked(): void;
}

/** A place in the queue for a path. */
interface Registered {
  /** While its node is being deployed, the registration of before. */
  registration: Registration;
  isPresent: boolean;
  told?: "onActive" | "onBlocked" | undefined;
}

/**
 * Paths and the endpoints that have them: the first to ask for a path has it, later ones wait in their order. While
 * flows are deployed everything stays known as it was, so that a node which comes back finds its place.
 */
export class EndpointRegistry {
  readonly #queues = new Map<string, Registered[]>();
  #isSuspended = false;

  /** Finds the endpoint at a path; while flows are deployed, the one of before. The number of endpoints does not matter. */
  find(path: string): Endpoint | undefined {
    // Most senders write the path in the way in which it is configured.
    const queue = this.#queues.get(path) ?? this.#queues.get(getPathKey(path));
    return queue?.[0]?.registration.endpoint;
  }

  /** The endpoints that have a path. */
  get endpoints(): Endpoint[] {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.registration.endpoint] : []));
  }

  /** The flows are about to stop. */
  suspend(): void {
    this.#isSuspended = true;
  }

  /** The flows run: nodes that did not come back lose their places. */
  resume(): void {
    this.#isSuspended = false;
    for (const [key, queue] of this.#queues) {
      const isComplete = queue.every(({ isPresent }) => isPresent);
      this.#settle(key, isComplete ? queue : queue.filter(({ isPresent }) => isPresent));
    }
  }

  /** Asks for the path of an endpoint. @returns what gives it up */
  register(registration: Registration): () => void {
    const { path, nodeId } = registration.endpoint;
    const key = getPathKey(path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ registration: { endpoint }, isPresent }) => endpoint.nodeId === nodeId && !isPresent);
    if (place) Object.assign(place, { registration, isPresent: true, told: undefined });
    else queue.push((place = { registration, isPresent: true }));
    this.#settle(key, queue);
    return () => this.#release(key, place, registration);
  }

  #release(key: string, place: Registered, registration: Registration): void {
    const queue = this.#queues.get(key);
    if (!queue || place.registration !== registration || !place.isPresent) return;
    place.isPresent = false;
    if (!this.#isSuspended) this.#settle(key, queue.filter((each) => each !== place)); // prettier-ignore
  }

  /** Keeps a queue; once the flows run, it tells the registrations which of them has the path. */
  #settle(key: string, queue: Registered[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (this.#isSuspended) return;
    for (const place of queue) {
      const event = place === queue[0] ? "onActive" : "onBlocked";
      if (place.told === event) continue;
      place.told = event;
      place.registration[event]();
    }
  }
}

// What each node has become when its flow was started.

/** A node whose endpoint is open, or waits for another to leave its path. */
export interface Open {
  readonly node: Node;
  readonly config: WebhookConfig;
  readonly endpoint: Endpoint;
  readonly recorder: Recorder;
}

export type OpenResult = Open | Breach | "switchedOff";

export class OpenNodes {
  readonly #RED: NodeAPI;
  readonly #registry: EndpointRegistry;
  readonly #opened = new WeakMap<Node, OpenResult>();

  constructor(RED: NodeAPI, registry: EndpointRegistry) {
    this.#RED = RED;
    this.#registry = registry;
  }

  note(node: Node, opened: OpenResult): void {
    this.#opened.set(node, opened);
  }

  /** What the node with an id has become; nothing where it does not run. */
  of(id: string): OpenResult | undefined {
    const node = this.#RED.nodes.getNode(id) as Node | null;
    return node ? this.#opened.get(node) : undefined;
  }

  /** The node with an id, where it has its path; nothing where it does not run, is closed, or waits for the path. */
  serving(id: string): Open | undefined {
    const opened = this.of(id);
    if (opened === undefined || opened === "switchedOff" || "rule" in opened) return undefined;
    return this.#registry.find(opened.config.path) === opened.endpoint ? opened : undefined;
  }
}

// Which paths the saved flows have, whether or not they run.

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
  for (const { env = [] } of getScopes(node, saved)) {
    const found = env.find((each) => each.name === name);
    if (found) return found.type === "env" ? process.env[text(found.value)] : found.value;
  }
  return process.env[name];
}

function* getScopes(node: Saved, saved: ReadonlyMap<string, Saved>): Generator<Saved> {
  for (let scope = saved.get(node.g ?? node.z ?? ""); scope; scope = saved.get(scope.g ?? scope.z ?? "")) yield scope;
  for (const each of saved.values()) if (each.type === "global-config") yield each;
}
