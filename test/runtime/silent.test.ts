import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import type { SilentEvent } from "../../src/flow/outcomes";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

/** About a second: longer than a status waits until it is renewed. */
const hours = 0.0003;
const silentText = catalog.status.silent.replace("__hours__", String(hours));
const heardText = catalog.status.heardAgain;
const [silence = "", check = ""] = catalog.status.wentSilent.split(/__time__.*__hours__/);

const flow = webhookFlow(
  { id: "hook", relativePath: "/hook", alertWhenSilent: hours },
  {
    id: "duplicates",
    relativePath: "/duplicates",
    alertWhenSilent: String(hours),
    ignoreDuplicates: true,
    duplicateKey: "body",
  },
  { id: "usual", relativePath: "/usual" },
  { id: "wrong", relativePath: "/wrong", alertWhenSilent: "soon" },
);

async function silentOf(nodeRed: NodeRed): Promise<Map<string, SilentEvent>> {
  const response = await fetch(nodeRed.admin("/webhook-trigger/silent"));
  response.status.should.equal(200);
  String(response.headers.get("Cache-Control")).should.equal("no-store");
  const { nodes } = (await response.json()) as { nodes: SilentEvent[] };
  return new Map(nodes.map((silent) => [silent.node, silent]));
}

function linesWith(nodeRed: NodeRed, node: string, text: string): string[] {
  return nodeRed.log.split("\n").filter((line) => line.includes(`:${node}]`) && line.includes(text));
}

describe("a sender that is expected", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start({ flow });
  });
  after(() => nodeRed.stop());

  const post = (path: string, body = "{}") => send(nodeRed.node(path), { headers: bearer, body });
  const isSilent = (node: string) => nodeRed.status(node, new RegExp(`· ${silentText}$`));

  it("is told to be silent by a yellow status, one warning and the admin API, until it is heard again", async () => {
    const { fill, text } = await isSilent("hook");
    fill.should.equal("yellow");
    text.should.equal(`/hook · 0 accepted · ${silentText}`);
    const [warning = "", ...others] = linesWith(nodeRed, "hook", silence);
    warning.should.containEql("[warn]").and.containEql(check).and.containEql(` ${hours} h`);
    others.should.have.length(0);
    const { since, ...silent } = (await silentOf(nodeRed)).get("hook") ?? {};
    silent.should.eql({ node: "hook", hours });
    warning.should.containEql(new Date(Number(since)).toISOString());

    const before = Date.now();
    const heard = nodeRed.status("hook", /1 accepted$/);
    (await post("/hook")).status.should.equal(200);
    (await heard).fill.should.equal("green");
    linesWith(nodeRed, "hook", heardText).should.have.length(1);
    await isSilent("hook");
    linesWith(nodeRed, "hook", silence).should.have.length(2);
    should((await silentOf(nodeRed)).get("hook")?.since).be.within(before, Date.now());
  });

  it("is heard by a repeat", async () => {
    await post("/duplicates");
    await isSilent("duplicates");
    const heard = nodeRed.status("duplicates", /duplicates: 1$/);
    await post("/duplicates");
    (await heard).fill.should.equal("green");
  });

  it("is heard neither by a test request of the editor, nor by one that is refused, nor by a deploy", async () => {
    await isSilent("hook");
    const before = (await silentOf(nodeRed)).get("hook");
    const lines = linesWith(nodeRed, "hook", silence).length;
    const tried = await fetch(nodeRed.admin("/webhook-trigger/hook/test"), { method: "POST" });
    should(await tried.json()).have.property("outcome", "accepted");
    (await send(nodeRed.node("/hook"))).status.should.equal(401);
    await nodeRed.deploy(flow);
    await isSilent("hook");
    should((await silentOf(nodeRed)).get("hook")).eql(before);
    linesWith(nodeRed, "hook", silence).should.have.length(lines);
  });

  it("may be silent where nothing is expected", async () => {
    (await silentOf(nodeRed)).has("usual").should.be.false();
    (await nodeRed.status("usual", /./)).fill.should.equal("green");
  });

  it("keeps the endpoint closed where nobody can tell how long", async () => {
    (await nodeRed.status("wrong", /./)).text.should.equal(catalog.rules.alertWhenSilent);
    (await post("/wrong")).status.should.equal(404);
  });

  const itWithSqlite = sqliteIsHere() ? it : () => undefined;
  itWithSqlite("was last heard of by the process before this one, where its deliveries are kept", async () => {
    const safe = webhookFlow({ id: "safe", relativePath: "/safe", guaranteed: true, alertWhenSilent: hours });
    const first = await NodeRed.start({ flow: safe });
    const before = Date.now();
    (await send(first.node("/safe"), { headers: bearer })).status.should.equal(200);
    const after = Date.now();
    await first.kill();
    const second = await NodeRed.start({ flow: safe, userDir: first.userDir });
    try {
      await second.status("safe", new RegExp(`· ${silentText}$`));
      should((await silentOf(second)).get("safe")?.since).be.within(before, after);
    } finally {
      await second.stop();
    }
  });
});
