// Routes of the admin API.

import type { Request, RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { permissions } from "../config/permissions";
import { StoreError } from "../deliveries/queue";
import { findHosts } from "../http/host-internals";
import { parseMediaType } from "../request/media-types";

/** What a route answers; without a body its status only. */
export interface Answer {
  readonly status?: number;
  readonly body?: object;
}

type RouteRequest = Request<{ id: string }>;

export const notFound: Answer = { status: 404 };

export class BadRequest extends Error {}

/** A parameter of the query; empty counts as missing. @throws {BadRequest} */
export function readText(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw new BadRequest(name);
  return value;
}

/**
 * Adds a route of the admin API, whose answers are not cached. GET needs the permission to read; others that to write,
 * and to be no request that a page of another site can make a browser send.
 *
 * @param path below `webhook-trigger`
 * @param act may throw a `BadRequest` or a `StoreError`
 * @param needed another permission, where it changes nothing
 * @param needsToRead whether a request needs the permission to read besides
 */
export function addRoute(
  RED: NodeAPI,
  method: "get" | "post" | "delete",
  path: string,
  act: (request: RouteRequest) => Answer | Promise<Answer>,
  needed = method === "get" ? permissions.read : permissions.write,
  needsToRead: (body: unknown) => boolean = () => false,
): void {
  const { httpAdmin, auth, log } = RED;
  const permission = auth.needsPermission(needed);
  const checkReading: RequestHandler = (request, response, next) =>
    needsToRead(request.body) ? auth.needsPermission(permissions.read)(request, response, next) : next();
  httpAdmin[method](`/webhook-trigger/${path}`, permission, checkReading, (request, response) => {
    response.set("Cache-Control", "no-store");
    const foreign = method === "get" ? undefined : refuseForeign(request);
    const answer = async () => foreign ?? act(request as unknown as RouteRequest);
    answer()
      .catch((error: unknown) => replyWithError(RED, error))
      .then(({ status = 200, body }) => {
        // A time limit in front may have replied.
        if (response.headersSent) return;
        if (body) response.status(status).json(body);
        else response.sendStatus(status);
      })
      .catch((error: unknown) => log.error(error));
  });
}

/**
 * Without `adminAuth`, or with a login that the browser adds by itself, a page of another site could pause and replay.
 * Browsers send JSON to another site only if that allows it (CORS), which Node-RED 4.1 does for every site.
 */
function refuseForeign(request: Request): Answer | undefined {
  if (!isFromOwnPage(request)) {
    return { status: 403, body: { code: "crossSite", message: "Pages of other sites cannot use this API" } };
  }
  if (parseMediaType(request.headers["content-type"])?.essence === "application/json") return undefined;
  return { status: 415, body: { code: "notJson", message: "Send the header Content-Type: application/json" } };
}

/**
 * Whether a request is from a page of this origin, or from no page. Browsers say so (Fetch Metadata §2.3), to HTTPS and
 * localhost only; to others they name the page's origin (RFC 6454 §7), which is `null` where it is secret.
 */
function isFromOwnPage(request: Request): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  // A host may have the default port or not.
  const isHost = (own: string) => URL.canParse(`${protocol}//${own}`) && new URL(`${protocol}//${own}`).host === host;
  return findHosts(request).some(isHost);
}

function replyWithError(RED: NodeAPI, error: unknown): Answer {
  if (error instanceof BadRequest) return { status: 400, body: { code: "badRequest", message: error.message } };
  if (error instanceof StoreError) {
    return { status: 503, body: { code: error.trouble, message: RED._(`status.store.${error.trouble}`) } };
  }
  RED.log.error(error);
  return { status: 500, body: { code: "unforeseen", message: RED._("refused.unforeseen") } };
}
