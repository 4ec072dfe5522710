// The URL in the form, and who can reach it.

import { parseBaseUrl } from "../../src/config/base-url";
import { isEnvironmentValue, normalisePath } from "../../src/config/rules";
import { brokenRule, isUsed, roots } from "./checks";
import { inputValue, valuesInForm, type WebhookNode } from "./fields";
import type { Editor } from "./host";

declare const RED: Editor;

/** The URL of the path in the form; nothing when nobody can reach the node there, or an environment variable has the path. */
export function urlOf(node: WebhookNode): string | undefined {
  const path = inputValue("relativePath");
  if (isEnvironmentValue(path) || brokenRule(node, "relativePath", path) !== undefined) return undefined;
  const { node: nodeRoot } = roots();
  return nodeRoot === false ? undefined : urlOfWhole(normalisePath(nodeRoot) + normalisePath(path));
}

/** The URL of a path that has Node-RED's root for nodes in it. */
export function urlOfWhole(path: string): string {
  return (parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin) + path;
}

/** The URL that the sender is to be given: where it signs that, the one that was entered for it. */
export function urlToGive(node: WebhookNode): string | undefined {
  const entered = inputValue("publicUrl");
  const url = urlOf(node);
  if (url === undefined || !isUsed("publicUrl", valuesInForm(node))) return url;
  return entered === "" || isEnvironmentValue(entered) || brokenRule(node, "publicUrl", entered) ? url : entered;
}

/** RFC 1122 §3.2.1.3, RFC 4291 §2.5.3 and RFC 6761 §6.3: addresses that lead nowhere but to the machine itself. */
const loopback = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/;
/** RFC 1918 §3, RFC 3927 §2.1, RFC 4193 §3.1 and RFC 6762 §3: addresses of a network that has no others in it. */
const local =
  /^(?:10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[f[cd].*\]|.+\.local)$/;

/** How far an address can be called from; nothing where that is not to be seen. */
export function reachOf(url: string): "computer" | "network" | undefined {
  const { hostname } = new URL(url);
  if (loopback.test(hostname)) return "computer";
  return local.test(hostname) ? "network" : undefined;
}

export function hostOf(url: string): string {
  return new URL(url).hostname;
}
