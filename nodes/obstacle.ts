import type { NodeAPI } from "node-red";
import { normalisePath } from "../src/config";
import { settingsOf } from "./host";
import { isExpressOwn, type Layer, layersOf, parentOf, rootOf } from "./layers";

/** Layers of Node-RED's own that need not be passed: raw bodies for `http in`, the admin app's parsers and sign-in. */
const harmless = ["rawBodyCapture", "jsonParser", "urlencodedParser", "initialize", "mounted_app"];

/**
 * Looks for what stands between the web server and the routes of Node-RED's nodes: an access check, a limiter, anything
 * that the operator, the host application or another node put there and that no request may bypass.
 *
 * @param paths the paths of all endpoints
 * @param ours the layers that are this package's own
 * @returns what it is, or nothing if only Node-RED itself stands there
 */
export function obstacleBefore(RED: NodeAPI, paths: string[], ours: readonly Layer[]): string | undefined {
  const { httpNodeMiddleware, httpNodeAuth } = settingsOf(RED);
  if (httpNodeMiddleware) return "httpNodeMiddleware is set";
  if (httpNodeAuth) return "httpNodeAuth is set";

  const app = RED.httpNode;
  const root = parentOf(app);
  const layers = root && rootOf(root) === root ? layersOf(root) : undefined;
  if (!layers) return "the layers of the web server cannot be seen";

  // The app that nodes know as the admin app is mounted on the one that the server knows.
  const admin = parentOf(RED.httpAdmin);
  const apps = [app, admin].filter((each) => each && parentOf(each) === root);
  const mounts = layers.filter(({ name }) => name === "mounted_app");
  // One mounted app looks like another: with more of them, ours cannot be told.
  if (mounts.length !== apps.length) return "the web server has other apps";

  const fullPaths = paths.map((path) => withoutSlash(app.path()) + path);
  const inFront = layers.slice(
    0,
    layers.findLastIndex(({ name }) => name === "mounted_app"),
  );
  const adminPaths = admin ? pathsBelow(admin.path(), fullPaths) : [];
  if (adminPaths.length > 0 && settingsOf(RED).requireHttps) return "requireHttps is set";
  const stranger = [
    ...strangersAmong(inFront, fullPaths),
    ...(admin ? strangersAmong(layersOf(admin) ?? [], adminPaths) : []),
    ...strangersAmong(layersOf(RED.httpAdmin) ?? [], adminPaths),
    ...strangersAmong(layersOf(app) ?? [], paths),
  ].find((layer) => !ours.includes(layer));
  return stranger && `${stranger.name} stands in front of it`;
}

/** The layers that some of the paths pass and that are not known to be harmless. Routes answer, they guard nothing. */
function strangersAmong(layers: readonly Layer[], paths: string[]): Layer[] {
  return layers.filter(
    (layer) =>
      !layer.route &&
      !isExpressOwn(layer) &&
      !harmless.includes(layer.name) &&
      paths.some((path) => layer.regexp?.fast_slash !== false || layer.regexp.test(path)),
  );
}

function pathsBelow(mount: string, paths: string[]): string[] {
  const prefix = withoutSlash(mount);
  return paths
    .filter((path) => path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`))
    .map((path) => path.slice(prefix.length));
}

function withoutSlash(mount: string): string {
  return normalisePath(mount.replace(/\/+/g, "/"));
}
