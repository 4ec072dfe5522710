import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";
import type { Endpoints } from "../src/endpoints";

/** A node with its wires, which `@types/node-red` leaves out: for each output, the ids of the next nodes. */
type WiredNode = Node & { wires: string[][] };

/** A message on its way, and where to, if a deploy began meanwhile. */
interface Sent {
  node: WiredNode;
  message: NodeMessageInFlow;
  destinations: Destination[];
}

interface Destination {
  id: string;
  node: Node;
  message: NodeMessageInFlow;
}

/**
 * Carries requests and messages over a deploy, so that what was accepted reaches its flow exactly once.
 *
 * Requests wait until the flows run again. And messages: Node-RED delivers one some moments after it was sent, and when
 * a deploy closes the receiving node in between, it is lost. Such a message is handed to the node that comes in its place.
 */
export class Deploys {
  readonly #RED: NodeAPI;
  /** In the order they were sent, which is the order they are delivered in. */
  readonly #underway: Sent[] = [];
  #lost: Destination[] = [];

  constructor(RED: NodeAPI, endpoints: Endpoints<object>) {
    this.#RED = RED;
    RED.events.on("flows:stopping", () => {
      endpoints.hold();
      for (const sent of this.#underway) sent.destinations = this.#destinationsOf(sent);
    });
    RED.events.on("flows:started", () => {
      for (const { id, message } of this.#lost.splice(0)) this.#nodeOf(id)?.receive(message);
      endpoints.resume();
    });
  }

  /** Sends a message to the nodes that a node is wired to. */
  send(node: Node, message: NodeMessageInFlow): void {
    const sent: Sent = { node: node as WiredNode, message, destinations: [] };
    this.#underway.push(sent);
    node.send(message);
    // Runs right after the deliveries, which `send` has put into the same queue.
    setImmediate(() => {
      this.#underway.shift();
      this.#lost.push(...sent.destinations.filter(({ id, node: then }) => this.#nodeOf(id) !== then));
    });
  }

  #destinationsOf({ node, message }: Sent): Destination[] {
    return node.wires.flat().flatMap((id) => {
      const next = this.#nodeOf(id);
      return next ? [{ id, node: next, message: this.#RED.util.cloneMessage(message) }] : [];
    });
  }

  #nodeOf(id: string): Node | null | undefined {
    return this.#RED.nodes.getNode(id);
  }
}
