// The URL in the form, and who else has its path.

import { parseBaseUrl } from "../../src/config/base-url";
import { normalisePath } from "../../src/config/rules";
import { pathKey } from "../../src/request/target";
import { brokenRule, inputValue, prepareCopyButton, roots, type WebhookNode } from "./fields";
import type { Editor, EditorNode } from "./host";

declare const RED: Editor;

const rivalData = "rival";

export function prepareUrl(node: WebhookNode): void {
  prepareCopyButton($("#webhook-trigger-url-copy"), () => urlOf(node) ?? "", node._("token.copied"));
  const rival = $("#webhook-trigger-rival");
  rival.on("click", () => RED.view.reveal(String(rival.data(rivalData))));
}

/** Shows the URL that callers use, or warns of what keeps them from reaching this node there. */
export function showUrl(node: WebhookNode): void {
  const url = urlOf(node);
  $("#webhook-trigger-url")
    .text(url ?? "")
    .closest(".webhook-trigger-copyable")
    .toggle(url !== undefined);

  const closed = roots().node === false;
  const rival = closed ? undefined : rivalOf(node, inputValue("relativePath"));
  const kind = rival?.type === node.type ? "url.takenByWebhook" : "url.takenByHttpIn";
  $("#webhook-trigger-warning")
    .text(closed ? node._("url.closed") : rival ? node._(kind) : "")
    .parent()
    .toggle(closed || rival !== undefined);
  const name = rival ? rival.name || rival.id : "";
  $("#webhook-trigger-rival")
    .toggle(rival !== undefined)
    .data(rivalData, rival?.id ?? "")
    .text(name)
    .attr("aria-label", node._("url.reveal", { name }));
}

/** The URL of the path in the form; nothing when nobody can reach the node there. */
export function urlOf(node: WebhookNode): string | undefined {
  const { node: nodeRoot } = roots();
  const path = inputValue("relativePath");
  if (nodeRoot === false || brokenRule(node, "relativePath", path) !== undefined) return undefined;
  const base = parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin;
  return base + normalisePath(nodeRoot) + normalisePath(path);
}

/** Finds another node that has the same path. */
function rivalOf(node: WebhookNode, path: string): EditorNode | undefined {
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
  return pathKey(normalisePath(one)) === pathKey(normalisePath(other));
}
