// What each node has become when its flow was started.

import type { Node, NodeAPI } from "node-red";
import type { WebhookConfig } from "../../src/config/parse";
import type { Breach } from "../../src/config/rules";
import type { Endpoint } from "../../src/endpoint";
import type { EndpointRegistry } from "../../src/http/endpoint-registry";
import type { Recorder } from "../../src/recorder";

/** A node whose endpoint is open, or waits for another to leave its path. */
export interface Open {
  readonly node: Node;
  readonly config: WebhookConfig;
  readonly endpoint: Endpoint;
  readonly recorder: Recorder;
}

export type Opened = Open | Breach | "switchedOff";

export class OpenedNodes {
  readonly #RED: NodeAPI;
  readonly #registry: EndpointRegistry;
  readonly #opened = new WeakMap<Node, Opened>();

  constructor(RED: NodeAPI, registry: EndpointRegistry) {
    this.#RED = RED;
    this.#registry = registry;
  }

  note(node: Node, opened: Opened): void {
    this.#opened.set(node, opened);
  }

  /** What the node with an id has become; nothing where it does not run. */
  of(id: string): Opened | undefined {
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
