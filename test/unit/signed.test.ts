import { mock } from "node:test";
import "should";
import type { Authenticator } from "../../src/auth/authenticator";
import { createAuthenticator } from "../../src/auth/create-authenticator";
import { isSenderId } from "../../src/auth/senders/table";
import type { SignatureAccess } from "../../src/config/parse";
import { memoryBudget } from "../../src/request/body";
import handshakes from "../data/handshakes.json";
import signatures from "../data/signatures.json";
import { exchange, repliesIn } from "../harness/http";
import { Reception } from "../harness/reception";
import { schemeOf } from "../harness/verification";

interface Row {
  sender: string;
  name: string;
  secret?: string;
  at: number;
  method?: string;
  headers: string[];
  body: string;
  search?: string;
  publicUrl?: string;
  verifyToken?: string;
  arm?: boolean;
  topicUrl?: string;
}

const challenge = 'Signature realm="webhook"';

function gateFor({
  sender,
  secret = "",
  publicUrl = "",
  verifyToken = "",
  arm = false,
  topicUrl = "",
}: Row): Authenticator {
  const isKnown = isSenderId(sender);
  const settings = { publicUrl, arm, topicUrl };
  const scheme = isKnown ? null : schemeOf(sender);
  const access: SignatureAccess = { method: "signature", scheme, settings, secret, secondSecret: "", verifyToken };
  const authenticator = createAuthenticator({ sender: isKnown ? sender : "custom", access });
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

/** A request as it goes over the wire; its fields as they stand in the table, in any number of chunks. */
function requestOf({ method = "POST", search = "", headers, body }: Row): Buffer[] {
  const bytes = Buffer.from(body);
  const fields = headers.map((name, index) => (index % 2 === 0 ? `${name}: ${headers[index + 1] ?? ""}` : ""));
  const target = search === "" ? "/hook" : `/hook?${search}`;
  const length = method === "POST" ? [`Content-Length: ${bytes.length}`] : [];
  const head = [`${method} ${target} HTTP/1.1`, "Host: x", "Connection: close", ...fields.filter(Boolean), ...length];
  const middle = Math.floor(bytes.length / 2);
  const parts = [
    Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"),
    bytes.subarray(0, middle),
    bytes.subarray(middle),
  ];
  return parts.filter(({ length: size }) => size > 0);
}

describe("a server with signed webhooks", () => {
  let reception: Reception;
  before(async () => {
    reception = await Reception.open();
  });
  after(() => reception.close());
  beforeEach(() => {
    for (const list of [reception.payloads, reception.webhooks, reception.refusals, reception.greetings])
      list.length = 0;
  });
  afterEach(() => {
    mock.timers.reset();
    memoryBudget.used.should.equal(0);
  });

  async function answerTo(row: Row) {
    mock.timers.enable({ apis: ["Date"], now: row.at * 1000 });
    reception.open(gateFor(row), isSenderId(row.sender) ? row.sender : "custom");
    const [reply] = repliesIn(await exchange(reception.origin, ...requestOf(row)));
    if (!reply) throw new Error("no reply");
    return reply;
  }

  describe("accepts", () => {
    for (const row of signatures.accepted as Row[]) {
      it(`${row.sender}: ${row.name}`, async () => {
        const { status } = await answerTo(row);
        status.should.be.within(200, 204);
        // Some of them are handshakes, which start no flow.
        (reception.payloads.length + reception.greetings.length).should.equal(1);
        const sender = isSenderId(row.sender) ? row.sender : "custom";
        for (const webhook of reception.webhooks) webhook.should.have.properties({ credential: "first", sender });
      });
    }
  });

  describe("refuses", () => {
    for (const row of signatures.refused as Row[]) {
      // Without a secret there is no endpoint.
      if (row.secret === "") continue;
      it(`${row.sender}: ${row.name}`, async () => {
        const { status, head, body } = await answerTo(row);
        status.should.equal(401);
        head.should.containEql(`\r\nWWW-Authenticate: ${challenge}\r\n`);
        if (row.sender === "xero") body.should.equal("");
        reception.payloads.should.be.empty();
      });
    }
  });

  describe("answers the handshake", () => {
    for (const row of handshakes as (Row & { answer: { status: number; headers?: object; body?: string } })[]) {
      it(`${row.sender}: ${row.name}`, async () => {
        const { status, head, body } = await answerTo(row);
        status.should.equal(row.answer.status);
        for (const [name, value] of Object.entries(row.answer.headers ?? {})) {
          head.toLowerCase().should.containEql(`\r\n${name}: ${value}`.toLowerCase());
        }
        if (row.method !== "HEAD") body.should.equal(row.answer.body ?? "");
        reception.payloads.should.be.empty();
        reception.greetings.length.should.equal(status < 400 ? 1 : 0);
      });
    }
  });
});
