import should from "should";
import { moduleOf, settingsOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";

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
/** Where a credential is in a request, and what a guard in front sees of it. */
const credentials = [
  ["Authorization", "/by-authorization?a=1", bearer, { headers: { authorization: `Bearer ${token}` } }],
  ["another header", "/by-header?a=1", { "X-Token": token }, { headers: { "x-token": token } }],
  ["the query", `/by-query?state=${encoded}&a=1`, {}, { query: { state: token, a: "1" } }],
  ["the end of the query", `/by-query?a=1&state=${encoded}`, {}, { query: { state: token, a: "1" } }],
] as const;

for (const [layout, isGuarded] of [["equal", false], ["nested", true]] as const) {
  describe(`a credential, with ${layout} roots`, () => {
    const code = isGuarded ? settingsOf("watching-auth") : "";
    const nodeRed = useNodeRed({ flow, plugin: moduleOf("look"), code, settings: roots[layout] });

    for (const [place, path, headers, seen] of credentials) {
      it(`in ${place} is ${isGuarded ? "seen by httpNodeAuth, and " : ""}neither in msg.req nor in the request of msg.res`, async () => {
        const all = { "X-Other": "kept", "Content-Type": "application/json", ...headers };
        const { status, body } = await send(nodeRed().node(path), { headers: all, body: '{"b":2}' });
        should(status).equal(202, body);
        if (isGuarded) should(JSON.parse(await nodeRed().ask({}, "seen: "))).match(seen);
        const found = JSON.parse(await nodeRed().ask({}, "found: ")) as Found;
        const isIn = (content: unknown) => [token, encoded].some((form) => JSON.stringify(content).includes(form));
        const places = Object.entries(found).filter(([, content]) => isIn(content));
        should(places.map(([name]) => name)).eql([]);
        // What is no secret is where it was.
        found.headers.should.have.property("x-other", "kept");
        found.headersDistinct.should.have.property("x-other", ["kept"]);
        const name = found.rawHeaders.indexOf("X-Other");
        found.rawHeaders.slice(name, name + 2).should.eql(["X-Other", "kept"]);
        found.query.should.eql({ a: "1" });
        found.url.should.endWith("?a=1");
        found.originalUrl.should.equal(`${new URL(nodeRed().node(path)).pathname}?a=1`);
        found.msg.req.should.have.property("query", { a: "1" });
        const payload = path.startsWith("/by-query") ? { body: { b: 2 }, query: { a: "1" } } : { b: 2 };
        should(found.msg.payload).eql(payload);
      });
    }
  });
} // prettier-ignore
