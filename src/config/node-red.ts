// The settings of Node-RED that concern HTTP nodes.

import bytes from "bytes";
import type { CorsOptions } from "cors";
import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import type { Server } from "node:http";
import type { Roots } from "./paths";

/** The part of Node-RED's settings file that concerns HTTP nodes; `@types/node-red` leaves it open. */
export interface HostSettings {
  /** Node-RED's own version. */
  version?: string;
  httpAdminRoot?: string | false;
  httpNodeRoot?: string | false;
  httpNodeCors?: CorsOptions;
  httpNodeAuth?: { readonly user?: unknown };
  httpNodeMiddleware?: unknown;
  httpAdminMiddleware?: unknown;
  httpAdminCors?: unknown;
  adminAuth?: unknown;
  disableEditor?: boolean;
  requireHttps?: unknown;
  apiMaxLength?: string | number;
  /** Where the files of this Node-RED are. */
  userDir?: string;
}

/** Node-RED's own default for `apiMaxLength`. */
const defaultLimit = "5mb";

export function getSettings(RED: NodeAPI): HostSettings {
  return RED.settings as HostSettings;
}

/** `httpNodeMiddleware`, as it is now; like `http in`, any other value is ignored. */
export function getMiddleware(RED: NodeAPI): RequestHandler[] {
  const { httpNodeMiddleware } = getSettings(RED);
  if (typeof httpNodeMiddleware === "function") return [httpNodeMiddleware as RequestHandler];
  return Array.isArray(httpNodeMiddleware) ? [...(httpNodeMiddleware as RequestHandler[])] : [];
}

/** Whether Express refuses `httpNodeMiddleware`: then an `http in` node never opens, either. */
export function isMiddlewareBroken(RED: NodeAPI): boolean {
  return getMiddleware(RED)
    .flat(Infinity)
    .some((middleware) => typeof middleware !== "function");
}

/** The runtime's web server; a host application that runs Node-RED without an editor may not pass it. */
export function getServer(RED: NodeAPI): Server | undefined {
  return (RED as { server?: Server | null }).server ?? undefined;
}

/** Where the admin and the node app are mounted; Node-RED's default for both is the root. */
export function getRoots(RED: NodeAPI): Roots {
  const { httpAdminRoot = "/", httpNodeRoot = "/" } = getSettings(RED);
  return { admin: httpAdminRoot, node: httpNodeRoot };
}

/** The setting `apiMaxLength` in bytes, as Node-RED's own parsers read it. */
export function getApiMaxBytes(RED: NodeAPI): number {
  return bytes.parse(getSettings(RED).apiMaxLength ?? defaultLimit) ?? Number(bytes.parse(defaultLimit));
}
