import should from "should";
import { answers, ways } from "../fixtures/answers";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

const json = { "Content-Type": "application/json" };
const httpIn = (id: string, ...wires: string[]) => ({
  id,
  type: "http in",
  method: "post",
  url: `/${id}`,
  wires: [wires],
});
const ours = (id: string, wires: string[], fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { reply: "flow", wires: [wires], ...fields });
const shout = "msg.payload = msg.payload.toUpperCase(); return msg;";

const flow = [
  ...tab(
    httpIn("core", "answer"),
    ours("ours", ["answer"]),
    { id: "answer", type: "answer", wires: [["response"]] },
    { id: "response", type: "http response", statusCode: "", headers: {}, wires: [] },
    httpIn("core-by-res", "by-res"),
    ours("ours-by-res", ["by-res"]),
    { id: "by-res", type: "by-res", wires: [] },
    ours("held", ["hold"], { replyTimeout: 1 }),
    ours("patient", ["hold"], { replyTimeout: 300 }),
    { id: "hold", type: "hold-reply", wires: [["response"]] },
    ours("twice", ["response", "response"]),
    ours("called", ["call"]),
    { id: "call", type: "link call", links: ["entry"], timeout: "30", wires: [["response"]] },
    { id: "entry", type: "link in", links: [], wires: [["shout"]] },
    { id: "shout", type: "function", func: shout, outputs: 1, wires: [["back"]] },
    { id: "back", type: "link out", mode: "return", links: [], wires: [] },
    ours("in-subflow", ["instance"]),
    { id: "instance", type: "subflow:sub", wires: [] },
    webhook("made", "/made", { replyStatus: 201, replyBody: '{"ok":true}', wires: [[]] }),
    webhook("text", "/text", { replyBody: "grüezi", replyType: "text/plain; charset=utf-8", wires: [[]] }),
    webhook("none", "/none", { replyStatus: 204, replyBody: "not sent", wires: [[]] }),
    webhook("reset", "/reset", { replyStatus: "205", wires: [[]] }),
    webhook("later", "/later", { replyStatus: 202, wires: [[]] }),
  ),
  { id: "sub", type: "subflow", name: "Answer", in: [{ x: 50, y: 30, wires: [{ id: "inner" }] }], out: [] },
  { id: "inner", z: "sub", type: "http response", statusCode: "202", headers: { "x-from": "subflow" }, wires: [] },
];

onBothWays("a reply", { flow, plugin: moduleOf("answers") }, (nodeRed) => {
  const post = (path: string, body: unknown, headers: Record<string, string> = bearer): Promise<Reply> =>
    send(nodeRed().node(path), { headers: { ...headers, ...json }, body: JSON.stringify(body) });
  const postText = (path: string, body: string) => send(nodeRed().node(path), { headers: bearer, body });
  const withoutDate = ({ status, headers: { date, ...headers }, body }: Reply) => ({ status, headers, body });
  const sentTwice = /\[error\] \[http response:.*ERR_HTTP_HEADERS_SENT/;

  for (const answer of Object.keys(answers)) {
    it(`by the flow is what it would be with http in, for ${answer}`, async () => {
      const [core, own] = await Promise.all([post("/core", { answer }, {}), post("/ours", { answer })]);
      withoutDate(own).should.eql(withoutDate(core));
    });
  }

  for (const way of Object.keys(ways)) {
    it(`by a node that uses ${way} is what it would be with http in`, async () => {
      const [core, own] = await Promise.all([post("/core-by-res", { way }, {}), post("/ours-by-res", { way })]);
      withoutDate(own).should.eql(withoutDate(core));
    });
  }

  it("may be sent behind a link call, and in a subflow", async () => {
    (await postText("/called", "hello")).body.should.equal("HELLO");
    const { status, headers } = await postText("/in-subflow", "hello");
    should([status, headers["x-from"]]).eql([202, "subflow"]);
  });

  it("is 504 where the flow replies too late, whose reply is an error of the http response node then", async () => {
    const reply = await postText("/held", "too late");
    reply.status.should.equal(504);
    reply.json.should.have.properties({ status: 504, title: "Gateway Timeout" });
    await nodeRed().tell({ release: {} }, "released");
    await nodeRed().logged(sentTwice);
  });

  it("is the flow's first one, and the second is an error of the http response node", async () => {
    nodeRed().log = "";
    (await postText("/twice", "once")).body.should.equal("once");
    await nodeRed().logged(sentTwice);
  });

  it("by the flow reaches a sender that waits through a deploy of another node", async () => {
    const waiting = postText("/patient", "still here");
    await nodeRed().reported("held");
    await nodeRed().deploy([...flow, { id: "more", type: "sink", z: "tab", wires: [] }], "nodes");
    await nodeRed().tell({ release: {} }, "released");
    (await waiting).body.should.equal("still here");
  });

  it("at once has the configured status, body and media type, and else the message's id", async () => {
    const made = await postText("/made", "x");
    should([made.status, made.headers["content-type"], made.body]).eql([201, "application/json", '{"ok":true}']);
    const text = await postText("/text", "x");
    should([text.status, text.headers["content-type"], text.body]).eql([200, "text/plain; charset=utf-8", "grüezi"]);
    const later = await postText("/later", "x");
    should([later.status, later.json.status]).eql([202, "accepted"]);
    should(later.json.id).be.a.String();
  });

  it("at once has no content where its status forbids one", async () => {
    const none = await postText("/none", "x");
    should([none.status, none.body, none.headers["content-length"], none.headers["content-type"]]).eql([204, "", undefined, undefined]); // prettier-ignore
    const reset = await postText("/reset", "x");
    should([reset.status, reset.body, reset.headers["content-length"]]).eql([205, "", "0"]);
  });
});
