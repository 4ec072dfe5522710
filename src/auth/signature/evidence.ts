// The signed values of a request, each read once.

import { parse, stringify } from "node:querystring";
import type { Refusal } from "../result";
import type { Encoding, Scheme, Source, TimeUnit } from "../senders/sender";
import { Fields, type RequestHead, isInBody, type SourcePlace, parseSource, withoutBlanks } from "./fields";
import { decodeStrictly, isCanonical } from "./key";

/** A scheme, prepared so that a request costs little. */
export class Plan {
  readonly scheme: Scheme;
  readonly format: SignatureFormat;
  /** The signed parts, the timestamp among them. */
  readonly content: readonly SourcePlace[];
  readonly time: SourcePlace | undefined;
  readonly publicUrl: string;
  /** Header fields that must not be repeated: middleware in front may have looked at another value. */
  readonly once: readonly SourcePlace[];

  /** @param ids the places of the sender's delivery id */
  constructor(scheme: Scheme, publicUrl: string, ids: readonly Source[]) {
    this.scheme = scheme;
    this.publicUrl = publicUrl;
    this.format = new SignatureFormat(scheme);
    this.time = scheme.ts ? parseSource(scheme.ts.source) : undefined;
    this.content = scheme.content.map((source) => (source === "ts" ? this.time : undefined) ?? parseSource(source));
    this.once = ids.map(parseSource).filter(({ from }) => from === "header");
  }
}

/** Node decodes header fields as Latin-1: this restores their bytes. */
export function toBytes(text: string, isField: boolean): Buffer {
  return Buffer.from(text, isField ? "latin1" : "utf8");
}

/** One request. */
export class Evidence {
  readonly #plan: Plan;
  readonly #head: RequestHead;
  readonly #fields: Fields;
  #body: () => Buffer = () => Buffer.alloc(0);
  #items: string[] | Refusal | undefined;
  #signatures: Buffer[] | Refusal | undefined;

  constructor(plan: Plan, head: RequestHead) {
    this.#plan = plan;
    this.#head = head;
    this.#fields = new Fields(head, () => this.#body());
  }

  complete(body: () => Buffer): void {
    this.#body = body;
  }

  get search(): string {
    return this.#head.search;
  }

  get body(): Buffer {
    return this.#body();
  }

  get isForm(): boolean {
    return this.#fields.isForm;
  }

