import should from "should";
import { answeringFlow, answeringNodes, answers, ways } from "../harness/answers";
import { bearer, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

const json = { "Content-Type": "application/json" };
const httpIn = (id: string, wires: string[]) => ({
  id,
  type: "http in",
  method: "post",
  url: `/${id}`,
  wires: [wires],
});
const ours = (id: string, wires: string[], fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { reply: "flow", wires: [wires], ...fields });

const flow = answeringFlow([
  httpIn("core", ["answer"]),
  ours("ours", ["answer"]),
  httpIn("core-by-res", ["by-res"]),
  ours("ours-by-res", ["by-res"]),
  ours("held", ["hold"], { replyTimeout: 1 }),
  ours("patient", ["hold"], { replyTimeout: 300 }),
  { id: "hold", type: "hold", wires: [["echo"]] },
  { id: "echo", type: "http response", statusCode: "", headers: {}, wires: [] },
  ours("twice", ["echo", "echo"]),
  ours("called", ["call"]),
  { id: "call", type: "link call", links: ["entry"], timeout: "30", wires: [["echo"]] },
  { id: "entry", type: "link in", links: [], wires: [["shout"]] },
  { id: "shout", type: "function", func: "msg.payload = msg.payload.toUpperCase(); return msg;", outputs: 1, wires: [["back"]] }, // prettier-ignore
  { id: "back", type: "link out", mode: "return", links: [], wires: [] },
  { id: "sub", type: "subflow", name: "Answer", in: [{ x: 50, y: 30, wires: [{ id: "inner" }] }], out: [] },
  { id: "inner", z: "sub", type: "http response", statusCode: "202", headers: { "x-from": "subflow" }, wires: [] },
  ours("in-subflow", ["instance"]),
  { id: "instance", type: "subflow:sub", wires: [] },
  webhook("made", "/made", { replyStatus: 201, replyBody: '{"ok":true}', wires: [[]] }),
  webhook("text", "/text", { replyBody: "grüezi", replyType: "text/plain; charset=utf-8", wires: [[]] }),
  webhook("none", "/none", { replyStatus: 204, replyBody: "not sent", wires: [[]] }),
  webhook("reset", "/reset", { replyStatus: "205", wires: [[]] }),
  webhook("later", "/later", { replyStatus: 202, wires: [[]] }),
]);

onBothWays("a reply", { flow, plugin: answeringNodes }, (nodeRed) => {
  const post = (path: string, body: unknown, headers: Record<string, string> = bearer): Promise<Reply> =>
    send(nodeRed().node(path), { headers: { ...headers, ...json }, body: JSON.stringify(body) });
  const text = (path: string, body: string) => send(nodeRed().node(path), { headers: bearer, body });
  const told = ({ status, headers: { date, ...headers }, body }: Reply) => ({ status, headers, body });

  describe("by the flow", () => {
    for (const answer of Object.keys(answers)) {
      it(`is what core's own would be: ${answer}`, async () => {
        const [core, own] = await Promise.all([post("/core", { answer }, {}), post("/ours", { answer })]);
        told(own).should.eql(told(core));
      });
    }

    for (const way of Object.keys(ways)) {
      it(`is what core's own would be, by a node that uses ${way}`, async () => {
        const [core, own] = await Promise.all([post("/core-by-res", { way }, {}), post("/ours-by-res", { way })]);
        told(own).should.eql(told(core));
      });
    }

    it("comes from behind a link call, and from a subflow", async () => {
      (await text("/called", "hello")).body.should.equal("HELLO");
      const { status, headers } = await text("/in-subflow", "hello");
      status.should.equal(202);
      should(headers["x-from"]).equal("subflow");
    });

    it("is a 504 when it does not come in time; what comes then is an error of the http response node", async () => {
      const reply = await text("/held", "too late");
      reply.status.should.equal(504);
      reply.json.should.have.properties({ status: 504, title: "Gateway Timeout" });
      await nodeRed().tell({ release: true }, "released");
      await nodeRed().logged(/\[error\] \[http response:.*ERR_HTTP_HEADERS_SENT/);
    });

    it("is the first one only; the second is an error of the http response node", async () => {
      (await text("/twice", "once")).body.should.equal("once");
      await nodeRed().logged(/\[error\] \[http response:.*ERR_HTTP_HEADERS_SENT/);
    });

    it("comes to a caller that waits through a deploy of something else", async () => {
      const waiting = text("/patient", "still here");
      await nodeRed().told("held");
      await nodeRed().deploy([...flow, { id: "more", type: "sink", z: "tab", wires: [] }], "nodes");
      await nodeRed().tell({ release: true }, "released");
      (await waiting).body.should.equal("still here");
      await nodeRed().deploy(flow, "nodes");
    });
  });

  describe("at once", () => {
    it("has the status, the body and the media type of one's own", async () => {
      const { status, headers, body } = await text("/made", "x");
      should([status, headers["content-type"], body]).eql([201, "application/json", '{"ok":true}']);
      const other = await text("/text", "x");
      should([other.status, other.headers["content-type"], other.body]).eql([200, "text/plain; charset=utf-8", "grüezi"]); // prettier-ignore
    });

    it("tells the id where there is no body of one's own, with any status", async () => {
      const { status, json: told } = await text("/later", "x");
      status.should.equal(202);
      told.should.have.property("status", "accepted");
    });

    it("has no content where the status forbids it", async () => {
      const none = await text("/none", "x");
      should([none.status, none.body, none.headers["content-length"], none.headers["content-type"]]).eql([204, "", undefined, undefined]); // prettier-ignore
      const reset = await text("/reset", "x");
      should([reset.status, reset.body, reset.headers["content-length"]]).eql([205, "", "0"]);
    });
  });
});
