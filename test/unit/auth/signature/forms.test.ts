import { createHmac } from "node:crypto";
import fc from "fast-check";
import should from "should";
import type { SenderId } from "../../../../src/auth/senders/table";
import { DecodedBody } from "../../../../src/request/decode";
import { Problem } from "../../../../src/request/problem";
import { seed } from "../../../harness/property";
import { authenticatorFor } from "../../../harness/verification";

const at = 1_767_225_600;
const form = "application/x-www-form-urlencoded";
const multipart = "multipart/form-data; boundary=b";
const sign = (text: string) => createHmac("sha256", "secret").update(text).digest("hex");

/** The payload of an accepted request, or `refused`. */
function payloadOf(sender: SenderId, type: string, body: string, ...rawHeaders: string[]): unknown {
  const head = { method: "POST", rawHeaders: ["Content-Type", type, ...rawHeaders], search: "" };
  const result = authenticatorFor(sender).checkHead(head, at * 1000);
  if (!("verify" in result)) return "refused";
  const bytes = Buffer.from(body);
  if (result.maxBody && bytes.length > result.maxBody.bytes) return "too large";
  const decoded = DecodedBody.of(head, bytes);
  const verdict = result.verify(decoded);
  if (!("credential" in verdict)) return "refused";
  const { content } = decoded;
  return content instanceof Problem ? content : content?.value;
}

const inParts = (fields: readonly (readonly [string, string])[], more = "") =>
  fields.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`).join("") + "--b--\r\n"; // prettier-ignore

describe("mail that Mailgun forwards", () => {
  const token = "0".repeat(50);
  const genuine: [string, string][] = [
    ["subject", "Grüße & more"],
    ["timestamp", String(at)],
    ["token", token],
    ["signature", sign(`${at}${token}`)],
  ];
  const kinds: [string, string, (fields: readonly [string, string][]) => string][] = [
    ["an urlencoded form", form, (fields) => new URLSearchParams([...fields]).toString()],
    ["a form with files", multipart, (fields) => inParts(fields)],
  ];
  for (const [name, type, write] of kinds) {
    it(`is accepted as ${name}, and all of it is the payload`, () => {
      should(payloadOf("mailgun", type, write(genuine))).eql(Object.fromEntries(genuine));
    });

    it(`is refused as ${name} where a signed value is another, missing, or there twice`, () => {
      for (const [place, [field]] of genuine.entries()) {
        if (field === "subject") continue;
        const forged: [string, string] = [field, field === "timestamp" ? "1" : "1".repeat(50)];
        const changes = [
          genuine.with(place, forged),
          genuine.toSpliced(place, 1),
          [...genuine, forged],
          [forged, ...genuine],
          [...genuine, ...genuine.slice(place, place + 1)],
        ];
        for (const fields of changes)
          should(payloadOf("mailgun", type, write(fields))).equal("refused", String(fields));
      }
    });
  }

  it("is refused where a signed value is a file, or the type is there twice", () => {
    should(payloadOf("mailgun", multipart, inParts(genuine, '; filename="a"'))).equal("refused");
    should(payloadOf("mailgun", form, String(new URLSearchParams(genuine)), "Content-Type", form)).equal("refused");
  });

  it("may be larger with files than another body that is read before it is verified", () => {
    const large = "x".repeat(2 * 1024 * 1024);
    should(payloadOf("mailgun", multipart, inParts([...genuine, ["body-plain", large]]))).have.property("body-plain", large);
    should(payloadOf("mailgun", form, `${String(new URLSearchParams(genuine))}&a=${large}`)).equal("too large");
    should(payloadOf("mailgun", "application/json", JSON.stringify({ large }))).equal("too large");
  }); // prettier-ignore
});

describe("JSON that is signed and then sent in a form", () => {
  const senders = [["gitea", "X-Gitea-Signature"], ["forgejo", "X-Forgejo-Signature"], ["gogs", "X-Gogs-Signature"]] as const; // prettier-ignore
  const json = '{"ref":"refs/heads/main","text":"a b+c ü"}';
  const field = (text: string) => `payload=${encodeURIComponent(text).replaceAll("%20", "+")}`;

  for (const [sender, header] of senders) {
    it(`is the payload, as the JSON that is sent without a form is (${sender})`, () => {
      for (const [type, body] of [[form, field(json)], ["application/json", json]] as const) {
        should(payloadOf(sender, type, body, header, sign(json))).eql(JSON.parse(json), type);
      }
    }); // prettier-ignore

    it(`is refused where it was changed, or anything stands beside it (${sender})`, () => {
      const other = field('{"ref":"refs/heads/forged"}');
      const changed = [other, `${field(json)}&${other}`, `${other}&${field(json)}`, `${field(json)}&x=1`, `x=1&${field(json)}`, `${field(json)}&`.replace("payload", "Payload"), `${field(json)}&payload`, "", "payload"];
      for (const body of changed) should(payloadOf(sender, form, body, header, sign(json))).equal("refused", body);
      should(payloadOf(sender, multipart, inParts([["payload", json]]), header, sign(json))).equal("refused");
      // Nor is the form itself what these senders sign.
      should(payloadOf(sender, form, field(json), header, sign(field(json)))).equal("refused");
    }); // prettier-ignore
  }

  it("is what GitHub does not do: it signs the form", () => {
    const signed = (text: string) => ["X-Hub-Signature-256", `sha256=${sign(text)}`];
    should(payloadOf("github", form, field(json), ...signed(field(json)))).eql(JSON.parse(json));
    should(payloadOf("github", form, field(json), ...signed(json))).equal("refused");
  });

  it("is all that the flow gets, whatever was sent", () => {
    const piece = fc.constantFrom(field(json), "payload=", "payload", "x=1", "=", "", "%70ayload=%7B%7D", "__proto__=1", "payload=%ff");
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 3 }), (pieces) => {
        const payload = payloadOf("gitea", form, pieces.join("&"), "X-Gitea-Signature", sign(json));
        if (payload === "refused") return;
        accepted++;
        should(payload).eql(JSON.parse(json));
      }),
      { seed, numRuns: 1000 },
    );
    accepted.should.be.above(0);
  }); // prettier-ignore
});
