// Tells when a flow is done with a message.

import type { Node, NodeAPI, NodeMessage } from "node-red";
import { Detours } from "./detours";
import type { Ending } from "../../src/deliveries/flow";
import { type SendEvent, Trails } from "./trails";

interface ReceiveEvent {
  msg: NodeMessage;
  destination: { node: Node };
}

interface CompleteEvent {
  msg: NodeMessage;
  node: { node: Node };
  error?: unknown;
}

const label = "webhook-trigger-completion";
/** How long a round takes, in ms: hooks go when nothing was followed for one. */
export const roundInterval = 10_000;

/**
 * A flow is done with a message when every node has said so that got it, or a message sent on from it with the same id.
 * Nodes that do not say it are done when their handler has run. It has failed when a node reports an error about such a
 * message, whether that is caught or not. What a stopped node still had is lost, and so is what was on its way to it. What a plugin stops counts as done: it is known by its not having come for ten minutes.
 *
 * Hooks cost every message of every flow: they are there only while something is followed, and some seconds more.
 */
export class Completion {
  /** Node-RED's test helper has none. */
  readonly #hooks: NodeAPI["hooks"] | undefined;
  readonly #trails = new Trails();
  readonly #detours: Detours;
  /** The nodes whose errors are heard. */
  readonly #heard = new WeakSet<Node>();
  #isIdle = false;
  #rounds: NodeJS.Timeout | undefined;

  constructor(RED: NodeAPI) {
    this.#hooks = RED.hooks;
    this.#detours = new Detours(RED, this.#trails, label);
    RED.events.on("flows:stopping", () => this.#trails.stop());
    RED.events.on("flows:started", () => {
      // Nodes that came with this deploy may have added hooks.
      if (this.#rounds) this.#detours.watch();
      this.#trails.start();
    });
  }

  /** How many messages are followed. */
  get size(): number {
    return this.#trails.size;
  }

  /**
   * Follows a message that a node is about to send, in this turn.
   *
   * @param redact takes the secrets out of an error, before it is shortened
   */
  follow(id: string, { id: source }: Node, redact = (error: string) => error): Promise<Ending> {
    if (!this.#hooks) return delivered();
    this.#isIdle = false;
    if (!this.#rounds) this.#hook(this.#hooks);
    this.#detours.watch();
    return this.#trails.follow({ id, source, redact });
  }

  #hook(hooks: NodeAPI["hooks"]): void {
    // Those of plugins that are added later come behind it.
    this.#detours.watch(hooks.has("preDeliver"));
    hooks.add(`preDeliver.${label}`, (event: SendEvent) => this.#deliver(event));
    hooks.add(`postReceive.${label}`, ({ msg, destination: { node } }: ReceiveEvent) => {
      this.#trails.receive(msg, node);
    });
    hooks.add(`onComplete.${label}`, ({ msg, node: { node }, error }: CompleteEvent) => {
      this.#trails.complete(msg, node, error ? { error } : undefined);
    });
    this.#rounds = setInterval(() => this.#nextRound(hooks), roundInterval).unref();
  }

  #deliver(event: SendEvent): void {
    const { node } = event.destination;
    if (node && this.#trails.route(event, this.#detours.passed(event))) this.#hear(node);
  }

  /** What a handler throws, and what it reports without being done, comes to no hook. */
  #hear(node: Node): void {
    if (this.#heard.has(node)) return;
    this.#heard.add(node);
    const report = node.error.bind(node);
    const value = (...values: [error: unknown, msg?: NodeMessage]) => {
      const [error, msg] = values;
      if (msg && typeof msg === "object") this.#trails.complete(msg, node, { error });
      report(...values);
    };
    Reflect.defineProperty(node, "error", { value, configurable: true, writable: true });
  }

  #nextRound(hooks: NodeAPI["hooks"]): void {
    this.#trails.nextRound();
    const isIdle = this.size === 0;
    if (isIdle && this.#isIdle) {
      this.#detours.unwatch();
      for (const stage of ["preDeliver", "postReceive", "onComplete"]) {
        hooks.remove(`${stage}.${label}`);
      }
      clearInterval(this.#rounds);
      this.#rounds = undefined;
    }
    this.#isIdle = isIdle;
  }
}

/** When a message that is sent in this turn has been delivered. */
function delivered(): Promise<Ending> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve({ as: "succeeded" })));
  });
}
