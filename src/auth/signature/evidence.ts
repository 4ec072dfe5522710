// What of a request counts for its signature, read once and judged as early as it can be.

import { parse, stringify } from "node:querystring";
import type { Refusal } from "../result";
import type { Encoding, Scheme, Source, TimeUnit } from "../senders/sender";
import { Fields, type RequestHead, isInBody, type SourcePlace, parseSource, withoutBlanks } from "./fields";
import { decodeStrictly, isCanonical } from "./key";

/** A scheme prepared, so that a request costs no more than it must. */
export class Plan {
  readonly scheme: Scheme;
  readonly format: SignatureFormat;
  /** What is signed, the timestamp by its place. */
  readonly content: readonly SourcePlace[];
  readonly time: SourcePlace | undefined;
  readonly publicUrl: string;
  /** Fields that may not be repeated: what stands before this endpoint may have looked at another one. */
  readonly once: readonly SourcePlace[];

  /** @param ids where the sender's id of a delivery stands */
  constructor(scheme: Scheme, publicUrl: string, ids: readonly Source[]) {
    this.scheme = scheme;
    this.publicUrl = publicUrl;
    this.format = new SignatureFormat(scheme);
    this.time = scheme.ts ? parseSource(scheme.ts.source) : undefined;
    this.content = scheme.content.map((source) => (source === "ts" ? this.time : undefined) ?? parseSource(source));
    this.once = ids.map(parseSource).filter(({ from }) => from === "header");
  }
}

/** Node reads fields as Latin-1: this gives their bytes back as they came. */
export function toBytes(text: string, isField: boolean): Buffer {
  return Buffer.from(text, isField ? "latin1" : "utf8");
}

