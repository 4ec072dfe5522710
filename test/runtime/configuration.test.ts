import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { callerMethods, callers, callerToken, presentations } from "../harness/callers";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";

const { rules, status } = catalog;
const environment = rules.environment.replace("__value__", () => "${NOT_SET}");

const digest = "d1ce".repeat(16);
/** Lists of callers, with what is said of them; none of the values is. */
const brokenCallers: [string, string][] = [
  ["${NOT_SET}", environment],
  ["not-json", rules.callers.format],
  ["${BROKEN_CALLERS}", rules.callers.format],
  [`{"secret-name":"${digest}"}`, rules.callers.format],
  [JSON.stringify(Array(1001).fill({ name: "secret-name", digest })), rules.callers.many],
  ...["", "x".repeat(65), "secret-name\n", " secret-name"].map((name): [string, string] => [JSON.stringify([{ name, digest }]), rules.callers.name]),
  ...[digest.toUpperCase(), digest.slice(1), `${digest}0`, "secret-digest", 1, null].map((each): [string, string] => [JSON.stringify([{ name: "secret-name", digest: each }]), rules.callers.digest]),
  [JSON.stringify([{ name: "secret-name", digest }, { name: "Secret-Name", digest: digest.replace("d1ce", "0000") }]), rules.callers.twice],
  [JSON.stringify([{ name: "secret-name", digest }, { name: "another", digest }]), rules.callers.twice],
]; // prettier-ignore

