// Keeps Node-RED's admin parsers from consuming the bodies of endpoints.

import type { Express, Request, RequestHandler, Response } from "express";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint, mayGreetBy } from "../flow/endpoint";
import { Problem } from "../request/problem";
import { findParsers, getLayers, insertLayer, type Layer, layerNames, readMark } from "./host-internals";
import { isMediaType, prepareForExpress } from "./express-request";
import {
  type Arrived,
  hasNoBody,
  isHandshake,
  judge,
  type ParsedRequest,
  receive,
  seeNoBody,
  waitForFlows,
} from "./receive-request";

export interface RawBodyOptions {
  /** The admin app, whose body parsers come before HTTP nodes. */
  readonly admin: Express;
  readonly deployGate: DeployGate;
  /** Finds the endpoint that will handle a request. */
  readonly find: (request: Request) => Endpoint | undefined;
  readonly arrive: (request: Request, response: Response) => Arrived;
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
export function addHandshakeLayer({ admin, find, arrive, mayLeaveAdmin }: RawBodyOptions): Layer | undefined {
  const index = getLayers(admin).findIndex(({ name }) => name === layerNames.cors);
  if (index === -1) return undefined;
  const handler: RequestHandler = (request, response, next) => {
    const endpoint = request.method === "OPTIONS" ? find(request) : undefined;
    const leaves =
      endpoint &&
      mayGreetBy(endpoint, "OPTIONS") &&
      mayLeaveAdmin(endpoint) &&
      isHandshake(arrive(request, response), endpoint);
    next(leaves ? "router" : undefined);
  };
  return insertLayer(admin, handler, index);
}

function makeHandler({ deployGate, find, arrive, mayLeaveAdmin }: RawBodyOptions): RequestHandler {
  return (request: ParsedRequest & Request, response, next) => {
    const endpoint = request[readMark] || request.readableDidRead ? undefined : find(request);
    if (!endpoint) return next();
    const leave = () => next(mayLeaveAdmin(endpoint) ? "router" : undefined);
    const { method, headers } = request;
    // The editor and other nodes answer paths that a path with parameters matches.
    const mayBeOthers = endpoint.hasParameters;
    const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    if (mayBeOthers && !hasBody) return next();
    // The endpoint refuses other methods; another node may read their bodies.
    if (!acceptsMethod(endpoint.config, method)) return hasNoBody(method) ? next() : leave();
    const arrived = arrive(request, response);
    const judged = judge(arrived, endpoint);
    const isRefused = judged.result instanceof Problem || "status" in judged.result;
    if (isRefused && mayBeOthers) return next();
    prepareForExpress(request, response);
    // As Node-RED's parsers leave it.
    arrived.shared.body ??= seeNoBody();
    if (isRefused) {
      request[readMark] = !mayLeaveAdmin(endpoint);
      return leave();
    }
    // The parsers leave other types alone; but a stream that flows already would be lost.
    const isParsed = isMediaType(request.headers["content-type"] ?? "", /json|x-www-form-urlencoded/i);
    if (!isParsed && request.readableFlowing === null) return leave();
    receive(arrived, judged).then((received) => {
      // It was refused before its body was read.
      if (mayBeOthers && !received.bytes && !request.readableDidRead) return next();
      arrived.shared.received = received;
      // Middleware may have looked at it before it was read.
      arrived.shared.body = undefined;
      request[readMark] = true;
      // As a parser leaves it.
      if (received.bytes) request.resume();
      void waitForFlows(arrived, deployGate).then(leave);
    }, next);
  };
}
