// Bodies in Express: kept from Node-RED's admin parsers, and parsed for middleware and guards when they ask.

import type { Express, Request, RequestHandler, Response } from "express";
import type { ServerResponse } from "node:http";
import { isHandshakeReply } from "../auth/authenticator";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint, mayGreetBy } from "../flow/endpoint";
import { type Content, decodeSync } from "../request/decode";
import { Problem } from "../request/problem";
import { findParsers, getLayers, insertLayer, type Layer, layerNames, readMark } from "./host-internals";
import {
  type Arrived,
  findShared,
  hasNoBody,
  isHandshake,
  judge,
  type ParsedRequest,
  receive,
  type Received,
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
 * replies: guards behind it come first, and the endpoint refuses.
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
    const isRefused = judged.result instanceof Problem || isHandshakeReply(judged.result);
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
      if (mayBeOthers && !received.body && !request.readableDidRead) return next();
      arrived.shared.received = received;
      // Middleware may have looked at it before it was read.
      arrived.shared.body = undefined;
      request[readMark] = true;
      // As a parser leaves it.
      if (received.body) request.resume();
      void waitForFlows(arrived, deployGate).then(leave);
    }, next);
  };
}

// The request as middleware sees it.

/**
 * Adds the properties that Express and Node-RED's middleware will set. Express changes the prototypes of a request in
 * each app; up to Node.js 22, V8 then makes a hidden class for each request when a property is added. With all of them
 * there before, a request takes half the time.
 */
export function prepareForExpress(request: ParsedRequest, response: ServerResponse): void {
  if (Object.hasOwn(request, "body")) return;
  for (const name of laterProperties) {
    // Express 5 has a getter of the query.
    if (!(name in request)) Reflect.set(request, name, undefined);
  }
  Object.defineProperty(request, "body", lazyBody);
  const {
    statusCode,
    statusMessage,
    locals = Object.create(null) as object,
  } = response as ServerResponse & { locals?: object };
  Object.assign(response, { statusCode, statusMessage, locals });
}

const laterProperties = ["res", "query", "route", readMark, "secret", "cookies", "signedCookies"];

/**
 * `req.body` for middleware: parsed on first use, as it may take many times the memory. Where nothing was read, it is
 * `{}` behind Node-RED's parsers and undefined elsewhere, as in front of core's `http in`.
 */
const lazyBody: PropertyDescriptor & ThisType<ParsedRequest & Request> = {
  get() {
    const shared = this.res && findShared(this.res);
    if (shared?.received) shared.body ??= readForMiddleware(this, shared.received);
    return shared?.body?.value;
  },
  set(value: unknown) {
    const shared = this.res && findShared(this.res);
    // What it was before, it still is.
    if (shared?.body && shared.body.value === value) return;
    if (shared) shared.body = { value };
    else Object.defineProperty(this, "body", { value, writable: true, enumerable: true, configurable: true });
  },
  configurable: true,
  enumerable: true,
};

/** Middleware sees a verified body, or one that may be another node's. */
function readForMiddleware(request: Request, { body, endpoint, verdict }: Received): ReturnType<typeof seeNoBody> {
  const isVerified = !(verdict instanceof Problem) && "credential" in verdict;
  if (!body || !(isVerified || endpoint.hasParameters)) return seeNoBody();
  const content = decodeSync(request, body.bytes, endpoint.maxBodyBytes);
  if (content instanceof Problem) return seeNoBody();
  const value = toParsed(request, content);
  return { value, json: JSON.stringify(value) };
}

/** A body as Node-RED's parsers leave it. */
function toParsed(request: Request, { value, form, bytes }: Content): unknown {
  const { "content-type": type = "" } = request.headers;
  const isForm = isMediaType(type, /x-www-form-urlencoded/i);
  if (!isForm) return isMediaType(type, /json/i) ? value : {};
  // JSON that is labelled as a form is JSON.
  if (!form) return value;
  // What the flow would get is seen, too, but takes the place of no field.
  return Object.assign({}, Array.isArray(value) ? {} : value, parseAsQuery(request, String(bytes())), form);
}

/** With the app's query parser, as a guard expects: `a[b]=1` can be read in two ways. One of a host may fail. */
function parseAsQuery({ app }: Request, form: string): object {
  const parse = app.get("query parser fn") as (text: string) => object;
  try {
    return parse(form);
  } catch {
    return {};
  }
}

/** Compares without parameters. */
function isMediaType(contentType: string, pattern: RegExp): boolean {
  return pattern.test(contentType.split(";", 1)[0] ?? "");
}
