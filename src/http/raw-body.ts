// Keeps the bodies of endpoints from the body parsers of Node-RED's admin app.

import type { Express, Request, RequestHandler } from "express";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { Endpoint } from "../endpoint";
import { Problem } from "../problem";
import { decodeBody } from "../request/decode";
import type { DeployGate } from "./deploy-gate";
import { getLayers, insertLayer, type Layer } from "./express";
import {
  type Exchange,
  judgeHead,
  keepReceived,
  leaveEmptyBody,
  type ParsedBody,
  type ParsedRequest,
  receive,
} from "./receive-request";

/** What this layer has to know of the others. */
export interface RawBodyOptions {
  /** The admin app, whose body parsers come before HTTP nodes. */
  readonly admin: Express;
  readonly gate: DeployGate;
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

function makeHandler({ gate, find, makeExchange, mayLeaveAdmin }: RawBodyOptions): RequestHandler {
  return (request: ParsedRequest & Request, response, next) => {
    const endpoint = request._body || request.readableDidRead ? undefined : find(request);
    if (!endpoint) return next();
    const leave = () => next(mayLeaveAdmin(endpoint) ? "router" : undefined);
    // A method that the endpoint refuses, whatever the body is; another node may answer it, and reads the body itself.
    if (request.method !== "POST") return /^(?:GET|HEAD|OPTIONS)$/.test(request.method) ? next() : leave();
    const exchange = makeExchange(request, response, endpoint);
    const entry = judgeHead(exchange, endpoint);
    leaveEmptyBody(request);
    if (entry instanceof Problem || "status" in entry) {
      // Parsers that this request does not get past are told that there is nothing for them.
      request._body = !mayLeaveAdmin(endpoint);
      return leave();
    }
    // All other types the parsers leave alone; but what a layer in front has set flowing would be gone by then.
    const isParsed = /json|x-www-form-urlencoded/i.test(request.headers["content-type"] ?? "");
    if (!isParsed && request.readableFlowing === null) return leave();
    receive(exchange, endpoint).then((received) => {
      keepReceived(request, received);
      request._body = true;
      const { bytes, verdict } = received;
      if (bytes && !(verdict instanceof Problem) && "credential" in verdict) offerBody(request, bytes, endpoint.limit);
      // Parsed for a middleware, it would wait with many times its memory.
      void gate.wait(response).then(leave);
    }, next);
  };
}

/** A body that was parsed for a middleware, and how it was then. */
interface Offered {
  value: unknown;
  text: string;
}

const offered = new WeakMap<object, Offered>();

/** Has a body parsed when a middleware first looks at it, in the way of Node-RED's own parsers. */
function offerBody(request: ParsedRequest & Request, bytes: Buffer, limit: number): void {
  request.rawBody = bytes;
  const get = () => {
    let known = offered.get(request);
    if (!known) {
      const value = parseForMiddleware(request, bytes, limit);
      offered.set(request, (known = { value, text: JSON.stringify(value) }));
    }
    return known.value;
  };
  const set = (value: unknown) => void offered.set(request, { value, text: "" });
  Object.defineProperty(request, "body", { get, set, configurable: true, enumerable: true });
}

/** What a middleware has made of the body that it found; nothing where it has left it as it was. */
export function getChangedBody(request: object): ParsedBody | undefined {
  const known = offered.get(request);
  offered.delete(request);
  return known && JSON.stringify(known.value) !== known.text ? { value: known.value } : undefined;
}

const decompressors = new Map([
  ["gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

function parseForMiddleware(request: Request, bytes: Buffer, maxOutputLength: number): unknown {
  const { "content-type": type = "", "content-encoding": coding } = request.headers;
  const isForm = /x-www-form-urlencoded/i.test(type);
  if (!isForm && !/json/i.test(type)) return {};
  try {
    const content = coding === undefined ? bytes : decompressors.get(coding)?.(bytes, { maxOutputLength });
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
