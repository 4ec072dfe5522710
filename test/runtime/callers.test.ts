import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { callers, callerToken, presentations } from "../harness/callers";
import { tab, webhook } from "../harness/flow";
import { storeKinds } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { type Flow, NodeRed, type Options } from "../harness/node-red";
import { until } from "../harness/until";

const names = ["door 1", "door 2", "door 3"] as const;
const callersOf = (...some: readonly string[]): Flow => [
  ...tab(
    webhook("doors", "/doors", {
      credentials: callers(...some),
      conditions: [{ place: "json:open", operator: "is", value: "yes" }],
    }),
    webhook("push", "/push", { verificationMethod: "signature", sender: "github", credentials: { secret: "key" } }),
    webhook("closed", "/not a path"),
  ),
  { id: "other-tab", type: "tab", label: "Other" },
  { ...webhook("gates", "/gates", { credentials: callers(...some) }), z: "other-tab", x: 200, y: 40, wires: [[]] },
];

describe("the last use of callers' tokens", () => {
  let nodeRed: NodeRed;
  afterEach(() => nodeRed.stop());
  const list = async (node = "doors", instance = nodeRed) => {
    const { status, body } = await send(instance.admin(`/webhook-trigger/${node}/callers`), { method: "GET" });
    return status === 200 ? (JSON.parse(body) as { callers: { name: string; lastUsedAt: number | null }[] }).callers : status; // prettier-ignore
  };
  const use = async (name: string, body = '{"open":"yes"}', node = "doors") => {
    const headers = { ...presentations.header(name).headers, "Content-Type": "application/json" };
    return (await send(nodeRed.node(`/${node}`), { headers, body })).status;
  };
  const listUsed = async () => {
    const all = await list();
    return typeof all === "number" ? all : all.filter(({ lastUsedAt }) => lastUsedAt !== null).map(({ name }) => name);
  };

  it("is that of each request with the token, whatever became of it, but of no test request", async () => {
    nodeRed = await NodeRed.start({ flow: callersOf(...names) });
    should(await list()).eql(names.map((name) => ({ name, lastUsedAt: null })));
    const before = Date.now();
    (await command(nodeRed.admin("/webhook-trigger/doors/test"))).json.should.have.property("status", 200);
    (await use("door 4")).should.equal(401);
    should(await listUsed()).eql([]);
    (await use("door 3")).should.equal(200);
    (await use("door 2", '{"open":"no"}')).should.equal(200);
    (await use("door 1", "{")).should.equal(400);
    should(await listUsed()).eql([...names]);
    for (const { lastUsedAt } of (await list()) as { lastUsedAt: number }[]) lastUsedAt.should.be.within(before, Date.now()); // prettier-ignore
    for (const [node, answer] of [["push", []], ["closed", 404], ["nobody", 404]] as const) should(await list(node)).eql(answer); // prettier-ignore
  });

  for (const kind of [undefined, ...storeKinds.filter(({ isHere }) => isHere)]) {
    const isShared = kind?.name === "a server";
    it(`is known after a restart, also where the node was closed, and its tab disabled, before, ${isShared ? "and to another instance, " : ""}with ${kind?.name ?? "no store"}`, async () => {
      const store = await kind?.begin();
      let other: NodeRed | undefined;
      try {
        const flow = callersOf(...names);
        const options: Options = { ...store?.options, flow };
        nodeRed = await NodeRed.start(options);
        for (const name of ["door 1", "door 3"]) await use(name);
        await use("door 2", "{}", "gates");
        const known = [await list(), await list("gates")];
        const { userDir } = nodeRed;
        const deploy = (id: string, change: object) => nodeRed.deploy(flow.map((node) => (node.id === id ? { ...node, ...change } : node))); // prettier-ignore
        await deploy("doors", { relativePath: "/not a path" });
        should(await list()).equal(404);
        await deploy("tab", { disabled: true });
        should(await list()).equal(404);
        await nodeRed.stop();
        nodeRed = await NodeRed.start({ ...options, userDir });
        should([await list(), await list("gates")]).eql(known);
        const files = readdirSync(userDir).filter((file) => file.endsWith("uses.json"));
        const text = files.map((file) => readFileSync(join(userDir, file), "utf8")).join("");
        files.should.have.length(1);
        for (const name of names) text.should.not.containEql(callerToken(name)).and.not.containEql(name);
        if (!isShared) return;
        other = await NodeRed.start(options);
        (await use("door 2")).should.equal(200);
        const shown = JSON.stringify(await list());
        await until(async () => JSON.stringify(await list("doors", other)) === shown, "the other instance to know");
      } finally {
        await Promise.all([other?.stop(), nodeRed.stop()]);
        await store?.end();
      }
    });
  }
});
