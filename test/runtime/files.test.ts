import should from "should";
import { gzipSync } from "node:zlib";
import { bearer, tab, token, webhook } from "../harness/flow";
import { formOf, type SentPart, typeOf } from "../harness/forms";
import { send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

const field = (name: string, content: string): SentPart => ({ disposition: `; name="${name}"`, content });
const file = (name: string, filename: string, content: Buffer | string, ...headers: string[]): SentPart => ({
  disposition: `; name="${name}"; filename="${filename}"`,
  headers,
  content,
});

/** Forms that core and this package read alike. */
const forms: Record<string, SentPart[]> = {
  "a field": [field("a", "1")],
  "a field in letters beyond ASCII": [field("a", "žluť 🐎")],
  "a field that comes twice": [field("a", "1"), field("a", "2"), field("b", "")],
  "a file": [file("f", "a.csv", "1,2\r\n", "Content-Type: text/csv")],
  "a file without a type": [file("f", "a.bin", Buffer.from([0, 255, 13, 10, 0]))],
  "fields and files": [field("a", "1"), file("f", "a.txt", "x", "Content-Type: text/plain"), field("b", "2")],
  "files of one name": [file("f", "1.txt", "one"), file("f", "2.txt", "two")],
  "an empty file": [file("f", "a.txt", "")],
  "a file that was encoded": [file("f", "a.txt", "eA==", "Content-Transfer-Encoding: base64")],
  "a file that names a path": [file("f", "../../etc/passwd", "x"), file("g", "C:\\temp\\a.txt", "y")],
  "a file of half a megabyte": [file("f", "big", Buffer.alloc(500_000, "ab"), "Content-Type: image/png")],
  nothing: [],
};

const flow = [
  ...tab(
    { id: "core", type: "http in", method: "post", url: "/core", upload: true, wires: [["tell"]] },
    webhook("ours", "/ours", { wires: [["tell"]] }),
    {
      id: "tell",
      type: "function",
      // What core has as a request cannot be sent to the test.
      func: "return { topic: msg.req.query.case, payload: msg.payload, req: { files: msg.req.files } };",
      outputs: 1,
    },
    webhook("hook", "/hook", { returnQueryParams: true }),
    webhook("raw", "/raw", { rawBody: true, wires: [["bytes"]] }),
    {
      id: "bytes",
      type: "function",
      func: "const { payload, rawBody } = msg; msg.payload = { payload, rawBody: rawBody.toString('latin1') }; return msg;",
      outputs: 1,
    },
  ),
];

onBothWays("a form with files", { flow }, (nodeRed) => {
  const post = (path: string, parts: readonly SentPart[], more: Record<string, string> = {}) =>
    send(nodeRed().node(path), { headers: { ...bearer, "Content-Type": typeOf(), ...more }, body: formOf(parts) });
  const messageFor = (which: string) =>
    nodeRed().until(() => nodeRed().messages.find(({ topic }) => topic === which), `the message of ${which}`);

  for (const [what, parts] of Object.entries(forms)) {
    it(`is read as core's http in reads it: ${what}`, async () => {
      const call = (path: string) => send(nodeRed().node(`/${path}?case=${path} ${what}`.replaceAll(" ", "+")), {
        headers: { ...bearer, "Content-Type": typeOf() },
        body: formOf(parts),
      }); // prettier-ignore
      // Core has no reply to this, as nothing answers.
      void call("core").catch(() => undefined);
      (await call("ours")).status.should.equal(200);
      const [core, own] = await Promise.all([messageFor(`core ${what}`), messageFor(`ours ${what}`)]);
      should({ ...(own.payload as object) }).eql({ ...(core.payload as object) });
      should(own.req.files).eql(core.req.files);
    });
  }

  it("has names in UTF-8, and flat ones", async () => {
    const { json } = await post("/hook?a=1", [file("f", "žluť.txt", "x"), field("a[b]", "1")]);
    const { payload, req } = await nodeRed().message(json.id);
    should(payload).eql({ body: { "a[b]": "1" }, query: { a: "1" } });
    should(req.files).eql([
      { fieldname: "f", originalname: "žluť.txt", encoding: "7bit", mimetype: "text/plain", buffer: Buffer.from("x"), size: 1 }, // prettier-ignore
    ]);
  });

  it("may be packed", async () => {
    const body = gzipSync(formOf([field("a", "1")]));
    const headers = { ...bearer, "Content-Type": typeOf(), "Content-Encoding": "gzip" };
    const { json } = await send(nodeRed().node("/hook"), { headers, body });
    should((await nodeRed().message(json.id)).payload).eql({ body: { a: "1" }, query: {} });
  });

  it("is refused when it is malformed, or has too many parts", async () => {
    const broken = await send(nodeRed().node("/hook"), { headers: { ...bearer, "Content-Type": typeOf() }, body: "--b\r\n" });
    broken.status.should.equal(400);
    (await post("/hook", Array<SentPart>(1001).fill(field("a", "")))).status.should.equal(413);
  }); // prettier-ignore

  it("needs its token before it is read", async () => {
    (await post("/hook", [field("a", "1")], { Authorization: `Bearer ${token}x` })).status.should.equal(401);
  });

  describe("and the raw body", () => {
    for (const [what, type, body, payload] of [
      ["JSON", "application/json", '{ "a": 1.0 }\r\n', { a: 1 }],
      ["a form", "application/x-www-form-urlencoded", "b=2&a=%31", { a: "1", b: "2" }],
      ["nothing", "text/plain", "", ""],
      ["a form with files", typeOf(), formOf([field("a", "1")]).toString(), { a: "1" }],
    ] as const) {
      it(`is there as it was sent, beside the payload: ${what}`, async () => {
        const { json } = await send(nodeRed().node("/raw"), { headers: { ...bearer, "Content-Type": type }, body });
        should((await nodeRed().message(json.id)).payload).eql({ payload, rawBody: body });
      });
    }

    it("has the content codings that it was sent with", async () => {
      const body = gzipSync("{}");
      const headers = { ...bearer, "Content-Type": "application/json", "Content-Encoding": "gzip" };
      const { json } = await send(nodeRed().node("/raw"), { headers, body });
      should((await nodeRed().message(json.id)).payload).eql({ payload: {}, rawBody: body.toString("latin1") });
    });
  });
});
