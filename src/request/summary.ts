// What a flow may know of a request.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Budget } from "./budget";
import type { File } from "./multipart";
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
  /** Tells a caller that waits for it to send the body (RFC 9110 §10.1.1); called right before the body is read. */
  continue?: (() => void) | undefined;
  /** Which endpoint the request is known to be let in by, and how, if that was found out before. */
  admitted?: { endpoint: object; how: object } | undefined;
  /** What a parser in front has made of the body, if it has read it. */
  parsed?: { value: unknown; files?: File[] } | undefined;
  /** Whether, when a deploy has put another endpoint in the place of the one that was met, the request may go on to it. */
  mayGoTo?: ((endpoint: object) => boolean) | undefined;
  /** The bytes of the body as they came, if they were read before. */
  received?: Buffer | undefined;
}

/** What no flow may know of a request: what lets it in. */
export interface Hidden {
  /** Whether a header field carries it; its name in lower case. */
  hides(field: string): boolean;
  /** The query parameter that carries it, if one does. */
  readonly parameter: string | undefined;
  readonly secrecy: Secrecy;
}

/** Whether texts have it in them. */
interface Secrecy {
  /** Where the budget is spent before that is known, it counts as told. */
  tells(text: string, budget: Budget): boolean;
  /** Whether the name of a field has it in it: in whatever letter case, as names have none. */
  names(field: string, budget: Budget): boolean;
}

/** What a flow may know of the request: `http in`'s names, without the token. */
export interface RequestSummary {
  method: string;
  url: string;
  path: string;
  query: Parameters;
  headers: Record<string, string | string[]>;
  ip: string;
  /** Those of a form that may have some. */
  files?: File[];
}

/**
 * Describes a request without the token: its header field or query parameter is left out, and so is every other
 * that repeats the token. Proxies do that: `X-Forwarded-Uri` and `X-Original-Url` hold the whole URL.
 *
 * @param budget what may be spent on all of them together
 */
export function summarise(
  { request, path, search, ip }: Arrival,
  hidden: Hidden,
  budget = new Budget(),
): RequestSummary {
  const keptSearch = search === "" ? "" : searchWithout(hidden, search, budget);
  return {
    method: request.method ?? "",
    url: keptSearch === "" ? path : `${path}?${keptSearch}`,
    path,
    query: keptSearch === "" ? {} : toObject(new URLSearchParams(keptSearch)),
    headers: headersWithout(hidden, request.headers, budget),
    ip: isAddress(ip) ? ip : (request.socket.remoteAddress ?? ""),
  };
}

function searchWithout(hidden: Hidden, search: string, budget: Budget): string {
  const { parameter: own } = hidden;
  const isOther = (parameter: string) => own === undefined || !new URLSearchParams(parameter).has(own);
  const others = own === undefined ? search : search.split("&").filter(isOther).join("&");
  if (!hidden.secrecy.tells(others, budget)) return others;
  const isSilent = (parameter: string) => !hidden.secrecy.tells(parameter, budget);
  const kept = others.split("&").filter(isSilent).join("&");
  // A token may have an ampersand in it.
  return hidden.secrecy.tells(kept, budget) ? "" : kept;
}

/**
 * An address, perhaps with a port, and nothing else: what a proxy passes on may be anything that its caller sent. So may
 * the zone of an address be (RFC 4007 §11).
 */
function isAddress(text: string): boolean {
  if (text.includes("%")) return false;
  return isIP(text) !== 0 || isIP(text.replace(/^\[(.*)\](?::\d+)?$|:\d+$/, "$1")) !== 0;
}

function headersWithout(hidden: Hidden, headers: IncomingHttpHeaders, budget: Budget): RequestSummary["headers"] {
  const kept: RequestSummary["headers"] = {};
  for (const field of Object.keys(headers)) {
    const value = headers[field];
    if (value === undefined || hidden.hides(field)) continue;
    if (hidden.secrecy.names(field, budget) || hidden.secrecy.tells(String(value), budget)) continue;
    kept[field] = value;
  }
  return kept;
}
