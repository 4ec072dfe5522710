import should from "should";
import { senders } from "../../src/auth/senders/table";
import { DecodedBody } from "../../src/request/decode";
import { problems } from "../../src/request/problem";
import { shouldCostLess, shouldGrowEvenly } from "../harness/cost";
import { fieldsReadFor, hostileForms, hostileTexts } from "../harness/hostile";
import { signers, signingIds } from "../harness/signers";
import { authenticatorFor } from "../harness/verification";

const publicUrl = "https://hooks.example.com/hook";

describe("the time to check a request", () => {
  for (const id of signingIds) {
    it(`grows no faster than a header field that is read for ${id}, whatever is in it`, async () => {
      const [first = ""] = signers[id].secrets;
      const authenticator = authenticatorFor(id, { first, settings: { publicUrl } });
      const body = Buffer.from('{"a":1}');
      const check = (rawHeaders: string[]) => {
        const head = { method: "POST", rawHeaders, search: "" };
        const result = authenticator.checkHead(head, Date.now());
        if ("verify" in result) result.verify(DecodedBody.of(head, body));
      };
      const own = fieldsReadFor(senders[id]);
      const fields = [
        ...own,
        ...["Authorization", "Content-Type"].filter((name) => !own.has(name)).map((name) => [name, ""] as const),
      ];
      await shouldGrowEvenly((size) => {
        for (const text of Object.values(hostileTexts(size))) {
          for (const [name, beginning] of fields) {
            check(["Content-Type", "application/json", name, beginning + text]);
            // The others are as the sender writes them, so that this one is come to.
            const others = fields.filter(([other]) => other !== name);
            check([...others.flatMap(([other, start]) => [other, `${start}1`]), name, text]);
          }
        }
      }, 16_384);
    });
  }
});

describe("the time to read a body", () => {
  const form = "application/x-www-form-urlencoded";
  for (const type of [form, "application/json", "text/plain"]) {
    it(`grows no faster than the body, whatever is in it, for ${type}`, async () => {
      const texts = (size: number) => [...hostileForms(size), ...Object.values(hostileTexts(size))];
      for (const index of texts(1).keys()) {
        await shouldGrowEvenly((size) => {
          const body = Buffer.from(texts(size)[index] ?? "", "latin1");
          should(DecodedBody.of({ rawHeaders: ["Content-Type", type] }, body).content).be.ok();
        }, 1_048_576);
      }
    });
  }

  const multipart = (heads: readonly string[]) => {
    const parts = heads.map((head) => `--x\r\n${head}\r\n\r\n1\r\n`).join("");
    const rawHeaders = ["Content-Type", "multipart/form-data; boundary=x"];
    return DecodedBody.of({ rawHeaders }, Buffer.from(`${parts}--x--`, "latin1")).content;
  };
  const named = 'Content-Disposition: form-data; name="a"';

  it("grows no faster than the head of a part, whatever is in it", async () => {
    for (const index of Object.keys(hostileTexts(1)).keys()) {
      await shouldGrowEvenly((size) => {
        const text = Object.values(hostileTexts(size))[index] ?? "";
        for (const end of ["", "\x01", "\r", '"']) {
          multipart([`X: ${text}${end}`]);
          multipart([`X:${text.replace(/^\w/, "")}${end}`]);
          multipart([`Content-Disposition: form-data; ${text}${end}`]);
          multipart([`Content-Disposition: form-data; name="${text}${end}`]);
          multipart([`Content-Disposition: form-data; name=a; filename*=${text}${end}`]);
          multipart([`${named}\r\nContent-Type: text/plain; charset=${text}${end}`]);
        }
      }, 16_000);
    }
  });

  it("is no longer for many parts whose types have blanks in them", async () => {
    const read = (value: string) => {
      const head = `${named}\r\nContent-Type: text/plain; a=${value}x; charset=utf-8`;
      should(multipart(Array<string>(200).fill(head)))
        .have.property("form")
        .with.property("a");
    };
    await shouldCostLess(
      () => read(" ".repeat(900)),
      5,
      () => read("x".repeat(900)),
    );
  });

  it("is that of 1,000 fields of a form at most", () => {
    const read = (count: number) => {
      const body = Buffer.from(Array.from({ length: count }, (_, index) => `a${index}=+`).join("&"));
      return DecodedBody.of({ rawHeaders: ["Content-Type", form] }, body).content;
    };
    should(read(1000)).have.property("form").with.property("a999", " ");
    should(read(1001)).equal(problems.partsTooMany);
  });

  it("is none for what Twilio signs by its digest, however its type is written", () => {
    class Unread extends DecodedBody {
      override get content(): never {
        throw new Error("read");
      }
    }
    const authenticator = authenticatorFor("twilio", { settings: { publicUrl } });
    const signature = ["X-Twilio-Signature", Buffer.alloc(20).toString("base64")];
    const body = Buffer.alloc(2 * 1024 * 1024, "a&");
    const typed = ["Content-Type", form];
    for (const types of [[...typed, ...typed], ["Content-Type", `${form}\t;x=y`], typed]) {
      const rawHeaders = [...signature, ...types];
      const result = authenticator.checkHead({ method: "POST", rawHeaders, search: "" }, Date.now());
      if (!("verify" in result)) throw new Error("It is decided without the body.");
      const verdict = result.verify(new Unread({ request: { headers: { "content-type": form } } }, body));
      should(verdict).equal(problems.signatureInvalid);
    }
  });
});
