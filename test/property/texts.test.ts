import fc from "fast-check";
import should from "should";
import { shorten } from "../../src/request/decode";
import { seed } from "../harness/property";

describe("for any text", () => {
  it("its beginning ends with a whole character, wherever its bytes are cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\uFEFF", "\n"), maxLength: 12 });
    const property = fc.property(text, fc.nat(40), (whole, most) => {
      const bytes = Buffer.from(whole);
      const fits = Array.from(whole).reduce((kept, next) => (kept.isOver || Buffer.byteLength(kept.text + next) > most ? { ...kept, isOver: true } : { text: kept.text + next, isOver: false }), { text: "", isOver: false }); // prettier-ignore
      should(shorten(bytes, most)).equal(bytes.length > most ? `${fits.text}…` : whole);
    });
    fc.assert(property, { seed, numRuns: 2000 });
  });

  it("is none where its bytes are none, or stand for zero", () => {
    for (const bytes of [[0xff], [0x61, 0xc3, 0x61], [0x61, 0], [0xe2, 0x82], [0x80]]) {
      should(shorten(Buffer.from(bytes), 10)).be.undefined();
    }
    should(shorten(Buffer.from([0xff, 0x61]), 1)).be.undefined();
  });
});
