import should from "should";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { acceptedBodies } from "../harness/bodies";
import { bearer, tab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

const megabyte = 1024 * 1024;
const encoded = encodeURIComponent(token);
const json = { "Content-Type": "application/json" };

const flow = tab(
  webhook("plain", "/hook"),
  // Two wires, so that Node-RED copies every message.
  webhook("copied", "/copied", { wires: [["sink", "sink"]] }),
  webhook("with-query", "/with-query", { returnQueryParams: true }),
  webhook("by-query", "/by-query", { verificationMethod: "query", returnQueryParams: true }),
  webhook("by-header", "/by-header", { headerParameter: "X-Gitlab-Token" }),
  { id: "get", type: "http in", method: "get", url: "/hook", name: "", wires: [["answer"]] },
  { id: "put", type: "http in", method: "put", url: "/with-query", name: "", wires: [["answer"]] },
  { id: "greedy", type: "http in", method: "post", url: "/*", name: "", wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
);

const load = createRequire(__filename);
const examples = load("@octokit/webhooks-examples") as { name: string; examples: object[] }[];

onBothWays("a webhook trigger", { flow }, (nodeRed) => {
  const url = (path: string) => nodeRed().node(path);
  const post = (path: string, headers: Record<string, string>, body: string | Uint8Array = "") =>
    send(url(path), { headers, body });
  const messageOf = async (reply: Reply) => {
    reply.status.should.equal(200, reply.body);
    return nodeRed().message(reply.json.id);
  };
  /** Makes sure that no message was made since then. */
  const madeNoMessage = async (before: number) => {
    await messageOf(await post("/hook", bearer, "marker"));
    nodeRed().messages.slice(before).map(({ payload }) => payload).should.eql(["marker"]); // prettier-ignore
  };
  /** Sends a request that must be refused, and makes sure that no message was made of it. */
  const refused = async (status: number, sent: () => Promise<Reply>) => {
    const before = nodeRed().messages.length;
    const reply = await sent();
    should(reply.status).equal(status, reply.body);
    await madeNoMessage(before);
    return reply;
  };

  it("accepts a request with the token, and replies with the id of its message", async () => {
    const reply = await post("/hook", { ...bearer, ...json }, '{"a":1}');
    reply.headers.should.have.properties({ "content-type": "application/json", "cache-control": "no-store" });
    Object.keys(reply.json).should.eql(["status", "id"]);
    reply.json.should.have.property("status", "accepted");
    const message = await messageOf(reply);
    message.keys.sort().should.eql(["_msgid", "payload", "req", "webhook"]);
    should(message.payload).eql({ a: 1 });
  });

  for (const { name, type, body, payload } of acceptedBodies) {
    it(`decodes ${name}`, async () => {
      const headers = { ...bearer, ...(type && { "Content-Type": type }) };
      should((await messageOf(await post("/copied", headers, body))).payload).eql(payload);
    });
  }

  it("accepts a body of exactly the limit, which is whole in the message", async () => {
    const body = Buffer.alloc(5 * megabyte, "x");
    const { payload } = await messageOf(await post("/hook", { ...bearer, "Content-Type": "image/png" }, body));
    Buffer.compare(payload as Buffer, body).should.equal(0);
  });

  it("takes a path with two slashes at its start just where other nodes do", async () => {
    const [ours, theirs] = [await post("//hook", bearer), await send(url("//hook"), { method: "GET" })];
    should(ours.status === 200).equal(theirs.status === 202 && nodeRed().node("") !== nodeRed().origin);
  });

  it("gives the message the request under http in's names, without the token", async () => {
    const headers = { ...bearer, "X-Copy": `Bearer ${token}`, "X-Other": "1", "Content-Type": "text/plain" };
    const { req } = await messageOf(await post("/Hook/?a=1&b=x%20y&a=2", headers, "x"));
    req.should.have.properties({ method: "POST", url: "/Hook/?a=1&b=x%20y&a=2", path: "/Hook/", ip: "127.0.0.1" });
    req.should.have.property("query", { a: ["1", "2"], b: "x y" });
    Object.keys(req).sort().should.eql(["headers", "ip", "method", "path", "query", "url"]);
    const names = Object.keys(req.headers as object).sort();
    names.should.eql(["connection", "content-length", "content-type", "host", "x-copy", "x-other"]);
    should((req.headers as Record<string, string>)["x-copy"]).equal("Bearer [redacted]");
  });

  it("gives the payload the query parameters where they are asked for, without a token among them", async () => {
    const { payload } = await messageOf(await post("/with-query?a=1&b=2&b=3", { ...bearer, ...json }, "[1]"));
    should(payload).eql({ body: [1], query: { a: "1", b: ["2", "3"] } });
    should((await messageOf(await post("/with-query", bearer))).payload).eql({ body: "", query: {} });
    const message = await messageOf(await post(`/by-query?a=1&state=${encoded}&b=2`, {}, "x"));
    should(message.payload).eql({ body: "x", query: { a: "1", b: "2" } });
    message.req.should.have.properties({ url: "/by-query?a=1&b=2", query: { a: "1", b: "2" } });
  });

  it("takes the token bare or as a bearer token in a header of another name, and leaves that header out", async () => {
    for (const value of [token, `Bearer ${token}`]) {
      const { req } = await messageOf(await post("/by-header", { "X-Gitlab-Token": value }));
      should(req.headers).not.have.property("x-gitlab-token");
    }
  });

  it("refuses a body over the limit, declared, counted or inflated, with 413", async () => {
    const body = Buffer.alloc(5 * megabyte + 1, " ");
    await refused(413, () => post("/hook", bearer, body));
    await refused(413, () => send(url("/hook"), { headers: { ...bearer, "Transfer-Encoding": "chunked" }, body }));
    await refused(413, () => post("/hook", { ...bearer, "Content-Encoding": "gzip" }, gzipSync(body)));
  });

  it("refuses other methods with 405 and Allow, unless another node answers them on the path", async () => {
    for (const method of ["PUT", "PATCH", "DELETE", "HEAD"]) {
      const reply = await refused(405, () => send(url("/by-query"), { method, headers: bearer }));
      should(reply.headers.allow).equal("POST");
    }
    await refused(405, () => send(url("/copied"), { method: "GET" }));
    (await send(url("/hook"), { method: "GET" })).status.should.equal(202);
    const { status, body } = await send(url("/with-query"), { method: "PUT", headers: json, body: '{"a":1}' });
    should([status, body]).eql([202, '{"a":1}']);
  });

  it("refuses with a problem document that says nothing of the request or of the machine", async () => {
    for (const [status, path, headers, body] of [
      [401, "/hook?secret-parameter", { Authorization: "Bearer secret-token" }, "secret-body"],
      [400, "/hook", { ...bearer, ...json }, "{secret-body"],
      [415, "/hook", { ...bearer, "Content-Encoding": "secret-coding" }, "x"],
    ] as const) {
      const reply = await refused(status, () => post(path, headers, body));
      const fields = { "content-type": "application/problem+json", "cache-control": "no-store" };
      reply.headers.should.have.properties(fields);
      Object.keys(reply.json).should.eql(["type", "title", "status", "detail"]);
      reply.json.should.have.properties({ type: "about:blank", status });
      reply.body.should.not.match(/secret|node_modules|\bat /);
    }
  });

  it("leaves other paths to other nodes, and what is for no node to Express", async () => {
    for (const path of ["/other", "/%68ook", "/hook/more", "/x//hook", "/hook//", "/hook%2F", "/x/../hook"]) {
      const { status } = await post(path, bearer);
      should([path, status]).eql([path, 202]);
    }
    (await send(url("/other"), { method: "GET" })).status.should.equal(404);
  });

  it("gives the flow every example payload of GitHub as it was sent", async () => {
    const payloads = examples.flatMap(({ name, examples: each }) => each.map((payload) => ({ name, payload })));
    payloads.length.should.be.above(200);
    for (const { name, payload } of payloads) {
      const headers = { ...bearer, ...json, "X-GitHub-Event": name };
      const message = await messageOf(await post("/copied", headers, JSON.stringify(payload)));
      should(message.payload).eql(payload);
    }
  });

  it("has put the token in no message, log line or status, made one message of each accepted request, and changed no prototype", async () => {
    const seen = [nodeRed().log, JSON.stringify([...nodeRed().messages, ...nodeRed().statuses])].join("\n");
    for (const form of [token, encoded]) should(seen.includes(form)).be.false();
    const ids = new Set(nodeRed().messages.map(({ _msgid }) => _msgid));
    const countIn = ({ text }: { text: string }) => Number(/(\d+) accepted/.exec(text)?.[1] ?? 0);
    const count = () => [...nodeRed().statuses.values()].reduce((sum, each) => sum + countIn(each), 0);
    await nodeRed().until(() => count() === ids.size || undefined, `${ids.size} accepted, not ${count()}`);
    should((await nodeRed().measure()).polluted).eql([]);
  });
});