  /** The reason to refuse a request by its head. */
  judgeHead(now: number): Refusal | undefined {
    const { format, once, content, time } = this.#plan;
    for (const place of once) {
      if (this.#fields.textsAt(place).length > 1) return { why: { kind: "repeated", source: place.source } };
    }
    const signatures = format.isInBody ? [] : this.#plan.scheme.alg === "token" ? this.tokens() : this.signatures();
    if ("why" in signatures) return signatures;
    const sentAt = time && !isInBody(time) ? this.sentAt(now) : undefined;
    if (typeof sentAt === "object") return sentAt;
    for (const place of content) {
      const part = isInBody(place) || place.from === "body" ? undefined : this.textAt(place);
      if (typeof part === "object") return part;
    }
    return undefined;
  }

  /** The values of a scheme that sends the secret itself. */
  tokens(): string[] | Refusal {
    this.#items ??= this.#plan.format.items(this.#fields);
    return "why" in this.#items ? this.#items : this.#plan.format.signatures(this.#items);
  }

  signatures(): Buffer[] | Refusal {
    if (this.#signatures) return this.#signatures;
    const texts = this.tokens();
    return (this.#signatures = "why" in texts ? texts : this.#plan.format.decode(texts));
  }

  /** When it was signed, in ms since the epoch, if that is near enough to now. */
  sentAt(now: number): number | Refusal | undefined {
    const { time } = this.#plan;
    const { ts } = this.#plan.scheme;
    if (!time || !ts) return undefined;
    const text = this.textAt(time);
    if (typeof text !== "string") return text;
    const sentAt = parseTime(text, ts.unit);
    if (sentAt === undefined) return { why: { kind: "timeMalformed", source: time.source } };
    const seconds = age(sentAt, now);
    if (ts.tolerance === null || Math.abs(seconds) <= ts.tolerance) return sentAt;
    return { why: { kind: "timeOutside", source: time.source, seconds, tolerance: ts.tolerance } };
  }

  /** The bytes of a signed part. */
  bytesAt(place: SourcePlace): Buffer | Refusal {
    if (place.from === "body") return this.#body();
    const text = this.textAt(place);
    return typeof text === "string" ? toBytes(text, place.from === "header" || place.from === "sig") : text;
  }

  /** The only text at a place; not empty. */
  textAt(place: SourcePlace): string | Refusal {
    const [text = "", ...repeated] = this.#textsAt(place);
    if (repeated.length > 0) return { why: { kind: "repeated", source: place.source } };
    return text === "" ? { why: { kind: "missing", source: place.source } } : text;
  }

  /** All texts at a place. */
  #textsAt(place: SourcePlace): string[] {
    const { publicUrl, format } = this.#plan;
    switch (place.from) {
      case "method":
        return [this.#head.method];
      case "url":
        return [place.name === "hubspot" ? hubspotUrl(publicUrl, this.#head.search) : publicUrl];
      case "sig":
        this.#items ??= format.items(this.#fields);
        return "why" in this.#items ? [] : findValues(place.name, this.#items);
      default:
        return this.#fields.textsAt(place);
    }
  }
}

// The signatures of a request.

/** A request with more signatures is refused: each may cost a comparison with each secret. */
const maxSignatures = 16;
/** A text with more items is refused: a stranger could send a million. */
const maxItems = 1000;

const lengths: Readonly<Partial<Record<Scheme["alg"], number>>> = {
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
  ed25519: 64,
  "code:twilio": 20,
};

/** The place and the encoding of a scheme's signatures. */
class SignatureFormat {
  readonly isInBody: boolean;
  readonly isInFields: boolean;
  readonly #sources: readonly Source[];
  readonly #sig: Scheme["sig"];
  readonly #length: number | undefined;
  readonly #most: number;

  constructor({ alg, sig }: Pick<Scheme, "alg" | "sig">) {
    this.#sig = sig;
    this.#length = lengths[alg];
    // All tokens of a batch must match, so the first wrong one ends the check.
    this.#most = alg === "token" && sig.source ? Infinity : maxSignatures;
    this.#sources = sig.source ? [sig.source] : sig.headers.map((name): Source => `header:${name}`);
    this.isInFields = this.#sources.every((source) => source.startsWith("header:"));
    this.isInBody = this.#sources.some((source) => isInBody(parseSource(source)));
  }

  /** As the operator knows it. */
  get source(): Source {
    return this.#sources[0] ?? "header:";
  }

  /** All items: signatures, and what stands beside them. */
  items(fields: Fields): string[] | Refusal {
    const items: string[] = [];
    for (const source of this.#sources) {
      const lines = fields.textsAt(parseSource(source));
      if (lines.length > 1 && !this.#isList(source)) return { why: { kind: "repeated", source } };
      if (source.includes(".*.") && lines.includes("")) return { why: { kind: "missing", source } };
      // A text in the body may have more items than a call takes arguments.
      for (const line of lines) for (const item of this.#split(line)) items.push(item);
      const count = lines.length === 1 ? items.length : 0;
      if (count > maxItems) return { why: { kind: "tooManySignatures", count, most: maxSignatures } };
    }
    return items.length === 0 ? { why: { kind: "missing", source: this.source } } : items;
  }

  /** RFC 9110 §5.3: several lines of a field are one list only where commas separate its items. */
  #isList(source: Source): boolean {
    const { split, pick } = this.#sig;
    if (source.includes(".*.")) return true;
    return source.startsWith("header:") && split === "," && !(pick && "kv" in pick);
  }

  #split(line: string): string[] {
    const { split } = this.#sig;
    const pieces = split ? line.split(split, 2 * maxItems).map(withoutBlanks) : [line];
    return pieces.filter((item) => item !== "");
  }

  /** The items that are signatures. */
  signatures(items: readonly string[]): string[] | Refusal {
    const { pick } = this.#sig;
    const texts = !pick ? [...items] : "kv" in pick ? findValues(pick.kv, items) : behind(pick.prefix, items);
    if (texts.length === 0) return this.#malformed();
    if (texts.length <= this.#most) return texts;
    return { why: { kind: "tooManySignatures", count: texts.length, most: this.#most } };
  }

  /** Malformed signatures match nothing; the others count. */
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
function findValues(key: string, items: readonly string[]): string[] {
  return behind(`${key}=`, items);
}

function behind(prefix: string, items: readonly string[]): string[] {
  return items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
}

// The signed URL: the configured one, since a sender chooses the Host field.

/** Replaces the configured query by the request's. */
function withQuery(publicUrl: string, search: string): string {
  return publicUrl.replace(/[?#][^]*$/, "") + (search === "" ? "" : `?${search}`);
}

/** The escapes that HubSpot's signature v3 decodes, once. */
const hubspotEscapes = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The URL as HubSpot signs it. */
function hubspotUrl(publicUrl: string, search: string): string {
  return withQuery(publicUrl, search).replace(hubspotEscapes, decodeURIComponent);
}

/**
 * The forms of a URL that Twilio's own library tries: as it came, or escaped by a URL parser or Node.js's
 * `querystring`; each as it is, with its default port, and without a port.
 */
export function twilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const parsed = URL.canParse(url) ? new URL(url).href : url;
  const escaped = parsed.replace(/(?<=\?)[^]+$/, escapedQuery);
  return new Set([url, parsed, escaped].flatMap(withPorts));
}

/** Without a limit of parameters: those beyond would not be signed. */
function escapedQuery(query: string): string {
  return stringify(parse(query, "&", "=", { maxKeys: 0 }));
}

function withPorts(url: string): string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return [url, origin + withPort + rest, origin + rest];
}

// The time of a signature.

/** RFC 3339 §5.6, with up to nine digits of a fraction. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses a timestamp strictly.
 *
 * @returns ms since the epoch; nothing when it is malformed
 */
export function parseTime(text: string, unit: TimeUnit): number | undefined {
  if (unit === "iso8601") return parseDate(text);
  return /^[0-9]{1,16}$/.test(text) ? Number(text) * (unit === "s" ? 1000 : 1) : undefined;
}

function parseDate(text: string): number | undefined {
  const [whole, date = "", minutes = "", seconds = "", fraction = "0", sign, ...offset] = rfc3339.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const start = Date.parse(`${date}T${minutes}00Z`);
  // An invalid day would become one of the next month.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(date)) return undefined;
  const [hours = "0", more = "0"] = offset;
  const ahead = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(more));
  return start + (Number(seconds) + Number(fraction) - 60 * ahead) * 1000;
}

/** In seconds; negative when it is in the future. */
function age(time: number, now: number): number {
  return (now - time) / 1000;
}
