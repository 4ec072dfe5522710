import fc from "fast-check";
import should from "should";
import { beginningOf } from "../../src/request/text";
import { Budget } from "../../src/request/budget";
import { spellings } from "../../src/trust/spelling";
import { seed } from "../harness/property";

describe("for any text", () => {
  it("its beginning ends with a whole character, wherever its bytes are cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\uFEFF", "\n"), maxLength: 12 });
    const property = fc.property(text, fc.nat(40), (whole, most) => {
      const bytes = Buffer.from(whole);
      const fits = Array.from(whole).reduce((kept, next) => (kept.isOver || Buffer.byteLength(kept.text + next) > most ? { ...kept, isOver: true } : { text: kept.text + next, isOver: false }), { text: "", isOver: false }); // prettier-ignore
      should(beginningOf(bytes, most)).equal(bytes.length > most ? `${fits.text}…` : whole);
    });
    fc.assert(property, { seed, numRuns: 2000 });
  });

  it("is none where its bytes are none, or stand for zero", () => {
    for (const bytes of [[0xff], [0x61, 0xc3, 0x61], [0x61, 0], [0xe2, 0x82], [0x80]]) {
      should(beginningOf(Buffer.from(bytes), 10)).be.undefined();
    }
    should(beginningOf(Buffer.from([0xff, 0x61]), 1)).be.undefined();
  });

  it("a token is found where it is when each place is looked at", () => {
    const part = fc.constantFrom("ab", "a", "b", "aab", "\\u0061", "%61", "&#97;", "\\", "%", "&", "x", "aba", '"');
    const texts = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(""));
    const tokens = fc.constantFrom("ab", "aab", "abab", "aba");
    const property = fc.property(tokens, texts, fc.nat(30), (token, text, stop) => {
      const limits = () => ({ budget: new Budget(), stop });
      // What folds, if only to the same, is looked for from the first place on.
      const everywhere = [...spellings(token, text, limits(), (character) => character)];
      should([...spellings(token, text, limits())]).eql(everywhere);
    });
    fc.assert(property, { seed, numRuns: 5000 });
  });
});
