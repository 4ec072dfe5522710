// What Node-RED knows of a node, and tells nobody.

import type { Node } from "node-red";

interface Inner {
  _flow?: Node["_flow"] & { getNode(id: string): unknown };
  _expectedDoneCount?: number;
}

/** Whether what a node sends finds a node with an id. */
export function isInReach(node: Node, id: string): boolean {
  return Boolean((node as Node & Inner)._flow?.getNode(id));
}

/** Whether a node runs: of one that was stopped, or is being stopped, its flow knows nothing more. */
export function isRunning(node: Node): boolean {
  return (node as Node & Inner)._flow?.getNode(node.id) === node;
}

/** Whether a node tells when it is done with a message. */
export function tellsDone(node: Node): boolean {
  return Boolean((node as Node & Inner)._expectedDoneCount);
}
