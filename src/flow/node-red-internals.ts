// What Node-RED does not document, and this package uses.

import type { Node, NodeAPI } from "node-red";

/** Undocumented properties of a node. */
interface NodeInternals {
  _flow?: { getNode(id: string): unknown };
  _expectedDoneCount?: number;
}

/** Whether a node with this id is part of the flow of a node; that of a stopped node no longer returns it. */
function findInFlow({ _flow: flow }: NodeInternals, id: string): unknown {
  return flow?.getNode(id);
}

/** Whether a node runs: not before it has started, nor once it is told to stop. */
export function isRunning(node: Node): boolean {
  return findInFlow(node as Node & NodeInternals, node.id) === node;
}

/** Whether what a node sends to an id reaches no node. */
export function isAstray(source: Node, id: string): boolean {
  return !findInFlow(source as Node & NodeInternals, id);
}

/** Whether a node says when it has completed. */
export function saysDone(node: Node): boolean {
  return Boolean((node as Node & NodeInternals)._expectedDoneCount);
}

/** Why flows stop: by a deploy, by *Stop flows*, or as Node-RED ends. */
export type StopReason = "deploy" | "stop" | "end";

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
  return settings.get?.("runtimeFlowState") === "stop" ? "stop" : "end";
}
