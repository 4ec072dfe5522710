import { gzipSync } from "node:zlib";
import should from "should";
import { senders } from "../../src/auth/senders/table";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { type Signer, signers, type SigningId, signingIds } from "../harness/signers";

/** What parsers love to change: a byte-order mark, line ends, escapes, numbers, names that are there twice. */
const awkward = Buffer.from(
  '\ufeff{"a":1.0,\r\n"b":"\\u00e9\\/","a":10000000000000000000001,"type":"t","id":"evt_1"}\n',
);

function node(id: SigningId, signer: Signer) {
  const [secret, secondSecret] = signer.secrets;
  return webhook(id, `/${id}`, {
    sender: id,
    verificationMethod: "signature",
    senderSettings: { publicUrl: signer.publicUrl ?? "" },
    credentials: { secret, secondSecret },
  });
}

describe("the signature of a sender", () => {
  let serial = 0;
  const nodeRed = useNodeRed({ flow: tab(...signingIds.map((id) => node(id, signers[id]))) });

  /** Sends what an account of the sender signs, with what is changed on the way. */
  async function post(id: SigningId, account: number, change = (body: Buffer) => body) {
    const signer = signers[id];
    const at = Math.floor(Date.now() / 1000);
    const unsigned = { body: signer.body?.(awkward, account, at) ?? awkward, at, id: `msg_${++serial}` };
    const signed = Object.fromEntries(signer.headers(unsigned, account));
    const search = signer.search(unsigned, account);
    const url = nodeRed().node(`/${id}${search && `?${search}`}`);
    return send(url, { headers: { "Content-Type": "application/json", ...signed }, body: change(unsigned.body) });
  }

  for (const id of signingIds) {
    it(`starts the flow for ${id} by either secret, and is refused by another secret or for another body`, async () => {
      const first = nodeRed().messages.length;
      for (const account of [0, 1]) {
        const { status, body } = await post(id, account);
        status.should.be.within(200, 204);
        (body === "").should.equal(senders[id].emptyReply !== undefined);
      }
      await nodeRed().until(() => nodeRed().messages[first + 1], "two messages");

      const other = await post(id, 2);
      other.status.should.equal(401);
      should(other.headers["www-authenticate"]).equal('Signature realm="webhook"');
      if (senders[id].emptyReply?.to === "all") other.body.should.equal("");
      if (!signers[id].ignoresBody) {
        (await post(id, 0, (body) => Buffer.concat([body, Buffer.from(" ")]))).status.should.equal(401);
      }

      const messages = nodeRed().messages.slice(first);
      messages.map(({ webhook: { sender, credential } }) => [sender, credential]).should.eql([[id, "first"], [id, "second"]]); // prettier-ignore
      const requests = JSON.stringify(messages.map(({ req }) => req));
      for (const secret of signers[id].secrets) requests.should.not.containEql(secret);
    });
  }

  it("is verified over the bytes as they were sent, which are those of a packed body", async () => {
    const packed = gzipSync('{"zen":"Keep it logically awesome."}');
    const signature = Object.fromEntries(signers.github.headers({ body: packed, at: 0, id: "" }, 0));
    const more = { "Content-Type": "application/json", "Content-Encoding": "gzip", "X-GitHub-Event": "ping" };
    const { json } = await send(nodeRed().node("/github"), { headers: { ...more, ...signature }, body: packed });
    const { payload, topic, webhook: about } = await nodeRed().message(json.id);
    should({ payload, topic, about }).eql({
      payload: { zen: "Keep it logically awesome." },
      topic: "ping",
      about: { sender: "github", event: "ping", credential: "first" },
    });
  });

  it("is for the charset of the bytes: sent again as another one, they are refused", async () => {
    const body = '{"action":"created","comment":"あ\\" &action=deleted&repository=other&x="}';
    const signature = Object.fromEntries(signers.github.headers({ body: Buffer.from(body), at: 0, id: "" }, 0));
    const replay = (type: string) =>
      send(nodeRed().node("/github"), {
        headers: { "X-GitHub-Event": "ping", ...signature, "Content-Type": type },
        body,
      });
    for (const type of ["application/x-www-form-urlencoded; charset=shift_jis", "application/json; charset=gbk"]) {
      (await replay(type)).status.should.equal(415, type);
    }
    for (const type of ["application/json", "application/json; charset=UTF-8"]) {
      const { payload } = await nodeRed().message((await replay(type)).json.id);
      should(payload).eql(JSON.parse(body));
    }
  });
});
