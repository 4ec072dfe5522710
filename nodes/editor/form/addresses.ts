// The URL of the node, and nodes with the same path.

import { parseBaseUrl } from "../../../src/config/host";
import { isEnvironmentValue, normalisePath } from "../../../src/config/rules";
import { getPathKey } from "../../../src/request/target";
import type { Editor, EditorNode } from "../host";
import { brokenRule, isUsed, roots } from "./checks";
import { inputValue, valuesInForm, type WebhookNode } from "./fields";

declare const RED: Editor;

/** Nothing when the node cannot be reached, or an environment variable has the path. */
export function composeUrl(node: WebhookNode): string | undefined {
  const path = inputValue("relativePath");
  if (isEnvironmentValue(path) || brokenRule(node, "relativePath", path) !== undefined) return undefined;
  const { node: nodeRoot } = roots();
  return nodeRoot === false ? undefined : composeUrlOfPath(normalisePath(nodeRoot) + normalisePath(path));
}

/** @param path with `httpNodeRoot` */
export function composeUrlOfPath(path: string): string {
  return (parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin) + path;
}

/** The URL for the sender: the entered one, where the signature covers it. */
export function urlToGive(node: WebhookNode): string | undefined {
  const entered = inputValue("publicUrl");
  const url = composeUrl(node);
  if (url === undefined || !isUsed("publicUrl", valuesInForm(node))) return url;
  return entered === "" || isEnvironmentValue(entered) || brokenRule(node, "publicUrl", entered) ? url : entered;
}

/** Loopback addresses: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3. */
const loopback = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/;
/** Local networks: RFC 1918 §3, RFC 3927 §2.1, RFC 4193 §3.1, RFC 6762 §3. */
const local =
  /^(?:10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[f[cd].*\]|.+\.local)$/;

/** From where an address can be reached; nothing where that is unknown. */
export function classifyReach(url: string): "computer" | "network" | undefined {
  const { hostname } = new URL(url);
  if (loopback.test(hostname)) return "computer";
  return local.test(hostname) ? "network" : undefined;
}

export function getHost(url: string): string {
  return new URL(url).hostname;
}

export function prepareRival(node: WebhookNode): void {
  $("#webhook-trigger-rival").on("click", () => {
    const rival = findRival(node);
    if (rival) reveal(rival);
  });
}

/** Warns of another node with the same path. */
export function showRival(node: WebhookNode): void {
  const rival = findRival(node);
  $("#webhook-trigger-note-taken").toggle(rival !== undefined);
  if (!rival) return;
  $("#webhook-trigger-warning").text(node._(rival.type === node.type ? "url.takenByWebhook" : "url.takenByHttpIn"));
  const name = getName(node, rival);
  $("#webhook-trigger-rival").text(name).attr("aria-label", node._("url.reveal", { name }));
}

function getName(node: WebhookNode, rival: EditorNode): string {
  const flow = getFlowName(rival);
  const own = rival.type === node.type ? node._("paletteLabel") : rival.type;
  return node._("url.rival", { name: rival.name || own, flow });
}

export function getFlowName({ z }: EditorNode): string {
  return RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name ?? "";
}

function findRival(node: WebhookNode): EditorNode | undefined {
  const path = inputValue("relativePath");
  const hasPath = (other: EditorNode, itsPath: unknown) =>
    other.id !== node.id &&
    isEnabled(other) &&
    typeof itsPath === "string" &&
    itsPath !== "" &&
    samePath(itsPath, path);
  return (
    RED.nodes.filterNodes({ type: node.type }).find((other) => hasPath(other, other.relativePath)) ??
    RED.nodes.filterNodes({ type: "http in" }).find((other) => other.method === "post" && hasPath(other, other.url))
  );
}

function isEnabled(node: EditorNode): boolean {
  return !node.d && !RED.nodes.workspace(node.z)?.disabled;
}

function samePath(one: string, other: string): boolean {
  return getPathKey(normalisePath(one)) === getPathKey(normalisePath(other));
}

/** Widths in px: of a node with its name beside the form, and of the form at least. */
const roomForNode = 240;
const roomForForm = 320;

/** Reveals a node beside the form, which is narrowed where it needs room. */
function reveal(node: EditorNode): void {
  RED.view.reveal(node.id);
  const chart = $("#red-ui-workspace-chart").stop(true);
  const tray = $(".red-ui-tray").last();
  const { left = 0, top = 0 } = chart.offset() ?? {};
  const room = (tray.offset()?.left ?? 0) - left;
  const narrower = (tray.outerWidth() ?? 0) - Math.max(0, roomForNode - room);
  if (narrower >= roomForForm) tray.outerWidth(narrower);
  const free = Math.min((tray.offset()?.left ?? 0) - left, chart.innerWidth() ?? 0);
  const height = Math.min(chart.innerHeight() ?? 0, window.innerHeight - top);
  chart.scrollLeft(node.x * RED.view.scale() - free / 2);
  chart.scrollTop(node.y * RED.view.scale() - height / 2);
}
