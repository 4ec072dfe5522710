import { gzipSync } from "node:zlib";
import should from "should";
import type { Delivery, StoredDelivery } from "../../src/deliveries/delivery";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, token } from "../harness/flow";
import {
  bytesOf,
  endHeld,
  guaranteed,
  type TestStore,
  type StoreKind,
  storeKinds,
  lookInto,
} from "../harness/guaranteed";
import { type Reply, send } from "../harness/http";
import { roots } from "../harness/layouts";
import { NodeRed, type Options, type Received } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

const flow = tab(
  ...["done", "bodies", "deployed", "cut"].flatMap((id) => guaranteed(id)),
  // It waits for longer than its status takes to say so.
  ...guaranteed("failing", { backoffFirst: 5 }),
  ...guaranteed("raw", { rawBody: true }),
  ...guaranteed("query", { returnQueryParams: true, verificationMethod: "query", queryParameter: "state" }),
  ...guaranteed("once", { ignoreDuplicates: true, duplicateKey: "header:Idempotency-Key" }),
  ...guaranteed("twice", { attempts: 2 }),
  ...guaranteed("answered", { reply: "flow", replyTimeout: 30 }, ["response"]),
  ...guaranteed("asked", { reply: "flow", replyTimeout: 5 }, ["response"]),
  { id: "response", type: "http response", statusCode: "201", headers: {}, wires: [] },
  { id: "slow", type: "slow", wires: [] },
);

const json = { ...bearer, "Content-Type": "application/json" };
const once = { ...json, "Idempotency-Key": "one" };

const form = Buffer.from(
  ["--b", 'Content-Disposition: form-data; name="f"; filename="a.bin"', "", "\u0000\u0001", "--b--", ""].join("\r\n"),
);
const bodies: [what: string, path: string, body: string | Buffer, headers: Record<string, string>][] = [
  ["text", "/bodies", "words", { "Content-Type": "text/plain" }],
  ["an empty body", "/bodies", "", {}],
  ["bytes", "/bodies", Buffer.from([0, 255, 1]), { "Content-Type": "application/octet-stream" }],
  ["a form", "/bodies", "a=1&b=2", { "Content-Type": "application/x-www-form-urlencoded" }],
  ["a form with a file", "/bodies", form, { "Content-Type": "multipart/form-data; boundary=b" }],
  ["JSON with the token in it", "/bodies", JSON.stringify({ token, twice: `-${token}-` }), json],
  ["packed JSON with the token in it", "/bodies", gzipSync(JSON.stringify({ token })), { ...json, "Content-Encoding": "gzip" }],
  ["its raw body", "/raw", '{ "r" : 1 }', json],
  ["a query", `/query?a=1&state=${encodeURIComponent(token)}&b=2`, "{}", { "Content-Type": "application/json" }],
]; // prettier-ignore

/** What is the same in each attempt. */
const contentOf = ({ payload, topic, rawBody, req: { method, url }, keys }: Received) => ({
  payload,
  topic,
  rawBody,
  method,
  url,
  keys,
});
for (const kind of storeKinds.filter(({ isHere }) => isHere)) {
  describe(`a guaranteed delivery in ${kind.name}`, () => testDeliveries(kind));
}

