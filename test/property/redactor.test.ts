import fc from "fast-check";
import "should";
import { CallerTokens } from "../../src/auth/caller-tokens";
import { digest } from "../../src/auth/digest";
import { redacted, Redactor } from "../../src/auth/redactor";
import { seed } from "../harness/property";

const visible = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
/** Those that mean something to one encoding or another. */
const awkward = fc.constantFrom(...Array.from("\"'\\/%&;#`+<>u0x25{}="));
const characters = (minLength: number) => fc.string({ unit: fc.oneof(visible, awkward), minLength, maxLength: 40 });
/** With its mark around it, such a secret would stand there anew. */
const isLikeMark = (secret: string) =>
  redacted.includes(secret) ||
  Array.from(redacted, (_, index) => index + 1).some(
    (length) => secret.endsWith(redacted.slice(0, length)) || secret.startsWith(redacted.slice(-length)),
  );
const secrets = characters(8).filter((secret) => !isLikeMark(secret));

const html = new Map([["&", "&amp;"], ["<", "&lt;"], [">", "&gt;"], ['"', "&quot;"], ["'", "&#39;"]]); // prettier-ignore
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const lowerCase = (text: string) => text.replace(/%../g, (escape) => escape.toLowerCase());
const inForm = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
const spellings: ((secret: string) => string)[] = [
  (secret) => secret,
  encodeURIComponent,
  (secret) => lowerCase(encodeURIComponent(secret)),
  inForm,
  (secret) => lowerCase(inForm(secret)),
  json,
  (secret) => json(secret).replaceAll("/", "\\/"),
  (secret) => Array.from(secret, (character) => html.get(character) ?? character).join(""),
];

/** Where a token may begin or end: no token has these characters. */
const edge = fc.constantFrom(...Array.from("\"'\\/%&;#`+<> {}=:.,|~@[]\n"));
const tokens = fc.string({
  unit: fc.constantFrom(...Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")),
  minLength: 40,
  maxLength: 40,
});

/** Texts in which nothing of a secret may be left, whatever stands around it. */
function shouldHide(redactor: Redactor, secret: string, text: string): void {
  redactor.contains(text).should.be.true();
  for (const left of [redactor.redact(text), String(redactor.redactBytes(Buffer.from(text)))]) {
    for (const spell of spellings) left.includes(spell(secret)).should.be.false();
  }
}

describe("for any secret of 8 or more visible characters", () => {
  it("none of its spellings is left in a text or in bytes, whatever stands around it", () => {
    const property = fc.property(
      secrets,
      fc.array(fc.tuple(characters(0), fc.constantFrom(...spellings)), { minLength: 1, maxLength: 3 }),
      (secret, parts) =>
        shouldHide(new Redactor([secret]), secret, parts.map(([before, spell]) => before + spell(secret)).join("")),
    );
    fc.assert(property, { seed, numRuns: 3000 });
  });
});

describe("for any token of a caller, of which only the digest is known", () => {
  it("none of its spellings is left in a text or in bytes, wherever a word begins or ends with it", () => {
    const part = fc.tuple(characters(0), edge, characters(0), fc.constantFrom(...spellings), fc.boolean());
    const property = fc.property(tokens, fc.array(part, { minLength: 1, maxLength: 3 }), (token, parts) => {
      const callers = new CallerTokens([{ name: "door", digest: digest(token).toString("hex") }]);
      const written = parts.map(([before, end, after, spell, isFirst]) =>
        isFirst ? `${end}${spell(token)}${after}${end}` : `${end}${before}${spell(token)}${end}`,
      );
      shouldHide(new Redactor([], undefined, callers), token, written.join(""));
    });
    fc.assert(property, { seed, numRuns: 3000 });
  });
});
