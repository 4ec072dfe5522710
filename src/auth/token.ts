// Authentication by token.

import type { TokenAccess } from "../config/parse";
import { Problem, problems } from "../request/problem";
import { fieldValues, findParameters, type RequestHead } from "../request/head";
import { type Authenticated, type Authenticator, byCaller, byFirst, byTest, callerRemoved } from "./authenticator";
import { CallerTokens } from "./caller-tokens";
import { explainToken } from "./diagnosis";
import { digest, digestOfPresented, isSame } from "./digest";
import type { Handshakes } from "./handshakes";
import { presentToken } from "./outgoing";
import { testField } from "./present";
import { Redactor } from "./redactor";
import { TestCredentials } from "./test-credentials";

/** @param handshakes of the sender, if it has some */
export function createTokenAuthenticator(
  access: TokenAccess,
  testCredentials = new TestCredentials().of(""),
  handshakes?: Handshakes,
): Authenticator {
  const { method, name, first } = access;
  const field = name.toLowerCase();
  const fields = method === "header" ? [field] : [];
  const callers = new CallerTokens(access.callers);
  // Missing where only callers have a token.
  const own = first === "" ? undefined : digest(first);

  /** The token in each field or parameter of the configured name; nothing for one without a token. */
  const readTokens = ({ rawHeaders, search }: RequestHead): (string | undefined)[] =>
    method === "query"
      ? findParameters(search, name)
      : fieldValues(rawHeaders, field).map((value) => extractToken(value, field === "authorization"));

  const authenticate = (head: RequestHead): Authenticated | Problem => {
    const tokens = readTokens(head);
    if (tokens.every((token) => token === undefined)) return problems.tokenMissing;
    // RFC 9110 §5.3: only lists may be repeated. Middleware in front may have looked at another value.
    const [token, ...repeated] = tokens;
    if (token === undefined || repeated.length > 0) return problems.tokenInvalid;
    const presented = digestOfPresented(token);
    if (own && isSame(presented, own)) return byFirst;
    const caller = callers.find(token, presented);
    if (caller !== undefined) return byCaller(caller);
    // Its fields identify a request: a test credential is valid for one only.
    return testCredentials.accept(presented, head.rawHeaders) ? byTest : problems.tokenInvalid;
  };

  return {
    missing: problems.tokenMissing,
    handshakeMethods: handshakes?.methods ?? [],
    fields,
    hidden: [...fields, testField],
    parameter: method === "query" ? name : undefined,
    redactor: new Redactor([first], testCredentials, callers),
    checkHead: (head) => handshakes?.checkHead(head, () => authenticate(head)) ?? authenticate(head),
    isSignedTest: (head) => testCredentials.isSignedTest(head),
    sign: (request) => (first === "" ? undefined : presentToken(request, access, first)),
    explain: ({ head, caller }) =>
      caller === undefined ? explainToken([first], `${method}:${name}`, head, callers) : callerRemoved,
  };
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