function testDeliveries(kind: StoreKind): void {
  let store: TestStore;
  let options: Options;
  let nodeRed: NodeRed;
  before(async () => {
    store = await kind.begin();
    const settings = { ...store.options.settings, ...roots.separate };
    options = { ...store.options, flow, plugin: moduleOf("hold"), settings };
    nodeRed = await NodeRed.start(options);
  });
  after(async () => {
    await nodeRed.stop();
    await store.end();
  });

  const post = (path: string, body: string | Buffer, headers: Record<string, string> = json) =>
    send(nodeRed.node(path), { headers: { ...bearer, ...headers }, body });
  const accepted = async (path: string, body: string | Buffer, headers?: Record<string, string>) => {
    const { status, json: reply } = await post(path, body, headers);
    status.should.equal(200);
    return String(reply.id);
  };
  const attempt = (id: unknown, number: number) =>
    nodeRed.until(
      () => nodeRed.messages.find(({ _msgid, webhook: { attempt } }) => _msgid === id && attempt === number),
      `attempt ${number} of ${String(id)}`,
    );
  const messageOf = (id: string) =>
    nodeRed.until(() => nodeRed.messages.find(({ sink }) => sink === `hold-${id}`), `a message of ${id}`);
  const end = async (id: string, error?: string) => {
    await endHeld(nodeRed, id, error);
    if (error === undefined) await nodeRed.status(id, /^(?!.*running)/);
  };
  /** Ends the process as a power cut does, looks at what is left, and starts it anew. */
  const restarted = async <Seen>(look: () => Promise<Seen>): Promise<Seen> => {
    await nodeRed.kill();
    const seen = await look();
    await store.expireLocks();
    nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
    return seen;
  };

  it("fails for good after as many attempts as the node says, which the log and the status say", async () => {
    const id = await accepted("/twice", "{}");
    for (const number of [1, 2]) {
      should((await attempt(id, number)).webhook).have.property("lastAttempt", number === 2);
      await end("twice", "no");
    }
    await nodeRed.logged(/Delivery \S+ failed 2 times.*no/);
    await nodeRed.status("twice", /1 failed/);
  });

  it("is started again after a deploy that has ended its flow, which takes no attempt away", async () => {
    const id = await accepted("/deployed", "{}");
    await attempt(id, 1);
    await nodeRed.deploy(flow);
    const starts = () => nodeRed.messages.filter(({ _msgid }) => _msgid === id);
    await nodeRed.until(() => starts()[1], "the second start");
    starts().map(({ webhook }) => webhook.attempt).should.eql([1, 1]); // prettier-ignore
    await end("deployed");
  });

  describe("after a power cut", () => {
    const firsts: Received[] = [];
    const doneIds: string[] = [];
    let failedId: string;
    let failed: StoredDelivery | undefined;
    let kept: Delivery[];
    let answeredId: string;
    let asked: Received;
    let onceId: string;
    let bytes: string;

    before(async () => {
      failedId = await accepted("/failing", "{}");
      await attempt(failedId, 1);
      await end("failing", `broken by ${token}`);
      await nodeRed.status("failing", /retrying/);
      await attempt(failedId, 2);
      await end("failing");
      const answering = post("/answered", "{}");
      answeredId = (await messageOf("answered"))._msgid;
      await end("answered");
      (await answering).status.should.equal(201);
      for (const [, path, body, headers] of bodies) firsts.push(await attempt(await accepted(path, body, headers), 1));
      for (const number of [1, 2, 3]) doneIds.push(await accepted("/done?x=1", JSON.stringify({ number })));
      await attempt(doneIds[2], 1);
      onceId = await accepted("/once", "{}", once);
      await attempt(onceId, 1);
      const broken: Promise<Reply | undefined> = post("/asked", "{}").catch(() => undefined);
      asked = await messageOf("asked");
      failed = await restarted(async () => {
        bytes = bytesOf(store);
        return lookInto(store, async (store) => {
          kept = await store.list({ limit: 500 });
          return store.find(failedId);
        });
      });
      should(await broken).be.undefined();
    });

    it(`is started again${kind.isOrdered ? ", in order of arrival" : ""}`, async () => {
      const ids = () => nodeRed.messages.filter(({ sink }) => sink === "hold-done").map(({ _msgid }) => _msgid);
      await nodeRed.until(() => ids()[2], "all three");
      if (kind.isOrdered) ids().should.eql(doneIds);
      else new Set(ids()).should.eql(new Set(doneIds));
    });

    for (const [index, [what]] of bodies.entries()) {
      it(`has the same message as before, with ${what}`, async () => {
        const first = firsts[index];
        should(contentOf(await attempt(first?._msgid, 2))).eql(first && contentOf(first));
      });
    }

    it("is stored with the token in its body alone, and shown without it", async () => {
      bytes.should.containEql(failedId);
      for (const { id, head, webhook, words } of kept) {
        const shown = JSON.stringify([head, webhook, words, await new ShownDeliveries(nodeRed).detail(id)]);
        for (const text of [shown, decodeURIComponent(shown)]) text.should.not.containEql(token);
      }
      kept.length.should.be.above(bodies.length);
    });

    it("is known by its duplicates", async () => {
      await attempt(onceId, 2);
      const { json: reply } = await post("/once", "{}", once);
      should([reply.status, reply.id]).eql(["duplicate", onceId]);
    });

    it("is not started again where the flow had succeeded, at once, with a reply or at the second attempt", () => {
      const { delivery, attempts } = failed ?? {};
      should([delivery?.state, delivery?.attempt]).eql(["succeeded", 2]);
      should(attempts?.map(({ error }) => error)).eql(["hold: broken by [redacted]", undefined]);
      nodeRed.messages.filter(({ _msgid }) => [failedId, answeredId].includes(_msgid)).should.be.empty();
    });

    it("is started again where its sender has had no reply by the flow", async () => {
      await attempt(asked._msgid, 2);
      await end("asked");
    });

    it("is started again after another power cut amid a deploy, but not where its flow had succeeded", async () => {
      for (const id of ["done", "bodies", "raw", "query", "once"]) await end(id);
      // What has ended before is written down before this one is.
      const markId = await accepted("/done", "{}");
      await attempt(markId, 1);
      const cutId = await accepted("/cut", "{}");
      await attempt(cutId, 1);
      await nodeRed.beginDeploy(flow);
      const ids = [answeredId, asked._msgid, ...doneIds, onceId, ...firsts.map(({ _msgid }) => _msgid)];
      const states = await restarted(() =>
        lookInto(store, async (queue) => Promise.all(ids.map(async (id) => (await queue.find(id))?.delivery.state))),
      );
      new Set(states).should.eql(new Set(["succeeded"]));
      await attempt(cutId, 2);
      await attempt(markId, 2);
      nodeRed.messages.filter(({ _msgid }) => doneIds.includes(_msgid)).should.be.empty();
    });
  });
}
