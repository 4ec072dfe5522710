// The first layer of the app in which Node-RED's apps are mounted.

import type { Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import type { Endpoint } from "../endpoint";
import { Problem, problems } from "../problem";
import { getPathKey, parseTarget, type Target } from "../request/target";
import type { DirectRule } from "./direct";
import { handleRequest, refuse, type Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import { prepareForExpress } from "./raw-body";
import { type Exchange, isHandshake, judgeHead, type ParsedRequest } from "./receive-request";

/** What the entry has to know. */
export interface EntryOptions extends Services {
  /** Where `RED.httpNode` is mounted below this app, without a slash at its end. */
  readonly mountPath: string;
  readonly rule: DirectRule;
  /** Node-RED's `httpNodeCors`. */
  readonly cors: RequestHandler | undefined;
  readonly missed: MissedRequests;
  /** Whether the saved flows have a webhook at a path, by its key. */
  readonly isConfigured: (key: string) => boolean;
  /** Whether requests for an endpoint are another node's. */
  readonly isShadowed: (endpoint: Endpoint) => boolean;
  readonly makeExchange: (request: ParsedRequest, response: ServerResponse, target: Target) => Exchange;
}

/**
 * Holds requests while the flows restart, before anything else has run; handles requests where nothing stands in front;
 * and has those reported that somebody in front of an endpoint has answered.
 */
export function makeEntry(options: EntryOptions): RequestHandler {
  const { gate, registry, missed, isConfigured, makeExchange } = options;
  return (request: ParsedRequest & Request, response, next) => {
    const target = parseBelow(options.mountPath, request.url);
    const endpoint = target && registry.find(target.path);
    const exchange = endpoint && makeExchange(request, response, target);
    if (exchange && !gate.isClosed && isDirect(exchange, endpoint, options)) {
      const { adminCors } = options.rule.getFront(endpoint);
      // A handshake by OPTIONS would be taken for a preflight request (Fetch §4.8).
      const crossOrigin =
        request.method === "OPTIONS" ? [] : [adminCors, options.cors].filter((each) => each !== undefined);
      if (crossOrigin.length === 0) return void handleRequest(exchange, endpoint, options);
      return runAll(crossOrigin, request, response, (error) => {
        if (error === undefined) void handleRequest(exchange, endpoint, options);
        else refuse(exchange, endpoint, problems.unforeseen, undefined, error);
      });
    }
    // Requests by other methods may be for another node, which reads their bodies itself.
    if (request.method === "POST" && exchange && !options.isShadowed(endpoint)) prepareForExpress(request, response);
    missed.watch(request, response);
    if (!gate.isClosed || !target) return next();
    const passes = exchange
      ? !(judgeHead(exchange, endpoint) instanceof Problem)
      : isConfigured(getPathKey(target.path));
    if (!passes) return next();
    void gate.wait(response).then(() => {
      if (!response.destroyed) next();
    });
  };
}

function isDirect(exchange: Exchange, endpoint: Endpoint, { rule, isShadowed }: EntryOptions): boolean {
  const { request, path } = exchange;
  // Only what nobody could read in another way: written as it is configured.
  if (path !== endpoint.path || endpoint.reply.by === "flow" || isShadowed(endpoint)) return false;
  if (request._body || request.readableDidRead || !rule.getFront(endpoint).isPlain) return false;
  const { method = "" } = request;
  if (method === "POST") return true;
  return endpoint.gate.methods.includes(method) && isHandshake(exchange, endpoint);
}

/** The path below a mount, of a target in plain origin-form. */
function parseBelow(mountPath: string, url: string): Target | undefined {
  if (!url.startsWith(mountPath) || url[mountPath.length] !== "/" || url.includes("#")) return undefined;
  return parseTarget(url.slice(mountPath.length));
}

/** Runs middleware that needs nothing of Express, one after the other. */
function runAll(
  [handler, ...rest]: RequestHandler[],
  request: Request,
  response: Parameters<RequestHandler>[1],
  done: (error?: unknown) => void,
): void {
  if (!handler) return done();
  void handler(request, response, (error?: unknown) => {
    if (error === undefined) runAll(rest, request, response, done);
    else done(error);
  });
}
