// Handshakes: requests that must be answered and start no flow.

import type { Settings } from "../config/fields";
import { Problem, problems } from "../request/problem";
import { type HandshakeAnswer, createHandshakeAnswer, type PendingVerification } from "./authenticator";
import { digest, isSame } from "./digest";
import type { Authenticated, Credential } from "./result";
import type { Condition, Handshake, Sender, Source } from "./senders/sender";
import { Fields, type RequestHead, isInBody, parseSource } from "./signature/fields";
import type { Check, Verifier } from "./signature/verifier";

/** The most bytes of an unsigned handshake's body. */
export const maxUnsignedBytes = 4096;

interface Trusted {
  settings: Settings;
  /** Entered at the sender by the operator (Meta). */
  verifyToken?: string;
  /** Missing while there is no secret. */
  verifier?: Verifier;
}

/** The handshakes of a sender with one endpoint. */
export class Handshakes {
  readonly #trusted: Trusted;
  readonly #signed: readonly Handshake[];
  readonly #unsigned: readonly Handshake[];

  constructor({ handshakes = [] }: Pick<Sender, "handshakes">, trusted: Trusted) {
    this.#trusted = trusted;
    const { verifier, settings } = trusted;
    const isOpen = (each: Handshake) => !each.secretMissing || (verifier === undefined && settings.arm === true);
    this.#signed = handshakes.filter(({ signed }) => signed);
    this.#unsigned = handshakes.filter((each) => !each.signed && isOpen(each));
  }

  get haveSigned(): boolean {
    return this.#signed.length > 0;
  }

  /** The methods besides POST. */
  get methods(): string[] {
    return [...new Set(this.#unsigned.map(({ method }) => method))].filter((method) => method !== "POST");
  }

  /** The reply to an unsigned handshake; `"body"` when it takes the body to decide. */
  meet(head: RequestHead): HandshakeAnswer | "body" | undefined {
    const request = new Fields(head);
    const possible = this.#unsigned.filter(({ method }) => method === head.method);
    const met = possible.find((handshake) => this.#holds(handshake, request, "head"));
    if (met) return readsBody(met) ? "body" : this.#answer(met, request, "first");
    const status = possible.find(({ otherwise }) => otherwise !== undefined)?.otherwise;
    return status === undefined ? undefined : { status, headers: {}, body: "", isFallback: true };
  }

  /** The reply to an unsigned handshake with a short body. */
  meetWithBody(head: RequestHead, body: Buffer): HandshakeAnswer | undefined {
    return body.length > maxUnsignedBytes ? undefined : this.#find(this.#unsigned, head, body, "first");
  }

  /** The reply to a signed handshake. */
  follow(head: RequestHead, body: Buffer, credential: Credential): HandshakeAnswer | undefined {
    return this.#signed.length === 0 ? undefined : this.#find(this.#signed, head, body, credential);
  }

  /** Whether a body may be a challenge that we have signed for a stranger. */
  mayHaveSigned(body: Buffer): boolean {
    // Echoed texts are shorter.
    if (body.length > maxUnsignedBytes) return false;
    const text = body.toString("latin1");
    return this.#unsigned.some(({ restrict = [], reply }) => {
      const members = typeof reply.body === "object" ? Object.values(reply.body) : [];
      const said = members.flatMap((member) => (typeof member === "object" ? [member.of] : []));
      return restrict.some(([source, pattern]) => said.includes(source) && pattern.test(text));
    });
  }

  #find(
    handshakes: readonly Handshake[],
    head: RequestHead,
    body: Buffer,
    credential: Credential,
  ): HandshakeAnswer | undefined {
    const request = new Fields(head, () => body);
    const found = handshakes
      .filter(({ method, form }) => method === head.method && hasForm(request, body, form))
      .filter(({ members }) => !members || hasOnly(request, members))
      .find((handshake) => this.#holds(handshake, request, "all"));
    return found && this.#answer(found, request, credential);
  }

  #holds({ when }: Handshake, request: Fields, part: "head" | "all"): boolean {
    return when.every(([source, condition]) => {
      return (part === "head" && isInBody(parseSource(source))) || this.#meets(request, source, condition);
    });
  }

