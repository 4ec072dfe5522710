// Every way to refuse a request.

import { STATUS_CODES } from "node:http";

/** Why, for the operator: a key under `whyNot` in the message catalog, with its values. Never a secret or a token. */
export interface Reason {
  key: string;
  values: Record<string, string | number>;
}

/** A refusal: an RFC 9457 problem with constant text. */
export class Problem {
  /** The `application/problem+json` document. */
  readonly body: string;

  /**
   * @param name in log and catalog
   * @param detail for the sender; constant, so that nothing of the request or of this machine is in it
   */
  constructor(
    readonly name: string,
    readonly status: number,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    // RFC 9457 §4.2.1: with about:blank, the title is the status phrase.
    this.body = JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, detail });
  }

  /** Whether the sender's address is the reason. */
  get isOfAddress(): boolean {
    return ["addressNotAllowed", "rateExceeded"].includes(this.name);
  }

  /** Whether what the request has as its credential, or lacks, is the reason. */
  get isOfCredential(): boolean {
    return "WWW-Authenticate" in this.headers;
  }

  /** The same problem with `Retry-After` (RFC 9110 §10.2.3). */
  retriedAfter(seconds: number): Problem {
    return new Problem(this.name, this.status, this.detail, { ...this.headers, "Retry-After": String(seconds) });
  }
}

/** Something else in the web server has interfered with a request. */
export class ReasonError extends Error {
  /** @param kind its text is under `interference` in the message catalog */
  constructor(readonly kind: "bodyRead" | "bytesGone" | "answered") {
    super(kind);
  }
}

const bearer = 'Bearer realm="webhook"';
/** RFC 7617 §2.1: with the charset that browsers and devices should use. */
const basic = { "WWW-Authenticate": 'Basic realm="webhook", charset="UTF-8"' };
const signature = { "WWW-Authenticate": 'Signature realm="webhook"' };
const retryAfter = (seconds: number) => ({ "Retry-After": String(seconds) });

type ProblemRow = readonly [status: number, detail: string, headers?: Problem["headers"]];

/** Every refusal. */
const table = {
  // RFC 6750 §3: no error code when no credentials came.
  tokenMissing: [401, "This endpoint needs a token, and the request carried none.", { "WWW-Authenticate": bearer }],
  tokenInvalid: [
    401,
    "The token of the request is not valid for this endpoint.",
    { "WWW-Authenticate": `${bearer}, error="invalid_token"` },
  ],
  passwordMissing: [401, "This endpoint needs a user and a password, and the request has none.", basic],
  passwordInvalid: [401, "The user or the password of the request is not valid for this endpoint.", basic],
  // RFC 9110 §11.6.1; the scheme has no parameters.
  signatureMissing: [401, "This endpoint needs a signature, and the request has none.", signature],
  signatureInvalid: [401, "The signature of the request is not valid for this endpoint.", signature],
  keysUnavailable: [503, "The request could not be verified now. Please try again.", retryAfter(30)],
  handshakeRefused: [400, "The handshake is not the one that this endpoint takes."],
  memoryFull: [503, "There is no memory for this request now. Please try again.", retryAfter(1)],
  addressNotAllowed: [403, "This endpoint takes no requests from this address."],
  rateExceeded: [429, "Too many requests came from this address. Please try again later."],
  callerRateExceeded: [429, "Too many requests came with this token. Please try again later."],
  methodNotAllowed: [405, "This endpoint takes no requests by this method."],
  bodyTooLarge: [413, "The body of the request is larger than this endpoint takes."],
  bodyIncomplete: [400, "The body of the request broke off before its end."],
  // RFC 9110 §15.5.16: the codings that it could use.
  codingUnknown: [
    415,
    "The content coding of the request is not supported.",
    { "Accept-Encoding": "gzip, deflate, br" },
  ],
  pathMalformed: [400, "The path of the request has a broken escape."],
  codingBroken: [400, "The body of the request does not match its content coding."],
  charsetUnknown: [415, "The charset of the request is not supported."],
  charsetUnsigned: [415, "The charset of the request is not signed, and the body can be read as UTF-8, too."],
  jsonMalformed: [400, "The body of the request is not valid JSON."],
  jsonTooDeep: [400, "The JSON of the request is nested too deeply."],
  formMalformed: [400, "The body of the request is not valid multipart/form-data."],
  partsTooMany: [413, "The form of the request has too many parts."],
  bodyLate: [408, "The body of the request did not arrive in time.", { Connection: "close" }],
  flowLate: [504, "The flow did not answer in time."],
  duplicatesWaiting: [503, "Too many duplicates are waiting for an answer. Please try again.", retryAfter(10)],
  storeTroubled: [503, "The delivery could not be kept. Please try again.", retryAfter(10)],
  paused: [503, "The flow of this endpoint is paused. Please try again later.", retryAfter(60)],
  gone: [404, "Nothing receives requests at this path any more."],
  deploying: [503, "This endpoint is being deployed. Please try again.", retryAfter(10)],
  unforeseen: [500, "The request could not be handled."],
} as const satisfies Record<string, ProblemRow>;

/** RFC 9110 §15.5.6: the problem of a request by another method than these. */
export function refuseOtherMethods(methods: readonly string[]): Problem {
  const { name, status } = problems.methodNotAllowed;
  // RFC 9110 §9.3.2: HEAD is GET without the body of the reply.
  const allowed = methods.includes("GET") ? [...methods, "HEAD"] : methods;
  const detail = `This endpoint takes ${methods.join(" and ")} requests only.`;
  return new Problem(name, status, detail, { Allow: allowed.join(", ") });
}

const named = Object.entries<ProblemRow>(table).map(([name, row]) => [name, new Problem(name, ...row)] as const);
export const problems = Object.fromEntries(named) as { readonly [Name in keyof typeof table]: Problem };

const byBody = new Map(named.map(([, problem]) => [problem.body, problem]));

/** The problem that a reply states, if the node itself has sent it: no other server has these documents. */
export function findProblem(body: string): Problem | undefined {
  return byBody.get(body);
}
