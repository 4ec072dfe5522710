import { createHmac, generateKeyPairSync } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import should from "should";
import type { Authenticator, PendingVerification } from "../../src/auth/authenticator";
import { DecodedBody } from "../../src/request/decode";
import { problems } from "../../src/request/problem";
import { signSns, topicArn } from "../harness/certified";
import { shouldGrowEvenly } from "../harness/cost";
import { signers } from "../harness/signers";
import { authenticatorFor, judgeRequest } from "../harness/verification";

function verdictOn(
  authenticator: Authenticator,
  rawHeaders: string[],
  body: Buffer,
): ReturnType<PendingVerification["verify"]> {
  const head = { method: "POST", rawHeaders, search: "" };
  const entry = authenticator.checkHead(head, Date.now());
  if ("authenticate" in entry || "verifyLater" in entry) throw new Error("no signature by a secret");
  return "verify" in entry ? entry.verify(DecodedBody.of(head, body)) : entry;
}

/** Unpacked by brotli, they are `{"forged":true}`; as JSON, they begin an object with a name that ends with a quote. */
const forgedInBrotli = Buffer.from(
  "DXsiIER+fvfb1vZT+6613362bdu2/ffRfz/VPtq2bZ+rtX2tlaWGRaFELI+ysfbsjcWzb/+UQkghxJBSiinAmGKIKcaYUkohhIBiSDGGkFKIMcCAYkAhgJhSjDGmkFJAMaSQUkwphphSjCHAlGJKMaaQQkAhhJBCTCmlgEKIMaaYYkwppYBCiCmFmFKMIYSQUkAhhZRCiimlgEJKIaCUUooxpJBSSimEmEKAMaCQQkghpJRiijHFkFKAKaaYYkwxpJBCiCnEkGKMMaSYYkAhpphiSCmmkGJMKYCQUkgxxJhSgCnFkFJIKcSAUoAxpJhCjCnEkFKKKaaQUkoppJhSbH6sM5zAsIY/1mU9",
  "base64",
);

describe("a body that is signed as it is, and another one when it is unpacked", () => {
  const polyglotOf = (genuine: object) =>
    Buffer.concat([forgedInBrotli, Buffer.from(`":1,${JSON.stringify(genuine).slice(1)}`)]);
  const packed = ["Content-Type", "application/json", "Content-Encoding", "br"];
  const adyen = signers.adyen.body?.(Buffer.from("1"), 0, 0) ?? Buffer.alloc(0);
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" });
  const sns = signSns(Buffer.from(key), {
    SigningCertURL: "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
  });

  it("is refused where values in it are signed, whatever it is in JSON", async () => {
    const of: [Authenticator, object][] = [
      [authenticatorFor("adyen", { first: signers.adyen.secrets[0] ?? "" }), JSON.parse(String(adyen)) as object],
      [authenticatorFor("amazon-sns", { settings: { topicArn } }), sns],
    ];
    for (const [authenticator, genuine] of of) {
      const body = polyglotOf(genuine);
      const head = { method: "POST", rawHeaders: packed, search: "" };
      should(await judgeRequest(authenticator, head, body, Date.now())).have.property("status", 401);
      const { reasons } = authenticator.explain({ head, body, at: 0 });
      reasons.map((reason) => reason.key).should.containEql("bodyPacked");
    }
  });

  it("is refused where its bytes are signed, as bytes follow the end of what is packed", async () => {
    const body = polyglotOf({ genuine: true });
    should(JSON.parse(body.toString())).have.property("genuine", true);
    String(brotliDecompressSync(body))
      .trim()
      .should.match(/^\{\s*"forged":true\}$/);
    should(await DecodedBody.of({ rawHeaders: packed }, body).decode(1_000_000)).equal(problems.codingBroken);
  });
});

describe("a request with a wrong signature and a body that takes long to read", () => {
  const twilio = authenticatorFor("twilio", { settings: { publicUrl: "https://hooks.example/hook" } });
  const signed = ["Content-Type", "application/x-www-form-urlencoded", "X-Twilio-Signature", `${"A".repeat(27)}=`];
  const fields = (count: number) => Buffer.from(Array.from({ length: count }, (_, index) => `a${index}`).join("&"));
  const levels = 250;
  const deep = (count: number) => Buffer.from(`${"[".repeat(levels)}0${",0".repeat(count)}${"]".repeat(levels)}`);
  const form = { alg: "hmac-sha256", sig: { headers: [], source: "form:s", enc: "hex" }, content: ["form:a"] };
  const list = {
    alg: "hmac-sha256",
    sig: { headers: [], source: "json:s", split: ",", enc: "hex" },
    content: ["body"],
  };
  for (const [what, authenticator, rawHeaders, bodyOf] of [
    ["a form of Twilio's with very many fields", twilio, signed, fields],
    ["a form of a custom sender's with very many fields", authenticatorFor("custom", { scheme: form }), [], fields],
    ["deep JSON", authenticatorFor("github"), ["X-Hub-Signature-256", `sha256=${"0".repeat(64)}`], deep],
    [
      "very many signatures",
      authenticatorFor("custom", { scheme: list }),
      [],
      (count: number) => Buffer.from(`{"s":"${"a,".repeat(count)}"}`),
    ],
  ] as const) {
    it(`is refused and explained in a time that grows no faster than its length: ${what}`, async () => {
      const head = { method: "POST", rawHeaders: [...rawHeaders], search: "" };
      await shouldGrowEvenly((count) => {
        const body = bodyOf(count);
        verdictOn(authenticator, head.rawHeaders, body).should.have.property("status", 401);
        authenticator.explain({ head, body, at: Date.now() }).should.be.an.Object();
      }, 280_000);
    });
  }
});

describe("a signature from the handshake of X, which answers any question", () => {
  it("starts no flow when it is sent as that of a request", () => {
    const authenticator = authenticatorFor("x");
    for (const text of ["1", "null", "a=1"]) {
      const asked = authenticator.checkHead(
        { method: "GET", rawHeaders: [], search: `crc_token=${encodeURIComponent(text)}` },
        0,
      );
      const { body } = asked as { body: string };
      const { response_token: signature } = JSON.parse(body) as { response_token: string };
      const fields = ["x-twitter-webhooks-signature", signature, "Content-Type", "application/x-www-form-urlencoded"];
      verdictOn(authenticator, fields, Buffer.from(text)).should.have.property("status", 401);
    }
    const body = Buffer.from('{"for_user_id":"1"}');
    const signature = createHmac("sha256", "secret").update(body).digest("base64");
    const fields = ["x-twitter-webhooks-signature", `sha256=${signature}`];
    verdictOn(authenticator, fields, body).should.have.property("credential", "first");
  });
});

describe("a parameter with a short secret", () => {
  it("is left out of the message, as the secret alone is too short to be replaced", () => {
    const scheme = { alg: "token", sig: { headers: [], source: "query:key" } };
    const authenticator = authenticatorFor("custom", { scheme });
    authenticator.redactor.contains("key=secret").should.be.false();
    String(authenticator.parameter).should.equal("key");
  });
});
