// Where Node-RED's two apps are mounted, which paths endpoints may have, and the permissions of the admin API.

import { type BrokenRule, isPattern, normalisePath } from "./fields";

/** Where Node-RED's two apps are mounted; `false` where one is switched off. */
export interface Roots {
  admin: string | false;
  node: string | false;
}

/** The first segments of the paths that Node-RED's admin API answers below its root. */
const adminSegments = [
  "auth", "comms", "context", "credentials", "debug", "diagnostics", "flow", "flows", "icons", "inject",
  "library", "locales", "nodes", "plugins", "projects", "resources", "settings", "theme", "udp-ports",
  "webhook-trigger",
]; // prettier-ignore

/** Refuses a path that would take a request away from Node-RED's admin API, and so break the editor. */
export function adminRule(path: string, roots: Roots): BrokenRule | undefined {
  if (roots.admin === false || roots.node === false) return undefined;
  const prefix = normalisePath(roots.admin).toLowerCase() + "/";
  const fullPath = (normalisePath(roots.node) + normalisePath(path)).toLowerCase();
  if (!fullPath.startsWith(prefix)) return undefined;
  const [segment = ""] = fullPath.slice(prefix.length).split("/");
  return adminSegments.includes(segment) ? "relativePath.admin" : undefined;
}

/**
 * Parses `webhookTriggerBaseUrl`: the address that senders use, where it is not the one of the browser.
 *
 * @returns the address without a slash at its end; nothing when it is not that of a web server
 */
export function parseBaseUrl(setting: unknown): string | undefined {
  const url = typeof setting === "string" ? parseUrl(setting) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search + url.hash !== "") return undefined;
  return url.href.replace(/\/+$/, "");
}

/** The URL that a sender is given for a path; empty where the address is not known, or the path has parameters. */
export function composePublicUrl(path: string, node: Roots["node"], baseUrl: string | undefined): string {
  return baseUrl === undefined || node === false || isPattern(path)
    ? ""
    : baseUrl + normalisePath(node) + normalisePath(path);
}

/** `URL.canParse` is too new for browsers that Node-RED's editor still runs in. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The permissions that users of the admin API need. */
export const permissions = {
  /** To see deliveries, counts and metrics. */
  read: "webhook-trigger.read",
  /** To start a flow, to pause a node, and to fetch a secret that a sender has brought. */
  write: "webhook-trigger.write",
} as const;
