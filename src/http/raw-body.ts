// Keeps the bodies of endpoints from the body parsers of Node-RED's admin app.

import type { Express, Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { DeployGate } from "../flow/deploy-gate";
import type { Endpoint } from "../flow/endpoint";
import { maxCodings, parseCodings } from "../request/body";
import { decodeBody } from "../request/decode";
import { Problem } from "../request/problem";
import { getLayers, insertLayer, type Layer } from "./express";
import { type Exchange, findExchange, isHandshake, judgeHead, type ParsedRequest, receive } from "./receive-request";

/** What this layer has to know of the others. */
export interface RawBodyOptions {
  /** The admin app, whose body parsers come before HTTP nodes. */
  readonly admin: Express;
  readonly deployGate: DeployGate;
  /** Finds the endpoint that a request is for, and is to be handled by. */
  readonly find: (request: Request) => Endpoint | undefined;
  readonly makeExchange: (request: Request, response: Parameters<RequestHandler>[1], endpoint: Endpoint) => Exchange;
  /** Whether nothing in the admin app but what is Node-RED's own has to do with requests for an endpoint. */
  readonly mayLeaveAdmin: (endpoint: Endpoint) => boolean;
}

/**
 * Adds a layer in front of Node-RED's body parsers. Where a request passes the check of the head and they would take its
 * body, it reads the bytes and leaves them in `rawBody`; then it leaves the admin app. Where the head does not pass, the body stays
 * unread. It never answers: guards behind it come first, and the dispatcher refuses.
 *
 * @returns the layer, unless there are no such parsers
 */
export function addRawBodyLayer(options: RawBodyOptions): Layer | undefined {
  const layers = getLayers(options.admin);
  // The operator's own may stand in front of them: Node-RED's come in this order.
  const isParsers = (name: string, index: number) =>
    name === "jsonParser" && layers[index + 1]?.name === "urlencodedParser";
  const index = layers.findLastIndex(({ name }, at) => isParsers(name, at));
  return index === -1 ? undefined : insertLayer(options.admin, makeHandler(options), () => index);
}

/**
 * Adds a layer in front of the one with which Node-RED 4.1 takes every request by OPTIONS for a preflight request (Fetch §4.8):
 * a handshake by that method leaves the admin app before.
 *
 * @returns the layer, unless Node-RED has none
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
  return insertLayer(admin, handler, () => index);
}

function makeHandler({ deployGate: authenticator, find, makeExchange, mayLeaveAdmin }: RawBodyOptions): RequestHandler {
  return (request: ParsedRequest & Request, response, next) => {
    const endpoint = request._body || request.readableDidRead ? undefined : find(request);
    if (!endpoint) return next();
    const leave = () => next(mayLeaveAdmin(endpoint) ? "router" : undefined);
    // A method that the endpoint refuses, whatever the body is; another node may answer it, and reads the body itself.
    if (request.method !== "POST") return /^(?:GET|HEAD|OPTIONS)$/.test(request.method) ? next() : leave();
    const exchange = makeExchange(request, response, endpoint);
    const entry = judgeHead(exchange, endpoint);
    prepareForExpress(request, response);
    if (entry instanceof Problem || "status" in entry) {
      // Where it meets Node-RED's parsers, they are told that the body was read: they leave it alone.
      request._body = !mayLeaveAdmin(endpoint);
      return leave();
    }
    // All other types the parsers leave alone; but what a layer in front has set flowing would be gone by then.
    const isParsed = isMediaType(request.headers["content-type"] ?? "", /json|x-www-form-urlencoded/i);
    if (!isParsed && request.readableFlowing === null) return leave();
    receive(exchange, endpoint).then((received) => {
      exchange.received = received;
      // What stood there before anything was read no longer counts.
      exchange.body = undefined;
      request._body = true;
      const { bytes, verdict } = received;
      if (bytes && !(verdict instanceof Problem) && "credential" in verdict) request.rawBody = bytes;
      void authenticator.wait(response).then(leave);
    }, next);
  };
}

/**
 * Gives a request and its response the properties that Express and Node-RED's middleware will set. Express changes their
 * prototypes in each app, and what is added after that makes V8, up to Node.js 22, create a hidden class for each request
 * anew: with all of these there before, a request takes half the time.
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
 * The body that a middleware finds: parsed when one first looks, as it may take many times the memory; `{}` where nothing was
 * read, as Node-RED's parsers leave it.
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
  if (!bytes || !endpoint || !isVerified) return { value: (exchange.emptyBody ??= {}) };
  const value = parseForMiddleware(request, bytes, endpoint.limit);
  return { value, json: JSON.stringify(value) };
}

const decompressors = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** @returns nothing where a coding is unknown, or broken */
function decompress(bytes: Buffer, contentEncoding: string, maxOutputLength: number): Buffer | undefined {
  const codings = parseCodings(contentEncoding);
  let content: Buffer | undefined = codings.length > maxCodings ? undefined : bytes;
  for (const coding of codings) content = content && decompressors.get(coding)?.(content, { maxOutputLength });
  return content;
}

/** Parses a body in the way of Node-RED's own parsers. */
function parseForMiddleware(request: Request, bytes: Buffer, limit: number): unknown {
  const { "content-type": type = "", "content-encoding": coding = "" } = request.headers;
  const isForm = isMediaType(type, /x-www-form-urlencoded/i);
  if (!isForm && !isMediaType(type, /json/i)) return {};
  try {
    const content = decompress(bytes, coding, limit);
    const value = content && decodeBody(content, type);
    if (!content || value instanceof Problem) return {};
    const text = String(content);
    // JSON that is labelled as a form is JSON.
    const isJson = !(decodeBody(content, "application/json") instanceof Problem);
    if (!isForm || typeof value !== "object" || value === null || isJson) return value;
    // Forms may be read in more ways than one, such as `a[b]=1`: a guard finds all of them.
    const parse = request.app.get("query parser fn") as (text: string) => object;
    return { ...parse(text), ...(value as object) };
  } catch {
    return {};
  }
}

/** Whether a media type is like a pattern, whatever its parameters are. */
function isMediaType(contentType: string, pattern: RegExp): boolean {
  return pattern.test(contentType.split(";", 1)[0] ?? "");
}
