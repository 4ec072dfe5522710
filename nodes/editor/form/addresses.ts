// The URL in the form, and who can reach it.

import { parseBaseUrl } from "../../../src/config/host";
import { isEnvironmentValue, normalisePath } from "../../../src/config/rules";
import { getPathKey } from "../../../src/request/target";
import type { Editor, EditorNode } from "../host";
import { brokenRule, isUsed, roots } from "./checks";
import { inputValue, valuesInForm, type WebhookNode } from "./fields";

declare const RED: Editor;

/** The URL of the path in the form; nothing when nobody can reach the node there, or an environment variable has the path. */
export function composeUrl(node: WebhookNode): string | undefined {
  const path = inputValue("relativePath");
  if (isEnvironmentValue(path) || brokenRule(node, "relativePath", path) !== undefined) return undefined;
  const { node: nodeRoot } = roots();
  return nodeRoot === false ? undefined : composeUrlOfPath(normalisePath(nodeRoot) + normalisePath(path));
}

/** The URL of a path that has Node-RED's root for nodes in it. */
export function composeUrlOfPath(path: string): string {
  return (parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin) + path;
}

/** The URL that the sender is to be given: where it signs that, the one that was entered for it. */
export function urlToGive(node: WebhookNode): string | undefined {
  const entered = inputValue("publicUrl");
  const url = composeUrl(node);
  if (url === undefined || !isUsed("publicUrl", valuesInForm(node))) return url;
  return entered === "" || isEnvironmentValue(entered) || brokenRule(node, "publicUrl", entered) ? url : entered;
}

/** RFC 1122 §3.2.1.3, RFC 4291 §2.5.3 and RFC 6761 §6.3: addresses that lead nowhere but to the machine itself. */
const loopback = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/;
/** RFC 1918 §3, RFC 3927 §2.1, RFC 4193 §3.1 and RFC 6762 §3: addresses of a network that has no others in it. */
const local =
  /^(?:10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[f[cd].*\]|.+\.local)$/;

/** How far an address can be called from; nothing where that is not to be seen. */
export function classifyReach(url: string): "computer" | "network" | undefined {
  const { hostname } = new URL(url);
  if (loopback.test(hostname)) return "computer";
  return local.test(hostname) ? "network" : undefined;
}

export function getHost(url: string): string {
  return new URL(url).hostname;
}

// Another node that has the same path: found, named, and shown.

export function prepareRival(node: WebhookNode): void {
  $("#webhook-trigger-rival").on("click", () => {
    const rival = findRival(node);
    if (rival) reveal(rival);
  });
}

/** Warns of another node that has the same path. */
export function showRival(node: WebhookNode): void {
  const rival = findRival(node);
  $("#webhook-trigger-note-taken").toggle(rival !== undefined);
  if (!rival) return;
  $("#webhook-trigger-warning").text(node._(rival.type === node.type ? "url.takenByWebhook" : "url.takenByHttpIn"));
  const name = getName(node, rival);
  $("#webhook-trigger-rival").text(name).attr("aria-label", node._("url.reveal", { name }));
}

/** What a person knows a node by: its id tells nobody anything. */
function getName(node: WebhookNode, rival: EditorNode): string {
  const flow = getFlowName(rival);
  const own = rival.type === node.type ? node._("paletteLabel") : rival.type;
  return node._("url.rival", { name: rival.name || own, flow });
}

/** What a person knows the flow of a node by. */
export function getFlowName({ z }: EditorNode): string {
  return RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name ?? "";
}

/** Finds another node that has the path of the form. */
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

/** What a node and its name take beside the form, in px, and what the form takes at least. */
const roomForNode = 240;
const roomForForm = 320;

/** Shows a node beside the form, which lies over its flow: where there is no room, the form makes some. */
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
