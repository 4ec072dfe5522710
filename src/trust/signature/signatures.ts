// The signatures that a request carries.

import type { Encoding, Scheme, Source } from "../senders/record";
import { decodeStrictly, isCanonical } from "./encoding";
import { type Fields, isInBody, placeOf, withoutBlanks } from "./fields";
import type { Refusal } from "./why";

/** A request with more signatures is refused whole: each may cost a comparison under each secret. */
const mostSignatures = 16;
/** One text with more items than this is refused without a look at them: who has not signed could send a million. */
const mostItems = 1000;

const lengths: Readonly<Partial<Record<Scheme["alg"], number>>> = {
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
  ed25519: 64,
  "code:twilio": 20,
};

/** Where a scheme has its signatures, and how they are written. */
export class SignatureFormat {
  /** Whether they stand in the body. */
  readonly isInBody: boolean;
  /** Whether they stand in header fields. */
  readonly isInFields: boolean;
  readonly #sources: readonly Source[];
  readonly #sig: Scheme["sig"];
  readonly #length: number | undefined;
  readonly #most: number;

  constructor({ alg, sig }: Pick<Scheme, "alg" | "sig">) {
    this.#sig = sig;
    this.#length = lengths[alg];
    // All the tokens of a batch have to fit, so that the first that does not is the last one.
    this.#most = alg === "token" && sig.source ? Infinity : mostSignatures;
    this.#sources = sig.source ? [sig.source] : sig.headers.map((name): Source => `header:${name}`);
    this.isInFields = this.#sources.every((source) => source.startsWith("header:"));
    this.isInBody = this.#sources.some((source) => isInBody(placeOf(source)));
  }

  /** What the operator knows it by. */
  get source(): Source {
    return this.#sources[0] ?? "header:";
  }

  /** The items of all that is there: signatures, and what stands beside them. */
  items(fields: Fields): string[] | Refusal {
    const items: string[] = [];
    for (const source of this.#sources) {
      const lines = fields.textsAt(placeOf(source));
      if (lines.length > 1 && !this.#isList(source)) return { why: { kind: "repeated", source } };
      if (source.includes(".*.") && lines.includes("")) return { why: { kind: "missing", source } };
      // One after the other: a text in the body may have more items than a call takes arguments.
      for (const line of lines) for (const item of this.#split(line)) items.push(item);
      const count = lines.length === 1 ? items.length : 0;
      if (count > mostItems) return { why: { kind: "tooManySignatures", count, most: mostSignatures } };
    }
    return items.length === 0 ? { why: { kind: "missing", source: this.source } } : items;
  }

  /** RFC 9110 §5.3: the lines of a field are one list only where commas stand between its items. */
  #isList(source: Source): boolean {
    const { split, pick } = this.#sig;
    if (source.includes(".*.")) return true;
    return source.startsWith("header:") && split === "," && !(pick && "kv" in pick);
  }

  #split(line: string): string[] {
    const { split } = this.#sig;
    const pieces = split ? line.split(split, 2 * mostItems).map(withoutBlanks) : [line];
    return pieces.filter((item) => item !== "");
  }

  /** Those of the items that are signatures, as texts. */
  signatures(items: readonly string[]): string[] | Refusal {
    const { pick } = this.#sig;
    const texts = !pick ? [...items] : "kv" in pick ? valuesOf(pick.kv, items) : behind(pick.prefix, items);
    if (texts.length === 0) return this.#malformed();
    if (texts.length <= this.#most) return texts;
    return { why: { kind: "tooManySignatures", count: texts.length, most: this.#most } };
  }

  /** The bytes of signatures. Those that are malformed match nothing; the others still count. */
  decode(texts: readonly string[]): Buffer[] | Refusal {
    const encoding = this.#sig.enc ?? "hex";
    const decoded = texts.flatMap((text) => decodeSignature(text, encoding) ?? []);
    const wellFormed = decoded.filter(({ length }) => length === (this.#length ?? length));
    if (wellFormed.length > 0) return wellFormed;
    const [first] = decoded;
    if (!first || this.#length === undefined) return this.#malformed();
    return {
      why: { kind: "signatureLength", source: this.source, bytes: first.length, expected: this.#length },
    };
  }

  #malformed(): Refusal {
    return { why: { kind: "signatureMalformed", source: this.source } };
  }
}

function decodeSignature(text: string, encoding: Encoding): Buffer | undefined {
  const bytes = text === "" ? undefined : decodeStrictly(text, encoding);
  return bytes && isCanonical(text, bytes, encoding) ? bytes : undefined;
}

/** The values of a key in items that are `key=value`. */
export function valuesOf(key: string, items: readonly string[]): string[] {
  return behind(`${key}=`, items);
}

function behind(prefix: string, items: readonly string[]): string[] {
  return items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
}