  #meets(request: Fields, source: Source, condition: Condition): boolean {
    const place = parseSource(source);
    const [value, ...more] = place.from === "json" ? request.valuesAt(place.name) : request.textsAt(place);
    if (typeof condition === "object" && "is" in condition && condition.is === "absent") return value === undefined;
    if (value === undefined || more.length > 0) return false;
    if (typeof condition !== "object") return value === condition;
    if ("configured" in condition) return typeof value === "string" && this.#isConfigured(condition.configured, value);
    if (!("is" in condition)) return condition.some((each) => each === value);
    if (condition.is === "emptyList") return Array.isArray(value) && value.length === 0;
    return condition.is === "present" || (typeof value === "string" && value !== "");
  }

  #isConfigured(name: "topicUrl" | "verifyToken", value: string): boolean {
    const { settings, verifyToken = "" } = this.#trusted;
    const own = name === "topicUrl" ? (settings.topicUrl ?? "") : verifyToken;
    return own !== "" && isSame(digest(own), digest(value));
  }

  #answer(handshake: Handshake, request: Fields, credential: Credential): HandshakeAnswer {
    return createHandshakeAnswer(handshake, request, (text) => this.#trusted.verifier?.mac(text, credential));
  }
}

function readsBody({ when, form, members }: Handshake): boolean {
  return form !== undefined || members !== undefined || when.some(([source]) => isInBody(parseSource(source)));
}

function hasForm(request: Fields, body: Buffer, form: RegExp | undefined): boolean {
  return form === undefined || (request.isForm && form.test(body.toString("latin1")));
}

function hasOnly({ json }: Fields, members: readonly string[]): boolean {
  if (typeof json !== "object" || json === null) return false;
  const names = Object.keys(json);
  return names.length === members.length && members.every((name) => names.includes(name));
}

// Verification by the body.

/**
 * A signature that is to be verified.
 *
 * @param mayBeUnsigned whether it may be an unsigned handshake
 */
export function claimBySignature(
  check: Check,
  handshakes: Handshakes,
  head: RequestHead,
  mayBeUnsigned: boolean,
): PendingVerification {
  return {
    isUnverified: true,
    needsBytes: check.coversBody,
    verdict(body) {
      const handshake = mayBeUnsigned ? handshakes.meetWithBody(head, body) : undefined;
      if (handshake) return handshake;
      const verdict = check.verdict(() => body);
      if ("why" in verdict || handshakes.mayHaveSigned(body)) return problems.signatureInvalid;
      return handshakes.follow(head, body, verdict.credential) ?? verdict;
    },
  };
}

/**
 * The result of the head, unless the body is a handshake.
 *
 * @param mayBeUnsigned whether it may be an unsigned handshake
 */
export function withHandshakes(
  handshakes: Handshakes,
  head: RequestHead,
  entry: Authenticated | Problem,
  mayBeUnsigned: boolean,
): Authenticated | PendingVerification | Problem {
  if (entry instanceof Problem) {
    if (!mayBeUnsigned) return entry;
    const longest = { bytes: maxUnsignedBytes, otherwise: entry };
    const verdict: PendingVerification["verdict"] = (body) => handshakes.meetWithBody(head, body) ?? entry;
    return { isUnverified: true, needsBytes: false, limit: longest, verdict };
  }
  if (!mayBeUnsigned && !handshakes.haveSigned) return entry;
  const verdict: PendingVerification["verdict"] = (body) =>
    handshakes.meetWithBody(head, body) ?? handshakes.follow(head, body, entry.credential) ?? entry;
  return { isUnverified: false, needsBytes: false, verdict };
}
