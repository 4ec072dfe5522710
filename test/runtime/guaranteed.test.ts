import { gzipSync } from "node:zlib";
import should from "should";
import type { StoredDelivery } from "../../src/deliveries/delivery";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { bearer, tab, token, webhook } from "../harness/flow";
import { bytesOf, guaranteed, type Keep, keeps, lookInto } from "../harness/guaranteed";
import { held, holding } from "../harness/holding";
import { type Reply, send } from "../harness/http";
import { layouts } from "../harness/layouts";
import { NodeRed, type Options, type Received } from "../harness/node-red";

const paths = ["done", "shown", "failing", "bodies", "deployed", "cut"];
const flow = tab(
  ...paths.flatMap((id) => [guaranteed(id), held(id)]),
  guaranteed("raw", { rawBody: true }),
  held("raw"),
  guaranteed("query", { returnQueryParams: true, verificationMethod: "query", queryParameter: "state" }),
  held("query"),
  guaranteed("once", { ignoreDuplicates: true, duplicateKey: "header:Idempotency-Key" }),
  held("once"),
  guaranteed("twice", { attempts: 2 }),
  held("twice"),
  guaranteed("answered", { reply: "flow", replyTimeout: 30 }),
  held("answered", ["response"]),
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
  ["nothing", "/bodies", "", {}],
  ["bytes", "/bodies", Buffer.from([0, 255, 1]), { "Content-Type": "application/octet-stream" }],
  ["a form", "/bodies", "a=1&b=2", { "Content-Type": "application/x-www-form-urlencoded" }],
  ["a form with a file", "/bodies", form, { "Content-Type": "multipart/form-data; boundary=b" }],
  ["packed JSON", "/bodies", gzipSync('{"z":1}'), { ...json, "Content-Encoding": "gzip" }],
  ["JSON with the token in it", "/bodies", JSON.stringify({ token, twice: `-${token}-` }), json],
  ["packed JSON with the token in it", "/bodies", gzipSync(JSON.stringify({ token })), { ...json, "Content-Encoding": "gzip" }],
  ["its own bytes", "/raw", '{ "r" : 1 }', json],
  ["a query", `/query?a=1&state=${encodeURIComponent(token)}&b=2`, "{}", { "Content-Type": "application/json" }],
]; // prettier-ignore

const withoutToken = (payload: unknown) =>
  JSON.parse(JSON.stringify(payload).replaceAll(token, "[redacted]")) as unknown;

