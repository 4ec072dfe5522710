// Authentication by user and password (RFC 7617).

import type { BasicAccess } from "../config/parse";
import { problems } from "../request/problem";
import type {
  Authenticated,
  Authenticator,
  AuthResult,
  Explanation,
  Reason,
  RefusedRequestFacts,
} from "./authenticator";
import { digest, digestOfPresented, isSame } from "./digest";
import { testField } from "./present";
import { Redactor } from "./redactor";
import { fieldValues, type RequestHead } from "../request/header-fields";
import type { NodeTestCredentials } from "./test-credentials";
import { byFirst, bySecond, byTest } from "./token";

/** Prepared, so that a request costs little. */
export class BasicAuthenticator implements Authenticator {
  readonly methods: readonly string[] = [];
  readonly missing = problems.passwordMissing;
  readonly scheme = undefined;
  readonly fields = ["authorization"];
  readonly hidden = [...this.fields, testField];
  readonly parameter = undefined;
  readonly redactor: Redactor;
  readonly #user: string;
  readonly #first: Buffer;
  readonly #second: Buffer | undefined;
  readonly #testCredentials: NodeTestCredentials;

  constructor({ user, password, secondPassword }: BasicAccess, testCredentials: NodeTestCredentials) {
    this.#user = user;
    // The digest of both does not reveal which of them is wrong.
    this.#first = digest(`${user}:${password}`);
    this.#second = secondPassword === "" ? undefined : digest(`${user}:${secondPassword}`);
    this.#testCredentials = testCredentials;
    const pairs = [password, secondPassword].filter(Boolean).map((each) => encode(`${user}:${each}`));
    this.redactor = new Redactor([password, secondPassword, ...pairs], () => testCredentials.tokens());
  }

  begin(head: RequestHead): AuthResult {
    const { rawHeaders } = head;
    if (this.#testCredentials.isTest(head)) return byTest;
    const [presented, ...repeated] = fieldValues(rawHeaders, "authorization");
    if (presented === undefined) return problems.passwordMissing;
    if (repeated.length > 0) return problems.passwordInvalid;
    return this.#authenticate(decodeBasic(presented)) ?? problems.passwordInvalid;
  }

  #authenticate(pair: string | undefined): Authenticated | undefined {
    if (pair === undefined) return undefined;
    const presented = digestOfPresented(pair);
    if (isSame(presented, this.#first)) return byFirst;
    return this.#second && isSame(presented, this.#second) ? bySecond : undefined;
  }

  explain({ head }: RefusedRequestFacts): Explanation {
    const [presented] = fieldValues(head.rawHeaders, "authorization");
    if (presented === undefined) return { reasons: [] };
    return { reasons: [this.#explain(presented)] };
  }

  #explain(presented: string): Reason {
    const pair = decodeBasic(presented);
    if (pair === undefined) {
      return { key: /^bearer /i.test(presented) ? "basic.bearer" : "basic.malformed", values: {} };
    }
    const user = pair.slice(0, pair.indexOf(":"));
    if (user !== this.#user) return { key: "basic.user", values: {} };
    const trimmed = this.#authenticate(`${user}:${pair.slice(user.length + 1).trim()}`);
    return { key: trimmed ? "basic.blank" : "basic.password", values: {} };
  }
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
