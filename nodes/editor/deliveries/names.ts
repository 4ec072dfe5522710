// What a person knows nodes by.

import type { Editor, EditorNode } from "../host";
import { flowNameOf } from "../rival";
import { text } from "./texts";

declare const RED: Editor;

/** The label of a node; its id where the editor does not know it, as one that was deleted. */
export function labelOf(id: string): string {
  const node = RED.nodes.node(id);
  return node ? RED.utils.getNodeLabel(node, id) : id;
}

/** The label of a node and its flow; its id where the editor does not know it. */
export function nameOf(id: string): string {
  const node = RED.nodes.node(id);
  return node ? inFlow(node) : id;
}

/** All nodes of the type, by their ids: the label and the flow of each. */
export function namedNodes(): Map<string, string> {
  const named = RED.nodes.filterNodes({ type: "webhook-trigger" }).map((node) => [node.id, inFlow(node)] as const);
  return new Map(named.sort(([, one], [, other]) => one.localeCompare(other)));
}

function inFlow(node: EditorNode): string {
  return text("url.rival", { name: RED.utils.getNodeLabel(node, node.id), flow: flowNameOf(node) });
}
