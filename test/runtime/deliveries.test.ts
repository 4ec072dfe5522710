import { layouts } from "../harness/layouts";
import { createHmac } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { maxShownBytes } from "../../src/deliveries/lists";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { bearer, tab, token, webhook } from "../harness/flow";
import { formOf, typeOf } from "../harness/forms";
import { keeps } from "../harness/guaranteed";
import { dial, send } from "../harness/http";
import { type Flow, NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

const secret = "It's a Secret to Everybody";
/** What Microsoft Graph sends in each of its bodies. */
const stateOfGraph = "state-of-ours";
/** A token that the name of a field may be. */
const named = "named-Abcdefgh-0123456789012345678901234";
const json = { "Content-Type": "application/json" };
const acme = { alg: "hmac-sha256", key: { format: "utf8" }, sig: { headers: ["X-Acme-Sum"], enc: "hex" }, content: ["body"] }; // prettier-ignore
const summed = { ...acme, sig: { headers: [], source: "form:sum", enc: "hex" }, content: ["form:text"] };
const failing = { id: "failing", type: "function", func: 'throw new Error("no such order");', wires: [[]] };
const caught = { id: "caught", type: "catch", scope: ["failing"], wires: [[]] };
const answer = {
  id: "answer",
  type: "function",
  func: "msg.statusCode = 422; msg.payload = msg.payload.told; return msg;",
  wires: [["response"]],
};
/** Answers a part, and then with what cannot be sent. */
const partial = {
  id: "partial",
  type: "function",
  func: 'msg.res._res.write("a part"); msg.res._res.write(5);',
  wires: [[]],
};
const response = { id: "response", type: "http response", wires: [] };
const flow: Flow = tab(
  webhook("orders", "/orders"),
  webhook("both", "/both", { returnQueryParams: true, rawBody: true }),
  webhook("broken", "/broken", { wires: [["failing"]] }),
  webhook("answered", "/answered", { reply: "flow", replyTimeout: 1, wires: [["answer"]] }),
  webhook("own", "/own", { replyStatus: 202, replyBody: "Thank you, ä", replyType: "text/plain" }),
  webhook("repeated", "/repeated", { reply: "flow", ignoreDuplicates: true, duplicateKey: "header:X-Id", wires: [["answer"]] }),
  webhook("parted", "/parted", { reply: "flow", replyTimeout: 1, wires: [["partial"]] }),
  webhook("silent", "/silent", { reply: "flow", replyTimeout: 1 }),
  webhook("github", "/github", { verificationMethod: "signature", sender: "github", credentials: { secret } }),
  webhook("acme", "/acme", { verificationMethod: "signature", sender: "custom", scheme: acme, credentials: { secret } }),
  webhook("summed", "/summed", { verificationMethod: "signature", sender: "custom", scheme: summed, credentials: { secret } }),
  webhook("mailgun", "/mailgun", { verificationMethod: "signature", sender: "mailgun", credentials: { secret } }),
  webhook("graph", "/graph", { verificationMethod: "signature", sender: "microsoft-graph", credentials: { secret: stateOfGraph } }),
  webhook("named", "/named", { credentials: { token: named } }),
  webhook("meta", "/meta", { verificationMethod: "signature", sender: "meta", credentials: { secret, verifyToken: "a-word-of-ours" } }),
  webhook("closed", "/closed", { credentials: {} }),
  { ...failing, ...{ z: "tab" } }, { ...caught, z: "tab" }, { ...answer, z: "tab" }, { ...partial, z: "tab" }, { ...response, z: "tab" },
); // prettier-ignore

const sentence = (text: string) => catalog.standing.sentence.replace("__sentence__", text);

const settings = layouts["separate roots"];

describe("the deliveries of a Node-RED", () => {
  const { httpNodeRoot: root } = settings;
  let nodeRed: NodeRed;
  let shown: ShownDeliveries;
  before(async () => {
    nodeRed = await NodeRed.start({ flow, settings });
    shown = new ShownDeliveries(nodeRed);
  });
  after(() => nodeRed.stop());

  const post = async (path: string, headers: Record<string, string> = bearer, body = "{}") =>
    send(nodeRed.node(path), { headers: { ...json, ...headers }, body });
  const failed = (node: string) => shown.find((each) => each.node === node && each.state === "failed");
  const refused = (node: string | null, problem: string) =>
    shown.find((each) => each.node === node && each.cause?.problem === problem);

  it("are told with what came, what was answered and how long that took", async () => {
    const { json: told } = await post("/orders?color=red&token=abc", { ...bearer, "X-Kind": "order" }, '{"a":1}');
    const summary = await shown.find(({ id }) => id === told.id);
    const { at, milliseconds, ip, ...rest } = summary;
    should(at).be.within(Date.now() - 60_000, Date.now());
    should(milliseconds).be.within(0, 60_000);
    ip.should.equal("127.0.0.1");
    should(rest).eql({
      ...{ id: told.id, node: "orders", state: "succeeded", status: 200, reason: null, fix: null, method: "POST" },
      ...{
        path: "/orders",
        sender: null,
        event: null,
        senderId: null,
        words: '{"a":1}',
        size: 7,
        attempt: 1,
        maxAttempts: null,
        nextAt: null,
        pause: null,
        replayOf: null,
        duplicateOf: null,
        isTest: false,
      },
      cause: null,
    });
    const detail = await shown.detail(summary.id);
    should(detail).containDeep(summary);
    should(detail.headers).containDeep({ "x-kind": "order", "content-type": "application/json" });
    should(detail.query).eql({ color: "red", token: "••••••••" });
    should(detail.body).eql({ encoding: "utf8", data: '{"a":1}', truncated: false });
    should(detail.answer).eql({ status: 200, milliseconds, body: JSON.stringify(told) });
    should(detail.attempts).eql([{ at }]);
  });

  it("are told with their bytes where they are no text", async () => {
    const body = Buffer.from([0xff, 0, 1]);
    const { json: told } = await send(nodeRed.node("/orders"), { headers: { ...bearer, "Content-Type": "image/png" }, body }); // prettier-ignore
    should((await shown.detail(String(told.id))).body).eql({ encoding: "base64", data: body.toString("base64"), truncated: false }); // prettier-ignore
  });

  describe("tell the payload that a replay has", () => {
    const typed = async (type: string, body: string | Buffer, path = "/orders", coding: Record<string, string> = {}) =>
      String(
        (await send(nodeRed.node(path), { headers: { ...bearer, "Content-Type": type, ...coding }, body })).json.id,
      );
    const form = formOf([
      { disposition: '; name="order"', content: "17" },
      { disposition: '; name="note"; filename="note.txt"', content: "two" },
    ]);
    const bodies: Record<string, readonly [type: string, body: string | Buffer, coding?: Record<string, string>]> = {
      JSON: ["application/json", '{"a":[1]}'],
      "a number that is text": ["text/plain", "12345"],
      "a word that is text": ["text/plain", "true"],
      "an object that is text": ["text/plain", '{"a":1}'],
      "fields of a form": ["application/x-www-form-urlencoded", "a=1&b=2&a=3"],
      "fields of a form that may have files": [typeOf(), form],
      "packed JSON": ["application/json", gzipSync('{"a":1}'), { "Content-Encoding": "gzip" }],
      nothing: ["application/json", ""],
    };
    for (const [what, [type, body, coding]] of Object.entries(bodies)) {
      it(`as the flow got it, with ${what}`, async () => {
        const id = await typed(type, body, "/orders", coding);
        should((await shown.detail(id)).payload).eql((await nodeRed.message(id)).payload);
      });
    }

    it("with its parameters, but for what may let somebody in", async () => {
      const id = await typed("text/plain", "1", "/both?color=red&key=of-somebody");
      should((await shown.detail(id)).payload).eql({ body: "1", query: { color: "red", key: "••••••••" } });
    });

    it("as somebody has changed it, and nothing around that", async () => {
      const id = await typed("text/plain", "1", "/both?x=1");
      const { json: again } = await shown.replay(id, { payload: { body: 2 } });
      should(await shown.detail(id)).containEql({ isJson: false });
      should(await shown.detail(String(again.id))).containDeep({ isJson: true, payload: { body: 2 } });
      should((await shown.detail(String(again.id))).payload).eql({ body: 2 });
    });

    it("with nothing in it that lets somebody in", async () => {
      const masked = await typed("application/json", JSON.stringify({ token }));
      should((await shown.detail(masked)).payload).eql({ token: "[redacted]" });
      const unseen = await typed("text/plain; charset=utf-16le", Buffer.from(token, "utf16le"));
      should((await nodeRed.message(unseen)).payload).equal(token);
      should(await shown.detail(unseen)).not.have.property("payload");
    });

    it("but not where that is no JSON, is too long, or cannot be replayed", async () => {
      await post("/orders", {});
      const long = Buffer.alloc(maxShownBytes + 1, "a");
      for (const id of [
        await typed("application/octet-stream", Buffer.from([0xff])),
        await typed("text/plain", long),
        await typed("text/plain", gzipSync(long), "/orders", { "Content-Encoding": "gzip" }),
        (await shown.find(({ state }) => state === "refused")).id,
      ])
        should(await shown.detail(id)).not.have.property("payload");
    });
  });

  it("say of a refused request why it was, and what to do", async () => {
    (await post("/orders", { "X-Token": token })).status.should.equal(401);
    const summary = await refused("orders", "tokenMissing");
    should(summary).containDeep({ state: "refused", status: 401, attempt: 0, reason: catalog.refused.tokenMissing });
    should(summary.fix).equal(sentence(catalog.whyNot.tokenElsewhere.replace("__place__", "X-Token")));
    const { headers, answer: told, attempts, body } = await shown.detail(summary.id);
    should(headers["x-token"]).equal("••••••••");
    should(attempts).eql([]);
    should(body).eql({ encoding: "utf8", data: "", truncated: true });
    should(JSON.parse(told?.body ?? "")).containEql({ status: 401 });
  });

  it("say what to do where nothing is known but the problem", async () => {
    (await send(nodeRed.node("/orders"), { headers: { ...bearer, ...json }, body: "{" })).status.should.equal(400);
    should((await refused("orders", "jsonMalformed")).fix).equal(sentence(catalog.fix.jsonMalformed));
  });

  it("say of all that the flow has failed with, however many come at once", async () => {
    const told = await Promise.all(Array.from({ length: 150 }, () => post("/broken")));
    const ids = new Set(told.map((each) => String(each.json.id)));
    for (let left = ids.size; left > 0;) {
      const { deliveries } = await shown.page("node=broken&state=failed&limit=500");
      left = ids.size - deliveries.filter(({ id }) => ids.has(id)).length;
    }
  });

  it("say what the flow has failed with, whether that is caught or not", async () => {
    await post("/broken");
    const summary = await failed("broken");
    const error = "function: no such order";
    should(summary).containDeep({ status: 200, reason: error, fix: sentence(catalog.fix.flow), cause: { error } });
    const [run] = (await shown.detail(summary.id)).attempts;
    should(run).have.properties({ error: "function: no such order" });
    should(run?.ended).be.aboveOrEqual(run?.at ?? Infinity);
    const { deliveries } = await shown.page("text=No%20such%20ORDER");
    deliveries.map(({ id }) => id).should.containEql(summary.id);
  });

  it("say what was answered, by the node or by the flow, or that nothing was", async () => {
    const answered = async (node: string, told?: unknown, headers = bearer) => {
      const { id } = (await shown.page(`node=${node}&limit=1`)).deliveries[0] ?? {};
      const { status } = await post(`/${node}`, headers, JSON.stringify({ told }));
      const summary = await shown.find((each) => each.id !== id && each.state !== "running", `node=${node}`);
      const { answer: said } = await shown.detail(summary.id);
      should(said?.status).equal(status);
      return [summary.state, summary.reason, status, said?.body];
    };
    should(await answered("own")).eql(["succeeded", null, 202, "Thank you, ä"]);
    should(await answered("answered")).eql(["succeeded", null, 422, null]);
    should(await answered("answered", { out: ["of stock", token] })).eql([
      "succeeded",
      null,
      422,
      '{"out":["of stock","[redacted]"]}',
    ]);
    should(await answered("answered", "x".repeat(5000))).eql(["succeeded", null, 422, `${"x".repeat(1024)}…`]);
    const once = { ...bearer, "X-Id": "1" };
    should(await answered("repeated", `first ${token}`, once)).eql(["succeeded", null, 422, "first [redacted]"]);
    should(await answered("repeated", "second", once)).eql(["duplicate", null, 422, "first [redacted]"]);
    (await post("/silent")).status.should.equal(504);
    const late = await failed("silent");
    should(JSON.parse((await shown.detail(late.id)).answer?.body ?? "")).containEql({ status: 504 });
    should(late).containDeep({ status: 504, reason: catalog.refused.flowLate, fix: sentence(catalog.fix.flowLate) }); // prettier-ignore
  });

  it("say that the sender had gone before the flow answered", async () => {
    const socket = dial(nodeRed.origin);
    const path = new URL(nodeRed.node("/silent")).pathname;
    const fields = [`Authorization: ${bearer.Authorization}`, "X-Trace: hasty", "Content-Length: 0"];
    socket.write([`POST ${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n"));
    await shown.find(({ state }) => state === "running", "node=silent");
    socket.destroy();
    const left = await shown.find(({ state, status }) => state === "failed" && status === null, "node=silent");
    should(left).containDeep({ reason: catalog.failed.gone, fix: sentence(catalog.fix.gone) });
  });

  it("tell the sender, its event and its id, and no signature", async () => {
    const body = '{"zen":"Keep it logically awesome."}';
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "X-Hub-Signature-256": signature, "X-GitHub-Event": "push", "X-GitHub-Delivery": "7d1c" };
    (await post("/github", headers, body)).status.should.equal(200);
    const summary = await shown.find(({ node }) => node === "github");
    should(summary).containDeep({ sender: "github", event: "push", senderId: "7d1c" });
    should((await shown.detail(summary.id)).headers["x-hub-signature-256"]).equal("••••••••");
  });

  it("tell no more of an event than its beginning, and find no more of it", async () => {
    const event = `at-length${"-and".repeat(1000)}`;
    const signature = `sha256=${createHmac("sha256", secret).update("{}").digest("hex")}`;
    const headers = { "X-Hub-Signature-256": signature, "X-GitHub-Event": event };
    const { json: told } = await post("/github", headers);
    should((await nodeRed.message(told.id)).topic).equal(event);
    const { deliveries } = await shown.page("node=github&text=at-length-and-and");
    deliveries.map((each) => each.event).should.eql([event.slice(0, 200)]);
  });

  it("tell of a request to a path that is like that of a node, and of one whose node is closed", async () => {
    (await post("/ordres")).status.should.equal(404);
    const near = await refused("orders", "noEndpoint");
    should(near).containDeep({ status: 404, path: `${root}/ordres`, reason: catalog.refused.noEndpoint });
    should(near.fix).equal(sentence(catalog.whyNot.pathNear.replace("__path__", `${root}/orders`)));
    (await send(nodeRed.node("/mata?hub.mode=subscribe"), { method: "GET" })).status.should.equal(404);
    should(await refused("meta", "noEndpoint")).containDeep({ method: "GET", path: `${root}/mata` });
    (await post("/closed")).status.should.equal(404);
    const closed = await shown.find(({ path }) => path === `${root}/closed`);
    should(closed).containDeep({ node: "closed", fix: sentence(catalog.whyNot.pathClosed) });
    (await post(`/nothing-like-it/${token}`)).status.should.equal(404);
    const unknown = await shown.find(({ cause }) => cause?.reasons[0]?.key === "pathUnknown");
    should(unknown).containDeep({
      node: null,
      path: `${root}/nothing-like-it/[redacted]`,
      fix: sentence(catalog.whyNot.pathUnknown),
    });
    (await post("/nothing-like-it")).status.should.equal(404);
    await shown.find(({ path }) => path === root + "/nothing-like-it");
  });

  it("tell of what the sender has asked, and was answered", async () => {
    const headers = { "X-Goog-Channel-Id": "1" };
    (
      await send(nodeRed.node("/meta?hub.mode=subscribe&hub.challenge=42&hub.verify_token=a-word-of-ours"), {
        method: "GET",
        headers,
      })
    ).status.should.equal(200);
    const summary = await shown.find(({ node }) => node === "meta");
    should(summary).containDeep({ state: "handshake", status: 200, method: "GET", cause: null });
    should((await shown.detail(summary.id)).query).have.property("hub.verify_token", "••••••••");
  });

  it("tell of nothing that the editor, or another node's route, has answered", async () => {
    const before = (await shown.page()).deliveries.length;
    (await shown.replay("no-such-delivery")).status.should.equal(404);
    (await shown.page()).deliveries.should.have.length(before);
  });

  it("hold no token, whatever was sent where", async () => {
    await post(`/both?state=${token}`, { "X-Copy": token, Cookie: `session=${token}` }, JSON.stringify({ token }));
    await post("/both", { ...bearer, "X-Copy": token, Cookie: `a=${token}` }, JSON.stringify({ token, a: [token] }));
    await post(`/${token}`, bearer);
    await post(`/nothing-like-it/${encodeURIComponent(secret)}`, { "User-Agent": secret });
    const { deliveries } = await shown.page("limit=500");
    const details = await Promise.all(deliveries.map(({ id }) => shown.detail(id)));
    details.length.should.be.above(5);
    for (const each of [token, secret]) JSON.stringify(details).should.not.containEql(each);
  });

  it("show no value of a field whose name tells of a credential, and do not find it", async () => {
    const keys = {
      "X-Acme-Sum": createHmac("sha256", secret).update("{}").digest("hex"),
      "X-Api-Key": "of-somebody",
      "Ocp-Apim-Subscription-Key": "of-a-gateway",
      "Idempotency-Key": "7d1c",
    };
    const { status, json: told } = await post("/acme", keys);
    status.should.equal(200);
    const { headers } = await shown.detail(String(told.id));
    should(headers).containDeep({
      "x-acme-sum": keys["X-Acme-Sum"],
      "x-api-key": "••••••••",
      "ocp-apim-subscription-key": "••••••••",
      "idempotency-key": "7d1c",
    });
    (await shown.page("text=x-api-key")).deliveries.should.have.length(1);
    for (const text of ["of-somebody", "of-a-gateway"]) (await shown.page(`text=${text}`)).deliveries.should.eql([]);
  });

  it("have a signature that travels in the body, with which they can be replayed", async () => {
    const sign = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
    const signature = sign("1700000000of-mailgun");
    const body = JSON.stringify({ signature: { token: "of-mailgun", signature, timestamp: "1700000000" } });
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    for (const [node, sent, headers, ownId] of [
      ["mailgun", body, {}, "of-mailgun"],
      ["summed", `sum=${sign("ä")}&text=%C3%A4`, form, null],
    ] as const) {
      (await post(`/${node}`, headers, sent)).status.should.equal(200);
      const { id, senderId } = await shown.find((each) => each.node === node);
      should(senderId).equal(ownId);
      should((await shown.detail(id)).body.data).equal(sent);
      const { json: again } = await shown.replay(id);
      should((await nodeRed.message(again.id)).payload).eql((await nodeRed.message(id)).payload);
    }
  });

  it("have a mark in the place of a token that travels in the body, also in a replay", async () => {
    const sent = JSON.stringify({ value: [{ clientState: stateOfGraph, changeType: "created" }] });
    (await post("/graph", {}, sent)).status.should.equal(200);
    const { id } = await shown.find((each) => each.node === "graph");
    const { json: again } = await shown.replay(id);
    const { payload } = await nodeRed.message(again.id);
    should(payload).eql({ value: [{ clientState: "[redacted]", changeType: "created" }] });
    for (const each of [id, String(again.id)])
      JSON.stringify(await shown.detail(each)).should.not.containEql(stateOfGraph);
    (await shown.page(`text=${stateOfGraph}`)).deliveries.should.eql([]);
  });

  it("hold no token of a refused request, percent-encoded or as the name of a field", async () => {
    const encoded = encodeURIComponent(token);
    (await post("/orders", { "User-Agent": encoded })).status.should.equal(401);
    (await post("/named", { [named.toLowerCase()]: "1" })).status.should.equal(401);
    const { deliveries } = await shown.page("state=refused&limit=500");
    const details = await Promise.all(deliveries.map(({ id }) => shown.detail(id)));
    for (const each of [encoded, named.toLowerCase()]) JSON.stringify(details).should.not.containEql(each);
  });

  it("come page by page, each once, the newest first", async () => {
    for (let number = 0; number < 5; number++) await post("/orders");
    const ids: string[] = [];
    for (let next: string | null = ""; next !== null;) {
      const page = await shown.page(`node=orders&limit=2${next && `&before=${next}`}`);
      ids.push(...page.deliveries.map(({ id }) => id));
      ({ next } = page);
    }
    const all = (await shown.page("node=orders&limit=500")).deliveries;
    ids.should.eql(all.map(({ id }) => id));
    all.map(({ at }) => at).should.eql(all.map(({ at }) => at).sort((one, other) => other - one));
  });

  for (const [query, count] of [
      ["text=%25-only-HERE", 1], ["text=%2525", 0], ["text=%_", 0], ["state=refused&text=-only-here", 0], ["state=succeeded&node=orders&text=ONLY-here", 1], ["node=nobody", 0],
    ] as const) {
      it(`are found by ${query}: ${count}`, async () => {
        if ((await shown.page("text=-only-here")).deliveries.length === 0) await post("/orders", { ...bearer, "X-Mark": "%-only-here" }); // prettier-ignore
        (await shown.page(query)).deliveries.should.have.length(count);
      });
    } // prettier-ignore

  for (const query of ["limit=0", "limit=-1", "limit=x", "limit=1.5", "state=lost", "node=a&node=b", "before=x", "before=WyJ4Il0"]) {
      it(`are not asked for by ${query}`, async () => {
        const { status } = await send(nodeRed.admin(`/webhook-trigger/deliveries?${query}`), { method: "GET" });
        status.should.equal(400);
      });
    } // prettier-ignore

  it("are not stored, and 404 where there is none with an id", async () => {
    const { headers } = await send(nodeRed.admin("/webhook-trigger/deliveries"), { method: "GET" });
    should(headers["cache-control"]).equal("no-store");
    (await send(nodeRed.admin("/webhook-trigger/deliveries/nobody"), { method: "GET" })).status.should.equal(404);
  });

  describe("replayed", () => {
    it("start the flow of their node with what they were, and say so", async () => {
      const { json: told } = await post("/both?x=1", { ...bearer, "X-Kind": "order" }, '{"a":[1]}');
      const first = await nodeRed.message(told.id);
      const { status, json: again } = await shown.replay(String(told.id));
      status.should.equal(200);
      should(again.id).not.equal(told.id);
      const second = await nodeRed.message(again.id);
      should(second).containDeep({ payload: { body: { a: [1] }, query: { x: "1" } } });
      should(second.webhook).eql({ ...first.webhook, replay: true });
      should(second.req).containDeep({ path: "/both", headers: { "x-kind": "order" } });
      should(first.webhook).not.have.property("replay");
      const summary = await shown.find(({ id }) => id === again.id);
      should(summary).containDeep({ node: "both", state: "succeeded", replayOf: told.id });
    });

    it("have another payload where somebody wants that, and again when they are replayed themselves", async () => {
      const { json: told } = await post("/both", bearer, "{}");
      for (const payload of [{ b: 2 }, "text", null, 0]) {
        const { json: again } = await shown.replay(String(told.id), { payload });
        should((await nodeRed.message(again.id)).payload).eql(payload);
        const { json: third } = await shown.replay(String(again.id));
        should((await nodeRed.message(third.id)).payload).eql(payload);
      }
    });

    it("count as done where they had failed: the new one is looked after in their place", async () => {
      await post("/broken");
      const { id } = await failed("broken");
      const { json: again } = await shown.replay(id);
      should(await shown.find((each) => each.id === id)).containDeep({ state: "succeeded" });
      await shown.find((each) => each.id === again.id && each.state === "failed");
    });

    it("tell how the flow has answered, where it is to", async () => {
      const { id } = await shown.find(({ node }) => node === "answered");
      const { json: again } = await shown.replay(id);
      await shown.find((each) => each.id === again.id && each.state === "succeeded");
      const { json: late } = await shown.replay((await shown.find(({ node }) => node === "silent")).id);
      const unanswered = await shown.find((each) => each.id === late.id && each.state === "failed");
      should(unanswered).containDeep({ status: null, reason: catalog.refused.flowLate });
    });

    it("are refused where they were refused, or their node is not there", async () => {
      const { id } = await shown.find(({ state }) => state === "refused");
      const { status, json: told } = await shown.replay(id);
      status.should.equal(409);
      should(told.message).equal(catalog.replay.notAccepted);
      (await shown.replay("nobody")).status.should.equal(404);
      (await shown.replay(id, [1])).status.should.equal(400);
    });
  });

  it("give their bodies to the test request of their own node, and of no other", async () => {
    const { json: told } = await post("/orders", bearer, '{"sample":true}');
    const test = (node: string, delivery: unknown) =>
      send(nodeRed.admin(`/webhook-trigger/${node}/test`), { headers: json, body: JSON.stringify({ delivery }) });
    const { json: result } = await test("orders", told.id);
    should(result.outcome).equal("accepted");
    should((await nodeRed.message(result.id)).payload).eql({ sample: true });
    const isTest = async (which: unknown) => (await shown.find(({ id }) => id === which)).isTest;
    should([await isTest(result.id), await isTest(told.id)]).eql([true, false]);
    for (const [node, delivery] of [
      ["both", told.id],
      ["orders", "nobody"],
      ["orders", 1],
    ] as const) {
      should((await test(node, delivery)).json).eql({ outcome: "deliveryGone" });
    }
  });
});

describe("the deliveries of a Node-RED with other settings", () => {
  let nodeRed: NodeRed | undefined;
  afterEach(() => nodeRed?.stop());

  const open = async (...options: Parameters<typeof NodeRed.start>) => {
    nodeRed = await NodeRed.start(...options);
    return { running: nodeRed, shown: new ShownDeliveries(nodeRed) };
  };

  it("tell whether something in front has refused a request", async () => {
    const pass = "$2y$08$zZWtXTja0fB1pzD4sHCMyOCMYz2Z6dNbM6tl8sJogENOMcxWV9DN.";
    const { running, shown } = await open({ flow, settings: { httpNodeAuth: { user: "me", pass } } });
    (await send(running.node("/orders"), { headers: bearer })).status.should.equal(401);
    const summary = await shown.find(({ state }) => state === "refused");
    should(summary).containDeep({ node: "orders", status: 401, reason: catalog.refused.inFront, fix: sentence(catalog.whyNot.frontAuth) }); // prettier-ignore
  });

  it("tell of a path without the root that all HTTP nodes have", async () => {
    const { running, shown } = await open({ flow, settings: { httpNodeRoot: "/endpoint" } });
    (await send(`${running.origin}/orders`, { headers: bearer })).status.should.equal(404);
    const { fix } = await shown.find(({ node, state }) => node === "orders" && state === "refused");
    const missing = catalog.whyNot.pathRootMissing.replace("__root__", "/endpoint");
    should(fix).equal(sentence(missing.replace("__path__", "/endpoint/orders")));
  });

  it("are as many as the settings file says, without bodies where it says so", async () => {
    const { running, shown } = await open({ flow, settings: { webhookTriggerDeliveries: { keep: 2, bodies: false } } });
    for (const body of ["1", "2", "3"]) await send(running.node("/orders"), { headers: bearer, body });
    const { deliveries } = await shown.page("node=orders");
    deliveries.should.have.length(2);
    const id = deliveries[0]?.id ?? "";
    const { body, answer: said } = await shown.detail(id);
    should([body, said?.body]).eql([{ encoding: "utf8", data: "", truncated: true }, null]);
    await send(running.node("/answered"), { headers: bearer, body: '{"told":"mine"}' });
    const answered = await shown.find(({ node, state }) => node === "answered" && state === "succeeded");
    should((await shown.detail(answered.id)).answer).containDeep({ status: 422, body: null });
    const { status, json: told } = await shown.replay(id);
    status.should.equal(409);
    should(told.message).equal(catalog.replay.bodyMissing);
    const { json: again } = await shown.replay(id, { payload: "mine" });
    should((await running.message(again.id)).payload).equal("mine");
  });

  if (sqliteIsHere()) {
    it("are without answers where the settings file says so, though their bodies must not be lost", async () => {
      const safe = webhook("safe", "/safe", { guaranteed: true, z: "tab" });
      const called = webhook("called", "/called", { guaranteed: true, z: "tab", reply: "flow", wires: [["answer"]] });
      const settings = { webhookTriggerDeliveries: { bodies: false } };
      const { running, shown } = await open({ flow: [...flow, safe, called], settings });
      for (const [node, status] of [
        ["safe", 200],
        ["called", 422],
      ] as const) {
        await send(running.node(`/${node}`), { headers: { ...bearer, ...json }, body: '{"told":"mine"}' });
        const { id } = await shown.find((each) => each.status === status && each.state === "succeeded", `node=${node}`);
        const { answer: said, body } = await shown.detail(id);
        should([said?.body, body.data]).eql([null, '{"told":"mine"}']);
      }
    });
  }

  if (sqliteIsHere()) {
    it("have what must not be lost, though no others are kept", async () => {
      const called = webhook("called", "/called", { guaranteed: true, z: "tab", reply: "flow", wires: [["answer"]] });
      const settings = { webhookTriggerDeliveries: { keep: 0 } };
      const { running, shown } = await open({ flow: [...flow, called], settings });
      (await send(running.node("/called"), { headers: json, body: '{"told":"mine"}' })).status.should.equal(401);
      await send(running.node("/called"), { headers: { ...bearer, ...json }, body: '{"told":"mine"}' });
      await shown.find(({ state }) => state === "succeeded", "node=called");
      (await shown.page("node=called")).deliveries.should.have.length(1);
    });
  }

  it("are 500 at most on a page, however many are asked for", async () => {
    const { running, shown } = await open({ flow, settings: { webhookTriggerDeliveries: { keep: 1000 } } });
    const post = () => send(running.node("/orders"), { headers: bearer });
    for (let sent = 0; sent < 502; sent += 10) await Promise.all(Array.from({ length: 10 }, post));
    const first = await shown.page("node=orders&limit=100000");
    first.deliveries.should.have.length(500);
    (await shown.page(`node=orders&limit=500&before=${first.next}`)).deliveries.should.have.length(10);
    (await shown.page("node=orders")).deliveries.should.have.length(100);
  });

  it("are none where the settings file says so", async () => {
    const { running, shown } = await open({ flow, settings: { webhookTriggerDeliveries: { keep: 0 } } });
    await send(running.node("/orders"), { headers: bearer });
    await send(running.node("/orders"));
    should(await shown.page()).eql({ deliveries: [], next: null });
  });

  it("are as many as usual where the setting is not understood, which the log tells", async () => {
    const { running, shown } = await open({ flow, settings: { webhookTriggerDeliveries: { keep: "many" } } });
    await running.logged(/webhookTriggerDeliveries.*: keep/);
    await send(running.node("/orders"), { headers: bearer });
    await shown.find(({ node }) => node === "orders");
  });

  /** Notes what editors are told, and stands in for one that is opened or closed. */
  const plugin = `
    module.exports = (RED) => {
      let told = [];
      RED.events.on("comms", ({ topic, data, retain }) => {
        if (topic === "webhook-trigger/deliveries") told.push({ data, retain });
      });
      process.on("message", ({ editor, tell }) => {
        if (editor) RED.events.emit("comms:connection-" + editor, {});
        if (tell) process.send({ trace: "told " + JSON.stringify(told) });
      });
    };`;

  it("have open editors ask again, a few times a second at most, and say nothing while none is open", async () => {
    const { running } = await open({ flow, plugin });
    const told = async () => JSON.parse(await running.ask({ tell: true }, "told ")) as unknown[];
    const post = () => send(running.node("/orders"), { headers: bearer });
    await post();
    running.say({ editor: "added" });
    const start = Date.now();
    while (Date.now() - start < 1000) await post();
    await until(async () => (await told()).length > 0, "an editor to be told");
    const most = Math.ceil((Date.now() - start) / 200);
    const seen = await told();
    // Nothing of a delivery: whoever may open an editor is told so.
    should(seen).eql(seen.map(() => ({ data: { changed: true }, retain: false })));
    seen.length.should.be.within(1, most);
    running.say({ editor: "removed" });
  }); // prettier-ignore

  for (const kind of keeps.filter(({ isHere }) => isHere)) {
    it(`have open editors ask again when a node is paused or resumed, kept in ${kind.name}`, async () => {
      const keep = await kind.begin();
      try {
        const safe = tab(webhook("safe", "/safe", { guaranteed: true }));
        const { running } = await open({ flow: safe, ...keep.options, plugin });
        await running.status("safe", /\/safe/);
        const told = async () => (JSON.parse(await running.ask({ tell: true }, "told ")) as unknown[]).length;
        // What is told after the start has come before.
        await wait(1000);
        running.say({ editor: "added" });
        for (const action of ["pause", "resume", "pause"]) {
          const before = await told();
          (await send(running.admin(`/webhook-trigger/safe/${action}`), { headers: {} })).status.should.equal(204);
          await until(async () => (await told()) > before, `an editor to be told after ${action}`);
        }
      } finally {
        await nodeRed?.stop();
        await keep.end();
      }
    });
  }

  const itInFile = sqliteIsHere() ? it : () => undefined;
  itInFile(
    "start the flow once where they are in a file and it is to answer, whatever is deployed meanwhile",
    async () => {
      const flowOf = (name: string) =>
        tab(webhook("slow", "/slow", { reply: "flow", replyTimeout: 60 }), webhook("other", "/other", { name }));
      const { running, shown } = await open({
        flow: flowOf("a"),
        settings: { webhookTriggerStore: { type: "sqlite" } },
      });
      const sent = send(running.node("/slow"), { headers: bearer }).catch(() => undefined);
      const { id } = await shown.find(({ node }) => node === "slow");
      await running.message(id);
      await running.deploy(flowOf("b"), "nodes");
      // Whatever is taken up again is asked of the file before this is written into it.
      await send(running.node("/other"), { headers: bearer });
      await shown.find(({ node }) => node === "other");
      should((await shown.find((each) => each.id === id)).attempt).equal(1);
      running.messages.filter(({ _msgid }) => _msgid === id).should.have.length(1);
      await running.stop();
      await sent;
    },
  );

  itInFile("are shown from all places where they are kept, and outlive a restart where they have to", async () => {
    const safe = [...flow, webhook("safe", "/safe", { guaranteed: true, z: "tab", wires: [["failing"]] })];
    const { running, shown } = await open({ flow: safe });
    const ids: unknown[] = [];
    for (const path of ["/orders", "/safe", "/orders", "/safe"]) {
      ids.unshift((await send(running.node(path), { headers: bearer, body: path })).json.id);
    }
    const paged: string[] = [];
    for (let next: string | null = ""; next !== null;) {
      const page = await shown.page(`limit=1${next && `&before=${next}`}`);
      paged.push(...page.deliveries.map(({ id }) => id));
      ({ next } = page);
    }
    paged.should.eql(ids);
    const summary = await shown.find(({ node, cause }) => node === "safe" && cause !== null);
    should(summary).containDeep({ status: 200, cause: { error: "function: no such order" } });
    should(summary.milliseconds).be.above(0);
    await running.stop();
    const next = await open({ flow: safe, userDir: running.userDir });
    const ofSafe = (await next.shown.page("node=safe")).deliveries.map(({ id }) => id);
    ofSafe.should.eql(ids.filter((_, index) => index % 2 === 0));
    const { json: again } = await next.shown.replay(ofSafe[0] ?? "");
    should(await next.shown.find(({ id }) => id === again.id)).containDeep({ node: "safe", replayOf: ofSafe[0] });
  });

  for (const kind of keeps) {
    if (!kind.isHere) continue;
    it(`are told, found and replayed as in memory where they are kept in ${kind.name}`, async () => {
      const keep = await kind.begin();
      const safe = webhook("safe", "/safe", { guaranteed: true, z: "tab", wires: [["sink"]] });
      const called = webhook("called", "/called", { guaranteed: true, z: "tab", reply: "flow", wires: [["answer"]] });
      try {
        const { running, shown } = await open({ flow: [...flow, safe, called], ...keep.options });
        for (const path of ["/orders", "/safe"]) {
          const node = path.slice(1);
          const { json: told } = await send(running.node(path), { headers: { ...bearer, ...json }, body: `{"at":"${node}"}` });
          const summary = await shown.find(({ id, state, status }) => id === told.id && state === "succeeded" && status === 200);
          should(summary).containDeep({ node, words: `{"at":"${node}"}`, attempt: 1, cause: null });
          const detail = await shown.detail(summary.id);
          should(detail.body).containDeep({ data: `{"at":"${node}"}` });
          should(detail.answer).containDeep({ status: 200, body: JSON.stringify(told) });
          (await send(running.node(path), { headers: { "X-Token": token } })).status.should.equal(401);
          const refusal = await shown.find(({ state }) => state === "refused", `node=${node}`);
          should(refusal.fix).equal(sentence(catalog.whyNot.tokenElsewhere.replace("__place__", "X-Token")));
          const { json: again } = await shown.replay(summary.id, { payload: [node] });
          should((await running.message(again.id)).payload).eql([node]);
          await shown.find(({ id, state }) => id === again.id && state === "succeeded");
          (await shown.page(`node=${node}&limit=2`)).deliveries.should.have.length(2);
          (await shown.page(`text=${summary.id}`)).deliveries.map(({ id }) => id).should.eql([summary.id]);
        }
        for (const node of ["answered", "called"]) {
          await send(running.node(`/${node}`), { headers: { ...bearer, ...json }, body: '{"told":"out of stock"}' });
          const { id } = await shown.find(({ status }) => status === 422, `node=${node}`);
          should((await shown.detail(id)).answer).containDeep({ status: 422, body: "out of stock" });
        }
      } finally {
        await nodeRed?.stop();
        await keep.end();
      }
    });
  } // prettier-ignore
});
