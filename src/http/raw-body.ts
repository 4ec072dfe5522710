// Keeps Node-RED's admin parsers from consuming the bodies of endpoints.

import type { Express, Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint } from "../flow/endpoint";
import { decodeContentSync } from "../request/body";
import { decodeBody, unwrap } from "../request/decode";
import { Problem } from "../request/problem";
import { getLayers, insertLayer, type Layer } from "./express";
import { type Exchange, findExchange, isHandshake, judgeHead, type ParsedRequest, receive } from "./receive-request";
import { isPattern } from "../config/fields";

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
  const layers = getLayers(options.admin);
  // Node-RED's parsers come in this order; the operator's own may precede them.
  const isParsers = (name: string, index: number) =>
    name === "jsonParser" && layers[index + 1]?.name === "urlencodedParser";
  const index = layers.findLastIndex(({ name }, at) => isParsers(name, at));
  return index === -1 ? undefined : insertLayer(options.admin, makeHandler(options), index);
}

/**
 * Adds a layer in front of Node-RED 4.1's layer that answers every OPTIONS as a preflight request (Fetch §4.8): a
 * handshake by OPTIONS leaves the admin app first.
 *
 * @returns nothing where Node-RED has no such layer
 */
export function addHandshakeLayer({ admin, find, makeExchange, mayLeaveAdmin }: RawBodyOptions): Layer | undefined {
  const index = getLayers(admin).findIndex(({ name }) => name === "corsMiddleware");
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
    const endpoint = request._body || request.readableDidRead ? undefined : find(request);
    if (!endpoint) return next();
    const leave = () => next(mayLeaveAdmin(endpoint) ? "router" : undefined);
    const { method, headers } = request;
    // The editor and other nodes answer paths that a path with parameters matches.
    const mayBeOthers = isPattern(endpoint.config.path);
    const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    if (mayBeOthers && !hasBody) return next();
    // The endpoint refuses other methods; another node may read their bodies.
    if (!acceptsMethod(endpoint.config, method)) return /^(?:GET|HEAD|OPTIONS)$/.test(method) ? next() : leave();
    const exchange = makeExchange(request, response, endpoint);
    const entry = judgeHead(exchange, endpoint);
    const isRefused = entry instanceof Problem || "status" in entry;
    if (isRefused && mayBeOthers) return next();
    prepareForExpress(request, response);
    if (isRefused) {
      // body-parser's mark for a body that was read.
      request._body = !mayLeaveAdmin(endpoint);
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
      request._body = true;
      const { bytes, verdict } = received;
      if (bytes && !(verdict instanceof Problem) && "credential" in verdict) request.rawBody = bytes;
      void deployGate.wait(response).then(leave);
    }, next);
  };
}

/**
 * Adds the properties that Express and Node-RED's middleware will set. Express changes the prototypes of a request in
 * each app; up to Node.js 22, V8 then makes a hidden class for each request when a property is added. With all of them
 * there before, a request takes half the time.
 */
export function prepareForExpress(request: ParsedRequest, response: ServerResponse): void {
  if (Object.hasOwn(request, "body")) return;
  for (const name of laterProperties) {
    if (!Object.hasOwn(request, name)) Reflect.set(request, name, undefined);
  }
  Object.defineProperty(request, "body", lazyBody);
  const {
    statusCode,
    statusMessage,
    locals = Object.create(null) as object,
  } = response as ServerResponse & { locals?: object };
  Object.assign(response, { statusCode, statusMessage, locals });
}

const laterProperties = ["res", "query", "route", "_body", "rawBody", "secret", "cookies", "signedCookies"];

/**
 * `req.body` for middleware: parsed on first use, as it may take many times the memory; `{}` where nothing was read,
 * as Node-RED's parsers leave it.
 */
const lazyBody: PropertyDescriptor & ThisType<ParsedRequest & Request> = {
  get() {
    const exchange = this.res && findExchange(this.res);
    return exchange && (exchange.body ??= readForMiddleware(this, exchange)).value;
  },
  set(value: unknown) {
    const exchange = this.res && findExchange(this.res);
    if (exchange) exchange.body = { value };
    else Object.defineProperty(this, "body", { value, writable: true, enumerable: true, configurable: true });
  },
  configurable: true,
  enumerable: true,
};

function readForMiddleware(request: Request, exchange: Exchange): NonNullable<Exchange["body"]> {
  const { bytes, endpoint, verdict } = exchange.received ?? {};
  const isVerified = verdict !== undefined && !(verdict instanceof Problem) && "credential" in verdict;
  // The body may be another node's.
  if (!bytes || !endpoint || !(isVerified || isPattern(endpoint.config.path)))
    return { value: (exchange.emptyBody ??= {}) };
  const value = parseForMiddleware(request, bytes, endpoint.limit);
  return { value, json: JSON.stringify(value) };
}

/** Parses a body as Node-RED's parsers do. */
function parseForMiddleware(request: Request, bytes: Buffer, limit: number): unknown {
  const { "content-type": type = "", "content-encoding": coding = "" } = request.headers;
  const isForm = isMediaType(type, /x-www-form-urlencoded/i);
  if (!isForm && !isMediaType(type, /json/i)) return {};
  try {
    const content = decodeContentSync(bytes, coding, limit);
    const value = content && decodeBody(content, type);
    if (!content || value instanceof Problem) return {};
    const text = String(content);
    // JSON that is labelled as a form is JSON.
    const isJson = !(decodeBody(content, "application/json") instanceof Problem);
    if (!isForm || typeof value !== "object" || value === null || isJson) return value;
    // With the app's query parser, as a guard expects: `a[b]=1` can be read in two ways.
    const parse = request.app.get("query parser fn") as (text: string) => object;
    // What the flow would get is seen, too, but takes the place of no field.
    const whole = unwrap(value, content);
    const members = whole instanceof Problem || Array.isArray(whole) ? {} : (whole as object);
    return { ...members, ...parse(text), ...(value as object) };
  } catch {
    return {};
  }
}

/** Compares without parameters. */
function isMediaType(contentType: string, pattern: RegExp): boolean {
  return pattern.test(contentType.split(";", 1)[0] ?? "");
}
