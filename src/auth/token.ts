// Authentication by token.

import type { TokenAccess } from "../config/parse";
import { Problem, problems } from "../request/problem";
import { fieldValues, findParameters, type RequestHead } from "../request/head";
import {
  type Authenticated,
  Authenticator,
  type AuthResult,
  byCaller,
  byFirst,
  byTest,
  type Explanation,
  type RefusedRequestFacts,
} from "./authenticator";
import { CallerTokens } from "./caller-tokens";
import { explainToken } from "./diagnosis";
import { digest, digestOfPresented, isSame } from "./digest";
import type { Handshakes } from "./handshakes";
import { type OutgoingRequest, setValue } from "./outgoing";
import { present, testField } from "./present";
import { TestCredentials } from "./test-credentials";

export class TokenAuthenticator extends Authenticator {
  readonly #access: TokenAccess;
  /** In lower case. */
  readonly #field: string;
  /** Missing where only callers have a token. */
  readonly #digest: Buffer | undefined;
  readonly #callers: CallerTokens;
  readonly #handshakes: Handshakes | undefined;

  /** @param handshakes of the sender, if it has some */
  constructor(access: TokenAccess, testCredentials = new TestCredentials().of(""), handshakes?: Handshakes) {
    const { method, name, token, callers } = access;
    const callerTokens = new CallerTokens(callers);
    const field = name.toLowerCase();
    const fields = method === "header" ? [field] : [];
    const parameter = method === "query" ? name : undefined;
    const facts = { missing: problems.tokenMissing, fields, hidden: [...fields, testField], parameter };
    super({ ...facts, handshakeMethods: handshakes?.methods ?? [] }, [token], testCredentials, callerTokens);
    this.#access = access;
    this.#field = field;
    this.#digest = token === "" ? undefined : digest(token);
    this.#callers = callerTokens;
    this.#handshakes = handshakes;
  }

  checkHead(head: RequestHead): AuthResult {
    return this.#handshakes?.checkHead(head, () => this.#authenticate(head)) ?? this.#authenticate(head);
  }

  #authenticate({ rawHeaders, search }: RequestHead): Authenticated | Problem {
    const presented = this.#presented(rawHeaders, search);
    if (presented.every((token) => token === undefined)) return problems.tokenMissing;
    // RFC 9110 §5.3: only lists may be repeated. Middleware in front may have looked at another value.
    const [token, ...repeated] = presented;
    if (token === undefined || repeated.length > 0) return problems.tokenInvalid;
    return this.#admit(token, rawHeaders) ?? problems.tokenInvalid;
  }

  override sign(request: OutgoingRequest): OutgoingRequest | undefined {
    const { method, name, token } = this.#access;
    if (token === "") return undefined;
    const [value = token] = Object.values(present({ method, name }, token).headers);
    return setValue(request, `${method}:${name}`, value);
  }

  explain({ head, caller }: RefusedRequestFacts): Explanation {
    // Its token was right until a deploy.
    if (caller !== undefined) return { reasons: [{ key: "callerUnknown", values: {} }] };
    const { method, name, token } = this.#access;
    return explainToken([token], `${method}:${name}`, head, this.#callers);
  }

  /** @param request identifies the request, as a test credential is valid for one only */
  #admit(presented: string, request: object): Authenticated | undefined {
    const own = digestOfPresented(presented);
    if (this.#digest && isSame(own, this.#digest)) return byFirst;
    const caller = this.#callers.find(presented, own);
    if (caller !== undefined) return byCaller(caller);
    return this.testCredentials.accept(own, request) ? byTest : undefined;
  }

  /** The token in each field or parameter of the configured name; nothing for one without a token. */
  #presented(rawHeaders: readonly string[], search: string): (string | undefined)[] {
    if (this.#access.method === "query") return findParameters(search, this.#access.name);
    return fieldValues(rawHeaders, this.#field).map((value) => extractToken(value, this.#field === "authorization"));
  }
}

/**
 * RFC 6750 §2.1: credentials = "Bearer" 1*SP b64token, with the scheme in any letter case (RFC 9110 §11.1). Other
 * fields may hold the bare token, as GitLab's and Telegram's do.
 */
export function extractToken(value: string, bearerOnly: boolean): string | undefined {
  const scheme = /^bearer +/i.exec(value)?.[0];
  const token = scheme ? value.slice(scheme.length) : bearerOnly ? "" : value;
  return token === "" ? undefined : token;
}
