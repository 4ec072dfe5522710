import should from "should";
import { shouldGrowEvenly } from "../../harness/cost";
import { mask } from "../../../src/auth/present";
import { redactHeaders, redactJson, Redactor, redactQuery, redactRanges } from "../../../src/auth/redactor";

const secret = `Aa/+=&<>"'\\ß 0`;
const inForm = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);
const inHtml = (references: Record<string, string>) =>
  secret.replace(/[&<>"'/=`]/g, (character) => references[character] ?? character);

describe("Redactor", () => {
  for (const [how, written] of [
    ["as it is", secret],
    ["as a form has it", inForm(secret)],
    ["in HTML by names", inHtml({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" })],
    ["in HTML as Express writes it", inHtml({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })],
    ["in HTML as PHP writes it", inHtml({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#039;" })],
    ["in HTML as Go writes it", inHtml({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" })],
    ["in HTML as Mustache writes it", inHtml({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "/": "&#x2F;", "=": "&#x3D;" })],
    ["in HTML by hexadecimal numbers", inHtml({ "&": "&#x26;", "<": "&#x3c;", ">": "&#x3E;", '"': "&#x22;", "'": "&#x27;" })],
  ] as const) {
    it(`finds a secret ${how}, in texts, in bytes and in header fields`, () => {
      const redactor = new Redactor([secret]);
      const text = `${written}%${written}${written}"`;
      const expected = '[redacted]%[redacted][redacted]"';
      redactor.contains(text).should.be.true();
      redactor.redact(text).should.equal(expected);
      String(redactor.redactBytes(Buffer.from(`ä${text}`))).should.equal(`ä${expected}`);
      // Node.js reads the bytes of header fields so.
      redactor.redact(Buffer.from(text).toString("latin1")).should.equal(expected);
    });
  } // prettier-ignore

  it("leaves alone what has no secret in it: the very same text and Buffer", () => {
    const bytes = Buffer.from([0xff, 0, ...Buffer.from(secret.slice(1))]);
    for (const redactor of [new Redactor([]), new Redactor([""]), new Redactor([secret])]) {
      redactor.redact(secret.slice(1)).should.equal(secret.slice(1));
      redactor.contains(secret.slice(1)).should.be.false();
      should(redactor.redactBytes(bytes)).equal(bytes);
    }
  });

  it("keeps each byte around a secret", () => {
    const around = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const found = new Redactor(["a secret of ours"]).redactBytes(
      Buffer.concat([around, Buffer.from("a secret of ours"), around]),
    );
    found.equals(Buffer.concat([around, Buffer.from("[redacted]"), around])).should.be.true();
  });

  it("replaces a secret of fewer than 8 characters only where it is the whole text, in any spelling", () => {
    const redactor = new Redactor(["a/b=c"]);
    for (const text of ["a/b=c", "a%2fb%3Dc", "a\\/b=c"]) redactor.redact(text).should.equal("[redacted]");
    redactor.redact("a/b=c ").should.equal("a/b=c ");
    redactor.contains("xa/b=c").should.be.false();
    new Redactor(["a/b=cdef"]).redact("xa/b=cdef").should.equal("x[redacted]");
  });

  it("does not search a body for such a short secret, though it be the whole body", () => {
    const redactor = new Redactor(["1234567", "12345678"]);
    should(redactor.findIn(Buffer.from("1234567"))).eql([]);
    should(redactor.findIn(Buffer.from("ä12345678"))).eql([[2, 10]]);
  });

  it("hides the rest of a body that has more secrets in it than by chance", () => {
    const body = Buffer.from("a secret of ours ".repeat(200));
    const ranges = new Redactor(["a secret of ours"]).findIn(body);
    ranges.should.have.length(100);
    should(ranges.at(-1)).eql([99 * 17, body.length]);
    String(redactRanges(body, ranges)).should.equal("[redacted] ".repeat(100).trim());
  });

  for (const [json, shown] of [
    [
      '{"a":20261126,"b":[1,-20261126.5e3, 1202611269 ],"c":"20261126"}',
      '{"a":"[redacted]","b":[1,"[redacted]", "[redacted]" ],"c":"[redacted]"}',
    ],
    [
      '{"20261126":{"\\"20261126":"a, 20261126, b: 20261126"}}',
      '{"[redacted]":{"\\"[redacted]":"a, [redacted], b: [redacted]"}}',
    ],
    ["20261126", '"[redacted]"'],
    ["[2026112620261126,7]", '["[redacted]",7]'],
    ['"ä 20261126"', '"ä [redacted]"'],
  ] as const) {
    it(`leaves JSON that is shown JSON: ${json}`, () => {
      const body = Buffer.from(json);
      const left = String(redactJson(body, new Redactor(["20261126"]).findIn(body)));
      left.should.equal(shown);
      JSON.parse(left);
    });
  }

  it("shows JSON in a time that grows with its length and no faster, however odd it is", async () => {
    for (const piece of ['"', '\\"', '"\\', "-1", "1e", "[1,", '"a"']) {
      const shown = (size: number) => void redactJson(Buffer.from(piece.repeat(size / piece.length)), [[0, 8]]);
      await shouldGrowEvenly(shown, 400_000);
    }
  });

  it("replaces several secrets, of which one may be the beginning of another", () => {
    const redactor = new Redactor(["12345678", "12345678-longer", "$1.*+?(){}[]|^"]);
    redactor.redact("12345678-longer 12345678 $1.*+?(){}[]|^ 1").should.equal("[redacted] [redacted] [redacted] 1");
  });

  it("replaces what is secret for some time, as long as it is", () => {
    const oneTime = "0123456789".repeat(4);
    const temporary = [oneTime];
    const redactor = new Redactor(["a secret of ours"], { tokens: () => temporary });
    const text = `${oneTime} and a secret of ours`;
    redactor.redact(text).should.equal("[redacted] and [redacted]");
    redactor.contains(oneTime).should.be.true();
    temporary.pop();
    redactor.redact(text).should.equal(`${oneTime} and [redacted]`);
  });

  it("finds secrets in a time that grows with the length of a text and no faster, however odd they are", async () => {
    const odd = [`${"\\".repeat(39)}x`, `${"&".repeat(39)}x`, `${"%25".repeat(13)}x`, `${"&amp;".repeat(8)}x`, `${"/".repeat(39)}x`];
    const redactor = new Redactor(odd);
    for (const piece of ["\\", "&", "%25", "&amp;", "/", "\\/", "x"]) {
      await shouldGrowEvenly((size) => void redactor.redact(piece.repeat(size / piece.length)), 400_000);
    }
  }); // prettier-ignore
});

describe("what is shown of a request", () => {
  it("has a mask for each header field in which senders sign, and for each field or parameter whose name tells of a credential", () => {
    const shown = { host: "h", "idempotency-key": "1", accept: ["a", "b"] };
    const masked = ["authorization", "cookie", "x-hub-signature-256", "x-api-key", "x-token", "x-twilio-signature"];
    const given = { ...shown, ...Object.fromEntries(masked.map((name) => [name, "value"])) };
    redactHeaders(given).should.eql({ ...shown, ...Object.fromEntries(masked.map((name) => [name, mask])) });
    redactQuery({ a: ["1", "2"], key: "x", code: "y", api_token: ["z", "z"] }).should.eql({ a: ["1", "2"], key: mask, code: mask, api_token: mask }); // prettier-ignore
  });
});
