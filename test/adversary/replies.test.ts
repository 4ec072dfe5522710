import should from "should";
import { once } from "node:events";
import { putForward, withClock } from "../harness/clock";
import { bearer, tab, webhook } from "../harness/flow";
import { afterReply, dial, exchange, type Part, repliesIn, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { authorised, last } from "../harness/siege";

/** How long a flow may take to answer, in s. */
const replyTimeout = 300;
const megabytes = 100;

/** What flows send to the http response node that Node.js refuses, or leave half done, as the code of a function node. */
const brokenReplies = {
  "a status that is none": "msg.statusCode = 99; return msg;",
  "a status that has no answer": "msg.statusCode = 103; return msg;",
  "a header with a line end": "msg.headers = { 'X-A': 'a\\r\\nb' }; return msg;",
  "a header whose name is none": "msg.headers = { 'a b': 'c' }; return msg;",
  "a payload that cannot be JSON": "msg.payload = {}; msg.payload.itself = msg.payload; return msg;",
  "half of a head": `const res = msg.res._res;
    res.set({ 'X-Flow': '1', 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked', 'Set-Cookie': 'a=b' });
    res.status(201).statusMessage = 'Fine';`,
};
const code = (id: string, func: string) => ({ id, type: "function", func, outputs: 1, libs: [], wires: [["answer"]] });
const byFlow = (id: string, path: string, func: string) => [
  webhook(`${id}-hook`, path, { reply: "flow", replyTimeout, wires: [[id]] }),
  code(id, func),
];
const flow = tab(
  ...byFlow("echo", "/echo", "return msg;"),
  ...byFlow("large", "/large", `msg.payload = Buffer.alloc(${megabytes} * 1024 * 1024); return msg;`),
  ...byFlow("chunked", "/chunked", "msg.res._res.write('ec'); msg.res._res.end('ho');"),
  ...byFlow(
    "hold",
    "/hold",
    `const held = [...(flow.get("held") ?? []), msg];
     flow.set("held", held);
     node.status({ text: held.length + " held" });`,
  ),
  webhook("release-hook", "/release", { wires: [["release"]] }),
  code(
    "release",
    `for (const held of flow.get("held")) node.send(held);
     flow.set("held", []);`,
  ),
  ...Object.values(brokenReplies).flatMap((func, index) => byFlow(`broken${index}`, `/broken${index}`, func)),
  { id: "answer", type: "http response", statusCode: "", headers: {}, wires: [] },
);

onBothWays("a webhook whose flow replies", { flow, env: withClock }, (nodeRed) => {
  const post = (path: string, body = "x") => send(nodeRed().node(path), { headers: bearer, body });
  const request = (path: string, body: string, ...fields: string[]) => {
    const { pathname } = new URL(nodeRed().node(path));
    const head = [`POST ${pathname} HTTP/1.1`, "Host: x", authorised, ...fields, `Content-Length: ${body.length}`];
    return [...head, "", body].join("\r\n");
  };
  const replies = async (...parts: Part[]) => repliesIn(await exchange(nodeRed().origin, ...parts));

  it("keeps 500 senders waiting at once and gives each its own reply", async () => {
    const waiting = Array.from({ length: 500 }, (_, index) => post("/hold", `${index}`));
    await nodeRed().status("hold", /500 held/);
    (await post("/echo", "echo")).body.should.equal("echo");
    await post("/release");
    const bodies = (await Promise.all(waiting)).map(({ body }) => body);
    bodies.should.eql(waiting.map((_, index) => `${index}`));
    await nodeRed().connections(0);
  });

  it("keeps no connection of 200 senders that have gone, and survives the late replies to them", async () => {
    const senders = Array.from({ length: 200 }, () => dial(nodeRed().origin).on("error", () => undefined));
    for (const sender of senders) sender.write(request("/hold", "x"));
    await nodeRed().status("hold", /200 held/);
    for (const sender of senders) sender.resetAndDestroy();
    await nodeRed().connections(0);
    await post("/release");
    (await post("/echo", "echo")).body.should.equal("echo");
  });

  for (const [index, name] of Object.keys(brokenReplies).entries()) {
    it(`answers 504 as a whole problem when the flow replies with ${name}, and goes on`, async () => {
      const all = replies(request(`/broken${index}`, "x"), afterReply, request("/echo", "echo", last));
      await nodeRed().status(`broken${index}-hook`, /1 accepted/);
      await putForward(nodeRed(), replyTimeout * 1000);
      const [first, second] = await all;
      should([first?.status, second?.status, second?.body]).eql([504, 200, "echo"]);
      should(first?.head)
        .match(/^HTTP\/1\.1 504 Gateway Timeout\r\n/)
        .and.not.match(/x-flow|gzip|chunked|cookie/i);
      should(JSON.parse(first?.body ?? "")).have.property("status", 504);
    });
  }

  it(`sends ${megabytes} MB to a sender that reads, and drops them for one that goes in the middle`, async () => {
    (await post("/large")).body.length.should.equal(megabytes * 1024 * 1024);
    const leaving = dial(nodeRed().origin).on("error", () => undefined);
    leaving.write(request("/large", "x"));
    await once(leaving, "data");
    leaving.resetAndDestroy();
    await nodeRed().connections(0);
    (await post("/echo", "echo")).body.should.equal("echo");
  });

  it("ends the connection of a sender with HTTP/1.0, with a length or without (RFC 9112 §9.3)", async () => {
    for (const path of ["/echo", "/chunked"]) {
      const received = await exchange(nodeRed().origin, request(path, "echo").replace("HTTP/1.1", "HTTP/1.0"));
      received.should.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\necho$/).and.not.match(/chunked/);
    }
  });

  it("leaves the runtime unharmed", () => {
    should(nodeRed().running).be.true();
    nodeRed().log.should.not.match(/uncaught|unhandled|warning: possible/i);
  });
});
