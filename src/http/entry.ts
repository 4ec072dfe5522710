// The first layer of the app in which Node-RED's apps are mounted.

import type { Express, Request, RequestHandler } from "express";
import { findNetwork } from "../auth/limits";
import { acceptsMethod, type Endpoint, mayGreetBy } from "../flow/endpoint";
import { Problem } from "../request/problem";
import { parseTarget, type Target } from "../request/target";
import type { DirectRule, LayersInFront } from "./direct-rule";
import { prepareForExpress } from "./express-request";
import { clientAddress, readMark } from "./host-internals";
import { handleRequest, type Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import {
  type Arrived,
  arrive,
  hasNoBody,
  isHandshake,
  judge,
  type ParsedRequest,
  waitForFlows,
} from "./receive-request";

interface EntryOptions extends Services {
  /** The app for HTTP nodes. */
  readonly nodes: Express;
  /** Its path below this app, without a slash at its end. */
  readonly mountPath: string;
  readonly rule: DirectRule;
  readonly missed: MissedRequests;
  /** Whether a request is for a part of the app that HTTP nodes have nothing to do with. */
  readonly isOthers: (path: string, method: string) => boolean;
  /** Whether a route of another node takes the endpoint's requests with a path and by a method. */
  readonly isShadowed: (endpoint: Endpoint, path: string, method: string) => boolean;
}

/**
 * Holds requests during a deploy before anything else runs, handles requests that nothing stands in front of, and
 * reports requests that were answered in front of their endpoint.
 */
export function makeEntry(options: EntryOptions): RequestHandler {
  const { nodes, deployGate, registry, missed, isOthers } = options;
  return (request: ParsedRequest & Request, response, next) => {
    const target = parseBelow(options.mountPath, request.url);
    const endpoint = target && registry.find(target.path);
    const arrived = endpoint && arrive(nodes, request, response, target);
    const front = arrived && !deployGate.isClosed ? findPlainFront(arrived, endpoint, options) : undefined;
    if (arrived && front) {
      const { adminCors } = front;
      // A handshake by OPTIONS looks like a preflight request (Fetch §4.8).
      if (!adminCors || request.method === "OPTIONS") return void handleRequest(arrived, endpoint, options);
      return void adminCors(request, response, () => void handleRequest(arrived, endpoint, options));
    }
    const { method } = request;
    const isShadowed = endpoint ? options.isShadowed(endpoint, target.path, method) : false;
    const hasParameters = endpoint?.hasParameters === true;
    // One of many requests that the path matches: it is the other node's, whatever is being deployed.
    if (isShadowed && hasParameters) return next();
    // Requests by other methods may be for another node, as those with parameters.
    if (arrived && acceptsMethod(endpoint.config, method) && !isShadowed && !hasParameters) {
      prepareForExpress(request, response);
    }
    missed.watch(request, response);
    if (!deployGate.isClosed || !target) return next();
    // Before the first start it may be for any path. What has no body can wait behind everything else.
    const passes = arrived
      ? !(judge(arrived, endpoint).result instanceof Problem)
      : !deployGate.hasOpened && !hasNoBody(method) && !isOthers(target.path, method);
    if (!passes) return next();
    const waiting = arrived
      ? waitForFlows(arrived, deployGate)
      : deployGate.wait(response, findNetwork(clientAddress(nodes, request)));
    void waiting.then(() => {
      if (!response.destroyed) next();
    });
  };
}

/** @returns nothing where a request must go through Express */
function findPlainFront(
  arrived: Arrived,
  endpoint: Endpoint,
  { rule, isShadowed }: EntryOptions,
): LayersInFront | undefined {
  const { request, path, head } = arrived;
  // Only the exact configured path, which cannot be read in two ways.
  if (path !== endpoint.config.path || endpoint.config.reply.by === "flow") return undefined;
  if (isShadowed(endpoint, path, head.method) || request[readMark] || request.readableDidRead) return undefined;
  const front = rule.getFront(endpoint);
  if (!front.isPlain) return undefined;
  const isFor = acceptsMethod(endpoint.config, head.method);
  return isFor || (mayGreetBy(endpoint, head.method) && isHandshake(arrived, endpoint)) ? front : undefined;
}

/** The path below a mount, of a target in plain origin-form. */
function parseBelow(mountPath: string, url: string): Target | undefined {
  if (!url.startsWith(mountPath) || url[mountPath.length] !== "/" || url.includes("#")) return undefined;
  return parseTarget(url.slice(mountPath.length));
}
