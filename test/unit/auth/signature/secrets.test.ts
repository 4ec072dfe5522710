import { createHmac } from "node:crypto";
import should from "should";
import { readSecret } from "../../../../src/auth/senders/sender";
import { senders } from "../../../../src/auth/senders/table";
import { Verifier } from "../../../../src/auth/signature/verifier";
import { outcomeOf } from "../../../harness/verification";

const at = 1_767_225_600;
const body = Buffer.from('{"type":"order.created"}');
const bytes = Buffer.from("0123456789abcdef0123456789abcdef");
const base64 = bytes.toString("base64");
const others = Buffer.from("fedcba9876543210fedcba9876543210");

/** As Standard Webhooks signs. */
const sign = (key: string | Buffer) => createHmac("sha256", key).update(`msg_1.${at}.`).update(body).digest("base64");

type Id = "standard-webhooks" | "svix" | "gitlab-signed";

function outcome(sender: Id, secrets: { first: string; second?: string }, signature: string): string {
  const prefix = sender === "svix" ? "svix" : "webhook";
  const rawHeaders = [`${prefix}-id`, "msg_1", `${prefix}-timestamp`, String(at), `${prefix}-signature`, signature];
  const { scheme } = senders[sender];
  return outcomeOf({ scheme, secrets, sender }, { head: { method: "POST", rawHeaders, search: "" }, body, at });
}

describe("a secret", () => {
  const shown: [name: string, sender: Id, secret: string, key: string | Buffer][] = [
    ["Standard Webhooks shows it", "standard-webhooks", `whsec_${base64}`, bytes],
    ["Svix shows it", "svix", `whsec_${base64}`, bytes],
    ["GitLab shows it", "gitlab-signed", `whsec_${base64}`, bytes],
    ["Brex shows it, without a prefix", "standard-webhooks", base64, bytes],
    ["Supabase shows it", "standard-webhooks", `v1,whsec_${base64}`, bytes],
    ["Supabase shows it", "svix", `v1,whsec_${base64}`, bytes],
    ["Polar showed it at first", "standard-webhooks", "polar_whs_0123456789abcdefABCDEF", "polar_whs_0123456789abcdefABCDEF"],
    ["Polar showed it before its change", "standard-webhooks", `whsec_${base64}`, `whsec_${base64}`],
    ["Polar shows it since its change", "standard-webhooks", `whsec_${base64}`, bytes],
    ["Polar's users have chosen it", "standard-webhooks", "not-base64!", "not-base64!"],
    ["a sender of plain texts shows it, which happens to be base64", "standard-webhooks", base64, base64],
  ]; // prettier-ignore
  for (const [name, sender, secret, key] of shown) {
    it(`is accepted as ${name} (${sender}), in both places, in the form and at run time`, () => {
      const signature = `v1,${sign(key)}`;
      outcome(sender, { first: secret }, signature).should.equal("first");
      outcome(sender, { first: `whsec_${others.toString("base64")}`, second: secret }, signature).should.equal(
        "second",
      );
      readSecret(secret, senders[sender].scheme.key).should.not.be.empty();
    });
  }

  const forms: [Id, string][] = [
    ["standard-webhooks", `whsec_${base64}`],
    ["standard-webhooks", `v1,whsec_${base64}`],
    ["standard-webhooks", "polar_whs_0123456789abcdefABCDEF"],
    ["svix", `whsec_${base64}`],
    ["gitlab-signed", `v1,whsec_${base64}`],
  ];
  for (const [sender, secret] of forms) {
    it(`is not verified by a key that anybody could guess: ${secret} (${sender})`, () => {
      const guessed = [
        others,
        base64,
        "whsec_",
        "v1,whsec_",
        "v1,",
        "polar_whs_",
        "",
        Buffer.alloc(32),
        secret.slice(1),
      ];
      for (const key of guessed) {
        outcome(sender, { first: secret }, `v1,${sign(key)}`).should.equal("signatureWrong", String(key));
      }
    });
  }

  it("is none where it is only what stands in front of one, or is typed wrong behind that", () => {
    const none = ["whsec_", "v1,whsec_", "v1,", "v1a,", "polar_whs_", "whsec_not base64!", "v1,whsec_AAAAA"];
    for (const first of none) {
      const { scheme } = senders["standard-webhooks"];
      should(Verifier.of(scheme, { first })).eql({ rule: "secret.format" }, first);
      should(Verifier.of(scheme, { first: base64, second: first })).eql({ rule: "secondSecret.format" }, first);
      readSecret(first, scheme.key).should.be.empty();
    }
  });
});

describe("a list of signatures", () => {
  const right = `v1,${sign(bytes)}`;
  const wrong = `v1,${sign(others)}`;
  const ways: [name: string, (items: readonly string[]) => string][] = [
    ["Standard Webhooks", (items) => items.join(" ")],
    ["Supabase", (items) => items.join(", ")],
    ["a proxy with tabs", (items) => items.join(", \t")],
  ];
  for (const [name, join] of ways) {
    for (const sender of ["standard-webhooks", "svix", "gitlab-signed"] as const) {
      it(`as ${name} joins it is accepted with one that fits (${sender})`, () => {
        const first = `whsec_${base64}`;
        for (const items of [[right, wrong], [wrong, right], [right], [`v1a,AAAA`, wrong, right]]) {
          outcome(sender, { first }, join(items)).should.equal("first", join(items));
        }
        outcome(sender, { first }, join([wrong, wrong])).should.equal("signatureWrong");
        outcome(sender, { first }, join([...Array.from({ length: 16 }, () => wrong), right])).should.equal("tooManySignatures");
      }); // prettier-ignore
    }
  }
});
