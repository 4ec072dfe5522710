import should from "should";
import type { Scheme } from "../../../../src/auth/senders/sender";
import { isSenderId, senders } from "../../../../src/auth/senders/table";
import { readSenderDelivery, RequestValues } from "../../../../src/auth/request-values";
import { fieldValues } from "../../../../src/request/head";
import { DecodedBody } from "../../../../src/request/decode";
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
  /** Of the delivery; absent: none. */
  events?: string[];
  id?: string;
}

function prepared({ sender, secret, headers, body, at, publicUrl = "", search = "" }: Row): [Setup, Came] {
  const setup: Setup = { scheme: schemeOf(sender, publicUrl), secrets: { first: secret }, publicUrl };
  if (isSenderId(sender)) setup.sender = sender;
  return [setup, { head: { method: "POST", rawHeaders: headers, search }, body: Buffer.from(body), at }];
}

/** RFC 9110 §5.3: only where commas separate its items may a field come in several lines. */
function isList({ split, pick }: Scheme["sig"]): boolean {
  return [split ?? []].flat().includes(",") && !(pick && "kv" in pick);
}

describe("signatures of senders", () => {
  const accepted: Row[] = signatures.accepted;
  for (const row of accepted) {
    describe(`${row.sender}: ${row.name}`, () => {
      const [setup, came] = prepared(row);

      it("is accepted", () => {
        outcomeOf(setup, came).should.equal("first");
      });

      if (isSenderId(row.sender)) {
        const sender = senders[row.sender];
        it("tells its events and its id", () => {
          const { head, body } = came;
          const { events, id } = readSenderDelivery(sender, new RequestValues(head, DecodedBody.of(head, body)));
          should({ events, id }).eql({ events: row.events ?? [], id: row.id });
        });
      }

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
          const isSigned = sig.headers.some((field) => fieldValues(without, field.toLowerCase()).length > 0);
          const isSignature = sig.headers.some((field) => field.toLowerCase() === name.toLowerCase());
          const left = outcomeOf(setup, { ...came, head: { ...came.head, rawHeaders: without } });
          // Of several fields with signatures, the others count.
          if (!isSignature || !isSigned) left.should.equal("missing");
          const twice = outcomeOf(setup, { ...came, head: { ...came.head, rawHeaders: [...rawHeaders, ...line] } });
          const isOne = name.toLowerCase() !== sig.headers[0]?.toLowerCase() || !isList(sig);
          twice.should.equal(isOne ? "repeated" : "first");
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
