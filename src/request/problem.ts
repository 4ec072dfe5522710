// Every way to refuse a request.

import { STATUS_CODES } from "node:http";

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
    return this.status === 403 || this.status === 429;
  }

  /** The same problem with `Retry-After` (RFC 9110 §10.2.3). */
  retriedAfter(seconds: number): Problem {
    return new Problem(this.name, this.status, this.detail, { ...this.headers, "Retry-After": String(seconds) });
  }
}

/** Something else in the web server has interfered with a request. */
export class Interference extends Error {
  /** @param kind its text is under `interference` in the message catalog */
  constructor(readonly kind: "bodyRead" | "bytesGone" | "answered") {
    super(kind);
  }
}

/** Every refusal. */
export const problems = {
  // RFC 6750 §3: no error code when no credentials came.
  tokenMissing: new Problem("tokenMissing", 401, "This endpoint needs a token, and the request carried none.", {
    "WWW-Authenticate": 'Bearer realm="webhook"',
  }),
  tokenInvalid: new Problem("tokenInvalid", 401, "The token of the request is not valid for this endpoint.", {
    "WWW-Authenticate": 'Bearer realm="webhook", error="invalid_token"',
  }),
  // RFC 9110 §11.6.1; the scheme has no parameters.
  signatureMissing: new Problem("signatureMissing", 401, "This endpoint needs a signature, and the request has none.", {
    "WWW-Authenticate": 'Signature realm="webhook"',
  }),
  signatureInvalid: new Problem(
    "signatureInvalid",
    401,
    "The signature of the request is not valid for this endpoint.",
    {
      "WWW-Authenticate": 'Signature realm="webhook"',
    },
  ),
  handshakeRefused: new Problem("handshakeRefused", 400, "The handshake is not the one that this endpoint takes."),
  memoryFull: new Problem("memoryFull", 503, "There is no memory for this request now. Please try again.", {
    "Retry-After": "1",
  }),
  addressNotAllowed: new Problem("addressNotAllowed", 403, "This endpoint takes no requests from this address."),
  rateExceeded: new Problem("rateExceeded", 429, "Too many requests came from this address. Please try again later."),
  methodNotAllowed: new Problem("methodNotAllowed", 405, "This endpoint takes POST requests only.", { Allow: "POST" }),
  bodyTooLarge: new Problem("bodyTooLarge", 413, "The body of the request is larger than this endpoint takes."),
  bodyIncomplete: new Problem("bodyIncomplete", 400, "The body of the request broke off before its end."),
  codingUnknown: new Problem("codingUnknown", 415, "The content coding of the request is not supported.", {
    // RFC 9110 §15.5.16: the codings that it could use.
    "Accept-Encoding": "gzip, deflate, br",
  }),
  codingBroken: new Problem("codingBroken", 400, "The body of the request does not match its content coding."),
  charsetUnknown: new Problem("charsetUnknown", 415, "The charset of the request is not supported."),
  jsonMalformed: new Problem("jsonMalformed", 400, "The body of the request is not valid JSON."),
  jsonTooDeep: new Problem("jsonTooDeep", 400, "The JSON of the request is nested too deeply."),
  formMalformed: new Problem("formMalformed", 400, "The body of the request is not valid multipart/form-data."),
  partsTooMany: new Problem("partsTooMany", 413, "The form of the request has too many parts."),
  bodyLate: new Problem("bodyLate", 408, "The body of the request did not arrive in time.", { Connection: "close" }),
  flowLate: new Problem("flowLate", 504, "The flow did not answer in time."),
  duplicatesWaiting: new Problem(
    "duplicatesWaiting",
    503,
    "Too many duplicates are waiting for an answer. Please try again.",
    {
      "Retry-After": "10",
    },
  ),
  storeTroubled: new Problem("storeTroubled", 503, "The delivery could not be kept. Please try again.", {
    "Retry-After": "10",
  }),
  paused: new Problem("paused", 503, "The flow of this endpoint is paused. Please try again later.", {
    "Retry-After": "60",
  }),
  gone: new Problem("gone", 404, "Nothing receives requests at this path any more."),
  deploying: new Problem("deploying", 503, "This endpoint is being deployed. Please try again.", {
    "Retry-After": "10",
  }),
  unforeseen: new Problem("unforeseen", 500, "The request could not be handled."),
} as const satisfies Record<string, Problem>;
