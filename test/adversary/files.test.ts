import should from "should";
import { basename, posix, win32 } from "node:path";
import { gzipSync } from "node:zlib";
import { maxParts } from "../../src/request/multipart";
import { bearer, token, webhookFlow } from "../harness/flow";
import { afterReply, dial, exchange, hangUp, repliesIn, send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";
import { hookRequest, Reception } from "../harness/reception";

const authorised = `Authorization: Bearer ${token}`;
const boundary = "b0undary";
const form = `Content-Type: multipart/form-data; boundary=${boundary}`;
const part = (disposition: string, value = "x", ...fields: string[]) =>
  [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...fields, "", value, ""].join("\r\n");
const formOf = (...parts: string[]) => `${parts.join("")}--${boundary}--\r\n`;
const file = (name: string) => part(`name="f"; filename="${name}"`);
const starred = (name: string) => part(`name="f"; filename*=utf-8''${encodeURIComponent(name)}`);

describe("forms with files that mean harm", () => {
  let reception: Reception;
  beforeEach(async () => {
    reception = await Reception.open();
  });
  afterEach(() => reception.close());

  const reply = async (body: string | Uint8Array, ...fields: string[]) =>
    repliesIn(await exchange(reception.origin, hookRequest(body, authorised, "Connection: close", ...fields)))[0];
  const statusOf = async (body: string | Uint8Array, ...fields: string[]) => (await reply(body, ...fields))?.status;

  it(`are taken with ${maxParts} parts, and with no more (RFC 9110 §15.5.14)`, async () => {
    const parts = (count: number) => formOf(...Array.from({ length: count }, (_, index) => part(`name="n${index}"`)));
    should(await statusOf(parts(maxParts), form)).equal(200);
    should(await statusOf(parts(maxParts + 1), form)).equal(413);
    should(await statusOf(parts(10_000), form)).equal(413);
    should(await statusOf(formOf(...Array.from({ length: 10_000 }, () => file("a"))), form)).equal(413);
    should(await statusOf(gzipSync(parts(10_000)), form, "Content-Encoding: gzip")).equal(413);
    reception.payloads.should.have.length(1);
  });

  it("cannot be larger unpacked than packed (RFC 9110 §8.4)", async () => {
    const bomb = gzipSync(formOf(part('name="f"; filename="a"', "x".repeat(6 * 1024 * 1024))));
    bomb.length.should.be.below(10_000);
    should(await statusOf(bomb, form, "Content-Encoding: gzip")).equal(413);
  });

  for (const [name, body, field = form] of [
    ["break off in the middle", formOf(file("a")).slice(0, -6)],
    ["break off in a head", `--${boundary}\r\nContent-Disposition: form-data; na`],
    ["have nothing but a beginning", `--${boundary}\r\n`],
    ["have another boundary", formOf(file("a")), "Content-Type: multipart/form-data; boundary=other"],
    ["have no boundary", formOf(file("a")), "Content-Type: multipart/form-data"],
    [
      "have a boundary of 71 characters",
      formOf(file("a")),
      `Content-Type: multipart/form-data; boundary=${"b".repeat(71)}`,
    ],
    ["have a part without a name", formOf(part('filename="a"'))],
    ["have a part without a head", `--${boundary}\r\n\r\nx\r\n--${boundary}--\r\n`],
    ["have a head of 100 kB", formOf(part('name="f"', "x", `X: ${"y".repeat(100_000)}`))],
    ["are empty", " "],
  ] as const) {
    it(`are refused when they ${name}, and start no flow`, async () => {
      should(await statusOf(body, field)).equal(400);
      reception.payloads.should.eql([]);
    });
  }

  it("are served when they come byte by byte", async () => {
    const socket = dial(reception.origin).setNoDelay();
    const bytes = hookRequest(formOf(part('name="a"', "1")), authorised, form);
    for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    reception.payloads.should.eql([{ a: "1" }]);
  });

  it("leave nothing when their caller goes in the middle", async () => {
    const request = hookRequest(formOf(file("a")), authorised, form);
    await exchange(reception.origin, request.subarray(0, -10), hangUp);
    const [, next] = repliesIn(
      await exchange(
        reception.origin,
        hookRequest("x", authorised),
        afterReply,
        hookRequest("y", authorised, "Connection: close"),
      ),
    );
    should(next?.status).equal(200);
    reception.payloads.should.eql(["x", "y"]);
  });

  it("cannot change what all objects have", async () => {
    const names = ["__proto__", "constructor", "toString", "__proto__[polluted]", "a[__proto__][b]"];
    should(await statusOf(formOf(...names.map((name) => part(`name="${name}"`, "polluted"))), form)).equal(200);
    // Of these, the first is no name that a copy of the message would keep.
    should(Object.keys(reception.payloads[0] as object).sort()).eql(names.slice(1).sort());
    should(({} as Record<string, unknown>).polluted).be.undefined();
  });
});

/** Names that would lead elsewhere if somebody took them for a path. */
const names = ["/etc/passwd", "../../etc/passwd", "..", ".", "..\\\\..\\\\boot.ini", "C:\\\\Windows\\\\x.dll", "a/../b", "a/..", "a/.", "a\\\\..", "/", "a/", "..%2f..%2fx", "..%5cx", "%2e%2e/x", "a/..%0a", "\u2025/x", "..／x", "a/%22/../x"]; // prettier-ignore

inEveryLayout("names of files", { flow: webhookFlow({}) }, (nodeRed) => {
  for (const [way, made] of [
    ["filename", file],
    ["filename*", starred],
  ] as const) {
    it(`are never a path, in ${way}`, async () => {
      const body = formOf(...names.map((name) => made(name)));
      const headers = { ...bearer, "Content-Type": `multipart/form-data; boundary=${boundary}` };
      const { status, json } = await send(nodeRed().node("/hook"), { headers, body });
      status.should.equal(200);
      const { req } = await nodeRed().message(json.id);
      const files = req.files as { originalname: string }[];
      files.should.have.length(names.length);
      for (const { originalname } of files) {
        should([posix.basename(originalname), win32.basename(originalname)]).eql([originalname, originalname]);
        [".", ".."].should.not.containEql(originalname);
        basename(originalname).should.equal(originalname);
      }
    });
  }
});
