import should from "should";
import { bearer, tab, token, webhook } from "../harness/flow";
import { roots } from "../harness/hosts";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

/** A function for `httpNodeAuth` that reports what it finds, and lets all requests pass. */
const watching = `httpNodeAuth: ({ headers, query }, response, next) => {
  process.send({ trace: "seen: " + JSON.stringify({ headers, query }) });
  next();
}`;

/** A node that reports what it finds in a message and in the request of its `msg.res`, and answers that. */
const looking = `
  const { inspect } = require("node:util");
  module.exports = (RED) => RED.nodes.registerType("look", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", (msg) => {
      const request = msg.res._res.req;
      const { headers, headersDistinct, rawHeaders, url, originalUrl, query } = request;
      const own = Object.entries(request)
        .filter(([name]) => !["socket", "client", "res", "next"].includes(name))
        .map(([name, value]) => [name, inspect(value, { depth: 4, maxArrayLength: null, maxStringLength: null })]);
      const named = { headers, headersDistinct, rawHeaders, url, originalUrl, query };
      const found = { ...Object.fromEntries(own), ...named, msg: { ...msg, res: undefined } };
      process.send({ trace: "found: " + JSON.stringify(found) });
      msg.res._res.sendStatus(202);
    });
  });
`;

interface Found {
  headers: Record<string, string>;
  headersDistinct: Record<string, string[]>;
  rawHeaders: string[];
  url: string;
  originalUrl: string;
  query: Record<string, string>;
  msg: { payload: unknown; req: Record<string, unknown> };
}

const fields = { reply: "flow", wires: [["look"]] };
const flow = tab(
  webhook("by-authorization", "/by-authorization", fields),
  webhook("by-header", "/by-header", { ...fields, headerParameter: "X-Token" }),
  webhook("by-query", "/by-query", { ...fields, verificationMethod: "query", returnQueryParams: true }),
  { id: "look", type: "look", wires: [] },
);

const encoded = encodeURIComponent(token);
/** Where a credential stands in a request, and what it is there for Express. */
const credentials = [
  ["Authorization", "/by-authorization?a=1", bearer, { headers: { authorization: `Bearer ${token}` } }],
  ["a header", "/by-header?a=1", { "X-Token": token }, { headers: { "x-token": token } }],
  ["the query", `/by-query?state=${encoded}&a=1`, {}, { query: { state: token, a: "1" } }],
  ["the query, at its end", `/by-query?a=1&state=${encoded}`, {}, { query: { state: token, a: "1" } }],
] as const;

for (const layout of ["equal", "separate", "nested"] as const) {
  for (const [where, code] of [
    ["in a plain installation", ""],
    ["behind a function as httpNodeAuth", watching],
  ] as const) {
    describe(`a credential, ${where} with ${layout} roots`, () => {
      let nodeRed: NodeRed;
      before(async () => {
        nodeRed = await NodeRed.start({ flow, plugin: looking, code, settings: roots[layout] });
      });
      after(() => nodeRed.stop());

      for (const [place, path, headers, seen] of credentials) {
        const isSeen = code === watching ? "is seen by that function, and then " : "";

        it(`in ${place} ${isSeen}is neither in msg.req nor in the request of msg.res`, async () => {
          const all = { "X-Other": "kept", "Content-Type": "application/json", ...headers };
          const { status, body } = await send(nodeRed.node(path), { headers: all, body: '{"b":2}' });
          should(status).equal(202, body);
          if (isSeen) should(JSON.parse(await nodeRed.ask({}, "seen: "))).match(seen);
          const found = JSON.parse(await nodeRed.ask({}, "found: ")) as Found;
          const isIn = (content: unknown) => [token, encoded].some((form) => JSON.stringify(content).includes(form));
          const places = Object.entries(found).filter(([, content]) => isIn(content));
          should(places.map(([name]) => name)).eql([]);
          // What is no secret stands where it stood.
          found.headers.should.have.property("x-other", "kept");
          found.headersDistinct.should.have.property("x-other", ["kept"]);
          const name = found.rawHeaders.indexOf("X-Other");
          found.rawHeaders.slice(name, name + 2).should.eql(["X-Other", "kept"]);
          found.query.should.eql({ a: "1" });
          found.url.should.endWith("?a=1");
          found.originalUrl.should.equal(`${new URL(nodeRed.node(path)).pathname}?a=1`);
          found.msg.req.should.have.property("query", { a: "1" });
          should(found.msg.payload).eql(
            place.startsWith("the query") ? { body: { b: 2 }, query: { a: "1" } } : { b: 2 },
          );
        });
      }
    });
  }
}
