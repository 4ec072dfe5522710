// A new node for a request that reached none, in the flow that is shown.

import { isAdminPath, isPattern, normalisePath } from "../../../src/config/paths";
import { flowMethods, rules, type SavedFields } from "../../../src/config/fields";
import { getPreset } from "../form/sender";
import { maxShownPath } from "../../../src/deliveries/states";
import { type EditorNode, RED } from "../node-red";
import type { MissedRequest } from "./host";

/** The distance to other nodes, and the grid of the workspace, in px. */
const [distance, grid] = [60, 20];

/** @returns adds the node; nothing where the user may not, or no node can have the path */
export function prepareNode(request: MissedRequest): (() => void) | undefined {
  const path = findRelativePath(request.path);
  if (path === undefined || !RED.user.hasPermission("flows.write")) return undefined;
  return () => addNode(path, request);
}

/** The path below `httpNodeRoot`. */
function findRelativePath(path: string): string | undefined {
  const roots = RED.settings.webhookTriggerRoots;
  if (roots.node === false || path.length >= maxShownPath || isPattern(path)) return undefined;
  const root = normalisePath(roots.node);
  const below = path.startsWith(`${root}/`) ? path.slice(root.length) : "";
  return rules.relativePath(below) !== undefined || isAdminPath(below, roots) ? undefined : below;
}

function addNode(relativePath: string, { method, sender, event }: MissedRequest): void {
  const { nodes, view, workspaces } = RED;
  const say = (key: string) => RED.notify(nodes.getType("webhook-trigger")._(key), "error");
  if (view.state() !== RED.state.DEFAULT) return say("newNode.busy");
  const known = nodes.filterNodes({ type: "webhook-trigger" }).find((node) => node.relativePath === relativePath);
  // It is not deployed, or closed.
  if (known) return view.reveal(known.id);
  const flow = workspaces.active();
  if (!flow || workspaces.isLocked()) return say("newNode.noFlow");
  const { node, historyEvent } = view.createNode("webhook-trigger");
  const saved: Partial<SavedFields> = {
    relativePath,
    methods: flowMethods.filter((each) => each === method),
    ...(sender !== null && { sender, ...getPreset(sender) }),
    ...(event !== undefined && { events: [event] }),
  };
  const added = nodes.add(Object.assign(node, saved, findPlace(flow)));
  RED.history.push(historyEvent);
  RED.editor.validateNode(added);
  nodes.dirty(true);
  view.select({ nodes: [added] });
  view.redraw(true);
  RED.editor.edit(added);
}

/** In the middle of what is shown of a flow, or below the nodes there. */
function findPlace(flow: string): Pick<EditorNode, "x" | "y"> {
  const scale = RED.view.scale();
  const chart = document.getElementById("red-ui-workspace-chart");
  const { scrollLeft = 0, scrollTop = 0, clientWidth = 0, clientHeight = 0 } = chart ?? {};
  const snap = (at: number) => Math.round(at / scale / grid) * grid;
  const place = { x: snap(scrollLeft + clientWidth / 2), y: snap(scrollTop + clientHeight / 2) };
  const others = RED.nodes.filterNodes({ z: flow });
  const isTaken = () =>
    others.some(({ x, y }) => Math.abs(x - place.x) < 3 * distance && Math.abs(y - place.y) < distance);
  while (isTaken()) place.y += distance;
  return place;
}
