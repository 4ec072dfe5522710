import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import type { Summary } from "../../src/admin/summary";
import { formatCallerSearch } from "../../src/config/callers";
import { maxShownBytes } from "../../src/deliveries/states";
import { sqliteIsHere } from "../../src/config/stores";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { callers, callerToken } from "../harness/callers";
import { formOf, typeOf } from "../harness/forms";
import { storeKinds } from "../harness/guaranteed";
import { command, dial, send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

const secret = "It's a Secret to Everybody";
/** What Microsoft Graph sends in each of its bodies. */
const stateOfGraph = "state-of-ours";
/** A token that the name of a field may be. */
const named = "named-Abcdefgh-0123456789012345678901234";
/** The names of callers. */
const [door, withSecret] = ['=1+1 "<b>Tür 1</b>" 🚪', `Door ${token}`];
const doors = { token, ...callers(door, withSecret) };
const json = { "Content-Type": "application/json" };
const mask = "••••••••";
const summed = { alg: "hmac-sha256", key: { format: "utf8" }, sig: { headers: [], source: "form:sum", enc: "hex" }, content: ["form:text"] }; // prettier-ignore
const signed = (id: string, sender: string, fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { verificationMethod: "signature", sender, credentials: { secret }, ...fields });
const guaranteed = (id: string, fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { guaranteed: true, z: "tab", wires: [["sink"]], ...fields });
const runs = (id: string, func: string, ...wires: string[]) => ({ id, type: "function", func, wires: [wires] });

const flow = tab(
  webhook("orders", "/orders"),
  webhook("both", "/both", { returnQueryParams: true, rawBody: true }),
  webhook("broken", "/broken", { wires: [["failing"]] }),
  webhook("answered", "/answered", { reply: "flow", replyTimeout: 60, wires: [["answer"]] }),
  webhook("own", "/own", { replyStatus: 202, replyBody: "Thank you, ä", replyType: "text/plain" }),
  webhook("repeated", "/repeated", { reply: "flow", ignoreDuplicates: true, duplicateKey: "header:X-Id", wires: [["answer"]] }),
  webhook("silent", "/silent", { reply: "flow", replyTimeout: 1 }),
  webhook("patient", "/patient", { reply: "flow", replyTimeout: 15 }),
  signed("github", "github"),
  signed("summed", "custom", { scheme: summed }),
  signed("mailgun", "mailgun"),
  signed("graph", "microsoft-graph", { credentials: { secret: stateOfGraph } }),
  signed("meta", "meta", { credentials: { secret, verifyToken: "a-word-of-ours" } }),
  webhook("named", "/named", { credentials: { token: named } }),
  webhook("doors", "/doors", { credentials: doors, ignoreDuplicates: true, duplicateKey: "header:X-Id", conditions: [{ place: "json:skip", operator: "missing", value: "" }] }),
  webhook("late-doors", "/late-doors", { credentials: doors, reply: "flow", replyTimeout: 1, rateLimit: 1, rateLimitBy: "caller" }),
  webhook("closed", "/closed", { credentials: {} }),
  webhook("switched-off", "/orders-off", { d: true }),
  runs("failing", 'throw new Error("no such order");'),
  { id: "caught", type: "catch", scope: ["failing"], wires: [[]] },
  runs("answer", "msg.statusCode = 422; msg.payload = msg.payload.answer; return msg;", "response"),
  { id: "response", type: "http response", wires: [] },
); // prettier-ignore

const sentence = (text: string) => catalog.lastRequest.sentence.replace("__sentence__", text);
const signatureOf = (body: string) => createHmac("sha256", secret).update(body).digest("hex");

describe("a delivery", () => {
  const settings = { ...roots.separate, webhookTriggerDeliveries: { keep: "many" } };
  const { httpNodeRoot: root } = settings;
  const nodeRed = useNodeRed({ flow, settings });
  let shown: ShownDeliveries;
  before(() => (shown = new ShownDeliveries(nodeRed())));

  const post = async (path: string, headers: Record<string, string> = bearer, body: string | Buffer = "{}") =>
    send(nodeRed().node(path), { headers: { ...json, ...headers }, body });
  const get = (path: string) => send(nodeRed().admin(`/webhook-trigger/${path}`), { method: "GET" });
  const accepted = async (...sent: Parameters<typeof post>) => String((await post(...sent)).json.id);
  const replayed = async (id: string, body?: object) => String((await shown.replay(id, body)).json.id);
  const payloadOf = async (id: string) => (await nodeRed().message(id)).payload;
  const failed = (node: string) => shown.find((each) => each.node === node && each.state === "failed");
  const refused = (node: string | null, problem: string) =>
    shown.find((each) => each.node === node && each.cause?.problem === problem);

  it("is listed with its request, its reply and the time it took, though the setting is not understood", async () => {
    await nodeRed().logged(/webhookTriggerDeliveries\.keep is not valid/);
    const { json: reply } = await post("/orders?color=red&token=abc", { ...bearer, "X-Kind": "order" }, '{"a":1}');
    const summary = await shown.find(({ id }) => id === reply.id);
    const { at, milliseconds, ...rest } = summary;
    should(at).be.within(Date.now() - 60_000, Date.now());
    should(milliseconds).be.within(0, 60_000);
    should(rest).eql({
      ...{ id: reply.id, node: "orders", state: "succeeded", status: 200, reason: null, fix: null, cause: null },
      ...{ method: "POST", path: "/orders", ip: "127.0.0.1", sender: null, caller: null, event: null, senderId: null },
      ...{ words: "a: 1", size: 7, attempt: 1, maxAttempts: null, nextAt: null, pause: null },
      ...{ replayOf: null, replayedBy: null, duplicateOf: null, isTest: false, why: null },
    });
    const detail = await shown.detail(summary.id);
    should(detail).containDeep(summary);
    should(detail.headers).containDeep({ "x-kind": "order", "content-type": "application/json" });
    should(detail.query).eql({ color: "red", token: mask });
    should(detail.body).eql({ encoding: "utf8", data: '{"a":1}', truncated: false });
    should(detail.answer).eql({ status: 200, milliseconds, body: JSON.stringify(reply) });
    should(detail.attempts).eql([{ at }]);

    const bytes = Buffer.from([0xff, 0, 1]);
    const { body } = await shown.detail(await accepted("/orders", { ...bearer, "Content-Type": "image/png" }, bytes));
    should(body).eql({ encoding: "base64", data: bytes.toString("base64"), truncated: false });
  });

  it("has the trace context of its sender, as the message and a replay's message have, and its reply has none", async () => {
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "shop=t61rcWkgMzE" };
    const { json: reply, headers } = await post("/orders", { ...bearer, ...trace });
    const id = String(reply.id);
    should((await shown.detail(id)).headers).containDeep(trace);
    for (const each of [id, await replayed(id)]) should((await nodeRed().message(each)).req.headers).containDeep(trace);
    for (const name of Object.keys(trace)) headers.should.not.have.property(name);
  }); // prettier-ignore

  const form = formOf([
    { disposition: '; name="order"', content: "17" },
    { disposition: '; name="note"; filename="note.txt"', content: "two" },
  ]);
  it("is shown with the payload that the flow got", async () => {
    for (const [type, body, coding] of [
      ["application/json", '{"a":[1]}'],
      ["text/plain", "12345"],
      ["text/plain", '{"a":1}'],
      ["application/x-www-form-urlencoded", "a=1&b=2&a=3"],
      [typeOf(), form],
      ["application/json", gzipSync('{"a":1}'), { "Content-Encoding": "gzip" }],
      ["application/json", ""],
    ] as const) {
      const id = await accepted("/orders", { ...bearer, "Content-Type": type, ...coding }, Buffer.from(body));
      should((await shown.detail(id)).payload).eql(await payloadOf(id));
    }
  });

  it("is shown with a payload without credentials, by which it is not found, and without one where that has a secret in it, is no JSON, too long or was refused", async () => {
    const typed = (type: string, body: string | Buffer, path = "/orders", more = {}) =>
      accepted(path, { ...bearer, "Content-Type": type, ...more }, body);
    const id = await typed("text/plain", "1", "/both?color=red&key=of-an-api");
    should((await shown.detail(id)).payload).eql({ body: "1", query: { color: "red", key: mask } });
    (await shown.page("text=of-an-api")).deliveries.should.eql([]);
    const unseen = await typed("text/plain; charset=utf-16le", Buffer.from(token, "utf16le"));
    should(await payloadOf(unseen)).equal(token);
    await post("/orders", {});
    const long = Buffer.alloc(maxShownBytes + 1, "a");
    for (const each of [
      unseen,
      await typed("application/json", JSON.stringify({ token })),
      await typed("application/octet-stream", Buffer.from([0xff])),
      await typed("text/plain", long),
      await typed("text/plain", gzipSync(long), "/orders", { "Content-Encoding": "gzip" }),
      (await shown.find(({ state }) => state === "refused")).id,
    ]) {
      should(await shown.detail(each)).not.have.property("payload");
    }
  });

  it("that was refused says why, and how to fix it", async () => {
    (await post("/orders", bearer, "{")).status.should.equal(400);
    should((await refused("orders", "jsonMalformed")).fix).equal(sentence(catalog.fix.jsonMalformed));
    const fix = sentence(catalog.whyNot.tokenElsewhere.replace("__place__", "X-Token"));
    // Explanations have a budget of time: where it is spent, they are missing for a moment.
    await until(async () => {
      (await post("/orders", { "X-Token": token })).status.should.equal(401);
      return (await refused("orders", "tokenMissing")).fix === fix;
    }, "the refusal to be explained");
    const summary = await refused("orders", "tokenMissing");
    should(summary).containDeep({
      state: "refused",
      status: 401,
      attempt: 0,
      reason: `${catalog.refused.tokenMissing} (401)`,
    });
    const { headers, answer, attempts, body } = await shown.detail(summary.id);
    should(headers["x-token"]).equal(mask);
    should(attempts).eql([]);
    should(body).eql({ encoding: "utf8", data: "", truncated: true });
    should(JSON.parse(answer?.body ?? "")).containEql({ status: 401 });
  });

  it("whose flow has failed says with which error, also when 150 fail at once", async () => {
    const replies = await Promise.all(Array.from({ length: 150 }, () => post("/broken")));
    const ids = new Set(replies.map((each) => String(each.json.id)));
    await until(async () => {
      const { deliveries } = await shown.page("node=broken&state=failed&limit=500");
      return deliveries.filter(({ id }) => ids.has(id)).length === ids.size;
    }, "all to have failed");
    const summary = await failed("broken");
    const error = "function: no such order";
    should(summary).containDeep({ status: 200, reason: error, fix: sentence(catalog.fix.flow), cause: { error } });
    const [attempt] = (await shown.detail(summary.id)).attempts;
    should(attempt?.error).equal(error);
    should(attempt?.ended).be.aboveOrEqual(attempt?.at ?? Infinity);
    const { deliveries } = await shown.page("text=No%20such%20ORDER");
    deliveries.map(({ id }) => id).should.containEql(summary.id);
  });

  it("says what was replied, by the node or by the flow, or that nothing was in time", async () => {
    const outcomeOf = async (node: string, wanted?: unknown, headers = bearer) => {
      const { id } = (await shown.page(`node=${node}&limit=1`)).deliveries[0] ?? {};
      const { status } = await post(`/${node}`, headers, JSON.stringify({ answer: wanted }));
      const summary = await shown.find((each) => each.id !== id && each.state !== "running", `node=${node}&limit=1`);
      const { answer } = await shown.detail(summary.id);
      should(answer?.status).equal(status);
      return [summary.state, summary.reason, status, answer?.body];
    };
    const once = { ...bearer, "X-Id": "1" };
    should(await outcomeOf("own")).eql(["succeeded", null, 202, "Thank you, ä"]);
    for (const [wanted, body] of [
      [undefined, null],
      [{ out: ["of stock", token] }, '{"out":["of stock","[redacted]"]}'],
      ["x".repeat(5000), `${"x".repeat(1024)}…`],
    ] as const) {
      should(await outcomeOf("answered", wanted)).eql(["succeeded", null, 422, body]);
    }
    should(await outcomeOf("repeated", `first ${token}`, once)).eql(["succeeded", null, 422, "first [redacted]"]);
    should(await outcomeOf("repeated", "second", once)).eql(["duplicate", null, 422, "first [redacted]"]);
    (await post("/silent")).status.should.equal(504);
    const late = await failed("silent");
    should(JSON.parse((await shown.detail(late.id)).answer?.body ?? "")).containEql({ status: 504 });
    should(late).containDeep({ status: 504, reason: catalog.refused.flowLate, fix: sentence(catalog.fix.flowLate) });
  });

  it("says that the sender had gone before the flow replied", async () => {
    const socket = dial(nodeRed().origin);
    const { pathname } = new URL(nodeRed().node("/patient"));
    const fields = ["Host: x", `Authorization: ${bearer.Authorization}`, "Content-Length: 0"];
    socket.write([`POST ${pathname} HTTP/1.1`, ...fields, "", ""].join("\r\n"));
    await shown.find(({ state }) => state === "running", "node=patient");
    socket.destroy();
    const left = await shown.find(({ state, status }) => state === "failed" && status === null, "node=patient");
    should(left).containDeep({ reason: catalog.failed.gone, fix: sentence(catalog.fix.gone) });
  });

  it("has the sender, its event up to 200 characters and its id, and no signature", async () => {
    const event = `at-length${"-and".repeat(1000)}`;
    const fields = { "X-Hub-Signature-256": `sha256=${signatureOf("{}")}`, "X-GitHub-Event": event };
    const id = await accepted("/github", { ...fields, "X-GitHub-Delivery": "7d1c" });
    should((await nodeRed().message(id)).topic).equal(event);
    const { deliveries } = await shown.page("node=github&text=at-length-and-and");
    should(deliveries).have.length(1);
    should(deliveries[0]).containDeep({ id, sender: "github", event: event.slice(0, 200), senderId: "7d1c" });
    should((await shown.detail(id)).headers["x-hub-signature-256"]).equal(mask);
  });

  it("names the caller whose token it has, whatever becomes of it, and none with a wrong one", async () => {
    const call = (body: string, headers: object = {}, path = "/doors", name = door) =>
      post(path, { ...headers, Authorization: `Bearer ${callerToken(name)}` }, body);
    const once = { "X-Id": "1" };
    for (const [state, status, body, headers, path = "/doors"] of [
      ["succeeded", 200, "{}", once],
      ["duplicate", 200, "{}", once],
      ["filtered", 200, '{"skip":true}', {}],
      ["refused", 400, "{", {}],
      ["refused", 415, "{}", { "Content-Encoding": "x" }],
      ["failed", 504, "{}", {}, "/late-doors"],
      ["refused", 429, "{}", {}, "/late-doors"],
    ] as const) {
      (await call(body, headers, path)).status.should.equal(status);
      const isMeant = (each: Summary) => each.path === path && each.status === status;
      should((await shown.find(isMeant, `state=${state}&limit=500`)).caller).equal(door);
    }
    for (const line of [
      `${catalog.refused.jsonMalformed} (400): ${door}`,
      `${catalog.refused.flowLate} (504): ${door}`,
    ]) {
      await nodeRed().until(() => nodeRed().log.includes(line) || undefined, line);
    }

    const { json: reply } = await call("{}", {}, "/doors", withSecret);
    should((await nodeRed().message(String(reply.id))).webhook).containEql({ caller: withSecret });
    should((await shown.detail(String(reply.id))).caller).equal("[redacted]");
    await until(async () => {
      (await post("/doors", { Authorization: `Bearer ${"x".repeat(40)}` })).status.should.equal(401);
      const { caller, fix } = await refused("doors", "tokenInvalid");
      should(caller).be.null();
      return fix === sentence(catalog.whyNot.callerUnknown);
    }, "the refusal to be explained");
    should((await shown.detail(await accepted("/doors"))).caller).be.null();
  });

  it("is listed for a path that no node has, with the node whose path is alike, closed or disabled", async () => {
    (await post("/ordres")).status.should.equal(404);
    const near = await refused("orders", "noEndpoint");
    should(near).containDeep({ status: 404, path: `${root}/ordres`, reason: `${catalog.refused.noEndpoint} (404)` });
    should(near.fix).equal(sentence(catalog.whyNot.pathNear.replace("__path__", `${root}/orders`)));
    (await post("/ordersID=1&tempf=70")).status.should.equal(404);
    const unmarked = await shown.find(({ cause }) => cause?.reasons[0]?.key === "pathMarkMissing");
    const advice = sentence(catalog.whyNot.pathMarkMissing.replace("__path__", `${root}/orders`));
    should(unmarked).containDeep({ node: "orders", path: `${root}/…`, fix: advice });
    (await send(nodeRed().node("/mata?hub.mode=subscribe"), { method: "GET" })).status.should.equal(404);
    should(await refused("meta", "noEndpoint")).containDeep({ method: "GET", path: `${root}/mata` });
    (await post("/closed")).status.should.equal(404);
    const closed = await shown.find(({ path }) => path === `${root}/closed`);
    should(closed).containDeep({ node: "closed", fix: sentence(catalog.whyNot.pathClosed) });
    (await post("/orders-off")).status.should.equal(404);
    const disabled = await shown.find(({ path }) => path === `${root}/orders-off`);
    should(disabled).containDeep({ node: "switched-off", fix: sentence(catalog.whyNot.pathDisabled) });
    (await post(`/nothing-like-it/${token}`)).status.should.equal(404);
    const unknown = await shown.find(({ cause }) => cause?.reasons[0]?.key === "pathUnknown");
    should(unknown).containDeep({ node: null, path: `${root}/nothing-like-it/[redacted]`, fix: sentence(catalog.whyNot.pathUnknown) }); // prettier-ignore
  });

  it("is listed for another method than its node's, but not for a page that a browser opens", async () => {
    const html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const path of ["/named", "/github"]) {
      for (const headers of [{ Accept: html }, { "Sec-Fetch-Mode": "navigate" }]) {
        const reply = await send(nodeRed().node(path), { method: "GET", headers });
        should(reply.status).equal(405);
      }
      await send(nodeRed().node(path), { method: "PUT", headers: { Accept: html } });
      await send(nodeRed().node(path), { method: "GET", headers: { Accept: "*/*", "Sec-Fetch-Mode": "cors" } });
      const node = path.slice(1);
      await shown.find((each) => each.node === node && each.status === 405 && each.method === "GET");
      const { deliveries } = await shown.page(`node=${node}&state=refused`);
      const listed = deliveries.filter(({ status }) => status === 405).map(({ method }) => method);
      listed.should.eql(["GET", "PUT"]);
    }
  });

  it("is listed for a handshake as well", async () => {
    const path = "/meta?hub.mode=subscribe&hub.challenge=42&hub.verify_token=a-word-of-ours";
    (await send(nodeRed().node(path), { method: "GET" })).status.should.equal(200);
    const summary = await shown.find(({ state }) => state === "handshake");
    should(summary).containDeep({ node: "meta", status: 200, method: "GET", cause: null });
    should((await shown.detail(summary.id)).query).have.property("hub.verify_token", mask);
  });

  it("has no token in it, wherever the request had one", async () => {
    const encoded = encodeURIComponent(token);
    await post(`/both?state=${token}`, { "X-Copy": token, Cookie: `session=${token}` }, JSON.stringify({ token }));
    await post("/both", { ...bearer, "X-Copy": token, Cookie: `a=${token}` }, JSON.stringify({ token, a: [token] }));
    await post(`/${token}`, bearer);
    await post(`/nothing-like-it/${encodeURIComponent(secret)}`, { "User-Agent": secret });
    (await post("/orders", { "User-Agent": encoded })).status.should.equal(401);
    (await post("/named", { [named.toLowerCase()]: "1" })).status.should.equal(401);
    const { deliveries } = await shown.page("limit=500");
    const details = JSON.stringify(await Promise.all(deliveries.map(({ id }) => shown.detail(id))));
    for (const each of [token, secret, encoded, named.toLowerCase()]) details.should.not.containEql(each);
  });

  it("keeps a signature in its body, and shows [redacted] in the place of a secret there, which a replay has", async () => {
    const signature = { token: "of-mailgun", signature: signatureOf("1700000000of-mailgun"), timestamp: "1700000000" };
    const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
    for (const [node, sent, headers, senderId] of [
      ["mailgun", JSON.stringify({ signature }), {}, "of-mailgun"],
      ["summed", `sum=${signatureOf("ä")}&text=%C3%A4`, urlencoded, null],
    ] as const) {
      const id = await accepted(`/${node}`, headers, sent);
      should(await shown.detail(id)).containDeep({ senderId, body: { data: sent } });
      should(await payloadOf(await replayed(id))).eql(await payloadOf(id));
    }
    const id = await accepted("/graph", {}, JSON.stringify({ value: [{ clientState: stateOfGraph, changeType: "created" }] })); // prettier-ignore
    const again = await replayed(id);
    should(await payloadOf(again)).eql({ value: [{ clientState: stateOfGraph, changeType: "created" }] });
    for (const each of [id, again]) {
      const detail = await shown.detail(each);
      should(JSON.parse(detail.body.data)).eql({ value: [{ clientState: "[redacted]", changeType: "created" }] });
      JSON.stringify(detail).should.not.containEql(stateOfGraph);
    }
    (await shown.page(`text=${stateOfGraph}`)).deliveries.should.eql([]);
  });

  it("has an event and an id with a secret in them as its sender has sent them, and shows neither", async () => {
    const signature = {
      token: `${secret}-7`,
      signature: signatureOf(`1700000000${secret}-7`),
      timestamp: "1700000000",
    };
    const sent = JSON.stringify({ signature, "event-data": { event: secret } });
    const id = await accepted("/mailgun", {}, sent);
    for (const each of [id, await replayed(id)]) {
      should((await nodeRed().message(each)).webhook).containDeep({ event: secret, id: `${secret}-7` });
      should(await shown.detail(each)).containDeep({ event: "[redacted]", senderId: "[redacted]" });
      JSON.stringify(await shown.detail(each)).should.not.containEql(secret);
    }
    (await shown.page(`text=${encodeURIComponent(secret)}`)).deliveries.should.eql([]);
  });

  it("is found by a text in any letter case, which is no pattern, by its state and by its node", async () => {
    await post("/orders", { ...bearer, "X-Mark": "%-only-here" });
    for (const [query, count] of [
      ["text=%25-only-HERE", 1],
      ["text=%2525", 0],
      ["text=%_", 0],
      ["state=refused&text=-only-here", 0],
      ["state=succeeded&node=orders&text=ONLY-here", 1],
      ["node=nobody", 0],
    ] as const) {
      should([query, (await shown.page(query)).deliveries.length]).eql([query, count]);
    }
  });

  it("is not to be had by a malformed query or an unknown id, and no cache may store it", async () => {
    for (const query of ["limit=0", "limit=x", "limit=1.5", "state=lost", "node=a&node=b", "before=x", "before=WyJ4Il0"]) {
      should([query, (await get(`deliveries?${query}`)).status]).eql([query, 400]);
    } // prettier-ignore
    should((await get("deliveries")).headers["cache-control"]).equal("no-store");
    (await get("deliveries/nobody")).status.should.equal(404);
  });

  it("starts the flow with the same message when it is replayed, and says so", async () => {
    const id = await accepted("/both?x=1", { ...bearer, "X-Kind": "order" }, '{"a":[1]}');
    const first = await nodeRed().message(id);
    const again = await replayed(id);
    again.should.not.equal(id);
    const second = await nodeRed().message(again);
    should(second).containDeep({ payload: { body: { a: [1] }, query: { x: "1" } } });
    should(second.webhook).eql({ ...first.webhook, replay: true });
    should(second.req).containDeep({ path: "/both", headers: { "x-kind": "order" } });
    first.webhook.should.not.have.property("replay");
    const summary = await shown.find((each) => each.id === again);
    should(summary).containDeep({ node: "both", state: "succeeded", replayOf: id });
  });

  it("may be replayed with another payload, which is that of a replay of the replay, too", async () => {
    const id = await accepted("/both");
    for (const payload of [{ b: 2 }, "text", null, 0]) {
      const again = await replayed(id, { payload });
      should(await payloadOf(again)).eql(payload);
      should(await shown.detail(again)).containEql({ isJson: true, payload });
      should(await payloadOf(await replayed(again))).eql(payload);
    }
  });

  it("that had failed counts as succeeded when it is replayed, and the replay has its own outcome", async () => {
    await post("/broken");
    const { id } = await failed("broken");
    const again = await replayed(id);
    should(await shown.find((each) => each.id === id)).containDeep({ state: "succeeded", replayedBy: again });
    await shown.find((each) => each.id === again && each.state === "failed");
    const answered = await replayed((await shown.find(({ node }) => node === "answered")).id);
    await shown.find((each) => each.id === answered && each.state === "succeeded");
    const late = await replayed((await shown.find(({ node }) => node === "silent")).id);
    const unanswered = await shown.find((each) => each.id === late && each.state === "failed");
    should(unanswered).containDeep({ status: null, reason: catalog.refused.flowLate });
  });

  it("cannot be replayed before its flow is done with it, which would start the flow twice", async () => {
    const reply = post("/patient");
    const { id } = await shown.find(({ node, state }) => node === "patient" && state === "running");
    for (const body of [{}, { payload: 1 }]) {
      const { status, json: refusal } = await shown.replay(id, body);
      should([status, refusal.code, refusal.message]).eql([409, "unfinished", catalog.replay.unfinished]);
    }
    should((await shown.detail(id)).payload).equal(undefined);
    await reply;
    await shown.find((each) => each.id === id && each.state === "failed");
    should((await shown.replay(id)).status).equal(200);
  });

  it("cannot be replayed where it was refused, is unknown, or the request is malformed", async () => {
    const { id } = await shown.find(({ state }) => state === "refused");
    const { status, json: reply } = await shown.replay(id);
    should([status, reply.message]).eql([409, catalog.replay.notAccepted]);
    (await shown.replay("missing")).status.should.equal(404);
    (await shown.replay(id, [1])).status.should.equal(400);
  });

  it("gives its body to a test request of its own node, and of no other", async () => {
    const id = await accepted("/orders", bearer, '{"sample":true}');
    const sendTest = async (node: string, delivery: unknown) =>
      (await command(nodeRed().admin(`/webhook-trigger/${node}/test`), { delivery })).json; // prettier-ignore
    const result = await sendTest("orders", id);
    should(result.outcome).equal("accepted");
    should(await payloadOf(String(result.id))).eql({ sample: true });
    const isTest = async (which: unknown) => (await shown.find((each) => each.id === which)).isTest;
    should([await isTest(result.id), await isTest(id)]).eql([true, false]);
    for (const [node, delivery] of [["both", id], ["orders", "missing"], ["orders", 1]] as const) {
      should(await sendTest(node, delivery)).eql({ outcome: "deliveryGone" });
    } // prettier-ignore
  });
});

