// Handshakes: requests that must be answered and start no flow.

import type { DecodedBody } from "../request/decode";
import { Problem, problems } from "../request/problem";
import type { Authenticated, Credential, HandshakeReply, HeadResult, PendingVerification } from "./authenticator";
import { digest, isSame } from "./digest";
import type { Condition, Handshake, Mac, Sender, Settings, Source } from "./senders/sender";
import { RequestValues, isMemberOfBody } from "./request-values";
import type { RequestHead } from "../request/head";
import type { Verifier } from "./signature/verifier";

/** The most bytes of an unsigned handshake's body. */
export const maxUnsignedBytes = 4096;

interface HandshakeSetup {
  settings: Settings;
  /** Entered at the sender by the operator (Meta). */
  verifyToken?: string;
  /** Missing while there is no secret. */
  verifier?: Verifier | undefined;
}

/** The handshakes of a sender with one endpoint. */
export class Handshakes {
  readonly #setup: HandshakeSetup;
  readonly #signed: readonly Handshake[];
  readonly #unsigned: readonly Handshake[];
  /** The methods besides POST. */
  readonly methods: readonly string[];

  constructor({ handshakes = [] }: Pick<Sender, "handshakes">, setup: HandshakeSetup) {
    this.#setup = setup;
    const { verifier, settings } = setup;
    const isOpen = (each: Handshake) => !each.secretMissing || (verifier === undefined && settings.arm === true);
    this.#signed = handshakes.filter(({ signed }) => signed);
    this.#unsigned = handshakes.filter((each) => !each.signed && isOpen(each));
    const methods = new Set(this.#unsigned.map(({ method }) => method));
    this.methods = [...methods].filter((method) => method !== "POST");
  }

  /**
   * Authenticates a request, unless it is a handshake.
   *
   * @param authenticate the result for a request that is none
   */
  checkHead(head: RequestHead, authenticate: () => Authenticated | PendingVerification | Problem): HeadResult {
    const request = new RequestValues(head);
    const possible = this.#unsigned.filter(({ method }) => method === head.method);
    const met = possible.find((handshake) => this.#holds(handshake, request, "head"));
    if (met && !readsBody(met)) return this.#reply(met, request, "first");
    const status = met ? undefined : possible.find(({ otherwise }) => otherwise !== undefined)?.otherwise;
    if (status !== undefined) return { status, headers: {}, body: "", isFallback: true };
    const result = authenticate();
    const isResult = result instanceof Problem || ("credential" in result && this.#signed.length === 0);
    return isResult && !met ? result : this.#withBody(head, result);
  }

  /** The same, where the body decides. */
  #withBody(head: RequestHead, result: Authenticated | PendingVerification | Problem): PendingVerification {
    const isPending = "verify" in result;
    const verify: PendingVerification["verify"] = (body) => {
      const isShort = body.bytes.length <= maxUnsignedBytes;
      const unsigned = isShort ? this.#find(this.#unsigned, head, body, "first") : undefined;
      const verdict = unsigned ?? (isPending ? result.verify(body) : result);
      if (!("credential" in verdict)) return verdict;
      // Echoed texts are short.
      if (isPending && isShort && this.#mayHaveSigned(body.bytes)) return problems.signatureInvalid;
      return this.#find(this.#signed, head, body, verdict.credential) ?? verdict;
    };
    const own = isPending ? result.maxBody : undefined;
    const maxBody = result instanceof Problem ? { bytes: maxUnsignedBytes, otherwise: result } : own;
    return { isUnverified: !("credential" in result), needsBytes: isPending && result.needsBytes, maxBody, verify };
  }

  /** Whether a body may be a challenge that we have signed for a stranger. */
  #mayHaveSigned(body: Buffer): boolean {
    const text = body.toString("latin1");
    return this.#unsigned.some(({ restrict = [], reply }) => {
      const members = typeof reply.body === "object" ? Object.values(reply.body) : [];
      const echoed = members.flatMap((member) => (typeof member === "object" ? [member.of] : []));
      return restrict.some(([source, pattern]) => echoed.includes(source) && pattern.test(text));
    });
  }

