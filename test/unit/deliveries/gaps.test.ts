import should from "should";
import { Secrets } from "../../../src/deliveries/gaps";

const first = "abcd/efgh+ij KLMN";
const second = "second;secret/0123";
const lower = (spelled: string) => spelled.replace(/%../g, (escape) => escape.toLowerCase());
const inForm = (secret: string) => new URLSearchParams({ a: secret }).toString().slice(2);
const inJson = (secret: string) => JSON.stringify(secret).slice(1, -1);

/** In the order in which files know them. */
const spellings = [
  ["as it is", (secret: string) => secret],
  ["as a URL has it", encodeURIComponent],
  ["as a form has it", inForm],
  ["as JSON has it", inJson],
  ["as PHP writes JSON", (secret: string) => inJson(secret).replaceAll("/", "\\/")],
  ["as a URL has it, in lower case", (secret: string) => lower(encodeURIComponent(secret))],
  ["as a form has it, in lower case", (secret: string) => lower(inForm(secret))],
] as const;

describe("a secret in a body", () => {
  for (const [how, spell] of spellings) {
    it(`is taken out ${how}, and put back, also when another has come beside it`, () => {
      const body = Buffer.from(`<${spell(first)}> ${spell(first)} …`);
      const { body: kept, gaps } = new Secrets([first]).takenFrom(body);
      should(String(kept)).equal(`<${"*".repeat(spell(first).length)}> ${"*".repeat(spell(first).length)} …`);
      for (const secrets of [[first], [first, second]]) {
        should(String(new Secrets(secrets).putBack(kept, gaps))).equal(String(body));
      }
    });

    it(`is put back as the one of today ${how}`, () => {
      const { body, gaps } = new Secrets([first]).takenFrom(Buffer.from(`x ${spell(first)}`));
      should(String(new Secrets([second]).putBack(body, gaps))).equal(`x ${spell(second)}`);
    });
  }

  it("is put back where it was taken out by an earlier version", () => {
    const secrets = new Secrets([first, second]);
    const written = [first, second].flatMap((secret) => spellings.slice(0, 4).map(([, spell]) => spell(secret)));
    for (const [secret, text] of written.entries()) {
      const kept = Buffer.from(`a ${"*".repeat(text.length)} z`);
      should(String(secrets.putBack(kept, [{ at: 2, length: text.length, secret }]))).equal(`a ${text} z`);
    }
  });

  it("is one gap, in however many ways it is written alike", () => {
    const { gaps } = new Secrets(["abcdefgh"]).takenFrom(Buffer.from("abcdefgh"));
    should(gaps).eql([{ at: 0, length: 8, secret: 0 }]);
  });
});
