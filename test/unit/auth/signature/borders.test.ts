import { createHmac } from "node:crypto";
import should from "should";
import type { SenderId } from "../../../../src/auth/senders/table";
import { DecodedBody } from "../../../../src/request/decode";
import { authenticatorFor } from "../../../harness/verification";

const at = 1_767_225_600;
const form = "application/x-www-form-urlencoded";
/** What a stranger has written into a text of an event. */
const planted = "&type=paid&amount=9999&rest=";
const event = `{"type":"failed","note":"${planted}","id":1}`;
const cut = event.indexOf(planted);
const [before, behind] = [event.slice(0, cut), event.slice(cut)];

interface Sent {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  readonly search?: string;
}

function isAccepted(sender: SenderId, type: string, signature: string, { fields, body, search = "" }: Sent): boolean {
  const rawHeaders = ["Content-Type", type, ...Object.entries({ ...fields, [signature.split("=")[0] ?? ""]: signature.slice(signature.indexOf("=") + 1) }).flat()]; // prettier-ignore
  const head = { method: "POST", rawHeaders, search };
  const settings = { publicUrl: "https://hooks.example.com/hook" };
  const first = sender === "svix" ? "c2VjcmV0" : "secret";
  const result = authenticatorFor(sender, { settings, first }).checkHead(head, at * 1000);
  if (!("verify" in result)) return false;
  return "credential" in result.verify(DecodedBody.of(head, Buffer.from(body)));
}

describe("JSON that is signed beside values of the head", () => {
  const mac = (text: string, encoding: "hex" | "base64") =>
    createHmac("sha256", "secret").update(text).digest(encoding);
  const time = String(at);
  const rows: readonly (readonly [name: string, SenderId, signature: string, genuine: Sent, moved: Sent])[] = [
    ["in front of it", "cashfree", `x-webhook-signature=${mac(time + event, "base64")}`,
      { fields: { "x-webhook-timestamp": time }, body: event },
      { fields: { "x-webhook-timestamp": time + before }, body: behind }],
    ["that lose their end to it", "cashfree", `x-webhook-signature=${mac(time + event, "base64")}`,
      { fields: { "x-webhook-timestamp": time }, body: event },
      { fields: { "x-webhook-timestamp": time.slice(0, -1) }, body: time.slice(-1) + event }],
    ["of any form", "nextcloud-talk", `X-Nextcloud-Talk-Signature=${mac(time + event, "hex")}`,
      { fields: { "X-Nextcloud-Talk-Random": time }, body: event },
      { fields: { "X-Nextcloud-Talk-Random": time + before }, body: behind }],
    ["behind a full stop that stands in them as well", "svix", `svix-signature=v1,${mac(`1.${time}.${event.replace("&", `.${time}.&`)}`, "base64")}`,
      { fields: { "svix-id": "1", "svix-timestamp": time }, body: event.replace("&", `.${time}.&`) },
      { fields: { "svix-id": `1.${time}.${before}`, "svix-timestamp": time }, body: behind }],
    ["behind it", "sinch", `x-sinch-webhook-signature=${mac(`${event.replace("rest", ".rest")}.1.${time}`, "base64")}`,
      { fields: { "x-sinch-webhook-signature-nonce": "1", "x-sinch-webhook-signature-timestamp": time }, body: event.replace("rest", ".rest") },
      { fields: { "x-sinch-webhook-signature-nonce": `${behind.slice(behind.indexOf("rest"))}.1`, "x-sinch-webhook-signature-timestamp": time }, body: before + behind.slice(0, behind.indexOf("rest")) }],
    ["in the query", "hubspot", `X-HubSpot-Signature-v3=${mac(`POSThttps://hooks.example.com/hook?a=1${event}${at * 1000}`, "base64")}`,
      { fields: { "X-HubSpot-Request-Timestamp": String(at * 1000) }, search: "a=1", body: event },
      { fields: { "X-HubSpot-Request-Timestamp": String(at * 1000) }, search: `a=1${before}`, body: behind }],
  ]; // prettier-ignore
  for (const [name, sender, signature, genuine, moved] of rows) {
    it(`becomes no form where its border with those ${name} is moved: ${sender}`, () => {
      should(isAccepted(sender, "application/json", signature, genuine)).be.true();
      should(isAccepted(sender, form, signature, moved)).be.false();
    });
  }

  it("becomes none by a coding that changes nothing", () => {
    const signature = `x-webhook-signature=${mac(time + event, "base64")}`;
    for (const coding of ["", "identity, identity"]) {
      const fields = { "x-webhook-timestamp": time + before, "Content-Encoding": coding };
      should(isAccepted("cashfree", form, signature, { fields, body: behind })).be.false();
    }
  });

  it("may be a form that is written as forms are", () => {
    const body = `payload=${encodeURIComponent(event)}`;
    const signature = `X-Slack-Signature=v0=${mac(`v0:${time}:${body}`, "hex")}`;
    should(isAccepted("slack", form, signature, { fields: { "X-Slack-Request-Timestamp": time }, body })).be.true();
  });
});
