// Verifies the signatures of requests.

import { isUtf8 } from "node:buffer";
import { createHash, createHmac, type KeyObject } from "node:crypto";
import type { OwnCredentials } from "../../config/parse";
import { DecodedBody } from "../../request/decode";
import { type Json, toText } from "../../request/json";
import { Problem } from "../../request/problem";
import { isSame } from "../digest";
import type { Authenticated, Credential, RefusalReason } from "../authenticator";
import { coversBody, type Scheme, type Source } from "../senders/sender";
import { createKeys, decodeSignature, decodeStrictly, signatureAlgorithms } from "./algorithms";
import { hasOnlyTexts, listTwilioMessages, toHubspotUrl } from "./signed-urls";
import { judgeTime } from "./time";
import { RequestValues, isMemberOfBody, maxReadBytes } from "../request-values";
import { fieldValues, type RequestHead, withoutBlanks } from "../../request/head";

/** A list with more signatures is refused: each may cost a comparison with each secret. */
const maxSignatures = 16;
/** More items, in fields or in a list of the body, are refused: a stranger could send a million. */
const maxItems = 1000;
/** In characters. A signature by RSA of 4,096 bits takes 684 in base64, HMAC-SHA512 128; a JSON Web Token some 1,000. */
const maxItemLength = 2048;
/** In characters, of all signatures in a value of the body: as long as header fields can be. */
const maxSignaturesLength = 16_384;

/** Where the body is not read. */
const unread = new DecodedBody({ request: { headers: {} } }, Buffer.alloc(0));

/** Why a configuration can verify nothing. */
type SecretRule = "secret.required" | "secret.format" | "secondSecret.format";

/** A key, and the secret that it is of. */
interface SecretKey {
  readonly key: KeyObject;
  readonly credential: Credential;
}

/** A scheme with its secrets. */
export class Verifier {
  /** Whether the result depends on the body. */
  readonly readsBody: boolean;
  /** Whether it needs the bytes of the body as sent. */
  readonly coversBody: boolean;
  /** Whether it reads values in the body before it is verified. */
  readonly parsesBody: boolean;
  /** Whether it reads fields of a form. */
  readonly readsForm: boolean;
  /** Whether values of the head are signed beside the body. */
  readonly hasBorders: boolean;
  /** Where signatures stand. */
  readonly sources: readonly Source[];
  /** The signed parts, the timestamp among them. */
  readonly content: readonly Source[];

  private constructor(
    readonly scheme: Scheme,
    readonly keys: readonly SecretKey[],
    readonly publicUrl: string,
    /** The places of the sender's delivery id. */
    readonly ids: readonly Source[],
  ) {
    const { sig, content, ts } = scheme;
    this.sources = sig.source ? [sig.source] : sig.headers.map((name): Source => `header:${name}`);
    this.content = content.map((source) => (source === "ts" && ts ? ts.source : source));
    this.coversBody = coversBody(scheme);
    this.parsesBody = [...this.sources, ...this.content].some(isMemberOfBody);
    this.readsForm = [...this.sources, ...this.content].some((source) => source.startsWith("form"));
    this.hasBorders = content.includes("body") && content.some((source) => !/^(?:body|method|url)$|^lit:/.test(source));
    this.readsBody = this.coversBody || this.parsesBody || isMemberOfBody(ts?.source ?? "ts");
  }

  /**
   * @param publicUrl the URL that the sender was given, where the scheme signs it
   * @param ids the places of the sender's delivery id
   * @returns the rule that a secret breaks, if one does
   */
  static of(
    scheme: Scheme,
    { first, second = "" }: OwnCredentials,
    publicUrl = "",
    ids: readonly Source[] = [],
  ): Verifier | { rule: SecretRule } {
    if (first === "") return { rule: "secret.required" };
    const [keys, secondKeys] = [createKeys(scheme, first), createKeys(scheme, second)];
    if (keys.length === 0) return { rule: "secret.format" };
    if (second !== "" && secondKeys.length === 0) return { rule: "secondSecret.format" };
    const own = keys.map((key): SecretKey => ({ key, credential: "first" }));
    const others = secondKeys.map((key): SecretKey => ({ key, credential: "second" }));
    return new Verifier(scheme, [...own, ...others], publicUrl, ids);
  }

