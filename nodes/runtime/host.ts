// The settings of Node-RED that concern HTTP nodes.

import bytes from "bytes";
import type { CorsOptions } from "cors";
import type { Express, RequestHandler } from "express";
import type { Server } from "node:http";
import type { NodeAPI } from "node-red";
import type { Roots } from "../../src/config/roots";
import { normalisePath } from "../../src/config/rules";

/** The part of Node-RED's settings file that concerns HTTP nodes; `@types/node-red` leaves it open. */
export interface HostSettings {
  /** Node-RED's own version. */
  version?: string;
  httpAdminRoot?: string | false;
  httpNodeRoot?: string | false;
  httpNodeAuth?: RequestHandler | readonly unknown[] | { user: string; pass: string };
  httpNodeCors?: CorsOptions;
  httpNodeMiddleware?: unknown;
  httpAdminMiddleware?: unknown;
  httpAdminAuth?: unknown;
  httpAdminCors?: unknown;
  httpStatic?: unknown;
  adminAuth?: unknown;
  disableEditor?: boolean;
  requireHttps?: boolean;
  apiMaxLength?: string | number;
  /** Where the files of this Node-RED are. */
  userDir?: string;
  /** Our own: how many deliveries are kept, and what of them. */
  webhookTriggerDeliveries?: unknown;
  /** Our own: the address that callers use, for the form in the editor. */
  webhookTriggerBaseUrl?: unknown;
  /** Our own: where deliveries are kept. It may hold a password, so nothing of it may reach the editor. */
  webhookTriggerStore?: unknown;
}

/** Node-RED's own default for `apiMaxLength`. */
const defaultLimit = "5mb";

export function settingsOf(RED: NodeAPI): HostSettings {
  return RED.settings as HostSettings;
}

/** What the operator lets HTTP nodes go through now, as Express takes it; like `http in`, anything else is left aside. */
export function middlewareOf(RED: NodeAPI): RequestHandler[] {
  const { httpNodeMiddleware } = settingsOf(RED);
  if (typeof httpNodeMiddleware === "function") return [httpNodeMiddleware as RequestHandler];
  return Array.isArray(httpNodeMiddleware) ? [...(httpNodeMiddleware as RequestHandler[])] : [];
}

/** Whether Express would refuse to take what is to be gone through: an `http in` node never opens then. */
export function isMiddlewareBroken(RED: NodeAPI): boolean {
  return middlewareOf(RED)
    .flat(Infinity)
    .some((middleware) => typeof middleware !== "function");
}

/** The operator's own checks of who may call HTTP nodes: functions, or nothing where a user and a password are checked. */
export function authChecksOf(RED: NodeAPI): unknown[] {
  const { httpNodeAuth } = settingsOf(RED);
  if (typeof httpNodeAuth === "function") return [httpNodeAuth];
  return Array.isArray(httpNodeAuth) ? httpNodeAuth.flat(Infinity) : [];
}

/**
 * The names of the settings that put something in front of HTTP nodes.
 *
 * @param pastAdmin whether requests pass the admin app
 */
export function settingsThatGuard(RED: NodeAPI, pastAdmin: boolean): string[] {
  const settings = settingsOf(RED);
  const names = ["httpNodeMiddleware", "httpNodeAuth", "httpStatic"] as const;
  const adminNames = ["httpAdminMiddleware", "requireHttps", "httpAdminAuth", "httpAdminCors"] as const;
  // One that is a function decides by the request as Express has made it.
  const decides = typeof settings.httpNodeCors === "function" ? ["httpNodeCors"] : [];
  return [...decides, ...[...names, ...(pastAdmin ? adminNames : [])].filter((name) => settings[name])];
}

/** The runtime's web server: a host application that runs Node-RED without an editor need not tell it. */
export function serverOf(RED: NodeAPI): Server | undefined {
  return (RED as { server?: Server | null }).server ?? undefined;
}

/** The app that an app is mounted on, if it is. */
export function parentOf(app: Express): Express | undefined {
  return (app as Express & { parent?: Express }).parent;
}

/**
 * Where an app was mounted, without a slash at its end. Express tells an app of the app that it is mounted in, but not
 * of a router; there it is most likely at its root in the settings.
 */
export function mountOf(app: Express, root: string | false): string {
  return normalisePath(parentOf(app) ? app.path() : root || "/");
}

/** Where the admin and the node app are mounted; Node-RED's default for both is the root. */
export function rootsOf(RED: NodeAPI): Roots {
  const { httpAdminRoot = "/", httpNodeRoot = "/" } = settingsOf(RED);
  return { admin: httpAdminRoot, node: httpNodeRoot };
}

/** The most bytes that a body may have, read as Node-RED's own parsers read the setting. */
export function bodyLimitOf(RED: NodeAPI): number {
  return bytes.parse(settingsOf(RED).apiMaxLength ?? defaultLimit) ?? Number(bytes.parse(defaultLimit));
}
