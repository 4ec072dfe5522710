// Authentication by user and password (RFC 7617).

import type { BasicAccess } from "../config/parse";
import { problems, type Reason } from "../request/problem";
import {
  type Authenticated,
  Authenticator,
  type AuthResult,
  byCaller,
  byFirst,
  bySecond,
  byTest,
  type Explanation,
  type RefusedRequestFacts,
} from "./authenticator";
import { CallerTokens } from "./caller-tokens";
import { digest, digestOfPresented, isSame } from "./digest";
import { type OutgoingRequest, setValue } from "./outgoing";
import { testField } from "./present";
import { fieldValues, type RequestHead } from "../request/head";
import type { NodeTestCredentials } from "./test-credentials";

export class BasicAuthenticator extends Authenticator {
  readonly #user: string;
  /** User and password, encoded. */
  readonly #pair: string;
  readonly #first: Buffer | undefined;
  readonly #second: Buffer | undefined;
  readonly #callers: CallerTokens;

  constructor({ user, password, secondPassword, callers }: BasicAccess, testCredentials: NodeTestCredentials) {
    const fields = ["authorization"];
    const pairs = [password, secondPassword].filter(Boolean).map((each) => encode(`${user}:${each}`));
    const facts = { missing: problems.passwordMissing, fields, hidden: [...fields, testField] };
    const callerTokens = new CallerTokens(callers);
    super(facts, [password, secondPassword, ...pairs], testCredentials, callerTokens);
    this.#callers = callerTokens;
    this.#user = user;
    this.#pair = encode(`${user}:${password}`);
    // The digest of both does not reveal which of them is wrong.
    this.#first = password === "" ? undefined : digest(`${user}:${password}`);
    this.#second = secondPassword === "" ? undefined : digest(`${user}:${secondPassword}`);
  }

  checkHead(head: RequestHead): AuthResult {
    const { rawHeaders } = head;
    if (this.testCredentials.isTest(head)) return byTest;
    const [presented, ...repeated] = fieldValues(rawHeaders, "authorization");
    if (presented === undefined) return problems.passwordMissing;
    if (repeated.length > 0) return problems.passwordInvalid;
    return this.#authenticate(decodeBasic(presented)) ?? problems.passwordInvalid;
  }

  #authenticate(pair: string | undefined): Authenticated | undefined {
    if (pair === undefined) return undefined;
    const presented = digestOfPresented(pair);
    if (this.#first && isSame(presented, this.#first)) return byFirst;
    return this.#second && isSame(presented, this.#second) ? bySecond : this.#findCaller(pair);
  }

  /** The name of a caller may have colons in it, its token has none. */
  #findCaller(pair: string): Authenticated | undefined {
    const [name, token] = splitPair(pair, pair.lastIndexOf(":"));
    return this.#callers.find(token) === name ? byCaller(name) : undefined;
  }

  override sign(request: OutgoingRequest): OutgoingRequest | undefined {
    if (this.#first === undefined) return undefined;
    return setValue(request, "header:Authorization", `Basic ${this.#pair}`);
  }

  explain({ head, caller }: RefusedRequestFacts): Explanation {
    // Its token was right until a deploy.
    if (caller !== undefined) return { reasons: [{ key: "callerUnknown", values: {} }] };
    const [presented, ...repeated] = fieldValues(head.rawHeaders, "authorization");
    if (presented === undefined || repeated.length > 0) return { reasons: [] };
    return { reasons: [this.#explain(presented)] };
  }

  #explain(presented: string): Reason {
    const pair = decodeBasic(presented);
    if (pair === undefined) {
      return { key: /^bearer /i.test(presented) ? "basic.bearer" : "basic.malformed", values: {} };
    }
    const [user, password] = splitPair(pair, pair.indexOf(":"));
    const [name, token] = splitPair(pair, pair.lastIndexOf(":"));
    const trimmed = this.#authenticate(`${user}:${password.trim()}`) ?? this.#authenticate(`${name}:${token.trim()}`);
    if (trimmed) return { key: "basic.blank", values: {} };
    if (this.#first && user === this.#user) return { key: "basic.password", values: {} };
    if (this.#callers.find(token.trim()) !== undefined) return { key: "basic.callerName", values: {} };
    return { key: this.#callers.size === 0 ? "basic.user" : "callerUnknown", values: {} };
  }
}

function splitPair(pair: string, colon: number): [name: string, password: string] {
  return [pair.slice(0, colon), pair.slice(colon + 1)];
}

function encode(pair: string): string {
  return Buffer.from(pair).toString("base64");
}

/** RFC 7617 §2: base64(user-id ":" password), here in UTF-8. */
function decodeBasic(value: string): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString();
  return pair.includes(":") ? pair : undefined;
}
