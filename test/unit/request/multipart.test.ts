import should from "should";
import { type MultipartForm, parseMultipart } from "../../../src/request/multipart";
import { Problem } from "../../../src/request/problem";
import { shouldGrowEvenly } from "../../harness/cost";
import { formOf, type SentPart, typeOf } from "../../harness/forms";

function read(body: Buffer | string, type = typeOf()): MultipartForm {
  const form = parseMultipart(Buffer.from(body), type);
  if (form instanceof Problem) throw new Error(form.name);
  return form;
}

function refusalOf(body: Buffer | string, type = typeOf()): string {
  const form = parseMultipart(Buffer.from(body), type);
  return form instanceof Problem ? `${form.name} ${form.status}` : "taken";
}

const field = (name: string, content = ""): SentPart => ({ disposition: `; name="${name}"`, content });
const file = (filename: string, content: Buffer | string = "x"): SentPart => ({
  disposition: `; name="f"; filename="${filename}"`,
  headers: ["Content-Type: text/csv"],
  content,
});

describe("parseMultipart", () => {
  it("gives no prototype to what it returns", () => {
    const { fields, files } = read(formOf([field("__proto__", "1"), field("constructor", "2"), file("__proto__")]));
    should(Object.getPrototypeOf(fields)).equal(Object.prototype);
    Object.entries(fields).should.eql([["constructor", "2"]]);
    files.should.have.length(1);
  });

  it("takes heads of 256 kB at most, whatever the files have", () => {
    const withHead = (length: number) => {
      const headers = [`X: ${"x".repeat(length)}`];
      const sent = { disposition: '; name="f"; filename="a"', headers, content: Buffer.alloc(10_000, "x") };
      return formOf(Array<SentPart>(100).fill(sent));
    };
    should(refusalOf(withHead(2400))).equal("taken");
    should(refusalOf(withHead(2700))).equal("partsTooMany 413");
  });

  it("takes a form without parts, and one with text around it", () => {
    read("--b--").should.eql({ fields: {}, files: [] });
    read(`before\r\n${formOf([field("a", "1")]).toString()}after\r\n--b\r\n`).fields.should.eql({ a: "1" });
  });

  it("gives a file of many bytes, and in memory of its own", () => {
    const body = formOf([file("a", Buffer.alloc(3_000_000, "\r\n--"))]);
    const { files } = read(body);
    files[0]?.buffer.equals(Buffer.alloc(3_000_000, "\r\n--")).should.be.true();
    body.fill(0);
    should(files[0]?.buffer.toString("latin1", 0, 4)).equal("\r\n--");
  });

  it("takes a charset for a field", () => {
    const latin1 = { ...field("a"), headers: ["Content-Type: text/plain; charset=iso-8859-1"] };
    const { fields } = read(formOf([{ ...latin1, content: Buffer.from("é", "latin1") }]));
    fields.should.eql({ a: "é" });
  });

  const typed = (type: string, content: Buffer | string) => ({ ...field("a"), headers: [`Content-Type: ${type}`], content }); // prettier-ignore

  it("takes a part without a file name that is no text for a file, whose name is empty", () => {
    const bytes = Buffer.from([0xff, 0xd8, 0, 1]);
    for (const type of ["image/jpeg", "application/octet-stream", "application/pdf", "multipart/mixed; boundary=c"]) {
      const { fields, files } = read(formOf([typed(type, bytes)]));
      fields.should.eql({});
      const known = { fieldname: "a", originalname: "", encoding: "7bit", mimetype: type.split(";")[0], size: 4 };
      files.should.eql([{ ...known, buffer: bytes }]);
    }
  });

  it("takes what has a file name for a file, also if that is empty, and all other text, JSON and XML for fields", () => {
    for (const type of ["text/plain", "application/json", "application/soap+xml", "application/vnd.api+json", "nonsense"]) {
      read(formOf([typed(type, "[1]")])).should.eql({ fields: { a: "[1]" }, files: [] });
      const named = { ...typed(type, "[1]"), disposition: '; name="a"; filename=""' };
      read(formOf([named])).files.map(({ buffer }) => String(buffer)).should.eql(["[1]"]);
    }
  }); // prettier-ignore

  it("reads a part by its mark, its own charset, the declaration of XML or the form's, in this order", () => {
    const form = field("_charset_", "koi8-r");
    const xml = "<?xml version='1.0' encoding='windows-1253'?>";
    const [mark, a] = ["\xef\xbb\xbf", "\xc1"];
    for (const [type, content, expected] of [
      ["text/plain; charset=windows-1253", `${mark}\xc3\xbc`, "ü"],
      ["text/plain; charset=windows-1253", a, "Α"],
      ["text/xml; charset=windows-1251", xml + a, `${xml}Б`],
      ["text/xml", xml + a, `${xml}Α`],
      ["text/plain", a, "а"],
      ["application/json", a, "а"],
      ["text/plain; charset=utf-8", a, Buffer.from(a, "latin1")],
    ] as const) {
      const part = typed(type, Buffer.from(content, "latin1"));
      for (const parts of [[form, part], [part, form]]) {
        should(read(formOf(parts)).fields).eql({ _charset_: "koi8-r", a: expected });
      }
    }
  }); // prettier-ignore

  it("gives the bytes of a part that is not in its charset, in memory of its own", () => {
    const body = formOf([{ ...field("a"), content: Buffer.from("Gr\xfc\xdfe", "latin1") }, field("b", "Grüße")]);
    const { fields } = read(body);
    body.fill(0);
    should(fields).eql({ a: Buffer.from("Gr\xfc\xdfe", "latin1"), b: "Grüße" });
  });

  it("reads names in UTF-8, or else in windows-1252", () => {
    const name = (text: string) => ({ disposition: `; name="${text}"; filename="${text}.csv"`, content: "" });
    const inBytes = (text: string) => Buffer.from(formOf([name(text)]).toString(), "latin1");
    for (const [body, expected] of [
      [formOf([name("Grüße €")]), "Grüße €"],
      [inBytes("Gr\xfc\xdfe \x80"), "Grüße €"],
    ] as const) {
      should(read(body).files).match([{ fieldname: expected, originalname: `${expected}.csv` }]);
    }
  });

  describe("gives of the name of a file the last part, in UTF-8", () => {
    for (const [written, name] of [
      ["Grüße 你好.csv", "Grüße 你好.csv"],
      ["C:\\temp\\a.csv", "a.csv"],
      ["say %22hi%22.csv", 'say "hi".csv'],
      ["100%.csv", "100%.csv"],
    ] as const) {
      it(written, () => {
        should(read(formOf([file(written)])).files[0]?.originalname).equal(name);
      });
    }

    it("as RFC 5987 writes it", () => {
      const disposition = `; name="f"; filename="x"; filename*=UTF-8''..%2F%e4%bd%a0.csv`;
      should(read(formOf([{ disposition, content: "" }])).files[0]?.originalname).equal("你.csv");
    });
  });

  it("takes a file without a name, unless it is what browsers send for none", () => {
    const nameless = { disposition: '; name="f"', headers: ["Content-Type: application/octet-stream"] };
    read(formOf([{ ...nameless, content: "x" }])).files.should.have.length(1);
    read(formOf([{ ...nameless, content: "" }])).files.should.eql([]);
  });

  it("takes boundaries with any of their characters, of up to 70", () => {
    for (const boundary of ["-----------------------------974767299852498929531610575", "'()+_,-./:=? x", "a".repeat(70), '"\\']) {
      const type = `multipart/form-data; boundary="${boundary.replace(/["\\]/g, "\\$&")}"`;
      read(formOf([field("a", "1")], boundary), type).fields.should.eql({ a: "1" });
    }
    read(formOf([field("a", "1")], "a/b=c"), "multipart/form-data; boundary=a/b=c").fields.should.eql({ a: "1" });
  }); // prettier-ignore

  describe("refuses", () => {
    const good = formOf([field("a", "1")]).toString();
    for (const [name, body, type] of [
      ["a body that is empty", "", typeOf()],
      ["a body that is no form", "hello world", typeOf()],
      ["a form without a boundary", good, "multipart/form-data"],
      ["an empty boundary", good, typeOf("")],
      ["a boundary of 71 characters", formOf([field("a")], "a".repeat(71)), typeOf("a".repeat(71))],
      ["another boundary", good, typeOf("c")],
      ["lines that end with LF alone", good.replace(/\r/g, ""), typeOf()],
      ["a part without a head", "--b\r\n\r\nx\r\n--b--", typeOf()],
      ["a part without a disposition", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", typeOf()],
      ["a part of another disposition", '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--', typeOf()],
      ["a part without a name", formOf([{ disposition: "", content: "x" }]), typeOf()],
      ["a file without a field", formOf([{ disposition: '; filename="x"', content: "x" }]), typeOf()],
      ["a part whose head does not end", '--b\r\nContent-Disposition: form-data; name="a"\r\n--b--', typeOf()],
      ["a line of a head that has no colon", formOf([{ ...field("a"), headers: ["oops"] }]), typeOf()],
      [
        "a part that says twice what it is",
        formOf([{ ...field("a"), headers: ['Content-Disposition: form-data; name="b"'] }]),
        typeOf(),
      ],
      ["two names", formOf([{ disposition: '; name="a"; name="b"', content: "" }]), typeOf()],
      ["a line break in a name", formOf([field("a\r\nX-Evil: 1")]), typeOf()],
      ["a bare line feed in a name", formOf([field("a\nb")]), typeOf()],
      ["a NUL in a name", formOf([field("a\0b")]), typeOf()],
      ["a head of 20 kB", formOf([{ ...field("a"), headers: [`X: ${"x".repeat(20_000)}`] }]), typeOf()],
      ["many lines in a head", formOf([{ ...field("a"), headers: Array<string>(5000).fill("X: y") }]), typeOf()],
      ["a delimiter with something after it", good.replace("--b\r\n", "--bx\r\n"), typeOf()],
      ["a delimiter within a part", formOf([field("a", "1\r\n--bc\r\n2")]), typeOf()],
    ] as const) {
      it(name, () => refusalOf(body, type).should.equal("formMalformed 400"));
    }

    it("a charset that is not known", () => {
      const unknown = { ...field("a", "ä"), headers: ["Content-Type: text/plain; charset=klingon"] };
      refusalOf(formOf([unknown])).should.equal("charsetUnknown 415");
    });
  });

  it("refuses a form that breaks off, wherever it does", () => {
    const whole = formOf([field("a", "1"), file("b.csv", "2"), field("c", "3")]);
    const end = whole.length - "\r\n".length;
    for (let length = 0; length < end; length++) {
      refusalOf(whole.subarray(0, length)).should.equal("formMalformed 400", String(length));
    }
    refusalOf(whole.subarray(0, end)).should.equal("taken");
  });

  const boundary = "a".repeat(70);
  for (const [what, begin, rest] of [
    ["letters of the boundary", "", "a"],
    ["beginnings of the boundary", "", `\r\n--${"a".repeat(69)}`],
    ["beginnings of its line", "", "\r\n-"],
    ["boundaries that do not end", "", `--${boundary}\r`],
    ["header fields", `--${boundary}\r\n`, "X: y\r\n"],
  ] as const) {
    it(`takes a time that grows with the length of the body and no faster: ${what}`, async () => {
      await shouldGrowEvenly((size) => {
        const body = Buffer.concat([Buffer.from(begin), Buffer.alloc(size, rest)]);
        refusalOf(body, typeOf(boundary)).should.match(/^(formMalformed 400|partsTooMany 413)$/);
      }, 1_000_000);
    });
  }
});