describe("the configuration of webhook triggers", () => {
  const env = {
    HOOK_PATH: "from-environment/",
    HOOK_TOKEN: token,
    HOOK_METHOD: "query",
    HOOK_PARAMETER: "key",
    HOOK_QUERY: "true",
    HOOK_HEADER: "X-Token",
    ...{ HOOK_CALLERS: callers("door 1", "Tür 2").callers, BROKEN_CALLERS: "[{" },
  };
  const nodeRed = useNodeRed({ env });
  const post = (path: string, headers: Record<string, string> = bearer) =>
    send(nodeRed().node(path), { headers, body: "x" });
  const statusOfGet = async (path: string) => (await send(nodeRed().node(path), { method: "GET" })).status;

  it("keeps a node closed whose configuration breaks a rule, shows the rule in red and logs it once, and runs the others", async () => {
    const broken: [Record<string, unknown>, string][] = [
      [{ relativePath: "" }, rules.relativePath.required],
      [{ relativePath: "/a:id" }, rules.relativePath.characters],
      [{ credentials: {} }, rules.token.required],
      [{ verificationMethod: "query", queryParameter: "" }, rules.queryParameter],
      [{ relativePath: "${NOT_SET}" }, environment],
      [{ credentials: { token: "${NOT_SET}" } }, environment],
      ...callerMethods.flatMap((verificationMethod) =>
        brokenCallers.map(([callers, text]): (typeof broken)[number] => [
          { verificationMethod, credentials: { token, user: "u", password: "p", callers } },
          text,
        ]),
      ),
    ];
    const nodes = broken.map(([fields], index) => webhook(`broken${index}`, `/broken${index}`, fields));
    await nodeRed().deploy(tab(...nodes, webhook("sound", "/sound")));
    for (const [index, [, text]] of broken.entries()) {
      should(await nodeRed().status(`broken${index}`, /./)).eql({ fill: "red", shape: "ring", text });
      const lines = nodeRed().log.split("\n").filter((line) => line.includes(`[webhook-trigger:broken${index}]`)); // prettier-ignore
      lines.should.have.length(1);
      should(lines[0]).containEql("[error]").and.endWith(text);
      for (const path of [`/broken${index}`, `/broken${index}?state=`]) {
        (await post(path, { ...bearer, "X-Token": "" })).status.should.equal(404);
      }
    }
    nodeRed().log.should.not.match(/secret-(name|digest)|d1ce/i);
    for (const path of ["/", "/a:id", "/abc", "/b", "/${NOT_SET}"]) (await post(path)).status.should.equal(404);
    const { json } = await post("/sound");
    should((await nodeRed().message(json.id)).payload).equal("x");
  });

  it("takes the value of every field from the environment", async () => {
    await nodeRed().deploy(
      tab(
        webhook("by-query", "${HOOK_PATH}", {
          verificationMethod: "${HOOK_METHOD}",
          queryParameter: "${HOOK_PARAMETER}",
          returnQueryParams: "${HOOK_QUERY}",
          credentials: { token: "${HOOK_TOKEN}" },
        }),
        webhook("by-header", "/by-header", { headerParameter: "${HOOK_HEADER}" }),
      ),
    );
    const { json } = await post(`/from-environment?key=${encodeURIComponent(token)}&a=1`, {});
    should((await nodeRed().message(json.id)).payload).eql({ body: "x", query: { a: "1" } });
    (await post("/by-header", { "X-Token": token })).status.should.equal(200);
    should(nodeRed().log.includes(token)).be.false();
  });

  it("works in groups, in subflows, and once its flow is enabled", async () => {
    const where = { name: "WHERE", type: "str" };
    const flow = (disabled: boolean) => [
      ...tab(
        webhook("grouped", "/grouped", { g: "group" }),
        { id: "group", type: "group", nodes: ["grouped"], x: 100, y: 300, w: 200, h: 80 },
        { id: "instance", type: "subflow:subflow", env: [{ ...where, value: "/instance" }] },
      ),
      {
        id: "subflow",
        type: "subflow",
        name: "Hook",
        in: [],
        out: [{ wires: [{ id: "inner", port: 0 }] }],
        env: [{ ...where, value: "/default" }],
      },
      { ...webhook("inner", "${WHERE}"), z: "subflow", wires: [] },
      { id: "off", type: "tab", label: "Off", disabled },
      { ...webhook("sleeping", "/sleeping"), z: "off", wires: [] },
    ];
    await nodeRed().deploy(flow(true));
    for (const path of ["/grouped", "/instance"]) (await post(path)).status.should.equal(200, path);
    for (const path of ["/default", "/sleeping"]) (await post(path)).status.should.equal(404, path);
    await nodeRed().deploy(flow(false));
    (await post("/sleeping")).status.should.equal(200);
  });

  for (const method of callerMethods) {
    it(`takes all callers from the environment of the process and of a subflow, with no other credential: ${method}`, async () => {
      const hook = (id: string, variable: string, more: Record<string, unknown> = {}) =>
        webhook(id, `/${id}`, { verificationMethod: method, credentials: { callers: variable }, ...more });
      const inner = "INNER_CALLERS";
      const template = {
        ...{ id: "template", type: "subflow", name: "hooks", info: "", in: [], out: [{ x: 1, y: 1, wires: [{ id: "inside", port: 0 }] }] },
        env: [{ name: inner, type: "str", value: callers("of the template").callers }],
      };
      const env = [{ name: inner, type: "json", value: callers("of the instance", "door 1").callers }];
      await nodeRed().deploy([
        ...tab(hook("of-process", "${HOOK_CALLERS}"), { id: "instance", type: "subflow:template", env, wires: [["sink"]] }),
        template,
        hook("inside", `\${${inner}}`, { z: "template", wires: [] }),
      ]);
      for (const [path, names, strangers] of [
        ["/of-process", ["door 1", "Tür 2"], ["of the instance"]],
        ["/inside", ["of the instance", "door 1"], ["of the template", "Tür 2"]],
      ] as const) {
        const call = (name: string, sent?: string) => {
          const { search, headers } = presentations[method](name, sent);
          return post(path + search, headers);
        };
        for (const name of names) {
          const { json } = await call(name);
          should((await nodeRed().message(json.id)).webhook).match({ credential: "first", caller: name });
        }
        for (const name of strangers) (await call(name)).status.should.equal(401);
        // Without a credential of its own, an empty one is none.
        for (const name of ["", ...names]) (await call(name, "")).status.should.equal(401);
      }
    }); // prettier-ignore

    it(`exports and imports callers as Node-RED does credentials, and says what is missing without them: ${method}`, async () => {
      const flow = tab(webhook("hook", "/hook", { verificationMethod: method, credentials: callers("door 1") }));
      await nodeRed().deploy(flow);
      const exported = JSON.parse((await send(nodeRed().admin("/flows"), { method: "GET" })).body) as typeof flow;
      should(JSON.stringify(exported)).not.containEql("door 1");
      const { search, headers } = presentations[method]("door 1");
      // A deploy of what was exported leaves the credentials that are there.
      await nodeRed().deploy(exported);
      (await post(`/hook${search}`, headers)).status.should.equal(200);
      // Where they are not, such as in another Node-RED, the ids are new.
      const imported = exported.map((node) => (node.id === "hook" ? { ...node, id: "imported" } : node));
      await nodeRed().deploy(imported);
      const missing = method === "basic" ? rules.user.required : rules.token.required;
      should(await nodeRed().status("imported", /./)).match({ fill: "red", text: missing });
      (await post(`/hook${search}`, headers)).status.should.equal(404);
      await nodeRed().deploy(imported.map((node) => (node.id === "imported" ? { ...node, credentials: callers("door 1") } : node)));
      (await post(`/hook${search}`, headers)).status.should.equal(200);
      should(nodeRed().log.includes(callerToken("door 1"))).be.false();
    }); // prettier-ignore
  }

  it("leaves a path of two nodes to the first, shows the other in yellow, and lets it take over when the first goes", async () => {
    const both = [webhook("first", "/shared", { returnQueryParams: true }), webhook("second", "/SHARED/")];
    const holder = async () => {
      const { json } = await post("/shared");
      return typeof (await nodeRed().message(json.id)).payload === "object" ? "first" : "second";
    };
    await nodeRed().deploy(tab(...both));
    (await nodeRed().status("first", /shared/)).should.have.properties({ fill: "green", shape: "dot" });
    const text = status.waiting.replace("__path__", "/SHARED");
    should(await nodeRed().status("second", /taken/)).eql({ fill: "yellow", shape: "ring", text });
    (await holder()).should.equal("first");

    await nodeRed().deploy(tab(...both.slice(1)), "nodes");
    (await nodeRed().status("second", /accepted/)).should.have.property("fill", "green");
    (await holder()).should.equal("second");

    await nodeRed().deploy(tab());
    (await post("/shared")).status.should.equal(404);
    (await statusOfGet("/shared")).should.equal(404);
  });

  it("lets two nodes swap their paths in one deploy without a warning", async () => {
    const nodes = (one: string, other: string) => tab(webhook("one", one), webhook("other", other));
    await nodeRed().deploy(nodes("/one", "/other"));
    await nodeRed().deploy(nodes("/other", "/one"));
    (await post("/one")).status.should.equal(200);
    await nodeRed().deploy(nodes("/one", "/other"), "nodes");
    (await post("/other")).status.should.equal(200);
    nodeRed().log.should.not.match(/\[warn\] \[webhook-trigger:(one|other)\]/);
  });

  it("opens and closes 1,000 endpoints beside routes of other nodes, whichever of them are deployed", async () => {
    const many = Array.from({ length: 1000 }, (_, index) => webhook(`many${index}`, `/many/${index}`));
    const neighbours = [
      { id: "get", type: "http in", method: "get", url: "/many/5", wires: [["answer"]] },
      { id: "post", type: "http in", method: "post", url: "/neighbour", wires: [["answer"]] },
      { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
    ];
    await nodeRed().deploy(tab(...many, ...neighbours));
    (await post("/many/999")).status.should.equal(200);
    await nodeRed().deploy(tab(...neighbours), "nodes");
    (await post("/many/999")).status.should.equal(404);
    should([await statusOfGet("/many/5"), (await post("/neighbour")).status]).eql([202, 202]);

    await nodeRed().deploy(tab(webhook("many5", "/many/5"), ...neighbours));
    await nodeRed().deploy(tab(webhook("many5", "/many/5")), "nodes");
    should([(await post("/many/5")).status, await statusOfGet("/many/5")]).eql([200, 405]);
    await nodeRed().deploy(tab(webhook("many5", "/many/5"), ...neighbours), "nodes");
    (await statusOfGet("/many/5")).should.equal(202);
  });
});
