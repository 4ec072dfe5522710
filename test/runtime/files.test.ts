import should from "should";
import { gzipSync } from "node:zlib";
import { bearer, tab, token, webhook } from "../harness/flow";
import { formOf, type SentPart, typeOf } from "../harness/forms";
import { send } from "../harness/http";
import { behindGuards, useNodeRed } from "../harness/layouts";

const field = (name: string, content: string): SentPart => ({ disposition: `; name="${name}"`, content });
const file = (name: string, filename: string, content: Buffer | string, ...headers: string[]): SentPart => ({
  disposition: `; name="${name}"; filename="${filename}"`,
  headers,
  content,
});

/** A form that core and this package read alike. */
const everything: SentPart[] = [
  ...[field("a", "žluť 🐎"), field("a", "2"), field("b", "")],
  ...[file("f", "1.csv", "1,2\r\n", "Content-Type: text/csv"), file("f", "2.bin", Buffer.from([0, 255, 13, 10, 0]))],
  ...[file("empty", "a.txt", ""), file("encoded", "a.txt", "eA==", "Content-Transfer-Encoding: base64")],
  ...[file("path", "../../etc/passwd", "x"), file("drive", "C:\\temp\\a.txt", "y")],
  file("big", "big", Buffer.alloc(500_000, "ab"), "Content-Type: image/png"),
];

// What core has as a request cannot be sent to the test.
const strip = "return { topic: msg.req.query.case, payload: msg.payload, req: { files: msg.req.files } };";
const flow = tab(
  { id: "core", type: "http in", method: "post", url: "/core", upload: true, wires: [["strip"]] },
  webhook("ours", "/ours", { wires: [["strip"]] }),
  { id: "strip", type: "function", func: strip, outputs: 1 },
  webhook("hook", "/hook", { returnQueryParams: true }),
  webhook("raw", "/raw", { rawBody: true }),
);

describe("a form with files", () => {
  // Behind guards, its bytes have to be kept from the parsers of the admin app.
  const nodeRed = useNodeRed({ flow, ...behindGuards });
  const post = (path: string, body: string | Uint8Array, more: Record<string, string> = {}) =>
    send(nodeRed().node(path), { headers: { ...bearer, "Content-Type": typeOf(), ...more }, body });
  const messageOf = async (sent: ReturnType<typeof post>) => nodeRed().message((await sent).json.id);

  it("is read as core's http in reads it, whatever is in it", async () => {
    const call = (path: string) => post(`/${path}?case=${path}`, formOf(everything));
    // Core has no reply to this, as nothing answers.
    void call("core").catch(() => undefined);
    (await call("ours")).status.should.equal(200);
    const withTopic = (topic: string) =>
      nodeRed().until(() => nodeRed().messages.find((message) => message.topic === topic), `the message of ${topic}`);
    const [core, own] = await Promise.all([withTopic("core"), withTopic("ours")]);
    should({ ...(own.payload as object) }).eql({ ...(core.payload as object) });
    should(own.req.files).eql(core.req.files);
  });

  it("has names in UTF-8, and flat ones, beside the query", async () => {
    const parts = [file("f", "žluť.txt", "x"), field("a[b]", "1")];
    const { payload, req } = await messageOf(post("/hook?a=1", formOf(parts)));
    should(payload).eql({ body: { "a[b]": "1" }, query: { a: "1" } });
    should(req.files).eql([
      { fieldname: "f", originalname: "žluť.txt", encoding: "7bit", mimetype: "text/plain", buffer: Buffer.from("x"), size: 1 }, // prettier-ignore
    ]);
  });

  it("may be packed", async () => {
    const packed = post("/hook", gzipSync(formOf([field("a", "1")])), { "Content-Encoding": "gzip" });
    should((await messageOf(packed)).payload).eql({ body: { a: "1" }, query: {} });
  });

  it("is refused where it is malformed, has too many parts, or no token", async () => {
    (await post("/hook", "--b\r\n")).status.should.equal(400);
    (await post("/hook", formOf(Array<SentPart>(1001).fill(field("a", ""))))).status.should.equal(413);
    const stranger = post("/hook", formOf([field("a", "1")]), { Authorization: `Bearer ${token}x` });
    (await stranger).status.should.equal(401);
  });

  for (const [what, type, body, payload, coding] of [
    ["JSON", "application/json", '{ "a": 1.0 }\r\n', { a: 1 }],
    ["a form", "application/x-www-form-urlencoded", "b=2&a=%31", { a: "1", b: "2" }],
    ["an empty body", "text/plain", "", ""],
    ["a form with files", typeOf(), formOf([field("a", "1")]), { a: "1" }],
    ["packed JSON", "application/json", gzipSync("{}"), {}, { "Content-Encoding": "gzip" }],
  ] as const) {
    it(`and other bodies have their bytes in msg.rawBody where the node says so, with ${what}`, async () => {
      const message = await messageOf(post("/raw", body, { "Content-Type": type, ...coding }));
      should(message.payload).eql(payload);
      should(Buffer.compare(message.rawBody as Buffer, Buffer.from(body))).equal(0);
    });
  }
});
