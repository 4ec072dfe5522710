// The request in a message.

import type { IncomingMessage } from "node:http";
import { unescape } from "node:querystring";
import type { UploadedFile } from "./multipart";
import { fieldValues, type Parameters, toObject } from "./head";

/** The place of the credential. */
export interface CredentialPlace {
  /** The header fields that are removed, in lower case. */
  readonly hidden: readonly string[];
  /** The query parameter of the credential, if it is there. */
  readonly parameter: string | undefined;
  /** Redacts the secrets of the endpoint. */
  readonly redactor: {
    /** Shorter texts (in characters) contain no secret. */
    readonly minLength: number;
    contains(text: string): boolean;
    redact(text: string): string;
  };
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
 * Describes a request for the flow, without the credential. In other header fields it is redacted, as proxies repeat
 * the URL in `X-Original-Url`.
 *
 * @param path below `httpNodeRoot`, as sent
 * @param ip of the sender
 */
export function describeRequest(
  { method = "", url = "", headers }: IncomingMessage,
  place: CredentialPlace,
  path: string,
  ip: string,
): RequestInfo {
  const shown = redactPath(path, place.redactor);
  const mark = url.indexOf("?");
  const search = mark === -1 ? "" : withoutParameter(url.slice(mark + 1), place);
  return {
    method,
    url: search === "" ? shown : `${shown}?${search}`,
    path: shown,
    query: search === "" ? {} : toObject(new URLSearchParams(search)),
    headers: withoutField(headers, place),
    ip,
  };
}

function withoutField(headers: IncomingMessage["headers"], place: CredentialPlace): Record<string, string | string[]> {
  const { redactor } = place;
  const kept: Record<string, string | string[]> = {};
  // Deleting a property makes an object slow.
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || place.hidden.includes(name)) continue;
    if (!redactor.contains(String(value))) kept[name] = value;
    else kept[name] = typeof value === "string" ? redactor.redact(value) : value.map((each) => redactor.redact(each));
  }
  return kept;
}

/** Redacts the segments of a path: those of parameters may be a secret. */
function redactPath(path: string, redactor: CredentialPlace["redactor"]): string {
  if (path.length < redactor.minLength) return path;
  const redactSegment = (segment: string) => {
    const text = segment.includes("%") ? unescape(segment) : segment;
    return redactor.contains(text) ? encodeURIComponent(redactor.redact(text)) : segment;
  };
  return path.split("/").map(redactSegment).join("/");
}

/** A query without the parameter of the credential; others are redacted. */
function withoutParameter(search: string, { parameter, redactor }: CredentialPlace): string {
  const isOther = (each: string) => parameter === undefined || !new URLSearchParams(each).has(parameter);
  const sent = redactor.redact(search.split("&").filter(isOther).join("&"));
  const read = new URLSearchParams(sent);
  const redacted = new URLSearchParams(Array.from(read, (pair) => pair.map((text) => redactor.redact(text))));
  return String(redacted) === String(read) ? sent : String(redacted);
}

/**
 * Whether middleware in front has removed a credential.
 *
 * @param request its header fields, as middleware has left them, and as sent
 */
export function isCredentialRemoved(
  { fields }: { readonly fields: readonly string[] },
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
): boolean {
  return fields.some((field) => headers[field] === undefined && fieldValues(rawHeaders, field).length > 0);
}

/** Removes the credential from the request itself: `msg.res.req` shows it no more than `msg.req`. */
export function removeCredential(request: ExpressRequest, place: CredentialPlace): void {
  const { redactor } = place;
  const { rawHeaders, headersDistinct, url = "", originalUrl, query, cookies, params } = request;
  request.headers = withoutField(request.headers, place);
  // Node relies on the length of this array.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    rawHeaders[index + 1] = place.hidden.includes(name) ? removed : redactor.redact(rawHeaders[index + 1] ?? "");
  }
  for (const name of Object.keys(headersDistinct)) {
    if (place.hidden.includes(name)) Reflect.deleteProperty(headersDistinct, name);
    else headersDistinct[name] = headersDistinct[name]?.map((value) => redactor.redact(value));
  }
  const isSecret = (value: unknown) => redactor.contains(JSON.stringify(value));
  for (const [name, value] of Object.entries(cookies ?? {})) {
    if (isSecret(value)) Reflect.deleteProperty(cookies ?? {}, name);
  }
  for (const [name, value] of Object.entries(params ?? {})) {
    if (params) params[name] = redactor.redact(value);
  }
  for (const [name, value] of Object.entries(query ?? {})) {
    if (name === place.parameter || isSecret(value)) Reflect.deleteProperty(query ?? {}, name);
  }
  // Middleware may have changed only one of them.
  request.url = withoutCredential(url, place);
  if (originalUrl !== undefined) request.originalUrl = withoutCredential(originalUrl, place);
  // Express makes them anew when needed.
  for (const name of ["_parsedUrl", "_parsedOriginalUrl"]) Reflect.deleteProperty(request, name);
}

function withoutCredential(url: string, place: CredentialPlace): string {
  const mark = url.indexOf("?");
  const path = redactPath(mark === -1 ? url : url.slice(0, mark), place.redactor);
  const search = mark === -1 ? "" : withoutParameter(url.slice(mark + 1), place);
  return search === "" ? path : `${path}?${search}`;
}
