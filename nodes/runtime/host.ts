import bytes from "bytes";
import type { CorsOptions } from "cors";
import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import type { Roots } from "../../src/config/roots";

/** The part of Node-RED's settings file that concerns HTTP nodes; `@types/node-red` leaves it open. */
export interface HostSettings {
  httpAdminRoot?: string | false;
  httpNodeRoot?: string | false;
  httpNodeCors?: CorsOptions;
  httpNodeMiddleware?: RequestHandler | RequestHandler[];
  httpAdminMiddleware?: unknown;
  requireHttps?: boolean;
  apiMaxLength?: string | number;
  /** Our own: the address that callers use, for the form in the editor. */
  webhookTriggerBaseUrl?: unknown;
}

/** Node-RED's own default for `apiMaxLength`. */
const defaultLimit = "5mb";

export function settingsOf(RED: NodeAPI): HostSettings {
  return RED.settings as HostSettings;
}

/** What the operator lets every HTTP node go through; like `http in`, anything but functions is left aside. */
export function middlewareOf(RED: NodeAPI): RequestHandler[] {
  const { httpNodeMiddleware = [] } = settingsOf(RED);
  return [httpNodeMiddleware].flat().filter((middleware) => typeof middleware === "function");
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
