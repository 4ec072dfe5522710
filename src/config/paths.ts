// Paths of endpoints, where Node-RED's two apps are mounted, and the URLs of both together.

/** Where Node-RED's two apps are mounted; `false` where one is switched off. */
export interface Roots {
  admin: string | false;
  node: string | false;
}

/** Adds a missing leading slash and drops one trailing slash. */
export function normalisePath(path: string): string {
  return path.replace(/^(?!\/)/, "/").replace(/\/$/, "");
}

/** Whether a configured path has parameters: it may have a colon for nothing else. */
export function isPattern(path: string): boolean {
  return path.includes(":");
}

/** The first segments of the paths that Node-RED's admin API answers below its root. */
const adminSegments = [
  "auth", "comms", "context", "credentials", "debug", "diagnostics", "flow", "flows", "icons", "inject",
  "library", "locales", "nodes", "plugins", "projects", "resources", "settings", "theme", "udp-ports",
  "webhook-trigger",
]; // prettier-ignore

/** Whether a path would take a request away from Node-RED's admin API, and so break the editor. */
export function isAdminPath(path: string, roots: Roots): boolean {
  if (roots.admin === false || roots.node === false) return false;
  const prefix = normalisePath(roots.admin).toLowerCase() + "/";
  const fullPath = (normalisePath(roots.node) + normalisePath(path)).toLowerCase();
  if (!fullPath.startsWith(prefix)) return false;
  const [segment = ""] = fullPath.slice(prefix.length).split("/");
  return adminSegments.includes(segment);
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
