// Authentication by user and password (RFC 7617).

import type { BasicAccess } from "../config/parse";
import { problems, type Reason } from "../request/problem";
import { fieldValues } from "../request/head";
import {
  type Authenticated,
  type Authenticator,
  byCaller,
  byFirst,
  bySecond,
  byTest,
  callerRemoved,
} from "./authenticator";
import { CallerTokens } from "./caller-tokens";
import { digest, digestOfPresented, isSame } from "./digest";
import { setValue } from "./outgoing";
import { testField } from "./present";
import { Redactor } from "./redactor";
import type { NodeTestCredentials } from "./test-credentials";

export function createBasicAuthenticator(access: BasicAccess, testCredentials: NodeTestCredentials): Authenticator {
  const { user, first, second = "" } = access;
  const callers = new CallerTokens(access.callers);
  const passwords = [first, second].filter((password) => password !== "");
  const encoded = passwords.map((password) => encode(`${user}:${password}`));
  // The digest of both does not reveal which of them is wrong.
  const [byOne, byOther] = [first, second].map((password) =>
    password === "" ? undefined : digest(`${user}:${password}`),
  );

  const authenticate = (pair: string | undefined): Authenticated | undefined => {
    if (pair === undefined) return undefined;
    const presented = digestOfPresented(pair);
    if (byOne && isSame(presented, byOne)) return byFirst;
    if (byOther && isSame(presented, byOther)) return bySecond;
    // The name of a caller may have colons in it, its token has none.
    const [name, token] = splitPair(pair, pair.lastIndexOf(":"));
    return callers.find(token) === name ? byCaller(name) : undefined;
  };

  const findReason = (presented: string): Reason["key"] => {
    const pair = decodeBasic(presented);
    if (pair === undefined) return /^bearer /i.test(presented) ? "basic.bearer" : "basic.malformed";
    const [given, password] = splitPair(pair, pair.indexOf(":"));
    const [name, token] = splitPair(pair, pair.lastIndexOf(":"));
    if (authenticate(`${given}:${password.trim()}`) ?? authenticate(`${name}:${token.trim()}`)) return "basic.blank";
    if (first !== "" && given === user) return "basic.password";
    if (callers.find(token.trim()) !== undefined) return "basic.callerName";
    return callers.size === 0 ? "basic.user" : "callerUnknown";
  };

  return {
    missing: problems.passwordMissing,
    handshakeMethods: [],
    fields: ["authorization"],
    hidden: ["authorization", testField],
    parameter: undefined,
    redactor: new Redactor([first, second, ...encoded], testCredentials, callers),
    checkHead(head) {
      if (testCredentials.isTest(head)) return byTest;
      const [presented, ...repeated] = fieldValues(head.rawHeaders, "authorization");
      if (presented === undefined) return problems.passwordMissing;
      if (repeated.length > 0) return problems.passwordInvalid;
      return authenticate(decodeBasic(presented)) ?? problems.passwordInvalid;
    },
    isSignedTest: (head) => testCredentials.isSignedTest(head),
    sign: (request) =>
      first === "" ? undefined : setValue(request, "header:Authorization", `Basic ${encode(`${user}:${first}`)}`),
    explain({ head, caller }) {
      if (caller !== undefined) return callerRemoved;
      const [presented, ...repeated] = fieldValues(head.rawHeaders, "authorization");
      if (presented === undefined || repeated.length > 0) return { reasons: [] };
      return { reasons: [{ key: findReason(presented), values: {} }] };
    },
  };
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
