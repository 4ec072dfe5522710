// The first layer of the app in which Node-RED's apps are mounted.

import type { Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import type { Endpoint } from "../endpoint";
import { Problem, problems } from "../problem";
import { getPathKey, parseTarget, type Target } from "../request/target";
import type { DirectRule } from "./direct";
import { handleRequest, refuse, type Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import { judgeHead, type ParsedRequest, type Exchange } from "./receive-request";

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
    if (!gate.isClosed && target && endpoint && isDirect(request, response, target, endpoint, options)) {
      const exchange = makeExchange(request, response, target);
      const { adminCors } = options.rule.getFront(endpoint);
      if (!adminCors && !options.cors) return void handleRequest(exchange, endpoint, options);
      return runAll([adminCors, options.cors], request, response, (error) => {
        if (error === undefined) void handleRequest(exchange, endpoint, options);
        else refuse(exchange, endpoint, problems.unforeseen, undefined, error);
      });
    }
    missed.watch(request, response);
    if (!gate.isClosed || !target) return next();
    const passes = endpoint
      ? !(judgeHead(makeExchange(request, response, target), endpoint) instanceof Problem)
      : isConfigured(getPathKey(target.path));
    if (!passes) return next();
    void gate.wait(response).then(() => {
      if (!response.destroyed) next();
    });
  };
}

function isDirect(
  request: ParsedRequest & Request,
  response: ServerResponse,
  target: Target,
  endpoint: Endpoint,
  { rule, isShadowed, makeExchange }: EntryOptions,
): boolean {
  // Only what nobody could read in another way: written as it is configured.
  if (target.path !== endpoint.path || endpoint.reply.by === "flow" || isShadowed(endpoint)) return false;
  if (request._body || request.readableDidRead || !rule.getFront(endpoint).isPlain) return false;
  if (request.method === "POST") return true;
  const isHandshakeMethod = request.method !== "OPTIONS" && endpoint.gate.methods.includes(request.method);
  return isHandshakeMethod && isHandshake(makeExchange(request, response, target), endpoint);
}

/** Whether an endpoint has an answer of its own to a request by another method than POST. */
export function isHandshake(exchange: Exchange, endpoint: Endpoint): boolean {
  const entry = judgeHead(exchange, endpoint);
  return !(entry instanceof Problem) && "status" in entry && !entry.isFallback;
}

/** The path below a mount, of a target in plain origin-form. */
function parseBelow(mountPath: string, url: string): Target | undefined {
  if (!url.startsWith(mountPath) || url[mountPath.length] !== "/" || url.includes("#")) return undefined;
  return parseTarget(url.slice(mountPath.length));
}

/** Runs middleware that needs nothing of Express, one after the other. */
function runAll(
  handlers: (RequestHandler | undefined)[],
  request: Request,
  response: Parameters<RequestHandler>[1],
  done: (error?: unknown) => void,
): void {
  const [handler, ...rest] = handlers.filter((each) => each !== undefined);
  if (!handler) return done();
  void handler(request, response, (error?: unknown) => {
    if (error === undefined) runAll(rest, request, response, done);
    else done(error);
  });
}
