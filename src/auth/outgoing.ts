// Requests that the node itself sends, as a sender would.

import { DecodedBody } from "../request/decode";
import { findParameters, type RequestHead } from "../request/head";
import { parseJson } from "../request/json";
import { Problem } from "../request/problem";
import type { TokenAccess } from "../config/parse";
import { present, withMember } from "./present";
import { RequestValues } from "./request-values";
import type { Source } from "./senders/sender";

/** A request before it is sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** The query without its question mark. */
  readonly search: string;
  /** Each name once, in any letter case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function toHead({ method, search, headers }: OutgoingRequest): RequestHead {
  return { method, search, rawHeaders: Object.entries(headers).flat() };
}

/** As the node will read it. */
export function readOutgoing(request: OutgoingRequest): RequestValues {
  const head = toHead(request);
  return new RequestValues(head, DecodedBody.of(head, request.body));
}

/**
 * Sets the value at a place, where senders have ids, times and signatures. A member keeps its type.
 *
 * @param source of a header field, a parameter or a member; with `*`, of each element
 * @returns the same request where the body has no such place, or is deeper than the node accepts
 */
export function setValue(request: OutgoingRequest, source: Source, value: string): OutgoingRequest {
  const [, from = "", name = ""] = /^(\w+[?!]?):([^]*)$/.exec(source) ?? [];
  switch (from) {
    case "header": {
      const others = Object.entries(request.headers).filter(([own]) => own.toLowerCase() !== name.toLowerCase());
      return { ...request, headers: Object.fromEntries([...others, [name, value]]) };
    }
    case "query":
      return { ...request, search: setParameter(request.search, name, value) };
    case "form": {
      if (!readOutgoing(request).isForm) return request;
      return { ...request, body: Buffer.from(setParameter(request.body.toString(), name, value)) };
    }
    case "json": {
      const json = parseJson(request.body.toString());
      const isInList = /^(?:\*|\d+)(?:\.|$)/.test(name);
      if (typeof json !== "object" || json === null || json instanceof Problem || Array.isArray(json) !== isInList)
        return request;
      const [earlier] = readOutgoing(request).values(source);
      const isNumber = typeof earlier !== "string" && /^[1-9]\d{0,14}$/.test(value);
      const changed = withMember(json, name.split("."), isNumber ? Number(value) : value);
      return { ...request, body: Buffer.from(JSON.stringify(changed)) };
    }
    default:
      return request;
  }
}

/** Puts a token where its sender puts it. */
export function presentToken(
  request: OutgoingRequest,
  place: Pick<TokenAccess, "method" | "name">,
  token: string,
): OutgoingRequest {
  const [value = token] = Object.values(present(place, token).headers);
  return setValue(request, `${place.method}:${place.name}`, value);
}

/** The other parameters stay as they are written. */
function setParameter(search: string, name: string, value: string): string {
  const written = String(new URLSearchParams([[name, value]]));
  const pieces = search === "" ? [] : search.split("&");
  const first = pieces.findIndex((piece) => findParameters(piece, name).length > 0);
  const others = pieces.filter((piece, index) => index === first || findParameters(piece, name).length === 0);
  return (first === -1 ? [...pieces, written] : others.with(first, written)).join("&");
}
