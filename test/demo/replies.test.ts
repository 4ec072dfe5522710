import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import should from "should";
import { maxWindows } from "../../src/auth/limits";
import { handlingFields } from "../../src/config/rules";
import { maxWaitingDuplicateBytes, maxWaitingDuplicates } from "../../src/deliveries/duplicate-guard";
import { maxAnswerBytes, maxAnswersBytes, maxKeys } from "../../src/deliveries/duplicates";
import { maxParts } from "../../src/request/multipart";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { root } from "../harness/package";
import { Page } from "../harness/pages";
import { documentation, readme, section } from "../harness/readme";
import { sharedBrowser } from "../harness/stage";

const page = new Page("replies.md");
const { text } = page;
const megabyte = 1024 * 1024;
const bodyNode = (id: string, func: string, wires: string[]) => ({ id, type: "function", func, outputs: 1, wires: [wires] }); // prettier-ignore
const byFlow = { reply: "flow", replyTimeout: 1 };

describe("the page of replies", () => {
  it("has the figures of the code", () => {
    const { replyStatus, replyTimeout, duplicateWindow } = handlingFields;
    const number = (value: number) => value.toLocaleString("en-US");
    for (const figure of [
      `${replyStatus.min} to ${replyStatus.max}`,
      `${replyTimeout.default} seconds, unless you set ${replyTimeout.min} to ${replyTimeout.max}`,
      `${duplicateWindow.default} hours unless you set ${duplicateWindow.min} to ${duplicateWindow.max}`,
      `There are ${number(maxKeys)} at most`,
      `more than ${maxAnswerBytes / 1024} kB, or beyond ${maxAnswersBytes / megabyte} MB of all together`,
      `At most ${number(maxWaitingDuplicates)} duplicates wait, with ${maxWaitingDuplicateBytes / megabyte} MB`,
      `${number(maxWindows)} addresses are counted`,
      `more than ${number(maxParts)} parts`,
    ]) {
      text.includes(figure).should.be.true(figure);
    }
    for (const figure of [maxParts, maxKeys])
      documentation.some((text) => text.includes(number(figure))).should.be.true(number(figure));
  });

  it("shows what the examples have in them", () => {
    const [slack, twilio] = ["Slash command of Slack, answered", "Voice call of Twilio, answered by TwiML"].map(
      (name) => JSON.parse(readFileSync(join(root, "examples", `${name}.json`), "utf8")) as Record<string, unknown>[],
    );
    const [rule] = slack?.find(({ type }) => type === "change")?.rules as { to: string }[];
    should(rule?.to.replace(/\s/g, "")).equal(page.block("jsonata").replace(/\s/g, ""));
    should(twilio?.find(({ type }) => type === "template")?.template).equal(page.block("xml"));
    for (const flow of [slack, twilio]) {
      should(flow?.find(({ type }) => type === "webhook-trigger")).have.property("reply", "flow");
    }
    should(slack?.find(({ type }) => type === "webhook-trigger")).have.property("replyTimeout", 3);
  });

  describe("is right about a flow:", () => {
    let nodeRed: NodeRed;
    const flow = tab(
      webhook("open", "/open", { ...byFlow, wires: [["answer"]] }),
      webhook("sleepy", "/sleepy", { ...byFlow, wires: [["delay"]] }),
      { id: "delay", type: "delay", pauseType: "delay", timeout: "20", timeoutUnits: "seconds", wires: [["answer"]] },
      webhook("failing", "/failing", { ...byFlow, wires: [["throw"]] }),
      bodyNode("throw", "throw new Error('out of order')", []),
      { id: "catch", type: "catch", scope: ["throw"], wires: [["sorry"]] },
      { id: "sorry", type: "http response", statusCode: "500", headers: {}, wires: [] },
      webhook("unwired", "/unwired", { ...byFlow, wires: [[]] }),
      webhook("once", "/once", { ignoreDuplicates: true, duplicateKey: "json:order.id" }),
      webhook("own", "/own", { ignoreDuplicates: true, duplicateKey: "header:X-Id", replyStatus: 202, replyBody: "thanks", replyType: "text/plain" }), // prettier-ignore
      webhook("counted", "/counted", { ...byFlow, ignoreDuplicates: true, duplicateKey: "body", wires: [["count"]] }),
      bodyNode("count", "context.n = (context.n ?? 0) + 1; msg.statusCode = msg.payload === 'bad' ? 503 : 201; msg.payload = `number ${context.n}`; return msg;", ["answer"]), // prettier-ignore
      { id: "answer", type: "http response", statusCode: "", headers: {}, wires: [] },
      webhook("upload", "/upload", { verificationMethod: "query", wires: [["picture", "names"]] }),
      bodyNode("picture", page.block("js", "const"), ["sink"]),
      bodyNode("names", "msg.payload = { fields: msg.payload, names: msg.req.files.map((file) => file.originalname) }; return msg;", ["sink"]), // prettier-ignore
      webhook("raw", "/raw", { rawBody: true, wires: [["bytes"]] }),
      bodyNode("bytes", "msg.payload = { payload: msg.payload, raw: msg.rawBody.toString('hex') }; return msg;", [
        "sink",
      ]),
    );
    before(async () => (nodeRed = await NodeRed.start({ flow })));
    after(() => nodeRed.stop());

    const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Reply> =>
      send(nodeRed.node(path), { headers: { ...bearer, "Content-Type": "application/json", ...headers }, body });

    it("its answer may be cached, if it does not say otherwise; the node's own may not", async () => {
      const [own, flows] = [await post("/once", "1"), await post("/open", '{"hello":"world"}')];
      should(own.headers["cache-control"]).equal("no-store");
      flows.json.should.eql({ hello: "world" });
      flows.headers.should.not.have.property("cache-control");
    });

    it("one that fails answers by a catch node", async () => {
      (await post("/failing", "1")).status.should.equal(500);
    });

    it("one that does not answer gets its caller a 504", async () => {
      (await post("/unwired", "1")).status.should.equal(504);
    });

    it("so does one that a deploy ends, with the message in it", async () => {
      const waiting = post("/sleepy", "1");
      await nodeRed.status("sleepy", /1 accepted/);
      await nodeRed.deploy(flow);
      (await waiting).status.should.equal(504);
    });

    it("a repeat starts none, and is told the first one's id", async () => {
      const { json: first } = await post("/once", '{"order":{"id":7}}');
      const { status, json } = await post("/once", '{ "order": { "id": "7", "again": true } }');
      should([status, json]).eql([200, { status: "duplicate", id: first.id }]);
      (await post("/once", '{"order":{"id":8}}')).json.should.have.property("status", "accepted");
      for (let time = 0; time < 2; time++) (await post("/once", "{}")).json.should.have.property("status", "accepted");
    });

    it("a repeat gets a reply of one's own as it stands", async () => {
      for (let time = 0; time < 2; time++) {
        const { status, body } = await post("/own", "x", { "X-Id": "a", "Content-Type": "text/plain" });
        should([status, body]).eql([202, "thanks"]);
      }
      nodeRed.messages.filter(({ req }) => req.path === "/own").should.have.length(1);
    });

    it("a repeat is one after a deploy, too", async () => {
      const post7 = () => post("/own", "x", { "X-Id": "b", "Content-Type": "text/plain" });
      await post7();
      await nodeRed.deploy(flow);
      await post7();
      nodeRed.messages
        .filter(({ req }) => (req.headers as Record<string, string>)["x-id"] === "b")
        .should.have.length(1);
    });

    it("a repeat gets the answer of the first, unless that was a failure", async () => {
      const plain = { "Content-Type": "text/plain" };
      const answers = [];
      for (const body of ["good", "good", "bad", "bad"]) answers.push(await post("/counted", body, plain));
      should(answers.map(({ status, body }) => [status, body])).eql([
        [201, "number 1"],
        [201, "number 1"],
        [503, "number 2"],
        [503, "number 3"],
      ]);
      should(answers[1]?.headers["content-type"]).equal(answers[0]?.headers["content-type"]);
    });

    it("the form's file reaches the function node", async () => {
      const { token } = (flow.find(({ id }) => id === "upload") as { credentials: { token: string } }).credentials;
      const form = page.block("html").replace("https://nodered.example", nodeRed.origin);
      const site = createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html; charset=utf-8").end(form.replace("TOKEN", encodeURIComponent(token))); // prettier-ignore
      }).listen(0, "127.0.0.1");
      await once(site, "listening");
      const visitor = await (await sharedBrowser()).newPage();
      await visitor.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      await visitor.getByLabel("Name").fill("Grüße");
      const picture = { name: "Bild ½.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 0, 255]) };
      await visitor.getByLabel("Picture").setInputFiles(picture);
      await visitor.getByRole("button", { name: "Send" }).click();
      await visitor.waitForURL(/upload/);
      const { id } = JSON.parse(await visitor.locator("body").innerText()) as { id: string };
      const payloads = await nodeRed.until(() => {
        const found = nodeRed.messages.filter(({ _msgid }) => _msgid === id).map(({ payload }) => payload);
        return found.length === 2 ? found : undefined;
      }, "both messages");
      should(payloads.find((payload) => payload instanceof Uint8Array)).eql(picture.buffer);
      should(payloads).containEql({ fields: { name: "Grüße" }, names: ["Bild ½.png"] });
      await visitor.close();
      site.closeAllConnections();
      site.close();
    });

    it("the raw body is as it was sent, packed", async () => {
      const packed = gzipSync("hello");
      const { json } = await post("/raw", packed, { "Content-Type": "text/plain", "Content-Encoding": "gzip" });
      should((await nodeRed.message(json.id)).payload).eql({ payload: "hello", raw: packed.toString("hex") });
    });
  });

  const settings = { "no setting": "", "the setting of the page": page.block("js", "httpServer"), "two proxies": 'httpServerOptions: { "trust proxy": "loopback, 10.0.0.5" },' }; // prettier-ignore
  for (const [name, code] of Object.entries(settings)) {
    describe(`is right about proxies, with ${name}:`, () => {
      let nodeRed: NodeRed;
      before(async () => {
        nodeRed = await NodeRed.start({
          flow: tab(
            webhook("allowed", "/allowed", { allowFrom: "192.0.2.0/25, 2001:db8::/32" }),
            webhook("rated", "/rated", { rateLimit: 2 }),
          ),
          code,
        });
      });
      after(() => nodeRed.stop());
      const from = (path: string, address: string, headers = bearer): Promise<Reply> =>
        send(nodeRed.node(path), { headers: { ...headers, "X-Forwarded-For": address } });
      const wrong = { Authorization: "Bearer another" };
      const isTold = code !== "";

      it("who may send", async () => {
        for (const [address, expected] of [
          ["192.0.2.7", 200],
          ["2001:db8::7", 200],
          ["192.0.2.200", 403],
          ["192.0.2.7, 198.51.100.1", 403],
          ["198.51.100.1, 192.0.2.7", 200],
          ["192.0.2.7, 10.0.0.5", name === "two proxies" ? 200 : 403],
        ] as const) {
          (await from("/allowed", address)).status.should.equal(isTold ? expected : 403, address);
        }
      });

      it("who is told before the token is looked at", async () => {
        (await from("/allowed", "198.51.100.1", wrong)).status.should.equal(403);
        (await from("/allowed", "192.0.2.7", wrong)).status.should.equal(isTold ? 401 : 403);
      });

      it("who is counted as one", async () => {
        const statuses: number[] = [];
        for (const address of ["192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]) {
          statuses.push((await from("/rated", address, wrong)).status);
        }
        statuses.should.eql(isTold ? [401, 401, 401, 401, 401] : [401, 401, 429, 429, 429]);
        for (const address of ["192.0.2.1", "2001:db8::3"]) {
          const { status, headers } = await from("/rated", address);
          status.should.equal(429);
          Number(headers["retry-after"]).should.be.within(1, 60);
        }
        (await from("/rated", "192.0.2.2")).status.should.equal(isTold ? 200 : 429);
      });
    });
  }
});

describe("the README", () => {
  it("tells of each part of the page of replies", () => {
    for (const anchor of ["answer-at-once", "answer-by-the-flow", "duplicates", "limits", "files", "the-raw-body"]) {
      readme.includes(`(docs/replies.md#${anchor})`).should.be.true(anchor);
    }
    for (const property of ["msg.rawBody", "msg.res", "files"]) section("The message").should.containEql(property);
  });
});
