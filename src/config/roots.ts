// Where Node-RED's two apps are, and which paths that leaves for endpoints.

import { type BrokenRule, normalisePath } from "./rules";

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
