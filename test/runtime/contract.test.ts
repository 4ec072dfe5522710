import should from "should";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { acceptedBodies, refusedBodies } from "../harness/bodies";
import { bearer, tab, token, webhook } from "../harness/flow";
import { afterReply, exchange, hangUp, type Reply, send } from "../harness/http";
import { onEveryWay } from "../harness/layouts";

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

onEveryWay("the contract", {}, (nodeRed) => {
  before(() => nodeRed().deploy(flow));

  const url = (path: string) => nodeRed().node(path);
  const post = (path: string, headers: Record<string, string>, body: string | Uint8Array = "") =>
    send(url(path), { headers, body });
  const messageOf = async (reply: Reply) => {
    reply.status.should.equal(200, reply.body);
    return nodeRed().message(reply.json.id);
  };
  /** Sends a request that must be refused and makes sure that no message came of it. */
  const refused = async (status: number, sent: () => Promise<Reply>) => {
    const before = nodeRed().messages.length;
    const reply = await sent();
    should(reply.status).equal(status, reply.body);
    await messageOf(await post("/hook", bearer, "marker"));
    nodeRed().messages.slice(before).map(({ payload }) => payload).should.eql(["marker"]); // prettier-ignore
    return reply;
  };

  describe("accepts", () => {
    it("a request with the token, and says so with the id of the message", async () => {
      const reply = await post("/hook", { ...bearer, ...json }, '{"a":1}');
      reply.status.should.equal(200);
      reply.headers.should.have.properties({ "content-type": "application/json", "cache-control": "no-store" });
      Object.keys(reply.json).should.eql(["status", "id"]);
      reply.json.should.have.property("status", "accepted");
      const message = await messageOf(reply);
      message.keys.sort().should.eql(["_msgid", "payload", "req", "webhook"]);
      should(message.payload).eql({ a: 1 });
    });

    for (const { name, type, body, payload } of acceptedBodies) {
      it(name, async () => {
        const message = await messageOf(
          await post("/copied", { ...bearer, ...(type && { "Content-Type": type }) }, body),
        );
        should(message.payload).eql(payload);
      });
    }

    it("a compressed body", async () => {
      const headers = { ...bearer, ...json, "Content-Encoding": "gzip" };
      should((await messageOf(await post("/hook", headers, gzipSync('{"a":1}')))).payload).eql({ a: 1 });
    });

    it("a body of exactly the limit, and it arrives whole", async () => {
      const body = Buffer.alloc(5 * megabyte, "x");
      const { payload } = await messageOf(await post("/hook", { ...bearer, "Content-Type": "image/png" }, body));
      Buffer.compare(payload as Buffer, body).should.equal(0);
    });

    for (const path of ["/HOOK", "/hook/", "/Hook/?a=1"]) {
      it(`the path ${path}`, async () => {
        await messageOf(await post(path, bearer));
      });
    }

    it("a path with two slashes at its start just where other nodes do", async () => {
      const [ours, theirs] = [await post("//hook", bearer), await send(url("//hook"), { method: "GET" })];
      should(ours.status === 200).equal(theirs.status === 202 && nodeRed().node("") !== nodeRed().origin);
    });

    it("a target in absolute form", async () => {
      const target = url("/hook?a=1");
      const head = `POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`;
      (await exchange(nodeRed().origin, `${head}Content-Length: 0\r\n\r\n`)).should.startWith("HTTP/1.1 200");
    });

    it("a chunked body", async () => {
      const { pathname } = new URL(url("/hook"));
      const reply = await exchange(
        nodeRed().origin,
        `POST ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`,
        "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
      );
      const id = /"id":"(\w+)"/.exec(reply)?.[1];
      should((await nodeRed().message(id)).payload).equal("hello world");
    });
  });

  describe("the message", () => {
    it("has the request under http in's names, without the token", async () => {
      const headers = { ...bearer, "X-Copy": `Bearer ${token}`, "X-Other": "1", "Content-Type": "text/plain" };
      const { req } = await messageOf(await post("/Hook/?a=1&b=x%20y&a=2", headers, "x"));
      req.should.have.properties({ method: "POST", url: "/Hook/?a=1&b=x%20y&a=2", path: "/Hook/", ip: "127.0.0.1" });
      req.should.have.property("query", { a: ["1", "2"], b: "x y" });
      Object.keys(req).sort().should.eql(["headers", "ip", "method", "path", "query", "url"]);
      Object.keys(req.headers as object)
        .sort()
        .should.eql(["connection", "content-length", "content-type", "host", "x-copy", "x-other"]);
      should((req.headers as Record<string, string>)["x-copy"]).equal("Bearer [redacted]");
    });

    it("wraps the body with the query parameters when they are asked for", async () => {
      const { payload } = await messageOf(await post("/with-query?a=1&b=2&b=3", { ...bearer, ...json }, "[1]"));
      should(payload).eql({ body: [1], query: { a: "1", b: ["2", "3"] } });
      should((await messageOf(await post("/with-query", bearer))).payload).eql({ body: "", query: {} });
    });

    it("leaves the token out of the query when it travels there", async () => {
      const message = await messageOf(await post(`/by-query?a=1&state=${encoded}&b=2`, {}, "x"));
      should(message.payload).eql({ body: "x", query: { a: "1", b: "2" } });
      message.req.should.have.properties({ url: "/by-query?a=1&b=2", query: { a: "1", b: "2" } });
    });
  });

  describe("takes the token", () => {
    it("bare or as a bearer token in a header of another name, which the message then lacks", async () => {
      for (const value of [token, `Bearer ${token}`]) {
        const { req } = await messageOf(await post("/by-header", { "X-Gitlab-Token": value }));
        should(req.headers).not.have.property("x-gitlab-token");
      }
    });
    for (const [name, path, headers] of [
      ["no token", "/hook", {}],
      ["a token in the query instead of the header", `/hook?state=${encoded}`, {}],
      ["another scheme", "/hook", { Authorization: "Basic Zm9vOmJhcg==" }],
      ["a token in the header instead of the query", "/by-query", bearer],
      ["a token in Authorization instead of another header", "/by-header", bearer],
    ] as const) {
      it(`where it is configured only: ${name} is a request without one`, async () => {
        const reply = await refused(401, () => post(path, headers, "x"));
        should(reply.headers["www-authenticate"]).equal('Bearer realm="webhook"');
      });
    }
    for (const [name, path, headers] of [
      ["a wrong token", "/hook", ["Authorization", `Bearer ${"x".repeat(40)}`]],
      ["a short token", "/hook", ["Authorization", "Bearer x"]],
      ["a token of 8,000 characters", "/hook", ["Authorization", `Bearer ${"x".repeat(8000)}`]],
      ["the header twice", "/hook", ["Authorization", `Bearer ${token}`, "Authorization", `Bearer ${token}`]],
      ["another header twice", "/by-header", ["X-Gitlab-Token", token, "x-gitlab-token", token]],
      ["the parameter twice", `/by-query?state=${encoded}&state=${encoded}`, []],
      ["a wrong parameter", "/by-query?state=x", []],
    ] as const) {
      it(`once and right only: ${name} is an invalid token`, async () => {
        const reply = await refused(401, () => send(url(path), { headers: ["Host", "x", ...headers], body: "x" }));
        should(reply.headers["www-authenticate"]).equal('Bearer realm="webhook", error="invalid_token"');
      });
    }
    it("before a byte of the body is read", async () => {
      const { pathname } = new URL(url("/hook"));
      const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 5000000\r\n\r\n`;
      // The body never comes; the reply does.
      const reply = await exchange(nodeRed().origin, head, afterReply, hangUp);
      reply.should.startWith("HTTP/1.1 401").and.match(/Connection: close/i);
    });
  });

  describe("refuses", () => {
    for (const { name, type, coding, body, status } of refusedBodies) {
      it(`${name} with ${status}`, async () => {
        const headers = {
          ...bearer,
          ...(type && { "Content-Type": type }),
          ...(coding && { "Content-Encoding": coding }),
        };
        const reply = await refused(status, () => post("/hook", headers, body));
        if (coding && status === 415) should(reply.headers["accept-encoding"]).equal("gzip, deflate, br");
        else should(reply.headers).not.have.property("accept-encoding");
      });
    }

    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "image/png", ""]) {
      const headers = { ...bearer, ...(type && { "Content-Type": type }) };
      it(`a body over the limit of type ${type || "none"}, declared, counted or inflated, with 413`, async () => {
        const body = Buffer.alloc(5 * megabyte + 1, " ");
        await refused(413, () => post("/hook", headers, body));
        await refused(413, () => send(url("/hook"), { headers: { ...headers, "Transfer-Encoding": "chunked" }, body }));
        await refused(413, () => post("/hook", { ...headers, "Content-Encoding": "gzip" }, gzipSync(body)));
      });
    }

    for (const method of ["PUT", "PATCH", "DELETE", "HEAD"]) {
      it(`${method} with 405`, async () => {
        const reply = await refused(405, () => send(url("/by-query"), { method, headers: bearer }));
        should(reply.headers.allow).equal("POST");
      });
    }

    it("other methods, and counts them", async () => {
      const count = async () => Number(/(\d+) refused/.exec((await nodeRed().status("by-header", /./)).text)?.[1] ?? 0);
      const before = await count();
      await send(url("/by-header"), { method: "PUT" });
      await nodeRed().status("by-header", new RegExp(`\\b${before + 1} refused`));
    });

    it("GET with 405 unless another node answers it on the path", async () => {
      await refused(405, () => send(url("/copied"), { method: "GET" }));
      (await send(url("/hook"), { method: "GET" })).status.should.equal(202);
    });

    it("with a problem document that says nothing of the request or of the machine", async () => {
      for (const [status, path, headers, body] of [
        [401, "/hook?secret-parameter", { Authorization: "Bearer secret-token" }, "secret-body"],
        [400, "/hook", { ...bearer, ...json }, "{secret-body"],
        [415, "/hook", { ...bearer, "Content-Encoding": "secret-coding" }, "x"],
      ] as const) {
        const reply = await post(path, headers, body);
        reply.status.should.equal(status);
        reply.headers.should.have.properties({
          "content-type": "application/problem+json",
          "cache-control": "no-store",
        });
        Object.keys(reply.json).should.eql(["type", "title", "status", "detail"]);
        reply.json.should.have.properties({ type: "about:blank", status });
        reply.body.should.not.match(/secret|node_modules|\bat /);
      }
    });

    it("an upload that breaks off, without a message", async () => {
      const before = nodeRed().messages.length;
      const { port, pathname } = new URL(url("/hook"));
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 10\r\n\r\nhalf`,
      );
      const refusals = /(\d+) refused/.exec((await nodeRed().status("plain", /refused/)).text)?.[1];
      socket.on("connect", () => socket.end());
      await nodeRed().status("plain", new RegExp(`\\b(?!${refusals} )\\d+ refused`));
      await messageOf(await post("/hook", bearer, "marker"));
      nodeRed().messages.slice(before).map(({ payload }) => payload).should.eql(["marker"]); // prettier-ignore
    });
  });

  describe("after a refusal", () => {
    const request = (path: string, authorization: string, body: string, more = "") => {
      const { pathname } = new URL(url(path));
      const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${more}`;
      return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    };
    const statuses = (replies: string) => [...replies.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

    it("the connection goes on if the rest of the body is small", async () => {
      const [wrong, right] = ["Bearer x", `Bearer ${token}`];
      const replies = await exchange(
        nodeRed().origin,
        request("/hook", wrong, "x".repeat(1000)) + request("/hook", right, "next", "Connection: close\r\n"),
      );
      statuses(replies).should.eql(["401", "200"]);
      await nodeRed().message(/"id":"(\w+)"/.exec(replies)?.[1]);
    });

    it("the connection ends if the rest is large, and nothing that follows on it is served", async () => {
      const large = "x".repeat(5 * megabyte + 1);
      const before = nodeRed().messages.length;
      const replies = await exchange(
        nodeRed().origin,
        request("/hook", `Bearer ${token}`, large) + request("/hook", `Bearer ${token}`, "next"),
      );
      statuses(replies).should.eql(["413"]);
      await messageOf(await post("/hook", bearer, "marker"));
      nodeRed().messages.slice(before).map(({ payload }) => payload).should.eql(["marker"]); // prettier-ignore
    });

    it("a declared length over the limit needs no body to be refused", async () => {
      const { pathname } = new URL(url("/hook"));
      const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
      const declared = `${head}Content-Length: ${5 * megabyte + 1}\r\n\r\n`;
      const replies = await exchange(nodeRed().origin, declared, afterReply, hangUp);
      statuses(replies).should.eql(["413"]);
    });
  });

  describe("leaves to others", () => {
    for (const path of ["/other", "/%68ook", "/hook/more", "/x//hook", "/hook//", "/hook%2F", "/x/../hook"]) {
      it(`POST ${path}`, async () => {
        (await post(path, bearer)).status.should.equal(202);
      });
    }
    it("another method that another node answers on the path, with the body parsed", async () => {
      const reply = await send(url("/with-query"), { method: "PUT", headers: json, body: '{"a":1}' });
      [reply.status, reply.body].should.eql([202, '{"a":1}']);
    });
    it("a GET on a path that is nobody's", async () => {
      (await send(url("/other"), { method: "GET" })).status.should.equal(404);
    });
  });

  describe("real input", () => {
    const load = createRequire(__filename);
    const examples = load("@octokit/webhooks-examples") as { name: string; examples: object[] }[];
    const payloads = examples.flatMap(({ name, examples: each }) => each.map((payload) => ({ name, payload })));

    it(`${payloads.length} GitHub payloads arrive deep-equal`, async () => {
      payloads.length.should.be.above(200);
      for (const { name, payload } of payloads) {
        const headers = { ...bearer, ...json, "X-GitHub-Event": name };
        const message = await messageOf(await post("/copied", headers, JSON.stringify(payload)));
        should(message.payload).eql(payload);
      }
    });

    const curl = async (...args: string[]) => (await promisify(execFile)("curl", ["--silent", ...args])).stdout;
    it("the specification's curl with the token in a header gives the string it sends", async () => {
      const reply = await curl(
        "--request",
        "POST",
        "--header",
        `Authorization: Bearer ${token}`,
        "--data",
        "hello world",
        url("/hook"),
      );
      should((await nodeRed().message((JSON.parse(reply) as { id: string }).id)).payload).equal("hello world");
    });
    it("the specification's curl with the token in the query gives the string it sends", async () => {
      const reply = await curl("--request", "POST", "--data", "hello world", url(`/by-query?state=${encoded}`));
      const { payload } = await nodeRed().message((JSON.parse(reply) as { id: string }).id);
      should(payload).eql({ body: "hello world", query: {} });
    });
  });

  describe("at the end of it all", () => {
    it("the token is in no message, log or status", () => {
      const told = [nodeRed().log, JSON.stringify([...nodeRed().messages, ...nodeRed().statuses])].join("\n");
      for (const form of [token, encoded]) should(told.includes(form)).be.false();
    });
    it("every message was one accepted request's", async () => {
      const ids = new Set(nodeRed().messages.map(({ _msgid }) => _msgid));
      const counted = () =>
        [...nodeRed().statuses.values()].reduce(
          (sum, { text }) => sum + Number(/(\d+) accepted/.exec(text)?.[1] ?? 0),
          0,
        );
      await nodeRed().until(
        () => (counted() === ids.size ? true : undefined),
        `${ids.size} accepted, not ${counted()}`,
      );
    });
    it("no prototype was changed", async () => {
      await nodeRed().deploy(flow);
      should(nodeRed().starts.at(-1)?.polluted).eql([]);
    });
  });
});
