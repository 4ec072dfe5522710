import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { maxPathLength } from "../../src/config/rules";
import { bearer, tab, token, webhook, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";

const { rules, status } = catalog;
const environment = rules.environment.replace("__value__", () => "${NOT_SET}");

inEveryLayout("a node whose configuration breaks a rule", {}, (nodeRed) => {
  const broken: [string, Record<string, unknown>, string][] = [
    ["no path", { relativePath: "" }, rules.relativePath.required],
    ["a path that is too long", { relativePath: "x".repeat(maxPathLength) }, rules.relativePath.length],
    ["a route pattern", { relativePath: "/:id" }, rules.relativePath.characters],
    ["a dot segment", { relativePath: "/a/../b" }, rules.relativePath.segments],
    ["no token", { credentials: {} }, rules.token.required],
    ["a short token", { credentials: { token: token.slice(1) } }, rules.token.length],
    ["a space in the token", { credentials: { token: `${token.slice(1)} ` } }, rules.token.characters],
    ["an unknown verification method", { verificationMethod: "body" }, rules.verificationMethod],
    ["no query parameter", { verificationMethod: "query", queryParameter: "" }, rules.queryParameter],
    ["a header parameter that is no field name", { headerParameter: "a b" }, rules.headerParameter],
    ["return query params that are no boolean", { returnQueryParams: "perhaps" }, rules.returnQueryParams],
    ["an environment variable that is not set", { relativePath: "${NOT_SET}" }, environment],
    ["one for its token", { credentials: { token: "${NOT_SET}" } }, environment],
  ];

  before(() =>
    nodeRed().deploy(
      tab(
        ...broken.map(([, fields], index) => webhook(`broken${index}`, `/broken${index}`, fields)),
        webhook("sound", "/sound"),
      ),
    ),
  );

  for (const [index, [name, , text]] of broken.entries()) {
    it(`such as ${name}, shows a red status that says which, and logs it once as an error`, async () => {
      const id = `broken${index}`;
      should(await nodeRed().status(id, /./)).eql({ fill: "red", shape: "ring", text });
      const logged = nodeRed()
        .log.split("\n")
        .filter((line) => line.includes(`[webhook-trigger:${id}]`));
      logged.should.have.length(1);
      should(logged[0]).containEql("[error]").and.endWith(text);
    });
  }

  it("never opens its endpoint", async () => {
    for (const index of broken.keys()) {
      const headers = { ...bearer, "X-Token": "" };
      for (const path of [`/broken${index}`, `/broken${index}?state=`]) {
        (await send(nodeRed().node(path), { headers })).status.should.equal(404);
      }
    }
    for (const path of ["/", "/:id", "/abc", "/b", "/${NOT_SET}"]) {
      (await send(nodeRed().node(path), { headers: bearer })).status.should.equal(404);
    }
  });

  it("lets the other nodes run", async () => {
    const reply = await send(nodeRed().node("/sound"), { headers: bearer, body: "x" });
    should((await nodeRed().message(reply.json.id)).payload).equal("x");
  });
});

inEveryLayout(
  "environment variables",
  {
    env: {
      HOOK_PATH: "from-environment/",
      HOOK_TOKEN: token,
      HOOK_METHOD: "query",
      HOOK_PARAMETER: "key",
      HOOK_QUERY: "true",
      HOOK_HEADER: "X-Token",
    },
  },
  (nodeRed) => {
    it("give every field its value", async () => {
      await nodeRed().deploy(
        webhookFlow(
          {
            relativePath: "${HOOK_PATH}",
            verificationMethod: "${HOOK_METHOD}",
            queryParameter: "${HOOK_PARAMETER}",
            returnQueryParams: "${HOOK_QUERY}",
            credentials: { token: "${HOOK_TOKEN}" },
          },
          { relativePath: "/by-header", headerParameter: "${HOOK_HEADER}" },
        ),
      );
      const key = encodeURIComponent(token);
      const reply = await send(nodeRed().node(`/from-environment?key=${key}&a=1`), { body: "x" });
      should((await nodeRed().message(reply.json.id)).payload).eql({ body: "x", query: { a: "1" } });
      (await send(nodeRed().node("/by-header"), { headers: { "X-Token": token } })).status.should.equal(200);
      should(nodeRed().log.includes(token)).be.false();
    });
  },
);

inEveryLayout("two nodes with one path", {}, (nodeRed) => {
  const both = [
    webhook("first", "/shared", { returnQueryParams: true }),
    webhook("second", "/SHARED/"),
    webhook("other", "/other"),
  ];
  const holderOf = async (runtime: NodeRed) => {
    const reply = await send(runtime.node("/shared"), { headers: bearer, body: "x" });
    reply.status.should.equal(200);
    const { payload } = await runtime.message(reply.json.id);
    return typeof payload === "object" ? "first" : "second";
  };

  it("leave it to the first; the other says so in yellow", async () => {
    await nodeRed().deploy(tab(...both));
    (await nodeRed().status("first", /shared/)).should.have.properties({ fill: "green", shape: "dot" });
    const text = status.waiting.replace("__path__", "/SHARED");
    should(await nodeRed().status("second", /taken/)).eql({ fill: "yellow", shape: "ring", text });
    (await holderOf(nodeRed())).should.equal("first");
  });

  it("let the second take over by itself when the first one goes", async () => {
    await nodeRed().deploy(tab(...both.slice(1)), "nodes");
    (await nodeRed().status("second", /accepted/)).should.have.property("fill", "green");
    (await holderOf(nodeRed())).should.equal("second");
  });

  it("leave nothing behind when both are gone", async () => {
    await nodeRed().deploy(tab(both[2] ?? {}));
    (await send(nodeRed().node("/shared"), { headers: bearer })).status.should.equal(404);
    (await send(nodeRed().node("/shared"), { method: "GET" })).status.should.equal(404);
  });
});

inEveryLayout("many endpoints", {}, (nodeRed) => {
  const many = Array.from({ length: 1000 }, (_, index) => webhook(`many${index}`, `/many/${index}`));
  const neighbours = [
    { id: "get", type: "http in", method: "get", url: "/many/5", wires: [["answer"]] },
    { id: "post", type: "http in", method: "post", url: "/neighbour", wires: [["answer"]] },
    { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
  ];

  it("add one layer for all, and take none of other nodes with them when they close", async () => {
    await nodeRed().deploy(tab(webhook("one", "/one"), ...neighbours));
    const withOne = nodeRed().starts.at(-1)?.layers;
    await nodeRed().deploy(tab(...many, ...neighbours));
    should(nodeRed().starts.at(-1)?.layers).equal(withOne);
    (await send(nodeRed().node("/many/999"), { headers: bearer })).status.should.equal(200);

    await nodeRed().deploy(tab(...neighbours), "nodes");
    should(nodeRed().starts.at(-1)?.layers).equal(withOne);
    (await send(nodeRed().node("/many/999"), { headers: bearer })).status.should.equal(404);
    (await send(nodeRed().node("/many/5"), { method: "GET" })).status.should.equal(202);
    (await send(nodeRed().node("/neighbour"))).status.should.equal(202);
  });

  it("keep their own when neighbours on the same path close", async () => {
    await nodeRed().deploy(tab(webhook("many5", "/many/5"), ...neighbours));
    await nodeRed().deploy(tab(webhook("many5", "/many/5")), "nodes");
    (await send(nodeRed().node("/many/5"), { headers: bearer })).status.should.equal(200);
    (await send(nodeRed().node("/many/5"), { method: "GET" })).status.should.equal(405);
    await nodeRed().deploy(tab(webhook("many5", "/many/5"), ...neighbours), "nodes");
    (await send(nodeRed().node("/many/5"), { method: "GET" })).status.should.equal(202);
  });
});