  #find(
    handshakes: readonly Handshake[],
    head: RequestHead,
    body: DecodedBody,
    credential: Credential,
  ): HandshakeReply | undefined {
    const request = new RequestValues(head, body);
    const found = handshakes
      .filter(({ method, form }) => method === head.method && hasForm(request, body.bytes, form))
      .filter(({ members }) => !members || hasOnly(request, members))
      .find((handshake) => this.#holds(handshake, request, "all"));
    return found && this.#reply(found, request, credential);
  }

  #holds({ when }: Handshake, request: RequestValues, part: "head" | "all"): boolean {
    return when.every(([source, condition]) => {
      return (part === "head" && isMemberOfBody(source)) || this.#meets(request, source, condition);
    });
  }

  #meets(request: RequestValues, source: Source, condition: Condition): boolean {
    const [value, ...more] = request.values(source);
    if (typeof condition === "object" && "is" in condition && condition.is === "absent") return value === undefined;
    if (value === undefined || more.length > 0) return false;
    if (typeof condition === "boolean") return value === condition;
    const isText = typeof value === "string" || typeof value === "number";
    if (typeof condition !== "object") return isText && String(value) === String(condition);
    if ("configured" in condition) return typeof value === "string" && this.#isConfigured(condition.configured, value);
    if (!("is" in condition)) return condition.some((each) => each === value);
    if (condition.is === "emptyList") return Array.isArray(value) && value.length === 0;
    return condition.is === "present" || (typeof value === "string" && value !== "");
  }

  #isConfigured(name: "topicUrl" | "verifyToken", value: string): boolean {
    const { settings, verifyToken = "" } = this.#setup;
    const own = name === "topicUrl" ? (settings.topicUrl ?? "") : verifyToken;
    return own !== "" && isSame(digest(own), digest(value));
  }

  /** 400 where the request lacks an echoed value, or it has a wrong form. */
  #reply(
    { signed, restrict = [], reply, show }: Handshake,
    request: RequestValues,
    credential: Credential,
  ): HandshakeReply {
    const refusal = { status: 400, headers: {}, body: "" };
    if (!restrict.every(([source, pattern]) => pattern.test(readText(request, source) ?? ""))) return refusal;
    const resolve = (piece: Source | Mac) =>
      typeof piece === "object" ? this.#computeMac(piece, request, credential) : readText(request, piece);
    const headers = resolveAll(reply.headers ?? {}, resolve);
    const { body: form = "lit:" } = reply;
    const isJson = typeof form === "object";
    const members = resolveAll(isJson ? form : {}, (piece) => (typeof piece === "number" ? piece : resolve(piece)));
    const body = isJson ? members && JSON.stringify(members) : resolve(form);
    const shown = show === undefined ? "" : readText(request, show);
    if (!headers || body === undefined || shown === undefined) return refusal;
    const type = isJson ? { "Content-Type": "application/json" } : {};
    const facts = { ...(signed && { isVerified: signed }), ...(shown !== "" && { show: shown }) };
    return { status: reply.status, headers: { ...type, ...headers }, body, ...facts };
  }

  /** Only of values that may be echoed. */
  #computeMac(
    { mac: encoding, of, prefix = "" }: Mac,
    request: RequestValues,
    credential: Credential,
  ): string | undefined {
    const text = readText(request, of);
    const digest = text === undefined ? undefined : this.#setup.verifier?.mac(text, credential);
    return digest === undefined ? undefined : prefix + digest.toString(encoding);
  }
}

function readsBody({ when, form, members }: Handshake): boolean {
  return form !== undefined || members !== undefined || when.some(([source]) => isMemberOfBody(source));
}

function hasForm(request: RequestValues, body: Buffer, form: RegExp | undefined): boolean {
  return form === undefined || (request.isForm && form.test(body.toString("latin1")));
}

function hasOnly({ json }: RequestValues, members: readonly string[]): boolean {
  if (typeof json !== "object" || json === null) return false;
  const names = Object.keys(json);
  return names.length === members.length && members.every((name) => names.includes(name));
}

/** Resolves all members of a reply; nothing where the request lacks one. */
function resolveAll<Piece, Value>(
  members: Readonly<Record<string, Piece>>,
  resolve: (piece: Piece) => Value | undefined,
): Record<string, Value> | undefined {
  const values: Record<string, Value> = {};
  for (const [name, piece] of Object.entries(members)) {
    const value = resolve(piece);
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return values;
}

/** A literal may be empty. */
function readText(request: RequestValues, source: Source): string | undefined {
  return source === "lit:" ? "" : request.onlyText(source);
}
