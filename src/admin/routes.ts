// Routes of the admin API.

import type { Request } from "express";
import type { NodeAPI } from "node-red";
import { permissions } from "../config/roots";
import { StoreError } from "../deliveries/queue";
import { parseMediaType } from "../request/multipart";

/** What a route answers; without a body its status only. */
export interface Answer {
  readonly status?: number;
  readonly body?: object;
}

type RouteRequest = Request<{ id: string }>;

export const notFound: Answer = { status: 404 };

export class BadRequest extends Error {}

/**
 * Adds a route of the admin API, whose answers are not cached. GET needs the permission to read; others that to write,
 * and to be no request that a page of another site can make a browser send.
 *
 * @param path below `webhook-trigger`
 * @param act may throw a `BadRequest` or a `StoreError`
 */
export function addRoute(
  RED: NodeAPI,
  method: "get" | "post" | "delete",
  path: string,
  act: (request: RouteRequest) => Answer | Promise<Answer>,
): void {
  const { httpAdmin, auth, log } = RED;
  const permission = auth.needsPermission(method === "get" ? permissions.read : permissions.write);
  httpAdmin[method](`/webhook-trigger/${path}`, permission, (request, response) => {
    response.set("Cache-Control", "no-store");
    const foreign = method === "get" ? undefined : refuseForeign(request);
    const answer = async () => foreign ?? act(request as unknown as RouteRequest);
    answer()
      .catch((error: unknown) => answerError(RED, error))
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
 * Browsers say where a request comes from (Fetch Metadata), and send JSON to another site only if that allows it (CORS).
 */
function refuseForeign({ headers }: Request): Answer | undefined {
  if (headers["sec-fetch-site"] === "cross-site") {
    return { status: 403, body: { code: "crossSite", message: "Pages of other sites cannot use this API" } };
  }
  if (parseMediaType(headers["content-type"])?.essence === "application/json") return undefined;
  return { status: 415, body: { code: "notJson", message: "Send the header Content-Type: application/json" } };
}

function answerError(RED: NodeAPI, error: unknown): Answer {
  if (error instanceof BadRequest) return { status: 400, body: { code: "badRequest", message: error.message } };
  if (error instanceof StoreError) {
    return { status: 503, body: { code: error.trouble, message: RED._(`status.store.${error.trouble}`) } };
  }
  RED.log.error(error);
  return { status: 500, body: { code: "unforeseen", message: RED._("refused.unforeseen") } };
}