  /**
   * Checks a request by its head: whether it has a well-formed signature, and a time that is near enough.
   *
   * @param now in ms since the epoch
   * @returns the check that needs the body, or the reason to refuse the request without it
   */
  checkHead(head: RequestHead, now: number): SignatureCheck | RefusalReason {
    const check = new SignatureCheck(this, head, now);
    return check.judgeHead() ?? check;
  }

  /**
   * The signature that the sender would make of a request, by the first secret.
   *
   * @param head with all that the sender puts there besides
   * @returns nothing where only the sender has the key; the reason where the request lacks what is signed
   */
  makeSignature(head: RequestHead, body: DecodedBody): Buffer | RefusalReason | undefined {
    const { sign } = signatureAlgorithms[this.scheme.alg];
    const [first] = this.keys;
    if (!sign || !first) return undefined;
    const messages = new SignatureCheck(this, head, 0).listMessages(body);
    return isReason(messages) ? messages : sign(first.key, messages[0] ?? []);
  }

  /**
   * HMAC-SHA256 (RFC 2104) of a text, for handshakes. It is a signature of a text that a stranger may choose: the text
   * must be restricted, or its sender verified.
   *
   * @returns nothing where the sender has a key of its own
   */
  mac(text: string, credential: Credential): Buffer | undefined {
    const key = this.keys.find((each) => each.credential === credential)?.key;
    if (!key || !signatureAlgorithms[this.scheme.alg].sign) return undefined;
    return createHmac("sha256", key).update(text).digest();
  }
}

/** The check of one request. */
class SignatureCheck {
  readonly #verifier: Verifier;
  readonly #head: RequestHead;
  readonly #now: number;
  #values: RequestValues;
  #body = unread;
  #items: string[] | RefusalReason | undefined;

  constructor(verifier: Verifier, head: RequestHead, now: number) {
    this.#verifier = verifier;
    this.#head = head;
    this.#now = now;
    this.#values = new RequestValues(head);
  }

  judgeHead(): RefusalReason | undefined {
    const { scheme, ids, sources, content } = this.#verifier;
    for (const [name, expected] of Object.entries(scheme.requires ?? {})) {
      const value = this.#readText(`header:${name}`);
      if (isReason(value)) return value;
      if (value !== expected) return { kind: "valueWrong", source: `header:${name}` };
    }
    // Middleware in front may have looked at another value.
    const repeated = ids.find((id) => id.startsWith("header:") && this.#values.texts(id).length > 1);
    if (repeated) return { kind: "repeated", source: repeated };
    const signatures = sources.some(isMemberOfBody) ? undefined : this.#readSignatures();
    if (isReason(signatures)) return signatures;
    const sentAt = scheme.ts && !isMemberOfBody(scheme.ts.source) ? this.#readTime() : undefined;
    if (isReason(sentAt)) return sentAt;
    const inHead = content.filter((source) => source !== "body" && !isMemberOfBody(source));
    return inHead.map((source) => this.#readText(source)).find(isReason);
  }

  /** @param body as the flow will get it; missing where the result does not depend on it */
  verify(body = this.#body): Authenticated | RefusalReason {
    this.#read(body);
    const { scheme, keys } = this.#verifier;
    const algorithm = signatureAlgorithms[scheme.alg];
    const signatures = this.#readSignatures();
    if (isReason(signatures)) return signatures;
    const messages = this.#listMessages();
    if (isReason(messages)) return messages;
    const used = keys.find(({ key }) =>
      messages.some((message) => {
        const isOwn = algorithm.compare(key, message);
        // Each item of a batch has the token.
        return scheme.alg === "token" ? signatures.every(isOwn) : signatures.some(isOwn);
      }),
    );
    if (!used) return { kind: scheme.alg === "token" ? "tokenWrong" : "signatureWrong" };
    const sentAt = this.#judgeTwilioDigest() ?? this.#judgeBorders() ?? this.#readTime();
    if (isReason(sentAt)) return sentAt;
    const { credential } = used;
    return sentAt === undefined ? { credential } : { credential, sentAt };
  }

  /** What its sender has signed: of one message, there may be several spellings. */
  listMessages(body: DecodedBody): Buffer[][] | RefusalReason {
    this.#read(body);
    return this.#listMessages();
  }

  #read(body: DecodedBody): void {
    this.#body = body;
    this.#values = new RequestValues(this.#head, body);
  }

  #listMessages(): Buffer[][] | RefusalReason {
    return this.#verifier.scheme.alg === "code:twilio" ? this.#listTwilioMessages() : this.#composeMessage();
  }

