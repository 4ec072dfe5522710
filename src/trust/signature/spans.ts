// Finds where in the bytes of a body the values stand that records name.

import { type Place, readForm } from "./fields";

/** Where something begins, and where it has ended, in bytes. */
export type Span = readonly [start: number, end: number];

/** In UTF-8 (RFC 8259 §8.1). */
const byteOrderMark = "\u00EF\u00BB\u00BF";
/** All that tells where a value ends. */
const structure = /["{}[\]]/g;
const blanks = /[ \t\r\n]*/y;
const literal = /[^,\]}\s]*/y;

/** Where the values at a place in a body stand, without their quotes; they may be more than are read, and never fewer. */
export function spansAt({ from, name }: Place, body: Buffer): Span[] {
  if (from === "form") return spansInForm(body, name);
  return from === "json" ? new Json(body).spansOf(name.split(".")) : [];
}

function spansInForm(body: Buffer, name: string): Span[] {
  // One character stands for each byte.
  const text = body.toString("latin1");
  if (!readForm(text)) return [];
  const spans: Span[] = [];
  let start = 0;
  for (const field of text.split("&")) {
    const end = start + field.length;
    const value = start + field.indexOf("=") + 1;
    const isNamed = new URLSearchParams(body.toString("utf8", start, end)).has(name);
    if (isNamed && value > start && value < end) spans.push([value, end]);
    start = end + 1;
  }
  return spans;
}

/** JSON that is gone through once. Of what is none, it finds what it can. */
class Json {
  /** One character stands for each byte. */
  readonly #text: string;
  readonly #spans: Span[] = [];
  #at: number;

  constructor(body: Buffer) {
    this.#text = body.toString("latin1");
    this.#at = this.#text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  }

  spansOf(path: readonly string[]): Span[] {
    const names = path.map((step) => Buffer.from(step).toString("latin1"));
    this.#value(names);
    return this.#spans;
  }

  /** @param path where to go on below the value; nothing where that is of no interest */
  #value(path: readonly string[] | undefined): void {
    const first = this.#next();
    const [step, ...rest] = path ?? [];
    if (step !== undefined && first === "{") return this.#members(step, rest);
    if (step !== undefined && first === "[") return this.#elements(step, rest);
    const start = first === '"' ? this.#at + 1 : this.#at;
    const end = this.#pass(first);
    if (path?.length === 0 && end > start) this.#spans.push([start, end]);
  }

  #members(name: string, path: readonly string[]): void {
    do {
      this.#at++;
      if (this.#next() !== '"') break;
      const start = this.#at + 1;
      const own = this.#text.slice(start, this.#passString());
      if (this.#next() === ":") this.#at++;
      // One with an escape in it may be any.
      this.#value(own === name || own.includes("\\") ? path : undefined);
    } while (this.#next() === ",");
    this.#at++;
  }

  #elements(step: string, path: readonly string[]): void {
    let index = 0;
    do {
      this.#at++;
      this.#value(step === "*" || Number(step) === index ? path : undefined);
      index++;
    } while (this.#next() === ",");
    this.#at++;
  }

  /** What comes next that is no blank. */
  #next(): string {
    this.#match(blanks);
    return this.#text.charAt(this.#at);
  }

  /** Goes past a value. @returns where it has ended, without a quote */
  #pass(first: string): number {
    if (first === '"') return this.#passString();
    if (first === "{" || first === "[") this.#passAll();
    else this.#match(literal);
    return this.#at;
  }

  #passAll(): void {
    let open = 0;
    do {
      structure.lastIndex = this.#at;
      const mark = structure.exec(this.#text);
      this.#at = mark?.index ?? this.#text.length;
      if (mark?.[0] === '"') this.#passString();
      else this.#at++;
      open += mark?.[0] === '"' ? 0 : mark?.[0] === "{" || mark?.[0] === "[" ? 1 : -1;
    } while (open > 0 && this.#at < this.#text.length);
  }

  /** Goes past a text. @returns where its last quote stands */
  #passString(): number {
    let end = this.#at;
    do end = this.#text.indexOf('"', end + 1);
    while (end !== -1 && this.#isEscaped(end));
    if (end === -1) end = this.#text.length;
    this.#at = end + 1;
    return end;
  }

  /** Whether an odd number of backslashes stands before a place. */
  #isEscaped(place: number): boolean {
    let before = place - 1;
    while (this.#text[before] === "\\") before--;
    return (place - before) % 2 === 0;
  }

  #match(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    pattern.exec(this.#text);
    this.#at = Math.max(this.#at, pattern.lastIndex);
  }
}
