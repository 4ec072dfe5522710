// What Node-RED does not document, or not all versions have, and this package uses all the same. It is checked at start:
// what is missing is logged, with what is then not done.

import type { Node, NodeAPI, NodeMessage } from "node-red";

/** Undocumented properties of a node. */
interface NodeInternals {
  /** Missing in what is no node of a flow; `TYPE` is "flow" or "subflow". */
  readonly _flow?: { getNode?(id: string): unknown; readonly TYPE?: string };
  readonly _expectedDoneCount?: number;
  readonly _alias?: string;
}

/** What is not done for want of an internal: a key under `internals` in the message catalog. */
type MissingInNodeRed = "completion" | "errors" | "done" | "stops" | "deploys" | "subflows";

interface InternalsChecks {
  /** A node of ours, as it starts. */
  readonly checkNode: (node: Node) => void;
  /** As the flows have started. */
  readonly checkStart: () => void;
}

/** Logs what is missing, each once. */
export function checkInternals(RED: NodeAPI): InternalsChecks {
  const logged = new Set<MissingInNodeRed>();
  const check = (internal: MissingInNodeRed, isThere: boolean) => {
    if (isThere || logged.has(internal)) return;
    logged.add(internal);
    RED.log.warn(RED._(`internals.${internal}`));
  };
  check("completion", findHooks(RED) !== undefined);
  let hasEvents = false;
  RED.events.once("runtime-event", () => (hasEvents = true));
  const checkNode = (node: Node) => {
    const { _flow: flow, _expectedDoneCount: doneCount, _alias: alias } = node as Node & NodeInternals;
    check("errors", findErrorOwner(node) !== undefined);
    check("done", typeof doneCount === "number");
    check("stops", typeof flow?.getNode === "function");
    check("subflows", flow?.TYPE !== "subflow" || alias !== undefined);
  };
  // The event follows in the same turn.
  return { checkNode, checkStart: () => setImmediate(() => check("deploys", hasEvents)) };
}

/** The hook events of Node-RED, as far as needed: https://nodered.org/docs/api/hooks/messages/. */
export interface SendEvent {
  msg: NodeMessage;
  destination: { node?: Node | undefined };
}
export interface CompleteEvent {
  msg: NodeMessage;
  node: { node: Node };
}
export interface RouteEvent {
  msg: NodeMessage;
  source: { node: Node };
  destination: { id: string };
}

/** A hook of ours: Node-RED refuses names that it does not know. */
export const hookNames = {
  preRoute: "preRoute.webhook-trigger-completion",
  preDeliver: "preDeliver.webhook-trigger-completion",
  onReceive: "onReceive.webhook-trigger-completion",
  postReceive: "postReceive.webhook-trigger-completion",
  onComplete: "onComplete.webhook-trigger-completion",
} as const;

/** @returns nothing where one is missing; Node-RED's test helper has none */
export function findHooks(RED: NodeAPI): NodeAPI["hooks"] | undefined {
  const { hooks } = RED as { hooks?: NodeAPI["hooks"] };
  try {
    for (const name of Object.values(hookNames)) {
      hooks?.add(`${name}-check`, () => undefined);
      hooks?.remove(`${name}-check`);
    }
    return hooks;
  } catch {
    return undefined;
  }
}

type ReportError = (this: Node, error: unknown, message: unknown) => unknown;

/** `Node.prototype`, which Node-RED does not export. */
function findErrorOwner(node: Node): { error: ReportError } | undefined {
  let owner: unknown = Object.getPrototypeOf(node);
  while (owner && !Object.hasOwn(owner, "error")) owner = Object.getPrototypeOf(owner);
  return (owner ?? undefined) as { error: ReportError } | undefined;
}

/**
 * Wraps `node.error` of all nodes, since there is no hook: core's `http request` reports errors with it, and so does
 * Node-RED when a handler throws.
 *
 * @param node any node
 */
export function wrapErrors(node: Node, hear: (reporter: Node, error: unknown, message: unknown) => void): void {
  const owner = findErrorOwner(node);
  if (!owner) return;
  const report = owner.error;
  owner.error = function error(this: Node, reported, message) {
    hear(this, reported, message);
    return report.call(this, reported, message);
  };
}

/** Whether a node with this id is part of the flow of a node; that of a stopped node no longer returns it. */
function findInFlow({ _flow: flow }: NodeInternals, id: string): unknown {
  return flow?.getNode?.(id);
}

/**
 * Whether a node runs: not before it has started, nor once it is told to stop. In doubt it does not: what it has is then
 * started again, while a node that had dropped it would count as finished with it.
 */
export function isRunning(node: Node): boolean {
  return findInFlow(node, node.id) === node;
}

/** Whether what a node sends to an id reaches no node. */
export function isAstray(source: Node, id: string): boolean {
  return !findInFlow(source, id);
}

/** Whether a node says when it has completed. */
export function saysDone(node: Node): boolean {
  return Boolean((node as Node & NodeInternals)._expectedDoneCount);
}

/** Inside a subflow, the id of a node in the subflow's template. */
export function findTemplateId(node: Node): string | undefined {
  return (node as Node & NodeInternals)._alias;
}

/** A saved node or tab. */
interface SavedNode {
  readonly id: string;
  readonly type: string;
  /** Its tab. */
  readonly z?: string;
  /** Disabled: `d` of a node, `disabled` of a tab. */
  readonly d?: boolean;
  readonly disabled?: boolean;
  readonly relativePath?: unknown;
  readonly methods?: unknown;
}

/** @returns nothing while the flows are not loaded */
export function listSavedNodes(RED: NodeAPI): SavedNode[] | undefined {
  const saved: SavedNode[] = [];
  try {
    RED.nodes.eachNode((node) => saved.push(node));
    return saved;
  } catch {
    return undefined;
  }
}

/** Why flows stop: by a deploy, by *Stop flows*, or as Node-RED ends. */
type StopReason = "deploy" | "stop" | "end";

interface FlowEvents {
  /** Before any node is told to stop. */
  stopping?(reason: StopReason): void;
  /** All nodes have stopped that do. */
  stopped?(reason: StopReason): void;
  /** Before any node is created. */
  starting?(): void;
  started?(): void;
}

/** What Node-RED says with the events of its flows. */
interface FlowsChange {
  /** The saved flows; a deploy has new ones. */
  readonly config?: object;
}

/** Listens to starts and stops of the flows. Safe mode, and flows with nodes of unknown types, have none. */
export function watchFlows(RED: NodeAPI, listeners: FlowEvents): void {
  let running: object | undefined;
  let reason: StopReason = "deploy";
  RED.events.on("flows:starting", () => listeners.starting?.());
  RED.events.on("flows:started", ({ config }: FlowsChange = {}) => {
    running = config;
    listeners.started?.();
  });
  RED.events.on("flows:stopping", ({ config }: FlowsChange = {}) => {
    reason = config === undefined || config !== running ? "deploy" : findStopReason(RED);
    listeners.stopping?.(reason);
  });
  RED.events.on("flows:stopped", () => listeners.stopped?.(reason));
}

/** *Stop flows* is remembered over a restart, before the flows stop. */
function findStopReason(RED: NodeAPI): StopReason {
  const settings = RED.settings as { get?(name: string): unknown };
  try {
    return settings.get?.("runtimeFlowState") === "stop" ? "stop" : "end";
  } catch {
    // In Node-RED's test helper, settings are not loaded.
    return "end";
  }
}
