import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow } from "node-red";
import type { Endpoints } from "../../src/endpoints";

/** A message that is about to reach a node, as Node-RED's hook `onReceive` tells of it. */
interface Delivery {
  msg: NodeMessage;
  destination: { id: string; node: Node };
}

const hook = "onReceive.webhook-trigger";

/**
 * Carries requests and messages over a deploy, so that what was accepted reaches its flow exactly once.
 *
 * Requests wait until the flows run again. And messages: Node-RED delivers one some moments after it was sent. When a
 * deploy closes the receiving node in between, it is lost, or that node still takes it while it is closing. Such a
 * message is kept from it, and handed to the node that comes in its place.
 */
export class Deploys {
  readonly #RED: NodeAPI;
  /** The ids of the messages that were sent and are not yet delivered. */
  readonly #underway = new Set<string>();
  #kept: Delivery[] = [];

  constructor(RED: NodeAPI, endpoints: Endpoints<object>) {
    this.#RED = RED;
    // Node-RED's test helper has none.
    const hooks = RED.hooks as NodeAPI["hooks"] | undefined;
    RED.events.on("flows:stopping", () => {
      endpoints.hold();
      // A hook costs every message of every flow, so it is there only while there is something to keep.
      if (this.#underway.size > 0 && !hooks?.has(hook)) {
        hooks?.add(hook, (delivery: Delivery) => this.#mayReceive(delivery));
      }
    });
    RED.events.on("flows:started", () => {
      if (hooks?.has(hook)) hooks.remove(hook);
      for (const { msg, destination } of this.#kept.splice(0)) this.#nodeOf(destination.id)?.receive(msg);
      endpoints.resume();
    });
  }

  /** Sends a message to the nodes that a node is wired to. */
  send(node: Node, message: NodeMessageInFlow): void {
    this.#underway.add(message._msgid);
    node.send(message);
    // Runs right after the deliveries, which `send` has put into the same queue.
    setImmediate(() => this.#underway.delete(message._msgid));
  }

  /** Keeps a message from a node that is being replaced; to answer `false` is the hook's way to stop the delivery. */
  #mayReceive(delivery: Delivery): false | undefined {
    const { msg, destination } = delivery;
    if (!this.#underway.has(msg._msgid ?? "")) return undefined;
    if (this.#nodeOf(destination.id) === destination.node) return undefined;
    this.#kept.push(delivery);
    return false;
  }

  #nodeOf(id: string): Node | null | undefined {
    return this.#RED.nodes.getNode(id);
  }
}
