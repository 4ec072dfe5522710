import fc from "fast-check";
import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import should from "should";
import type { FormFields } from "../../src/request/form";
import { isMultipart } from "../../src/request/media-types";
import { parseMultipart, type UploadedFile } from "../../src/request/multipart";
import { Problem } from "../../src/request/problem";
import { formOf, type SentPart, typeOf } from "../harness/forms";
import { seed } from "../harness/property";

/** What core's `http in` takes forms apart with, as far as it uses it. */
interface Multer {
  (options: { storage: object }): { any(): (request: object, response: object, next: (error?: Error) => void) => void };
  memoryStorage(): object;
}

const multer = createRequire(import.meta.url)("multer") as Multer;
const core = multer({ storage: multer.memoryStorage() }).any();

interface Taken {
  body?: Record<string, string | string[]>;
  files?: UploadedFile[];
}

function coreTakes(bytes: Buffer): Promise<Taken> {
  const headers = { "content-type": typeOf(), "content-length": String(bytes.length) };
  const request: PassThrough & Taken = Object.assign(new PassThrough(), { headers });
  request.end(bytes);
  return new Promise((resolve, reject) => core(request, {}, (error) => (error ? reject(error) : resolve(request))));
}

const name = fc.string({ unit: fc.constantFrom(...Array.from("abcXYZ019 _-.ä你")), minLength: 1, maxLength: 12 });
const content = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: fc.constantFrom("\r", "\n", "-", "\r\n--", "x"), maxLength: 40 }).map((text) => Buffer.from(text)),
);
const part: fc.Arbitrary<SentPart> = fc.oneof(
  fc.record({ disposition: name.map((each) => `; name="${each}"`), content }),
  fc.record({
    disposition: fc.tuple(name, name).map(([field, file]) => `; name="${field}"; filename="${file}"`),
    headers: fc.constantFrom([], ["Content-Type: image/png"], ["content-transfer-encoding: binary"]),
    content,
  }),
);
const form = fc
  .array(part, { maxLength: 12 })
  .filter((parts) => !parts.some(({ content }) => content.includes("\r\n--b")))
  .map((parts) => formOf(parts));

/** Core replaces what is no UTF-8, and keeps no bytes. */
const replaced = (value: FormFields[string]) => (Array.isArray(value) ? value.map(String) : String(value));

/** Core reads names as Latin-1. */
const inUtf8 = (text: string) => Buffer.from(text, "latin1").toString();

describe("for any form", () => {
  it("fields and files are those that core's http in gives, names in UTF-8", async () => {
    const property = fc.asyncProperty(form, async (bytes) => {
      const ours = parseMultipart(bytes, typeOf());
      const theirs = await coreTakes(bytes);
      if (ours instanceof Problem) throw new Error(ours.name);
      const { body = {}, files = [] } = theirs;
      const texts = Object.entries(ours.fields).map(([each, value]) => [each, replaced(value)] as const);
      should(new Map(texts)).eql(new Map(Object.entries(body).map(([each, value]) => [inUtf8(each), value])));
      const known = files.map((file) => ({
        ...file,
        fieldname: inUtf8(file.fieldname),
        originalname: inUtf8(file.originalname),
      }));
      // Core drops files whose names are empty once their path is taken off.
      ours.files.filter(({ originalname }) => originalname !== "").should.eql(known);
    });
    await fc.assert(property, { seed, numRuns: 500 });
  });

  it("there is an answer to whatever has become of it on its way", () => {
    const change = fc.record({ at: fc.nat(), drop: fc.nat(8), put: fc.constantFrom("", "\r\n", "--b", "\r\n--b", "\0", ":", '"', ";", "\r", "--") }); // prettier-ignore
    const property = fc.property(form, fc.array(change, { maxLength: 4 }), (whole, changes) => {
      let bytes = whole;
      for (const { at, drop, put } of changes) {
        const from = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(put), bytes.subarray(from + drop)]);
      }
      const outcome = parseMultipart(bytes, typeOf());
      if (outcome instanceof Problem) [400, 413, 415].should.containEql(outcome.status);
      else for (const { originalname, buffer, size } of outcome.files) {
        originalname.should.not.match(/[/\\]|^\.\.?$/);
        buffer.length.should.equal(size);
      }
    }); // prettier-ignore
    fc.assert(property, { seed, numRuns: 1000 });
  });
});

describe("for any content type", () => {
  it("there is an answer to a form", () => {
    const boundary = fc.string({ unit: "binary-ascii", maxLength: 80 });
    const type = fc.oneof(boundary.map((each) => `multipart/form-data; boundary=${each}`), boundary.map(typeOf), fc.string()); // prettier-ignore
    const property = fc.property(type, form, (contentType, bytes) => {
      isMultipart(contentType).should.be.a.Boolean();
      const outcome = parseMultipart(bytes, contentType);
      if (outcome instanceof Problem) outcome.status.should.equal(400);
    });
    fc.assert(property, { seed, numRuns: 500 });
  });
});
