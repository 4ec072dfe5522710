import type { Express } from "express";
import type { NodeAPI } from "node-red";
import { normalisePath } from "../src/config";
import { settingsOf } from "./host";
import { isExpressOwn, type Layer, layersOf, parentOf, rootOf } from "./layers";

/** Layers of Node-RED's own that a request for a node need not pass: the capture of raw bodies, for `http in`. */
const rootLayers = ["rawBodyCapture"];
/** The admin app's own: its body parsers, its sign-in, and the apps of the editor, the API and the nodes. */
const adminLayers = ["jsonParser", "urlencodedParser", "initialize", "mounted_app"];

/**
 * Looks for what stands between the web server and Node-RED's app for HTTP nodes: an access check, a limiter, anything
 * that the operator or the host application put there and that no request may bypass.
 *
 * @returns what it is, or nothing if only Node-RED itself stands there
 */
export function obstacleBefore(RED: NodeAPI, ours: readonly Layer[]): string | undefined {
  const { httpNodeMiddleware, httpNodeAuth, requireHttps } = settingsOf(RED);
  if (httpNodeMiddleware) return "httpNodeMiddleware is set";
  if (httpNodeAuth) return "httpNodeAuth is set";
  if (requireHttps) return "requireHttps is set";

  const root = parentOf(RED.httpNode);
  const layers = root && rootOf(root) === root ? layersOf(root) : undefined;
  if (!layers) return "the layers of the web server cannot be seen";

  // The app that nodes know as the admin app is mounted on the one that the server knows.
  const admin = parentOf(RED.httpAdmin);
  const apps = [RED.httpNode, admin].filter((app) => app && parentOf(app) === root);
  const mounts = layers.filter(({ name }) => name === "mounted_app");
  if (mounts.length !== apps.length) return "the web server has other apps";
  const lastMount = layers.findLastIndex(({ name }) => name === "mounted_app");
  return (
    strangerAmong(layers.slice(0, lastMount), [...rootLayers, "mounted_app"], ours) ??
    (admin && isInside(RED.httpNode, admin) ? strangerInAdmin(admin, RED.httpAdmin) : undefined)
  );
}

/** Whether requests for an app pass through another app first, because it is mounted at the same path or above. */
function isInside(app: Express, other: Express): boolean {
  const prefix = (path: string) => `${normalisePath(path.replace(/\/+/g, "/")).toLowerCase()}/`;
  return prefix(app.path()).startsWith(prefix(other.path()));
}

function strangerInAdmin(admin: Express, nodesAdmin: Express): string | undefined {
  const layers = [...(layersOf(admin) ?? []), ...(layersOf(nodesAdmin) ?? [])];
  return strangerAmong(layers, adminLayers, []);
}

function strangerAmong(layers: readonly Layer[], known: string[], ours: readonly Layer[]): string | undefined {
  const stranger = layers.find(
    (layer) => !layer.route && !isExpressOwn(layer) && !known.includes(layer.name) && !ours.includes(layer),
  );
  return stranger && `${stranger.name} stands in front of it`;
}
