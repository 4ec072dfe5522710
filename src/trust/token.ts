// Who may come in by a token.

import type { VerificationMethod } from "../config/fields";
import type { WebhookConfig } from "../config/parse";
import { type Problem, problems } from "../problem";
import { Budget } from "../request/budget";
import { digest, digestOfPresented, isSame } from "./digest";
import { isSpelled, withoutTokens } from "./spelling";
import { StandIns } from "./stand-ins";

/** What a request must present, and where; prepared, so that a request costs no more than it must. */
export class Credentials {
  readonly method: VerificationMethod;
  /** The name of the header field (in any letter case) or of the query parameter (exactly). */
  readonly name: string;
  readonly #field: string;
  readonly #token: string;
  readonly #digest: Buffer;
  readonly #owner: string;
  readonly #standIns: StandIns;

  /** @param owner whose endpoint it is, as the stand-ins know it */
  constructor(
    { placement, token }: Pick<WebhookConfig, "placement" | "token">,
    owner = "",
    standIns: StandIns = new StandIns(),
  ) {
    this.method = placement.method;
    this.name = placement.name;
    this.#field = placement.name.toLowerCase();
    this.#token = token;
    this.#digest = digest(token);
    this.#owner = owner;
    this.#standIns = standIns;
  }

  /**
   * Whether a request that presents this may come in.
   *
   * @param request what stands for the request, as a stand-in is good for one only
   */
  accept(presented: string, request: object): boolean {
    const own = digestOfPresented(presented);
    return isSame(own, this.#digest) || this.#standIns.accept(this.#owner, own, request);
  }

  /** Whether something in front has taken the field away that is to carry the token. */
  areTakenFrom(headers: Readonly<Record<string, unknown>>): boolean {
    return this.method === "header" && headers[this.#field] === undefined;
  }

  /** Whether a text has the token in it, however it was quoted or encoded on the way, or may have it beyond the budget. */
  tells(text: string, budget = new Budget()): boolean {
    if (isSpelled(this.#token, text, budget)) return true;
    for (const standIn of this.#standIns.tokens(this.#owner)) if (isSpelled(standIn, text, budget)) return true;
    return false;
  }

  /** Whether the name of a field has the token in it: names come in lower case. */
  names(field: string, budget = new Budget()): boolean {
    // Most names are too short for it.
    if (field.length < this.#token.length) return false;
    return isSpelled(this.#token.toLowerCase(), field, budget, (character) => character.toLowerCase());
  }

  /**
   * Takes the token out of a text that is meant for the log, and shortens it.
   *
   * @param most the most characters of the text that are kept; fewer where the budget is spent before
   */
  conceal(text: string, most = Infinity, budget = new Budget()): string {
    const tokens = [this.#token, ...this.#standIns.tokens(this.#owner)];
    return withoutTokens(tokens, text, { budget, stop: most }, "…");
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
  return credentials.accept(token, rawHeaders) ? undefined : problems.tokenInvalid;
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
