// The request as middleware and guards in Express expect it: its properties, and the parsed body.

import type { Request } from "express";
import type { ServerResponse } from "node:http";
import { decodeContentSync } from "../request/body";
import { decodeBody } from "../request/decode";
import { Problem } from "../request/problem";
import { readMark } from "./host-internals";
import { findShared, type ParsedRequest, type Received, seeNoBody } from "./receive-request";

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

function readForMiddleware(request: Request, { bytes, endpoint, verdict }: Received): ReturnType<typeof seeNoBody> {
  const isVerified = !(verdict instanceof Problem) && "credential" in verdict;
  // The body may be another node's.
  if (!bytes || !(isVerified || endpoint.hasParameters)) return seeNoBody();
  const value = parseForMiddleware(request, bytes, endpoint.maxBodyBytes);
  return { value, json: JSON.stringify(value) };
}

/** Parses a body as Node-RED's parsers do. */
function parseForMiddleware(request: Request, bytes: Buffer, limit: number): unknown {
  const { "content-type": type = "", "content-encoding": coding = "" } = request.headers;
  const isForm = isMediaType(type, /x-www-form-urlencoded/i);
  if (!isForm && !isMediaType(type, /json/i)) return {};
  try {
    const content = decodeContentSync(bytes, coding, limit);
    const decoded = content && decodeBody(content, type);
    if (!decoded || decoded instanceof Problem) return {};
    // JSON that is labelled as a form is JSON.
    const { value, form } = decoded;
    if (!isForm || !form) return value;
    // With the app's query parser, as a guard expects: `a[b]=1` can be read in two ways.
    const parse = request.app.get("query parser fn") as (text: string) => object;
    // What the flow would get is seen, too, but takes the place of no field.
    return Object.assign({}, Array.isArray(value) ? {} : value, parse(String(content)), form);
  } catch {
    return {};
  }
}

/** Compares without parameters. */
export function isMediaType(contentType: string, pattern: RegExp): boolean {
  return pattern.test(contentType.split(";", 1)[0] ?? "");
}
