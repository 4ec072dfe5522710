// What of a request counts for its signature, read once and judged as early as it can be.

import type { Scheme, Source } from "../senders/record";
import { Fields, type Head, isInBody, type Place, placeOf } from "./fields";
import { hubspotUrl } from "./public-url";
import { SignatureFormat, valuesOf } from "./signatures";
import { age, parseTime } from "./time";
import type { Refusal } from "./why";

/** A scheme prepared, so that a request costs no more than it must. */
export class Plan {
  readonly scheme: Scheme;
  readonly format: SignatureFormat;
  /** What is signed, the timestamp by its place. */
  readonly content: readonly Place[];
  readonly time: Place | undefined;
  readonly publicUrl: string;
  /** Fields that may not be repeated: what stands before this endpoint may have looked at another one. */
  readonly once: readonly Place[];

  /** @param ids where the sender's id of a delivery stands */
  constructor(scheme: Scheme, publicUrl: string, ids: readonly Source[]) {
    this.scheme = scheme;
    this.publicUrl = publicUrl;
    this.format = new SignatureFormat(scheme);
    this.time = scheme.ts ? placeOf(scheme.ts.source) : undefined;
    this.content = scheme.content.map((source) => (source === "ts" ? this.time : undefined) ?? placeOf(source));
    this.once = ids.map(placeOf).filter(({ from }) => from === "header");
  }
}

/** Node reads fields as Latin-1: this gives their bytes back as they came. */
export function bytesOf(text: string, isField: boolean): Buffer {
  return Buffer.from(text, isField ? "latin1" : "utf8");
}

/** One request, in the light of a plan. */
export class Evidence {
  readonly #plan: Plan;
  readonly #head: Head;
  readonly #fields: Fields;
  #body: () => Buffer = () => Buffer.alloc(0);
  #items: string[] | Refusal | undefined;
  #signatures: Buffer[] | Refusal | undefined;

  constructor(plan: Plan, head: Head) {
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
  bytesAt(place: Place): Buffer | Refusal {
    if (place.from === "body") return this.#body();
    const text = this.textAt(place);
    return typeof text === "string" ? bytesOf(text, place.from === "header" || place.from === "sig") : text;
  }

  /** The only text at a place, with something in it. */
  textAt(place: Place): string | Refusal {
    const [text = "", ...repeated] = this.#textsAt(place);
    if (repeated.length > 0) return { why: { kind: "repeated", source: place.source } };
    return text === "" ? { why: { kind: "missing", source: place.source } } : text;
  }

  /** All texts at a place, also of what is known without the request. */
  #textsAt(place: Place): string[] {
    const { publicUrl, format } = this.#plan;
    switch (place.from) {
      case "method":
        return [this.#head.method];
      case "url":
        return [place.name === "hubspot" ? hubspotUrl(publicUrl, this.#head.search) : publicUrl];
      case "sig":
        this.#items ??= format.items(this.#fields);
        return "why" in this.#items ? [] : valuesOf(place.name, this.#items);
      default:
        return this.#fields.textsAt(place);
    }
  }
}
