import { gzipSync } from "node:zlib";
import should from "should";
import { type SenderId, senderIds, senders } from "../../src/auth/senders/table";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { type Signer, signers } from "../harness/signers";
import { until } from "../harness/until";

type Known = Exclude<SenderId, "custom">;

const known = senderIds.filter((id): id is Known => id !== "custom");
/** What parsers love to change: a byte-order mark, line ends, escapes, numbers, names that stand twice. */
const awkward = Buffer.from(
  '\ufeff{"a":1.0,\r\n"b":"\\u00e9\\/","a":10000000000000000000001,"type":"t","id":"evt_1"}\n',
);

function node(id: Known, signer: Signer) {
  const [secret, secondSecret] = signer.secrets;
  return webhook(id, `/${id}`, {
    sender: id,
    verificationMethod: "signature",
    senderSettings: { publicUrl: signer.publicUrl ?? "" },
    credentials: { secret, secondSecret },
  });
}

describe("a webhook of every sender", () => {
  let nodeRed: NodeRed;
  let serial = 0;
  before(async () => {
    nodeRed = await NodeRed.start({ flow: tab(...known.map((id) => node(id, signers[id]))) });
  });
  after(() => nodeRed.stop());

  /** Sends what an account of the sender signs, with what is changed on the way. */
  async function post(
    id: Known,
    account: number,
    change = (body: Buffer) => body,
    fields: Record<string, string> = {},
  ) {
    const signer = signers[id];
    const at = Math.floor(Date.now() / 1000);
    const unsigned = { body: signer.body?.(awkward, account, at) ?? awkward, at, id: `msg_${++serial}` };
    const headers = {
      "Content-Type": "application/json",
      ...Object.fromEntries(signer.headers(unsigned, account)),
      ...fields,
    };
    const search = signer.search?.(unsigned) ?? "";
    const url = `${nodeRed.origin}/${id}${search && `?${search}`}`;
    return send(url, { headers, body: change(unsigned.body) });
  }

  for (const id of known) {
    describe(id, () => {
      it("starts the flow by either secret, and tells by which", async () => {
        const first = nodeRed.messages.length;
        for (const account of [0, 1]) (await post(id, account)).status.should.be.within(200, 204);
        await until(() => nodeRed.messages.length === first + 2, "two messages");
        const webhooks = nodeRed.messages.slice(first).map((message) => message.webhook);
        webhooks.map(({ credential }) => credential).should.eql(["first", "second"]);
        for (const { sender } of webhooks) should(sender).equal(id);
        for (const { req } of nodeRed.messages.slice(first)) {
          for (const secret of signers[id].secrets) JSON.stringify(req).should.not.containEql(secret);
        }
      });

      it("refuses who has another secret, or changes the body, with the challenge", async () => {
        const first = nodeRed.messages.length;
        const other = await post(id, 2);
        other.status.should.equal(401);
        should(other.headers["www-authenticate"]).equal('Signature realm="webhook"');
        if (!signers[id].ignoresBody)
          (await post(id, 0, (body) => Buffer.concat([body, Buffer.from(" ")]))).status.should.equal(401);
        if (senders[id].emptyReply?.to === "all") other.body.should.equal("");
        nodeRed.messages.length.should.equal(first);
      });
    });
  }

  it("takes the bytes as they came: those of a packed body", async () => {
    const packed = gzipSync('{"zen":"Keep it logically awesome."}');
    const [[name, value] = ["", ""]] = signers.github.headers({ body: packed, at: 0, id: "" }, 0);
    const headers = {
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-GitHub-Event": "ping",
      [name]: value,
    };
    const first = nodeRed.messages.length;
    const { status } = await send(`${nodeRed.origin}/github`, { headers, body: packed });
    status.should.equal(200);
    await until(() => nodeRed.messages.length > first, "a message");
    const message = nodeRed.messages.at(-1);
    should(message?.payload).eql({ zen: "Keep it logically awesome." });
    should(message?.topic).equal("ping");
    should(message?.webhook).eql({ sender: "github", event: "ping", credential: "first" });
  });
});
