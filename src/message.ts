import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Credentials } from "./authenticate";
import { type Parameters, toObject } from "./parameters";

/** A request as it arrives at an endpoint. */
export interface Arrival {
  request: IncomingMessage;
  /** The path below Node-RED's root for nodes, as it was sent. */
  path: string;
  /** The query of the URL without its question mark, as it was sent. */
  search: string;
  /** The address of the sender. */
  ip: string;
}

/** What a flow may know of the request: `http in`'s names, without the token. */
export interface RequestSummary {
  method: string;
  url: string;
  path: string;
  query: Parameters;
  headers: Record<string, string | string[]>;
  ip: string;
}

/**
 * Describes a request without the token: its header field or query parameter is left out, and so is every other
 * that repeats the token. Proxies do that: `X-Forwarded-Uri` and `X-Original-Url` hold the whole URL.
 */
export function summarise({ request, path, search, ip }: Arrival, credentials: Credentials): RequestSummary {
  const keptSearch = search === "" ? "" : searchWithout(credentials, search);
  return {
    method: request.method ?? "",
    url: keptSearch === "" ? path : `${path}?${keptSearch}`,
    path,
    query: keptSearch === "" ? {} : toObject(new URLSearchParams(keptSearch)),
    headers: headersWithout(credentials, request.headers),
    ip: isAddress(ip) ? ip : (request.socket.remoteAddress ?? ""),
  };
}

function searchWithout(credentials: Credentials, search: string): string {
  const { method, name } = credentials;
  const kept = search
    .split("&")
    .filter((parameter) => !tells(parameter, credentials))
    .filter((parameter) => method === "header" || !new URLSearchParams(parameter).has(name))
    .join("&");
  // A token may have an ampersand in it.
  return tells(kept, credentials) ? "" : kept;
}

/** An address, perhaps with a port, and nothing else: what a proxy passes on may be anything that its caller sent. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 || isIP(text.replace(/^\[(.*)\](?::\d+)?$|:\d+$/, "$1")) !== 0;
}

function headersWithout(credentials: Credentials, headers: IncomingHttpHeaders): RequestSummary["headers"] {
  const { method, name } = credentials;
  const tokenField = method === "header" ? name.toLowerCase() : undefined;
  const kept: RequestSummary["headers"] = {};
  for (const [field, value] of Object.entries(headers)) {
    if (field === tokenField || value === undefined || tells(String(value), credentials)) continue;
    kept[field] = value;
  }
  return kept;
}

/** Whether a text has the token in it; a sender may have percent-encoded any character of it. */
function tells(text: string, credentials: Credentials): boolean {
  const { token } = credentials;
  if (text.length < token.length) return false;
  return text.includes(token) || (text.includes("%") && credentials.written.test(text));
}

/** Takes the token out of a text that is meant for the log. */
export function conceal(text: string, { written }: Credentials): string {
  return text.replace(new RegExp(written, "g"), "…");
}