  #composeMessage(): Buffer[][] | RefusalReason {
    const message: Buffer[] = [];
    for (const source of this.#verifier.content) {
      const text = source === "body" ? this.#body.bytes : this.#readText(source);
      if (isReason(text)) return text;
      message.push(typeof text === "string" ? toBytes(text, source) : text);
    }
    return [message];
  }

  #listTwilioMessages(): Buffer[][] | RefusalReason {
    const isForm = this.#values.isForm && this.#body.bytes.length > 0;
    const refusal = isForm ? this.#judgeBody("form:") : undefined;
    const form = (isForm && !refusal ? this.#values.form : undefined) ?? {};
    if (!hasOnlyTexts(form)) return { kind: "bodyNoForm" };
    return refusal ?? listTwilioMessages(this.#verifier.publicUrl, this.#head.search, form);
  }

  /** Of a body that is no form, Twilio signs the SHA-256 in the URL. Each that is there must be the body's. */
  #judgeTwilioDigest(): RefusalReason | undefined {
    if (this.#verifier.scheme.alg !== "code:twilio") return undefined;
    const { bytes } = this.#body;
    const source = "query:bodySHA256";
    const digests = this.#values.texts(source);
    if (digests.length === 0)
      return this.#values.isForm || bytes.length === 0 ? undefined : { kind: "missing", source };
    const own = createHash("sha256").update(bytes).digest();
    const isOwn = (signed?: Buffer) => signed?.length === own.length && isSame(signed, own);
    return digests.every((text) => isOwn(decodeStrictly(text, "hex"))) ? undefined : { kind: "bodyDigestWrong" };
  }

  /**
   * Where the body is signed behind or before a value of the head, who repeats a request may move characters from one to
   * the other. What is left of JSON is none, but a form of its own texts: no form has a quotation mark as it is.
   */
  #judgeBorders(): RefusalReason | undefined {
    if (!this.#verifier.hasBorders) return undefined;
    const { bytes, content, isPacked } = this.#body;
    // What a coding makes of it is not known here; what was really packed is hardly ever a text.
    if (isPacked && isUtf8(bytes)) return { kind: "bodyPacked" };
    const isForm = content !== undefined && !(content instanceof Problem) && content.form && !content.files;
    return isForm && bytes.includes('"') ? { kind: "bodyNoJson" } : undefined;
  }

  /** All items at the place of the signatures: these, and what stands beside them. */
  #readItems(): string[] | RefusalReason {
    return (this.#items ??= this.#listItems());
  }

  #listItems(): string[] | RefusalReason {
    const { sources, scheme } = this.#verifier;
    const { pick } = scheme.sig;
    const separators = [scheme.sig.split || []].flat();
    const items: string[] = [];
    for (const source of sources) {
      const isBatch = source.includes(".*.");
      // RFC 9110 §5.3: several lines of a field are one list only where commas separate its items.
      const isList = isBatch || (source.startsWith("header:") && separators.includes(",") && !(pick && "kv" in pick));
      const lines = this.#readValues(source, maxItems);
      if (isReason(lines)) return lines;
      if (lines.length > 1 && !isList) return { kind: "repeated", source };
      if (isBatch && lines.some((line) => line === null || line === "")) return { kind: "missing", source };
      if (lines.length > maxItems) return tooMany(lines.length, maxItems);
      for (const value of lines) {
        const line = value === null ? "" : toText(value);
        if (line === undefined || line.length > maxSignaturesLength) {
          return { kind: "signatureMalformed", source };
        }
        const pieces = splitAt(line, separators);
        // No signature is longer, and nothing beside one.
        if (pieces.some(({ length }) => length > maxItemLength)) {
          return { kind: "signatureMalformed", source };
        }
        items.push(...pieces.filter((piece) => piece !== ""));
      }
      if (items.length > maxItems) return tooMany(items.length, maxItems);
    }
    return items.length === 0 ? { kind: "missing", source: this.#source } : items;
  }

  /** As the operator knows it. */
  get #source(): Source {
    return this.#verifier.sources[0] ?? "header:";
  }

  /** Malformed signatures match nothing; the others count. */
  #readSignatures(): Buffer[] | RefusalReason {
    const items = this.#readItems();
    if (isReason(items)) return items;
    const { alg, sig } = this.#verifier.scheme;
    const { pick, source: elsewhere, enc } = sig;
    const source = this.#source;
    const texts = pick ? findValues("kv" in pick ? `${pick.kv}=` : pick.prefix, items) : items;
    const isBatch = alg === "token" && elsewhere;
    // A sender may have more fields, each with one.
    const most = Math.max(maxSignatures, this.#verifier.sources.length);
    if (texts.length > most && !isBatch) return tooMany(texts.length, most);
    const { bytes: expected } = signatureAlgorithms[alg];
    const decoded =
      alg === "token"
        ? texts.map((text) => toBytes(text, source))
        : texts.flatMap((text) => decodeSignature(text, enc ?? "hex") ?? []);
    const wellFormed = decoded.filter(({ length }) => length === (expected ?? length));
    if (wellFormed.length > 0) return wellFormed;
    const [first] = decoded;
    if (!first || expected === undefined) return { kind: "signatureMalformed", source };
    return { kind: "signatureLength", source, bytes: first.length, expected };
  }

  /** When it was signed, in ms since the epoch, if that is near enough to now. */
  #readTime(): number | RefusalReason | undefined {
    const { ts } = this.#verifier.scheme;
    if (!ts) return undefined;
    const text = this.#readText(ts.source);
    return typeof text === "string" ? judgeTime(text, ts, this.#now) : text;
  }

  /** The only text at a place; not empty. What may be absent is empty where there is nothing, or `null`. */
  #readText(source: Source): string | RefusalReason {
    const values = this.#readValues(source, 1);
    if (isReason(values)) return values;
    const [value = null, ...repeated] = values;
    if (repeated.length > 0) return { kind: "repeated", source };
    const text = value === null ? "" : toText(value);
    if (text === undefined) return { kind: "valueMalformed", source };
    return text === "" && !source.startsWith("json?:") ? { kind: "missing", source } : text;
  }

  /** @param most a list is read no further than behind so many */
  #readValues(source: Source, most: number): Json[] | RefusalReason {
    const { publicUrl } = this.#verifier;
    if (source === "url") return [publicUrl];
    if (source === "url:hubspot") return [toHubspotUrl(publicUrl, this.#head.search)];
    const refusal = isMemberOfBody(source) ? this.#judgeBody(source) : undefined;
    if (refusal) return refusal;
    if (!source.startsWith("sig:")) return this.#values.values(source, most);
    const items = this.#readItems();
    // While two secrets are valid, some senders write the same time for each.
    return isReason(items) ? [] : [...new Set(findValues(`${source.slice(4)}=`, items))];
  }

  /** What keeps a signed value from being read in the body: the flow must get it as what the place names. */
  #judgeBody(source: Source): RefusalReason | undefined {
    if (fieldValues(this.#head.rawHeaders, "content-type").length > 1) {
      return { kind: "repeated", source: "header:Content-Type" };
    }
    const isForm = source.startsWith("form");
    // Cutting a form into its parts is quick, whatever its size.
    const isUnread = isForm && this.#values.isForm && this.#body.bytes.length > maxReadBytes;
    const content = isUnread ? undefined : this.#body.content;
    const problem = { kind: isForm ? "bodyNoForm" : "bodyNoJson" } as const;
    if (content === undefined) return this.#body.isPacked ? { kind: "bodyPacked" } : problem;
    if (content instanceof Problem) return problem;
    // What is a form and JSON at the same time can be read in two ways.
    const isRead = isForm ? content.form !== undefined : !content.form && this.#values.json !== undefined;
    return isRead ? undefined : problem;
  }
}

function tooMany(count: number, max: number): RefusalReason {
  return { kind: "tooManySignatures", count, most: max };
}

/** What follows a prefix in items that have it. */
function findValues(prefix: string, items: readonly string[]): string[] {
  return items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
}

/** Node decodes header fields as Latin-1: this restores their bytes. */
function toBytes(text: string, source: Source): Buffer {
  return Buffer.from(text, /^(?:header|sig):/.test(source) ? "latin1" : "utf8");
}

/** Without blanks around the pieces. It stops behind more than are read. */
function splitAt(line: string, separators: readonly string[]): string[] {
  let pieces = [line];
  for (const separator of separators) {
    pieces = pieces.flatMap((piece) => piece.split(separator, 2 * maxItems).map(withoutBlanks));
  }
  return pieces;
}

/** Values of JSON are in an array. */
function isReason(value: unknown): value is RefusalReason {
  return typeof value === "object" && value !== null && "kind" in value;
}
