import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import type { Silence } from "../../src/flow/outcomes";
import { bearer, tab, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";

/** About five seconds: longer than a status waits until it is renewed, also on a slow machine. */
const hours = 0.0015;
const silentText = catalog.status.silent.replace("__hours__", String(hours));
const [silence = "", check = ""] = catalog.status.wentSilent.split(/__time__.*__hours__/);

const flow = tab(webhook("hook", "/hook", { alertWhenSilent: hours }));

async function findSilent(nodeRed: NodeRed, id: string): Promise<Silence | undefined> {
  const { status, headers, body } = await send(nodeRed.admin("/webhook-trigger/silent"), { method: "GET" });
  should([status, headers["cache-control"]]).eql([200, "no-store"]);
  const { nodes } = JSON.parse(body) as { nodes: Silence[] };
  return nodes.find(({ node }) => node === id);
}

describe("the inactivity alert", () => {
  const nodeRed = useNodeRed({ flow });
  const post = (path: string) => send(nodeRed().node(path), { headers: bearer, body: "{}" });
  const isSilent = (node: string) => nodeRed().status(node, new RegExp(`· ${silentText}$`));
  const linesWith = (text: string) =>
    nodeRed().log.split("\n").filter((line) => line.includes(":hook]") && line.includes(text)); // prettier-ignore

  it("is a yellow status, one warning and an entry of the admin API, until a request is accepted", async () => {
    const { fill, text } = await isSilent("hook");
    should([fill, text]).eql(["yellow", `/hook · 0 accepted · ${silentText}`]);
    const [warning = "", ...others] = linesWith(silence);
    warning.should.containEql("[warn]").and.containEql(check).and.containEql(` ${hours} h`);
    others.should.have.length(0);
    const { since, ...silent } = (await findSilent(nodeRed(), "hook")) ?? {};
    silent.should.eql({ node: "hook", hours });
    warning.should.containEql(new Date(Number(since)).toISOString());

    const before = Date.now();
    const heard = nodeRed().status("hook", /1 accepted$/);
    (await post("/hook")).status.should.equal(200);
    (await heard).fill.should.equal("green");
    linesWith(catalog.status.heardAgain).should.have.length(1);
    await isSilent("hook");
    linesWith(silence).should.have.length(2);
    should((await findSilent(nodeRed(), "hook"))?.since).be.within(before, Date.now());
  });

  it("does not end with a test request, a refusal or a deploy", async () => {
    await isSilent("hook");
    const before = await findSilent(nodeRed(), "hook");
    const lines = linesWith(silence).length;
    (await command(nodeRed().admin("/webhook-trigger/hook/test"))).json.should.have.property("outcome", "accepted");
    (await send(nodeRed().node("/hook"))).status.should.equal(401);
    await nodeRed().deploy(flow);
    await isSilent("hook");
    should(await findSilent(nodeRed(), "hook")).eql(before);
    linesWith(silence).should.have.length(lines);
  });
});
