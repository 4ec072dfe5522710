// Paths and their endpoints.

import type { NodeAPI } from "node-red";
import { defaults, rules } from "../config/fields";
import { isPattern, normalisePath } from "../config/paths";
import { environmentName, text } from "../config/values";
import { getPatternKey, PathPatterns } from "../request/path-patterns";
import { getPathKey } from "../request/target";
import { acceptsMethod, type Endpoint } from "./endpoint";
import { watchSavedFlows } from "./node-red-internals";

/** An endpoint that has its path, or waits for it. */
interface Registration {
  readonly endpoint: Endpoint;
  /** The endpoint has the path, now that the flows run. */
  onActive(): void;
  /** Another endpoint has the path, now that the flows run. */
  onBlocked(): void;
}

interface Registered {
  /** During a deploy, the registration before it. */
  registration: Registration;
  isPresent: boolean;
  told?: "onActive" | "onBlocked" | undefined;
}

/**
 * Paths and their endpoints: the first to register has the path, later ones wait in order. During a deploy nothing
 * changes, so that a node that comes back keeps its place.
 */
export class EndpointRegistry {
  readonly #queues = new Map<string, Registered[]>();
  /** Missing until the next look-up where they have changed. */
  #patterns: PathPatterns | undefined;
  readonly #isAdminPath: (path: string) => boolean;
  #isSuspended = false;

  /** @param isAdminPath whether a path is Node-RED's own, which no pattern matches */
  constructor(isAdminPath: (path: string) => boolean = () => false) {
    this.#isAdminPath = isAdminPath;
  }

  /** Finds the endpoint of a path; during a deploy, the one before it. */
  find(path: string): Endpoint | undefined {
    // Most senders write the path as it is configured.
    const queue = this.#queues.get(path) ?? this.#queues.get(getPathKey(path)) ?? this.#findByPattern(path);
    return queue?.[0]?.registration.endpoint;
  }

  #findByPattern(path: string): Registered[] | undefined {
    this.#patterns ??= new PathPatterns([...this.#queues.keys()].filter(isPattern));
    const key = this.#patterns.find(path);
    return key === undefined || this.#isAdminPath(path) ? undefined : this.#queues.get(key);
  }

  get endpoints(): Endpoint[] {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.registration.endpoint] : []));
  }

  /** Finds the endpoint of a node, if it has its path. */
  findOfNode(id: string): Endpoint | undefined {
    return this.endpoints.find(({ node }) => node.id === id);
  }

  suspend(): void {
    this.#isSuspended = true;
  }

  /** Nodes that did not come back lose their places. */
  resume(): void {
    this.#isSuspended = false;
    for (const [key, queue] of this.#queues) {
      const isComplete = queue.every(({ isPresent }) => isPresent);
      this.#settle(key, isComplete ? queue : queue.filter(({ isPresent }) => isPresent));
    }
  }

  /** Registers an endpoint for its path. @returns the function that gives the path up */
  register(registration: Registration): () => void {
    const { node, config } = registration.endpoint;
    const key = getPatternKey(config.path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ registration: { endpoint }, isPresent }) => endpoint.node.id === node.id && !isPresent);
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

  /** Stores a queue; while the flows run, reports who has the path. */
  #settle(key: string, queue: Registered[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (isPattern(key)) this.#patterns = undefined;
    if (this.#isSuspended) return;
    for (const place of queue) {
      const event = place === queue[0] ? "onActive" : "onBlocked";
      if (place.told === event) continue;
      place.told = event;
      place.registration[event]();
    }
  }
}

// The paths of the saved flows, whether or not they run.

/** A saved node, tab or group. */
interface Saved {
  id: string;
  type: string;
  /** Its tab and its group. */
  z?: string;
  g?: string;
  /** Disabled: `d` of a node, `disabled` of a tab. */
  d?: boolean;
  disabled?: boolean;
  relativePath?: unknown;
  methods?: readonly string[];
  env?: { name: string; type: string; value: unknown }[];
}

/** The paths of all saved nodes: while no flows run, there are no nodes to ask. */
export class ConfiguredPaths {
  readonly #RED: NodeAPI;
  readonly #isAdminPath: (path: string) => boolean;
  /** The first node with each path; missing until the flows may have changed. */
  #nodes: ReadonlyMap<string, Saved> | undefined;
  #patterns = new PathPatterns([]);
  /** The ids of disabled nodes by their paths. */
  #disabled: ReadonlyMap<string, string> = new Map();

  /** @param isAdminPath whether a path is Node-RED's own, which no pattern matches */
  constructor(RED: NodeAPI, isAdminPath: (path: string) => boolean) {
    this.#RED = RED;
    this.#isAdminPath = isAdminPath;
    watchSavedFlows(RED, () => (this.#nodes = undefined));
  }

  /** Whether the saved flows have no node of ours. */
  get needNothing(): boolean {
    this.#nodes ??= this.#read();
    return this.#nodes?.size === 0;
  }

  /** The id of the first node with a path, by its key. */
  find(key: string): string | undefined {
    return this.#findNode(key)?.id;
  }

  /** The id of a disabled node with a path, by its key. */
  findDisabled(key: string): string | undefined {
    this.#nodes ??= this.#read();
    return this.#disabled.get(key);
  }

  #findNode(key: string): Saved | undefined {
    this.#nodes ??= this.#read();
    const found = this.#nodes?.get(key);
    if (found) return found;
    const pattern = this.#isAdminPath(key) ? undefined : this.#patterns.find(key);
    return pattern === undefined ? undefined : this.#nodes?.get(pattern);
  }

  /** Whether that node accepts a method. */
  accepts(key: string, method: string): boolean {
    const node = this.#findNode(key);
    const methods = rules.methods(node?.methods) === undefined ? node?.methods : undefined;
    return node !== undefined && acceptsMethod({ methods: methods ?? defaults.methods }, method);
  }

  /** @returns nothing while the flows are not loaded */
  #read(): Map<string, Saved> | undefined {
    const saved = new Map<string, Saved>();
    try {
      this.#RED.nodes.eachNode((node) => saved.set(node.id, node));
    } catch {
      return undefined;
    }
    const nodes = new Map<string, Saved>();
    const disabled = new Map<string, string>();
    for (const node of saved.values()) {
      if (node.type !== "webhook-trigger") continue;
      const path = resolve(node.relativePath, node, saved);
      if (rules.relativePath(path) !== undefined) continue;
      const key = getPatternKey(normalisePath(text(path)));
      if (node.d || saved.get(node.z ?? "")?.disabled) disabled.set(key, node.id);
      else if (!nodes.has(key)) nodes.set(key, node);
    }
    this.#patterns = new PathPatterns([...nodes.keys()].filter(isPattern));
    this.#disabled = disabled;
    return nodes;
  }
}

/** Resolves an environment variable as the runtime does: group, tab, all flows, process. */
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
