// Keeps Node-RED's admin parsers from consuming the bodies of endpoints.

import type { Express, Request, RequestHandler } from "express";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint } from "../flow/endpoint";
import { Problem } from "../request/problem";
import { findParsers, getLayers, insertLayer, type Layer, layerNames, readMark } from "./host-internals";
import { isMediaType, prepareForExpress } from "./express-request";
import {
  type Exchange,
  hasNoBody,
  isHandshake,
  judgeHead,
  type ParsedRequest,
  receive,
  waitForFlows,
} from "./receive-request";
import { isPattern } from "../config/paths";

export interface RawBodyOptions {
  /** The admin app, whose body parsers come before HTTP nodes. */
  readonly admin: Express;
  readonly deployGate: DeployGate;
  /** Finds the endpoint that will handle a request. */
  readonly find: (request: Request) => Endpoint | undefined;
  readonly makeExchange: (request: Request, response: Parameters<RequestHandler>[1], endpoint: Endpoint) => Exchange;
  /** Whether the admin app has nothing for an endpoint's requests but Node-RED's own layers. */
  readonly mayLeaveAdmin: (endpoint: Endpoint) => boolean;
}

/**
 * Adds a layer in front of Node-RED's body parsers. For a request that passes the check of the head and that they
 * would parse, it reads the bytes into `rawBody` and leaves the admin app. A refused body stays unread. It never
 * replies: guards behind it come first, and the dispatcher refuses.
 *
 * @returns nothing where there are no such parsers
 */
export function addRawBodyLayer(options: RawBodyOptions): Layer | undefined {
  const index = findParsers(options.admin);
  return index === -1 ? undefined : insertLayer(options.admin, makeHandler(options), index);
}

/**
 * Adds a layer in front of Node-RED 4.1's layer that answers every OPTIONS as a preflight request (Fetch §4.8): a
 * handshake by OPTIONS leaves the admin app first.
 *
 * @returns nothing where Node-RED has no such layer
 */
export function addHandshakeLayer({ admin, find, makeExchange, mayLeaveAdmin }: RawBodyOptions): Layer | undefined {
  const index = getLayers(admin).findIndex(({ name }) => name === layerNames.cors);
  if (index === -1) return undefined;
  const handler: RequestHandler = (request, response, next) => {
    const endpoint = request.method === "OPTIONS" ? find(request) : undefined;
    const leaves =
      endpoint?.authenticator.methods.includes("OPTIONS") &&
      mayLeaveAdmin(endpoint) &&
      isHandshake(makeExchange(request, response, endpoint), endpoint);
    next(leaves ? "router" : undefined);
  };
  return insertLayer(admin, handler, index);
}

function makeHandler({ deployGate, find, makeExchange, mayLeaveAdmin }: RawBodyOptions): RequestHandler {
  return (request: ParsedRequest & Request, response, next) => {
    const endpoint = request[readMark] || request.readableDidRead ? undefined : find(request);
    if (!endpoint) return next();
    const leave = () => next(mayLeaveAdmin(endpoint) ? "router" : undefined);
    const { method, headers } = request;
    // The editor and other nodes answer paths that a path with parameters matches.
    const mayBeOthers = isPattern(endpoint.config.path);
    const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    if (mayBeOthers && !hasBody) return next();
    // The endpoint refuses other methods; another node may read their bodies.
    if (!acceptsMethod(endpoint.config, method)) return hasNoBody(method) ? next() : leave();
    const exchange = makeExchange(request, response, endpoint);
    const headResult = judgeHead(exchange, endpoint);
    const isRefused = headResult instanceof Problem || "status" in headResult;
    if (isRefused && mayBeOthers) return next();
    prepareForExpress(request, response);
    exchange.isBehindParsers = true;
    if (isRefused) {
      request[readMark] = !mayLeaveAdmin(endpoint);
      return leave();
    }
    // The parsers leave other types alone; but a stream that flows already would be lost.
    const isParsed = isMediaType(request.headers["content-type"] ?? "", /json|x-www-form-urlencoded/i);
    if (!isParsed && request.readableFlowing === null) return leave();
    receive(exchange, endpoint).then((received) => {
      // It was refused before its body was read.
      if (mayBeOthers && !received.bytes && !request.readableDidRead) return next();
      exchange.received = received;
      // It was set before the body was read.
      exchange.body = undefined;
      request[readMark] = true;
      // As a parser leaves it.
      if (received.bytes) request.resume();
      void waitForFlows(exchange, deployGate).then(leave);
    }, next);
  };
}
