// What nodes report to have gone wrong with a message.

import type { Node, NodeMessage } from "node-red";

/** Who hears of it. @param id of the message @param node that has reported it */
type Listener = (id: string, error: unknown, node: Node) => void;

/** How a node reports an error. */
type ReportError = (this: Node, error: unknown, message: unknown) => unknown;

/** Who listens at what all nodes have in common: a process has one Node-RED. */
const listeners = new WeakMap<object, Listener>();

/**
 * Has errors heard without a hook, which would cost every message of every flow: all nodes report them by one method of
 * their common prototype, those that their handlers throw included.
 *
 * @param node any: it has that method, too
 */
export function listenToErrors(node: Node, listener: Listener): void {
  const common = ownerOf(node);
  if (!common) return;
  const isListening = listeners.has(common);
  listeners.set(common, listener);
  if (!isListening) common.error = listening(common, common.error);
}

interface Common {
  error: ReportError;
}

/** The prototype that has the method. */
function ownerOf(node: Node): Common | undefined {
  for (let each: unknown = Object.getPrototypeOf(node); isObject(each); each = Object.getPrototypeOf(each)) {
    if (Object.hasOwn(each, "error")) return each as Common;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function listening(common: Common, report: ReportError): ReportError {
  return function error(this: Node, reported, message) {
    const id = isObject(message) ? (message as Partial<NodeMessage>)._msgid : undefined;
    if (typeof id === "string") listeners.get(common)?.(id, reported, this);
    return report.call(this, reported, message);
  };
}