for (const kind of keeps.filter(({ isHere }) => isHere)) {
  describe(`a guaranteed delivery stored in ${kind.name}`, () => {
    let keep: Keep;
    let options: Options;
    let nodeRed: NodeRed;
    before(async () => {
      keep = await kind.begin();
      const settings = { ...keep.options.settings, ...layouts["separate roots"] };
      options = { ...keep.options, flow, plugin: holding, settings };
      nodeRed = await NodeRed.start(options);
    });
    after(async () => {
      await nodeRed.stop();
      await keep.end();
    });

    const post = (path: string, body: string | Buffer, headers: Record<string, string> = json) =>
      send(nodeRed.node(path), { headers: { ...bearer, ...headers }, body });
    const accepted = async (path: string, body: string | Buffer, headers?: Record<string, string>) => {
      const { status, json: told } = await post(path, body, headers);
      status.should.equal(200);
      return String(told.id);
    };
    const attempt = (id: unknown, number: number) =>
      nodeRed.until(
        () => nodeRed.messages.find(({ _msgid, webhook: { attempt } }) => _msgid === id && attempt === number),
        `attempt ${number} of ${String(id)}`,
      );
    const cameTo = (id: string, payload: unknown) =>
        nodeRed.until(
          () => nodeRed.messages.find((one) => one.sink === `hold-${id}` && JSON.stringify(one.payload) === JSON.stringify(payload)),
          `a message of ${id}`,
        ); // prettier-ignore
    const end = async (id: string, error?: string) => {
      await nodeRed.tell({ end: `hold-${id}`, error }, `hold-${id} ended`);
      if (error === undefined) await nodeRed.status(id, /^(?!.*running)/);
    };
    /** Ends the process as a power cut does, looks at what is left, and starts it anew. */
    const restarted = async <Seen>(look: () => Promise<Seen>): Promise<Seen> => {
      await nodeRed.kill();
      const seen = await look();
      nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
      return seen;
    };

    it("counts attempts, and shows what runs", async () => {
      const id = await accepted("/shown", '{"a":1}');
      should((await attempt(id, 1)).payload).eql({ a: 1 });
      await nodeRed.status("shown", /1 running/);
      await end("shown");
    });

    it("fails for good after as many attempts as the node says, which the log tells", async () => {
      const id = await accepted("/twice", "{}");
      for (const number of [1, 2]) {
        await attempt(id, number);
        await end("twice", "no");
      }
      await nodeRed.logged(/Delivery \S+ failed 2 times.*no/);
      await nodeRed.status("twice", /1 failed/);
    });

    it("comes again when a deploy has ended what had it", async () => {
      const id = await accepted("/deployed", "{}");
      await attempt(id, 1);
      const deployed = await nodeRed.beginDeploy(flow);
      await deployed();
      const starts = () => nodeRed.messages.filter(({ _msgid }) => _msgid === id);
      await nodeRed.until(() => starts().length === 2 || undefined, "the second start");
      // What a deploy has ended takes no attempt away.
      starts().map(({ webhook }) => webhook.attempt).should.eql([1, 1]); // prettier-ignore
      await end("deployed");
    });

    describe("after a power cut", () => {
      const failed: { id?: string; kept?: StoredDelivery | undefined } = {};
      const firsts: Received[] = [];
      let answeredId: string;
      let asked: Received;
      let doneIds: string[];
      let onceId: string;
      let bytes: string;

      before(async () => {
        failed.id = await accepted("/failing", "{}");
        await attempt(failed.id, 1);
        await end("failing", `broken by ${token}`);
        await nodeRed.status("failing", /retrying/);
        await attempt(failed.id, 2);
        await end("failing");
        const answering = post("/answered", "{}");
        answeredId = (await cameTo("answered", {}))._msgid;
        await end("answered");
        (await answering).status.should.equal(201);
        for (const [, path, body, headers] of bodies)
          firsts.push(await attempt(await accepted(path, body, headers), 1));
        doneIds = [];
        for (const number of [1, 2, 3]) doneIds.push(await accepted("/done?x=1", JSON.stringify({ number })));
        firsts.push(await attempt(doneIds[2], 1));
        onceId = await accepted("/once", "{}", once);
        await attempt(onceId, 1);
        const broken: Promise<Reply | undefined> = post("/answered", '{"again":1}').catch(() => undefined);
        asked = await cameTo("answered", { again: 1 });
        failed.kept = await restarted(async () => {
          bytes = bytesOf(keep);
          return lookInto(keep, (store) => store.find(failed.id ?? ""));
        });
        should(await broken).be.undefined();
      });

      it(`comes again${kind.isOrdered ? ", in the order in which all came" : ""}`, async () => {
        const again = await attempt(doneIds[2], 2);
        const came = () => nodeRed.messages.filter(({ sink }) => sink === "hold-done").map(({ _msgid }) => _msgid);
        await nodeRed.until(() => came().length === 3 || undefined, "all three");
        if (kind.isOrdered) came().should.eql(doneIds);
        else
          came()
            .sort()
            .should.eql([...doneIds].sort());
        const same = ({ payload, req, keys }: Received) => ({ payload, req, keys });
        should(same(again)).eql(same(firsts.at(-1) ?? again));
      });

      for (const [index, [what]] of bodies.entries()) {
        it(`has ${what} again as it came, but for the token`, async () => {
          const first = firsts[index];
          const again = await attempt(first?._msgid, 2);
          const same = ({ payload, topic, rawBody }: Received) => ({
            payload: withoutToken(payload),
            topic,
            rawBody,
          });
          should(same(again)).eql(first && same(first));
          JSON.stringify(again.payload).should.not.containEql(token);
          should(again).have.property("req");
        });
      }

      it("is not kept with the token in it", () => {
        bytes.should.containEql(failed.id);
        bytes.includes(token).should.be.false();
      });

      it("is known by its duplicates", async () => {
        await attempt(onceId, 2);
        const { json: told } = await post("/once", "{}", once);
        should([told.status, told.id]).eql(["duplicate", onceId]);
      });

      it("has not come again where the flow was done with it, at the second time", () => {
        const { delivery, attempts } = failed.kept ?? {};
        should([delivery?.state, delivery?.attempt]).eql(["succeeded", 2]);
        should(attempts?.map(({ error }) => error)).eql(["hold: broken by [redacted]", undefined]);
        nodeRed.messages.filter(({ _msgid }) => [failed.id, answeredId].includes(_msgid)).should.be.empty();
      });

      it("comes again when its caller did not get an answer, and the flow answers nobody", async () => {
        await attempt(asked._msgid, 2);
        await end("answered");
      });

      describe("and another, amid a deploy", () => {
        let states: (string | undefined)[];
        let cutId: string;
        let markId: string;

        before(async () => {
          for (const id of ["done", "bodies", "raw", "query", "once"]) await end(id);
          // What has come before is written down before this one is.
          markId = await accepted("/done", "{}");
          await attempt(markId, 1);
          cutId = await accepted("/cut", "{}");
          await attempt(cutId, 1);
          await nodeRed.beginDeploy(flow);
          const ids = [answeredId, asked._msgid, ...doneIds, onceId, ...firsts.map(({ _msgid }) => _msgid)];
          states = await restarted(() =>
            lookInto(keep, async (store) => Promise.all(ids.map(async (id) => (await store.find(id))?.delivery.state))),
          );
        });

        it("comes again where the flow was not done with it", async () => {
          await attempt(cutId, 2);
          await end("cut");
        });

        it("does not come again where the flow was done with it", async () => {
          new Set(states).should.eql(new Set(["succeeded"]));
          await attempt(markId, 2);
          nodeRed.messages.map(({ _msgid }) => _msgid).filter((id) => doneIds.includes(id)).should.be.empty(); // prettier-ignore
        });
      });
    });
  });
}

if (!sqliteIsHere()) {
  describe("a node that is to lose nothing, where Node.js has no SQLite", () => {
    let nodeRed: NodeRed;
    before(async () => {
      nodeRed = await NodeRed.start({
        flow: tab(guaranteed("held"), held("held"), webhook("other", "/other")),
        plugin: holding,
      });
    });
    after(() => nodeRed.stop());

    it("stays closed, and says which Node.js it needs, while others are open", async () => {
      (await nodeRed.status("held", /22\.13/)).fill.should.equal("red");
      (await send(nodeRed.node("/held"), { headers: json, body: "{}" })).status.should.equal(404);
      (await send(nodeRed.node("/other"), { headers: json, body: "{}" })).status.should.equal(200);
    });
  });
}