/** One request, in the light of a plan. */
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

  /** From now on, the body is there to be read. */
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

  /** Why the request is refused by its head alone, if it is. */
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

  /** What stands where signatures do, for a scheme that sends the secret itself. */
  tokens(): string[] | Refusal {
    this.#items ??= this.#plan.format.items(this.#fields);
    return "why" in this.#items ? this.#items : this.#plan.format.signatures(this.#items);
  }

  signatures(): Buffer[] | Refusal {
    if (this.#signatures) return this.#signatures;
    const texts = this.tokens();
    return (this.#signatures = "why" in texts ? texts : this.#plan.format.decode(texts));
  }

  /** When the request was signed, in ms since the epoch, unless that is too far from now. */
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

  /** The bytes of a part of what is signed. */
  bytesAt(place: SourcePlace): Buffer | Refusal {
    if (place.from === "body") return this.#body();
    const text = this.textAt(place);
    return typeof text === "string" ? toBytes(text, place.from === "header" || place.from === "sig") : text;
  }

  /** The only text at a place, with something in it. */
  textAt(place: SourcePlace): string | Refusal {
    const [text = "", ...repeated] = this.#textsAt(place);
    if (repeated.length > 0) return { why: { kind: "repeated", source: place.source } };
    return text === "" ? { why: { kind: "missing", source: place.source } } : text;
  }

  /** All texts at a place, also of what is known without the request. */
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

// The signatures that a request carries.

/** A request with more signatures is refused whole: each may cost a comparison under each secret. */
const maxSignatures = 16;
/** One text with more items than this is refused without a look at them: who has not signed could send a million. */
const maxItems = 1000;

const lengths: Readonly<Partial<Record<Scheme["alg"], number>>> = {
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
  ed25519: 64,
  "code:twilio": 20,
};

/** Where a scheme has its signatures, and how they are written. */
class SignatureFormat {
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
    this.#most = alg === "token" && sig.source ? Infinity : maxSignatures;
    this.#sources = sig.source ? [sig.source] : sig.headers.map((name): Source => `header:${name}`);
    this.isInFields = this.#sources.every((source) => source.startsWith("header:"));
    this.isInBody = this.#sources.some((source) => isInBody(parseSource(source)));
  }

  /** What the operator knows it by. */
  get source(): Source {
    return this.#sources[0] ?? "header:";
  }

  /** The items of all that is there: signatures, and what stands beside them. */
  items(fields: Fields): string[] | Refusal {
    const items: string[] = [];
    for (const source of this.#sources) {
      const lines = fields.textsAt(parseSource(source));
      if (lines.length > 1 && !this.#isList(source)) return { why: { kind: "repeated", source } };
      if (source.includes(".*.") && lines.includes("")) return { why: { kind: "missing", source } };
      // One after the other: a text in the body may have more items than a call takes arguments.
      for (const line of lines) for (const item of this.#split(line)) items.push(item);
      const count = lines.length === 1 ? items.length : 0;
      if (count > maxItems) return { why: { kind: "tooManySignatures", count, most: maxSignatures } };
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
    const pieces = split ? line.split(split, 2 * maxItems).map(withoutBlanks) : [line];
    return pieces.filter((item) => item !== "");
  }

  /** Those of the items that are signatures, as texts. */
  signatures(items: readonly string[]): string[] | Refusal {
    const { pick } = this.#sig;
    const texts = !pick ? [...items] : "kv" in pick ? findValues(pick.kv, items) : behind(pick.prefix, items);
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
function findValues(key: string, items: readonly string[]): string[] {
  return behind(`${key}=`, items);
}

function behind(prefix: string, items: readonly string[]): string[] {
  return items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
}

// The URL that a sender has signed: the operator's, as what a request says of its host is the caller's.

/** Takes the query of the request in the place of the configured URL's own. */
function withQuery(publicUrl: string, search: string): string {
  return publicUrl.replace(/[?#][^]*$/, "") + (search === "" ? "" : `?${search}`);
}

/** HubSpot's documentation of its signature v3 lists the escapes that are decoded: once, and no others. */
const hubspotEscapes = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The URL as HubSpot signs it. */
function hubspotUrl(publicUrl: string, search: string): string {
  return withQuery(publicUrl, search).replace(hubspotEscapes, decodeURIComponent);
}

/**
 * The forms in which Twilio may have signed a URL, as its own library tries them: as it came, or as a URL parser or
 * Node.js's `querystring` escapes it; and each as it is, with the port of its scheme, and without any port.
 */
export function twilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const parsed = URL.canParse(url) ? new URL(url).href : url;
  const escaped = parsed.replace(/(?<=\?)[^]+$/, escapedQuery);
  return new Set([url, parsed, escaped].flatMap(withPorts));
}

/** With no limit to how many parameters: those beyond one would not be signed. */
function escapedQuery(query: string): string {
  return stringify(parse(query, "&", "=", { maxKeys: 0 }));
}

function withPorts(url: string): string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return [url, origin + withPort + rest, origin + rest];
}

// When a request was signed, and whether that is near enough.

/** RFC 3339 §5.6, with up to nine digits of a fraction. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Reads a timestamp strictly: digits only, or RFC 3339.
 *
 * @returns ms since the epoch, with a fraction where it has one; nothing when it is malformed
 */
export function parseTime(text: string, unit: TimeUnit): number | undefined {
  if (unit === "iso8601") return parseDate(text);
  return /^[0-9]{1,16}$/.test(text) ? Number(text) * (unit === "s" ? 1000 : 1) : undefined;
}

function parseDate(text: string): number | undefined {
  const [whole, date = "", minutes = "", seconds = "", fraction = "0", sign, ...offset] = rfc3339.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const start = Date.parse(`${date}T${minutes}00Z`);
  // A day that its month does not have would become one of the next.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(date)) return undefined;
  const [hours = "0", more = "0"] = offset;
  const ahead = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(more));
  return start + (Number(seconds) + Number(fraction) - 60 * ahead) * 1000;
}

/** How long ago it was, in seconds; less than nothing when it is still to come. */
function age(time: number, now: number): number {
  return (now - time) / 1000;
}