/** The ids of all pages of a list. */
async function readPages(shown: ShownDeliveries, query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let next: string | null = ""; next !== null;) {
    const page = await shown.page(`${query}${next && `&before=${next}`}`);
    ids.push(...page.deliveries.map(({ id }) => id));
    ({ next } = page);
  }
  return ids;
}

describe("deliveries with other settings", () => {
  let nodeRed: NodeRed | undefined;
  afterEach(() => nodeRed?.stop());

  const open = async (...options: Parameters<typeof NodeRed.start>) => {
    nodeRed = await NodeRed.start(...options);
    return { running: nodeRed, shown: new ShownDeliveries(nodeRed) };
  };

  it("say that something in front has refused a request, and that a path lacks the root of HTTP nodes", async () => {
    const pass = "$2y$08$zZWtXTja0fB1pzD4sHCMyOCMYz2Z6dNbM6tl8sJogENOMcxWV9DN.";
    const settings = { httpNodeRoot: "/endpoint", httpNodeAuth: { user: "me", pass } };
    const { running, shown } = await open({ flow, settings });
    (await send(running.node("/orders"), { headers: bearer })).status.should.equal(401);
    const inFront = await shown.find(({ status }) => status === 401);
    should(inFront).containDeep({ node: "orders", reason: `${catalog.refused.inFront} (401)`, fix: sentence(catalog.whyNot.frontAuth) }); // prettier-ignore
    (await send(`${running.origin}/orders`, { headers: bearer })).status.should.equal(404);
    const { fix } = await shown.find(({ node, status }) => node === "orders" && status === 404);
    const missing = catalog.whyNot.pathRootMissing.replace("__root__", "/endpoint");
    should(fix).equal(sentence(missing.replace("__path__", "/endpoint/orders")));
  });

  it("are kept in the number that the settings file says, and without bodies where it says so, but for guaranteed ones", async () => {
    const all = sqliteIsHere() ? [...flow, guaranteed("called", { reply: "flow", wires: [["answer"]] })] : flow;
    const settings = { webhookTriggerDeliveries: { keep: 2, bodies: false } };
    const { running, shown } = await open({ flow: all, settings });
    const post = (path: string) =>
      send(running.node(path), { headers: { ...bearer, ...json }, body: '{"answer":"mine"}' });
    for (let count = 0; count < 3; count++) await post("/orders");
    const { deliveries } = await shown.page("node=orders");
    deliveries.should.have.length(2);
    const id = deliveries[0]?.id ?? "";
    const { body, answer } = await shown.detail(id);
    should([body, answer?.body]).eql([{ encoding: "utf8", data: "", truncated: true }, null]);
    const { status, json: reply } = await shown.replay(id);
    should([status, reply.message]).eql([409, catalog.replay.bodyMissing]);
    const { json: again } = await shown.replay(id, { payload: "mine" });
    should((await running.message(again.id)).payload).equal("mine");
    if (!sqliteIsHere()) return;
    await post("/called");
    const called = await shown.find(({ state }) => state === "succeeded", "node=called");
    const kept = await shown.detail(called.id);
    should([kept.answer?.body, kept.body.data]).eql([null, '{"answer":"mine"}']);
  });

  it("are none where the settings file says so", async () => {
    const { running, shown } = await open({ flow, settings: { webhookTriggerDeliveries: { keep: 0 } } });
    await send(running.node("/orders"), { headers: bearer });
    await send(running.node("/orders"));
    should(await shown.page()).eql({ deliveries: [], next: null });
  });

  const pushesTo = async (running: NodeRed) => JSON.parse(await running.ask({ pushes: true }, "pushes ")) as unknown[];

  it("are at most 500 on a page, and have open editors ask again a few times a second at most", async () => {
    const settings = { webhookTriggerDeliveries: { keep: 1000 } };
    const { running, shown } = await open({ flow, plugin: moduleOf("editor-comms"), settings });
    const post = () => send(running.node("/orders"), { headers: bearer });
    const start = Date.now();
    for (let sent = 0; sent < 510; sent += 10) await Promise.all(Array.from({ length: 10 }, post));
    await until(async () => (await pushesTo(running)).length > 0, "an editor to be notified");
    const pushes = await pushesTo(running);
    const max = Math.ceil((Date.now() - start) / 200);
    // Nothing of a delivery: whoever may open an editor gets it.
    should(pushes).eql(pushes.map(() => ({ data: { changed: true }, retain: false })));
    pushes.length.should.be.within(1, max);
    const first = await shown.page("node=orders&limit=100000");
    first.deliveries.should.have.length(500);
    (await shown.page(`node=orders&limit=500&before=${first.next}`)).deliveries.should.have.length(10);
    (await shown.page("node=orders")).deliveries.should.have.length(100);
  });

  /** Where no store is configured, only guaranteed deliveries are in a file. */
  const usual = {
    name: "memory and a file",
    isHere: sqliteIsHere(),
    begin: () => ({ options: {}, end: () => undefined }),
  };
  // A file alone differs from these in nothing: `test/unit/deliveries/queue.test.ts` asks each engine.
  for (const kind of [usual, ...storeKinds.slice(-1)].filter(({ isHere }) => isHere)) {
    it(`are listed, found, replayed, pushed to editors and kept over a restart as they have to be, in ${kind.name}`, async () => {
      const store = await kind.begin();
      const safe = (name: string) => {
        const { callers: saved } = callers("Door 1");
        return guaranteed("safe", { credentials: { token, callers: saved.replace("Door 1", name) } });
      };
      const all = [...flow, safe("Door 1"), guaranteed("called", { reply: "flow", wires: [["answer"]] })];
      const options = { flow: all, ...store.options, plugin: moduleOf("editor-comms") };
      try {
        const { running, shown } = await open(options);
        // Before all else: what has come is pushed as well, a little later.
        for (const action of ["pause", "resume"]) {
          const before = (await pushesTo(running)).length;
          (await command(running.admin(`/webhook-trigger/safe/${action}`))).status.should.equal(204);
          await until(
            async () => (await pushesTo(running)).length > before,
            `an editor to be notified after ${action}`,
          );
        }
        for (const node of ["orders", "safe"]) {
          const body = `{"at":"${node}"}`;
          const post = (headers: Record<string, string>) => send(running.node(`/${node}`), { headers: { ...headers, ...json }, body }); // prettier-ignore
          const { json: reply } = await post(bearer);
          const isThere = shown.find(
            ({ id, state, status }) => id === reply.id && state === "succeeded" && status === 200,
          );
          const summary = await isThere;
          should(summary).containDeep({ node, words: `at: ${node}`, attempt: 1, cause: null });
          const detail = await shown.detail(summary.id);
          should(detail.body).containDeep({ data: body });
          should(detail.answer).containDeep({ status: 200, body: JSON.stringify(reply) });
          const fix = sentence(catalog.whyNot.tokenElsewhere.replace("__place__", "X-Token"));
          // Explanations have a budget of time: where it is spent, they are missing for a moment.
          await until(async () => {
            (await post({ "X-Token": token })).status.should.equal(401);
            const refusal = await shown.find(({ state }) => state === "refused", `node=${node}`);
            return refusal.fix === fix;
          }, "the refusal to be explained");
          const { json: again } = await shown.replay(summary.id, { payload: [node] });
          should((await running.message(again.id)).payload).eql([node]);
          await shown.find(({ id, state }) => id === again.id && state === "succeeded");
          (await shown.page(`text=${summary.id}`)).deliveries.map(({ id }) => id).should.eql([summary.id]);
        }
        await send(running.node("/called"), { headers: { ...bearer, ...json }, body: '{"answer":"out of stock"}' });
        const { id } = await shown.find(({ status }) => status === 422, "node=called");
        should((await shown.detail(id)).answer).containDeep({ status: 422, body: "out of stock" });
        const ids = (await shown.page("limit=500")).deliveries.map((each) => each.id);
        (await readPages(shown, "limit=1")).should.eql(ids);

        const called = await send(running.node("/safe"), {
          headers: { Authorization: `Bearer ${callerToken("Door 1")}` },
        });
        const ofCaller = { id: String(called.json.id), caller: "Door 1" };
        await shown.find(({ id, state }) => id === ofCaller.id && state === "succeeded");

        const ofSafe = (await shown.page("node=safe&state=succeeded")).deliveries;
        await running.stop();
        const renamed = all.map((node) => (node.id === "safe" ? safe("Gate 1") : node));
        const next = await open({ ...options, flow: renamed, userDir: running.userDir });
        const found = (await next.shown.page(`text=${encodeURIComponent(formatCallerSearch("door 1"))}`)).deliveries;
        found.map(({ id, caller }) => ({ id, caller })).should.eql([ofCaller]);
        const after = (await next.shown.page("node=safe&state=succeeded")).deliveries;
        after.map((each) => each.id).should.eql(ofSafe.map((each) => each.id));
        const ofOrders = (await next.shown.page("node=orders&state=succeeded")).deliveries;
        ofOrders.should.have.length(kind === usual ? 0 : 2);
      } finally {
        await nodeRed?.stop();
        await store.end();
      }
    });
  }

  if (sqliteIsHere()) {
    it("start the flow once where it is to reply, whatever is deployed meanwhile", async () => {
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
    });
  }
});
