import "should";
import { isSenderId } from "../../../../src/auth/senders/table";
import signatures from "../../../data/signatures.json";
import { type Came, outcomeOf, schemeOf, type Setup } from "../../../harness/verification";

interface Row {
  sender: string;
  name: string;
  secret: string;
  at: number;
  headers: string[];
  body: string;
  publicUrl?: string;
  search?: string;
}

function prepared({ sender, secret, headers, body, at, publicUrl = "", search = "" }: Row): [Setup, Came] {
  const setup: Setup = { scheme: schemeOf(sender, publicUrl), secrets: { first: secret }, publicUrl };
  if (isSenderId(sender)) setup.sender = sender;
  return [setup, { head: { method: "POST", rawHeaders: headers, search }, body: Buffer.from(body), at }];
}

describe("signatures of senders", () => {
  const accepted: Row[] = signatures.accepted;
  for (const row of accepted) {
    describe(`${row.sender}: ${row.name}`, () => {
      const [setup, came] = prepared(row);

      it("is accepted", () => {
        outcomeOf(setup, came).should.equal("first");
      });

      it("is refused without each of its fields that the scheme reads, and with it twice", () => {
        const { sig, content, ts } = setup.scheme;
        const read = [...sig.headers.map((name) => `header:${name}`), ...content, ts?.source ?? ""]
          .map((source) => source.toLowerCase())
          .filter((source) => source.startsWith("header:"));
        const { rawHeaders } = came.head;
        rawHeaders.forEach((name, index) => {
          if (index % 2 === 1 || !read.includes(`header:${name.toLowerCase()}`)) return;
          const line = rawHeaders.slice(index, index + 2);
          const without = rawHeaders.filter((_, place) => place !== index && place !== index + 1);
          outcomeOf(setup, { ...came, head: { ...came.head, rawHeaders: without } }).should.equal("missing");
          const twice = outcomeOf(setup, { ...came, head: { ...came.head, rawHeaders: [...rawHeaders, ...line] } });
          twice.should.equal(row.sender === "pagerduty" ? "first" : "repeated");
        });
      });
    });
  }

  const refused: (Row & { refused: string })[] = signatures.refused;
  for (const row of refused) {
    it(`${row.sender}: ${row.name} is refused: ${row.refused}`, () => {
      const [setup, came] = prepared(row);
      outcomeOf(setup, came).should.equal(row.refused);
    });
  }
});
