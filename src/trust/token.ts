// Who may come in by a token.

import { hash, timingSafeEqual } from "node:crypto";
import type { VerificationMethod } from "../config/fields";
import type { WebhookConfig } from "../config/parse";
import { type Problem, problems } from "../problem";
import { isSpelled, withoutToken } from "./spelling";

/** What a request must present, and where; prepared, so that a request costs no more than it must. */
export class Credentials {
  readonly method: VerificationMethod;
  /** The name of the header field (in any letter case) or of the query parameter (exactly). */
  readonly name: string;
  readonly token: string;
  /** The SHA-256 digest of the token. */
  readonly digest: Buffer;

  constructor({ placement, token }: Pick<WebhookConfig, "placement" | "token">) {
    this.method = placement.method;
    this.name = placement.name;
    this.token = token;
    this.digest = digest(token);
  }

  /** Whether a text has the token in it, however it was quoted or encoded on the way. */
  tells(text: string): boolean {
    return isSpelled(this.token, text);
  }

  /** Takes the token out of a text that is meant for the log. */
  conceal(text: string): string {
    return withoutToken(this.token, text, "…");
  }
}

/**
 * Decides who may come in, from the head of the request alone.
 *
 * @param rawHeaders names and values in turn, as they came: Node drops or joins repeated fields elsewhere
 * @returns why the request is refused, or nothing when it carries the right token
 */
export function authenticate(
  credentials: Credentials,
  rawHeaders: readonly string[],
  search: string,
): Problem | undefined {
  const presented = presentedTokens(credentials, rawHeaders, search);
  if (presented.every((token) => token === undefined)) return problems.tokenMissing;
  // RFC 9110 §5.3: only lists may be repeated. What stands before this endpoint may have looked at another one.
  const [token, ...repeated] = presented;
  if (token === undefined || repeated.length > 0) return problems.tokenInvalid;
  return timingSafeEqual(digest(token), credentials.digest) ? undefined : problems.tokenInvalid;
}

/** Digests have one length, so comparing them in constant time leaks neither the token nor its length. */
function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** What each field or parameter of the configured name presents: a token, or something that is none. */
function presentedTokens(
  { method, name }: Credentials,
  rawHeaders: readonly string[],
  search: string,
): (string | undefined)[] {
  if (method === "query") return new URLSearchParams(search).getAll(name);
  const field = name.toLowerCase();
  return fieldValues(rawHeaders, field).map((value) => tokenOf(value, field === "authorization"));
}

function fieldValues(rawHeaders: readonly string[], field: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === field.length && name.toLowerCase() === field) values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}

/**
 * RFC 6750 §2.1: credentials = "Bearer" 1*SP b64token, with the scheme in any letter case (RFC 9110 §11.1).
 * Fields other than Authorization may hold the bare token: GitLab and Telegram send it so.
 */
function tokenOf(value: string, bearerOnly: boolean): string | undefined {
  const bearer = /^bearer +(.+)$/i.exec(value)?.[1];
  const token = bearer ?? (bearerOnly ? "" : value);
  return token === "" ? undefined : token;
}
