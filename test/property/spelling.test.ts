import fc from "fast-check";
import should from "should";
import { inspect } from "node:util";
import { Budget } from "../../src/request/budget";
import { Readings } from "../../src/trust/readings";
import { TokenGate } from "../../src/trust/token";
import { seed } from "../harness/property";

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
/** Those that mean something to one encoding or another. */
const awkward = fc.constantFrom(...Array.from("\"'\\/%&;#`+<>u0x25{}"));
const token = fc
  .array(fc.oneof(visible, awkward), { minLength: 40, maxLength: 40 })
  .map((characters) => characters.join(""));

type Encode = (text: string) => string;

const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, "0");
const each = (encode: (character: string, place: number) => string): Encode => {
  return (text) => Array.from(text, encode).join("");
};
/** The same for some characters of a text, those of a pattern at least. */
const some = (always: RegExp, which: readonly boolean[], encode: Encode): Encode =>
  each((character, place) => (always.test(character) || which[place % which.length] ? encode(character) : character));

const html = new Map([["&", "amp"], ["<", "lt"], [">", "gt"], ['"', "quot"], ["'", "apos"], ["/", "sol"], ["+", "plus"], ["%", "percnt"], ["\\", "bsol"], [";", "semi"]]); // prettier-ignore

const letterCase = fc.constantFrom<Encode>(
  (hex) => hex.toLowerCase(),
  (hex) => hex.toUpperCase(),
  each((digit, place) => (place % 2 === 0 ? digit.toUpperCase() : digit)),
);
const which = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });
const json: Encode = (text) => JSON.stringify(text).slice(1, -1);

/** An encoding as something on the way may do it, by its name. */
const encoding: fc.Arbitrary<[string, Encode]> = fc.oneof(
  fc.constant<[string, Encode]>(["as it stands", (text) => text]),
  fc.tuple(which, letterCase).map<[string, Encode]>(([which, hex]) => [
    "percent-encoded", some(/%/, which, (character) => hex(`%${hexOf(character)}`)),
  ]),
  fc.constant<[string, Encode]>(["encodeURIComponent", (text) => encodeURIComponent(text)]),
  fc.constant<[string, Encode]>(["a form", (text) => new URLSearchParams([["", text]]).toString().slice(1)]),
  fc.constant<[string, Encode]>(["JSON", json]),
  fc.constant<[string, Encode]>(["JSON in JSON", (text) => json(json(text))]),
  fc.constant<[string, Encode]>(["PHP's JSON", (text) => json(text).replaceAll("/", "\\/")]),
  fc.tuple(which, letterCase).map<[string, Encode]>(([which, hex]) => [
    "JSON with \\u", some(/["\\]/, which, (character) => `\\u00${hex(hexOf(character))}`),
  ]),
  fc.constant<[string, Encode]>(["util.inspect", (text) => inspect(text).slice(1, -1)]),
  fc.constant<[string, Encode]>(["a shell", (text) => text.replace(/["'`\\]/g, "\\$&")]),
  which.map<[string, Encode]>((which) => [
    "HTML by names", some(/[&<>"]/, which, (character) => (html.has(character) ? `&${html.get(character) ?? ""};` : character)),
  ]),
  which.map<[string, Encode]>((which) => [
    "HTML by numbers", some(/[&<>"]/, which, (character) => `&#${String(character.charCodeAt(0)).padStart(3, "0")};`),
  ]),
  fc.tuple(which, letterCase).map<[string, Encode]>(([which, hex]) => [
    "HTML by hexadecimal numbers", some(/[&<>"]/, which, (character) => `&#x${hex(hexOf(character))};`),
  ]),
); // prettier-ignore

const around = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: fc.oneof(awkward, visible), maxLength: 20 }),
  fc.array(fc.constantFrom("%", "%2", "\\", "\\u", "\\u00", "&", "&#", "&#x", "\\\\", "%25")).map((parts) => parts.join("")),
); // prettier-ignore

const credentialsOf = (token: string) => new TokenGate({ method: "header", name: "X", token, secondToken: "" });

describe("a token in a text", () => {
  it("is concealed, whatever encodes it, once or twice, and whatever stands around it", () => {
    fc.assert(
      fc.property(token, encoding, encoding, around, around, (secret, [, inner], [, outer], before, after) => {
        const written = outer(inner(secret));
        const credentials = credentialsOf(secret);
        credentials.secrecy.tells(before + written + after).should.be.true();
        should(credentials.secrecy.conceal(before + written + after).includes(written)).be.false();
        // What cannot be part of an encoding stays as it is.
        credentials.secrecy.conceal(`«${written}»${written}`).should.equal("«…»…");
      }),
      { seed, numRuns: 1000 },
    );
  });

  it("is concealed where the text around it was encoded with it", () => {
    fc.assert(
      fc.property(token, encoding, encoding, around, around, (secret, [, inner], [, outer], before, after) => {
        const text = outer(`»${inner(before + secret + after)}«`);
        const credentials = credentialsOf(secret);
        credentials.secrecy.tells(text).should.be.true();
        credentials.secrecy.tells(credentials.secrecy.conceal(text)).should.be.false();
      }),
      { seed, numRuns: 300 },
    );
  });

  it("is looked for with an effort that grows with the text and no faster: there are few readings at each place", () => {
    const pieces = [
      "%",
      "%25",
      "%5c",
      "2",
      "5",
      "\\",
      "\\u00",
      "\\u005c",
      "&",
      "&amp;",
      "&#",
      "&#92;",
      "&bsol;",
      "&#x25;",
      ";",
      '"',
    ];
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join("")),
      fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(...pieces)).map((parts) => parts.join("").repeat(30)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const readings = new Readings(text, new Budget(Infinity));
        for (let place = 0; place < text.length; place++) readings.at(place).length.should.be.belowOrEqual(40);
      }),
      { seed, numRuns: 1000 },
    );
  });

  it("is not found where it is not", () => {
    fc.assert(
      fc.property(token, fc.nat(39), encoding, encoding, around, (secret, at, [, inner], [, outer], around) => {
        // The beginning of an escape can be read as it stands.
        fc.pre(!"%\\&é".includes(secret.charAt(at)));
        const other = `${secret.slice(0, at)}é${secret.slice(at + 1)}`;
        const text = around + outer(inner(other));
        const credentials = credentialsOf(secret);
        credentials.secrecy.tells(text).should.be.false();
        credentials.secrecy.conceal(text).should.equal(text);
      }),
      { seed, numRuns: 1000 },
    );
  });
});
