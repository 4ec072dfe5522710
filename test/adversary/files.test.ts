import should from "should";
import { posix, win32 } from "node:path";
import { gzipSync } from "node:zlib";
import { maxParts } from "../../src/request/form";
import { accepted, besiege, last, post, refused, withstand } from "../harness/siege";

const boundary = "b0undary";
const contentType = `Content-Type: multipart/form-data; boundary=${boundary}`;
const part = (disposition: string, value = "x", ...fields: string[]) =>
  [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...fields, "", value, ""].join("\r\n");
const formOf = (...parts: string[]) => `${parts.join("")}--${boundary}--\r\n`;
const file = (name: string) => part(`name="f"; filename="${name}"`);
const starred = (name: string) => part(`name="f"; filename*=utf-8''${encodeURIComponent(name)}`);
const fields = (count: number) => formOf(...Array.from({ length: count }, (_, index) => part(`name="n${index}"`)));
const names = ["__proto__", "constructor", "toString", "__proto__[polluted]"];

/** Names that would lead elsewhere for a program that takes them for a path. */
const paths = ["/etc/passwd", "../../etc/passwd", "..", ".", "..\\\\..\\\\boot.ini", "C:\\\\x.dll", "a/..", "a\\\\..", "/", "a/", "..%2f..%2fx", "%2e%2e/x", "a/..%0a", "\u2025/x", "..／x"]; // prettier-ignore

besiege("requests with a form of files", (siege) => {
  const bomb = gzipSync(formOf(part('name="f"; filename="a"', "x".repeat(6 * 1024 * 1024))));
  const packed = gzipSync(fields(10_000));
  withstand(siege, [
    accepted(`${maxParts} parts`, post(fields(maxParts), contentType), Object.fromEntries(Array.from({ length: maxParts }, (_, index) => [`n${index}`, "x"]))),
    refused(`${maxParts + 1} parts (RFC 9110 §15.5.14)`, post(fields(maxParts + 1), contentType), 413),
    refused("10,000 files", post(formOf(...Array.from({ length: 10_000 }, () => file("a"))), contentType), 413),
    refused("10,000 parts in gzip", post(packed, contentType, "Content-Encoding: gzip"), 413),
    refused("a file of 6 MB in gzip, which counts unpacked (RFC 9110 §8.4)", post(bomb, contentType, "Content-Encoding: gzip"), 413),
    // The first is no name that a copy of the message would keep.
    accepted("names that every object has", post(formOf(...names.map((name) => part(`name="${name}"`))), contentType), Object.fromEntries(names.slice(1).map((name) => [name, "x"]))),
  ]); // prettier-ignore

  for (const [way, made] of [
    ["filename", file],
    ["filename*", starred],
  ] as const) {
    it(`get names of files without folders, in ${way}`, async () => {
      const [reply] = await siege().replies(...post(Buffer.from(formOf(...paths.map(made))), contentType, last));
      const { id } = JSON.parse(reply?.body ?? "") as { id: string };
      const { req } = await siege().nodeRed.message(id);
      await siege().payloads();
      const files = req.files as { originalname: string }[];
      files.should.have.length(paths.length);
      for (const { originalname } of files) {
        should([posix.basename(originalname), win32.basename(originalname)]).eql([originalname, originalname]);
        [".", ".."].should.not.containEql(originalname);
      }
    });
  }
});
