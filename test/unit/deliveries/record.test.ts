import should from "should";
import { Redactor } from "../../../src/auth/redactor";
import type { IncomingDelivery } from "../../../src/deliveries/delivery";
import { recordRequest, restoreDelivery } from "../../../src/deliveries/record";
import { DecodedBody } from "../../../src/request/decode";
import { Problem } from "../../../src/request/problem";
import { formOf, typeOf } from "../../harness/forms";

/** Records what a request is decoded to, and restores it. */
async function keep(type: string, bytes: Buffer, parsed?: { value: unknown }) {
  const headers = { "content-type": type };
  const content = await new DecodedBody({ request: { headers }, parsed }, bytes).decode(1_000_000);
  if (content instanceof Problem) throw new Error(content.name);
  const req = { method: "POST", url: "/a", path: "/a", query: {}, headers, ip: "127.0.0.1", ...(content.files && { files: content.files }) }; // prettier-ignore
  const incoming: IncomingDelivery = { id: "1", body: content.value, req, webhook: { credential: "first" } };
  const sent = { content, bytes: parsed ? undefined : bytes, isTest: false };
  const { delivery, body } = recordRequest("node", new Redactor([]), incoming, sent, true);
  const restored = await restoreDelivery({ delivery: { ...delivery, state: "queued" }, body }, 1_000_000, false);
  if (restored instanceof Problem) throw new Error(restored.name);
  return [incoming, restored] as const;
}

describe("a delivery that is kept", () => {
  const form = "application/x-www-form-urlencoded";
  const bodies: [string, string, Buffer][] = [
    ["a text", "text/plain", Buffer.from("hello")],
    ["a text that is no text", "text/plain", Buffer.from("\xfc", "latin1")],
    ["a text in its charset", "text/plain; charset=gbk", Buffer.from("b2e2", "hex")],
    ["JSON", "application/json", Buffer.from('{"a":1}')],
    ["a form", form, Buffer.from("a=%FC&b=1&a=2")],
    ["bytes", "image/png", Buffer.from([0, 255])],
    ["a form with files", typeOf(), formOf([
      { disposition: '; name="a"', content: Buffer.from("\xfc", "latin1") },
      { disposition: '; name="b"', headers: ["Content-Type: image/png"], content: Buffer.from([0, 255]) },
    ])],
  ]; // prettier-ignore
  for (const [name, type, bytes] of bodies) {
    it(`gives the flow in a retry what it got at first: ${name}`, async () => {
      const [incoming, restored] = await keep(type, bytes);
      should({ body: restored.body, files: restored.req.files }).eql({
        body: incoming.body,
        files: incoming.req.files,
      });
    });

    if (type === typeOf()) continue;
    it(`gives the flow in a retry what it got at first, if a layer in front has read the bytes: ${name}`, async () => {
      const [incoming, restored] = await keep(type, bytes, { value: bytes });
      should(restored.body).eql(incoming.body);
    });
  }
});
