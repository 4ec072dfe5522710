import type { Express } from "express";
import type { NodeAPI } from "node-red";
import { normalisePath } from "../../src/config/rules";
import { middlewareOf, settingsOf } from "../runtime/host";
import { isExpressOwn, isRouteForAll, type Layer, layersOf, parentOf, rootOf } from "./layers";

/** Where requests are met, and why there. */
export interface Way {
  /** The place among the layers of the outermost app; missing when it has to be inside the app for HTTP nodes. */
  place?: number;
  /** Whether they get there without passing through the admin app. */
  pastAdmin?: boolean;
  why: Reason;
}

/** The key of a reason's text under `way` in the message catalog, with the name of the layer that it is about. */
type Reason = readonly [key: string, layer?: string];

/** Layers of Node-RED's own that need not be passed: raw bodies for `http in`; the admin app's parsers and sign-in. */
const ownInRoot = ["rawBodyCapture", "mounted_app"];
const ownInAdmin = ["jsonParser", "urlencodedParser", "initialize", "mounted_app"];

/**
 * Looks at what stands between the web server and the routes of Node-RED's nodes. Whatever the operator, the host
 * application or another node put there - an access check, a limiter, anything - no request may bypass. The way is the
 * shortest that leaves nothing of that out.
 *
 * @param paths the paths of all endpoints
 * @param ours the layers that are this package's own
 */
export function wayTo(app: Express, RED: NodeAPI, paths: string[], ours: readonly Layer[]): Way {
  const root = parentOf(app);
  const seen = root && rootOf(root) === root ? layersOf(root) : undefined;
  if (!seen) return { why: ["unseen"] };

  // The app that nodes know as the admin app is mounted on the one that the server knows.
  const admin = parentOf(RED.httpAdmin);
  const layers = seen.filter((layer) => !ours.includes(layer));
  const mounts = layers.filter(({ name }) => name === "mounted_app");
  // One mounted app looks like another: with more of them than Node-RED's own, those cannot be told.
  if (mounts.length !== [app, admin].filter((each) => each && parentOf(each) === root).length) {
    return { why: ["otherApps"] };
  }

  const fullPaths = paths.map((path) => withoutSlash(app.path()) + path);
  const adminGuard = admin && isBelow(app.path(), admin.path()) ? guardIn(admin, RED, fullPaths, ours) : undefined;
  const pastAdmin = adminGuard === undefined;

  if (middlewareOf(RED).length > 0) return { pastAdmin, why: ["middleware"] };
  const inside = strangersAmong(layersOf(app), paths, [], ours);
  if (inside[0]) return { pastAdmin, why: ["amongNodes", inside[0].name] };

  const lastMount = layers.findLastIndex(({ name }) => name === "mounted_app");
  if (adminGuard !== undefined) return { place: lastMount, why: adminGuard };
  const stranger = strangersAmong(layers.slice(0, lastMount), fullPaths, ownInRoot).at(-1);
  if (stranger) {
    return { place: layers.indexOf(stranger) + 1, pastAdmin, why: ["inFront", stranger.name] };
  }
  return { place: 0, pastAdmin, why: ["nothing"] };
}

/** What in the admin app may guard the requests that pass it. */
function guardIn(admin: Express, RED: NodeAPI, fullPaths: string[], ours: readonly Layer[]): Reason | undefined {
  const { httpAdminMiddleware, requireHttps } = settingsOf(RED);
  if (requireHttps) return ["requireHttps"];
  // Whatever it calls itself: its name may be one of Node-RED's own.
  if (httpAdminMiddleware) return ["adminMiddleware"];
  const paths = fullPaths.map((path) => path.slice(withoutSlash(admin.path()).length));
  const [stranger] = [
    ...strangersAmong(layersOf(admin), paths, ownInAdmin, ours),
    ...strangersAmong(layersOf(RED.httpAdmin), paths, [], ours),
  ];
  return stranger && ["inAdmin", stranger.name];
}

/**
 * The layers that may guard something: all that are not known, or that cannot match any of the paths. A route for one
 * method answers at its path.
 */
function strangersAmong(
  layers: readonly Layer[] | undefined,
  paths: string[],
  own: readonly string[],
  ours: readonly Layer[] = [],
): Layer[] {
  return (layers ?? []).filter((layer) => {
    if (isExpressOwn(layer) || own.includes(layer.name) || ours.includes(layer)) return false;
    if (layer.route && !isRouteForAll(layer)) return false;
    const { regexp } = layer;
    // The paths are known in lower case.
    return !regexp || regexp.fast_slash === true || !regexp.ignoreCase || paths.some((path) => regexp.test(path));
  });
}

/** Whether what is mounted at one place is below another. */
function isBelow(mount: string, other: string): boolean {
  return `${withoutSlash(mount)}/`.toLowerCase().startsWith(`${withoutSlash(other)}/`.toLowerCase());
}

function withoutSlash(mount: string): string {
  return normalisePath(mount.replace(/\/+/g, "/"));
}
