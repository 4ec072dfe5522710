import type { IncomingMessage } from "node:http";
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
export function summarise(
  { request, path, search, ip }: Arrival,
  { method, name, token }: Credentials,
): RequestSummary {
  const tells = (text: string) => text.includes(token) || unescape(text).includes(token);
  const tokenField = method === "header" ? name.toLowerCase() : undefined;

  const keptSearch = search
    .split("&")
    .filter((parameter) => !tells(parameter) && !(method === "query" && new URLSearchParams(parameter).has(name)))
    .join("&");
  const keptHeaders = Object.entries(request.headers).filter(
    (header): header is [string, string | string[]] => header[0] !== tokenField && !tells(String(header[1])),
  );

  return {
    method: request.method ?? "",
    url: keptSearch === "" ? path : `${path}?${keptSearch}`,
    path,
    query: toObject(new URLSearchParams(keptSearch)),
    headers: Object.fromEntries(keptHeaders),
    ip,
  };
}

/** A sender may percent-encode any character of the token. */
function unescape(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
