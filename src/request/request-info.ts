// The request in a message.

import type { IncomingMessage } from "node:http";
import { unescape } from "node:querystring";
import type { UploadedFile } from "./multipart";
import { type Parameters, toObject } from "./target";

/** The place of the credential. */
export interface CredentialPlace {
  /** The header fields that are removed, in lower case. */
  readonly hidden: readonly string[];
  /** The query parameter of the credential, if it is there. */
  readonly parameter: string | undefined;
  /** Redacts the secrets of the endpoint. */
  readonly redactor: { contains(text: string): boolean; redact(text: string): string };
}

/** With the properties that Express adds. */
type ExpressRequest = IncomingMessage & {
  originalUrl?: string;
  query?: Record<string, unknown>;
  cookies?: Record<string, unknown>;
  params?: Record<string, string>;
};

/** `msg.req`, as core's `http in` makes it, without the credential. */
export interface RequestInfo {
  method: string;
  url: string;
  path: string;
  query: Parameters;
  headers: Record<string, string | string[]>;
  /** Of a path with parameters: their decoded values. */
  params?: Record<string, string>;
  ip: string;
  /** The files of a multipart form. */
  files?: UploadedFile[];
}

const removed = "[removed]";

/**
 * Removes the credential from a request, so that neither `msg.req` nor `msg.res.req` shows it, and redacts it in other
 * header fields, as proxies repeat the URL in `X-Original-Url`.
 *
 * @param isShown whether the flow gets the request itself, by `msg.res`
 */
export function removeCredential(request: ExpressRequest, place: CredentialPlace, isShown = true): void {
  removeFromHeaders(request, place, isShown);
  const { url = "", originalUrl, query, cookies, params } = request;
  // A header field may repeat it, and the parsed cookies.
  for (const [name, value] of Object.entries(cookies ?? {})) {
    if (place.redactor.contains(JSON.stringify(value))) Reflect.deleteProperty(cookies ?? {}, name);
  }
  for (const [name, value] of Object.entries(params ?? {})) {
    if (params) params[name] = place.redactor.redact(value);
  }
  // Middleware may have changed only one of them.
  if (isClean(url, place) && (originalUrl === undefined || isClean(originalUrl, place))) return;
  request.url = withoutCredential(url, place);
  // Express makes them anew when needed.
  for (const name of ["_parsedUrl", "_parsedOriginalUrl"]) Reflect.deleteProperty(request, name);
  if (originalUrl !== undefined) request.originalUrl = withoutCredential(originalUrl, place);
  for (const [name, value] of Object.entries(query ?? {})) {
    const isHidden = name === place.parameter || place.redactor.contains(JSON.stringify(value));
    if (query && isHidden) Reflect.deleteProperty(query, name);
  }
}

function removeFromHeaders(request: IncomingMessage, place: CredentialPlace, isShown: boolean): void {
  const { redactor } = place;
  const { headers, rawHeaders } = request;
  const kept: IncomingMessage["headers"] = {};
  let isFound = false;
  for (const [name, value = ""] of Object.entries(headers)) {
    const isSafe = !place.hidden.includes(name) && !redactor.contains(String(value));
    if (isSafe) kept[name] = value;
    else if (!place.hidden.includes(name)) {
      kept[name] = typeof value === "string" ? redactor.redact(value) : value.map((each) => redactor.redact(each));
    }
    isFound ||= !isSafe;
  }
  if (!isFound) return;
  // Deleting a property makes an object slow.
  request.headers = kept;
  // Node relies on the length of this array.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    rawHeaders[index + 1] = place.hidden.includes(name) ? removed : redactor.redact(rawHeaders[index + 1] ?? "");
  }
  // Node.js makes these on first use, which takes time.
  if (!isShown) return;
  const { headersDistinct } = request;
  for (const name of Object.keys(headersDistinct)) {
    if (place.hidden.includes(name)) Reflect.deleteProperty(headersDistinct, name);
    else headersDistinct[name] = headersDistinct[name]?.map((value) => redactor.redact(value));
  }
}

function isClean(url: string, place: CredentialPlace): boolean {
  return !url.includes("?") && redactPath(url, place.redactor) === url;
}

/** Redacts the segments of a path: those of parameters may be a secret. */
export function redactPath(path: string, redactor: CredentialPlace["redactor"]): string {
  const redactSegment = (segment: string) => {
    const text = unescape(segment);
    return redactor.contains(text) ? encodeURIComponent(redactor.redact(text)) : segment;
  };
  return path.split("/").map(redactSegment).join("/");
}

/** Without the parameter of the credential; path and other parameters are redacted. */
function withoutCredential(url: string, place: CredentialPlace): string {
  const { parameter, redactor } = place;
  const mark = url.indexOf("?");
  if (mark === -1) return redactPath(url, place.redactor);
  const isOther = (each: string) => parameter === undefined || !new URLSearchParams(each).has(parameter);
  const sent = redactor.redact(
    url
      .slice(mark + 1)
      .split("&")
      .filter(isOther)
      .join("&"),
  );
  const read = new URLSearchParams(sent);
  const redacted = new URLSearchParams(Array.from(read, (pair) => pair.map((text) => redactor.redact(text))));
  const search = String(redacted) === String(read) ? sent : String(redacted);
  return redactPath(url.slice(0, mark), redactor) + (search === "" ? "" : `?${search}`);
}

/**
 * Describes a request whose credential was removed.
 *
 * @param path below `httpNodeRoot`, as sent
 * @param ip of the sender
 */
export function describeRequest(request: IncomingMessage, path: string, ip: string): RequestInfo {
  const { method = "", url = "", headers } = request;
  const mark = url.indexOf("?");
  const search = mark === -1 ? "" : url.slice(mark + 1);
  return {
    method,
    url: search === "" ? path : `${path}?${search}`,
    path,
    query: search === "" ? {} : toObject(new URLSearchParams(search)),
    headers: { ...(headers as Record<string, string | string[]>) },
    ip,
  };
}
