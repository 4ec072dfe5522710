import should from "should";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { bearer, tab, token, webhook, webhookFlow } from "../harness/flow";
import { held, holding } from "../harness/holding";
import { send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";
import { type Family, parseMetrics, type Sample } from "../harness/prometheus";

const other = { id: "other", relativePath: "/other", name: `named ${token} by mistake` };
const flow = webhookFlow(
  {
    id: "hook",
    relativePath: "/hook",
    name: 'Orders "A"',
    ignoreDuplicates: true,
    duplicateKey: "body",
    rateLimit: 1000,
  },
  { id: "taking", relativePath: "/taking", reply: "flow", replyTimeout: 1 },
  { id: "rival", relativePath: "/hook" },
  { id: "broken", relativePath: "/broken", credentials: {} },
  other,
);

async function metricsOf(nodeRed: NodeRed): Promise<Map<string, Family>> {
  const response = await fetch(nodeRed.admin("/webhook-trigger/metrics"));
  response.status.should.equal(200);
  String(response.headers.get("Content-Type")).should.equal("text/plain; version=0.0.4; charset=utf-8");
  String(response.headers.get("Cache-Control")).should.equal("no-store");
  const text = await response.text();
  for (const secret of [token, "127.0.0.1", "x-secret", "query-secret"]) text.should.not.containEql(secret);
  return parseMetrics(text);
}

/** What a metric says of a node: each value by the labels beside the node's. */
function of(node: string, metric: string, families: Map<string, Family>): Record<string, number> {
  const samples = families.get(`webhook_trigger_${metric}`)?.samples ?? [];
  const name = ({ labels: { node: _node, ...labels } }: Sample) => Object.values(labels).join(" ");
  return Object.fromEntries(
    samples.filter(({ labels }) => labels.node === node).map((each) => [name(each), each.value]),
  );
}

inEveryLayout("metrics", { flow }, (nodeRed) => {
  const post = (path: string, body: string, headers: Record<string, string> = bearer) =>
    send(nodeRed().node(path), { headers: { "Content-Type": "application/json", ...headers }, body });

  it("count what came over HTTP, by the node and by what became of it", async () => {
    for (const body of ["1", "2", "3", "3"]) (await post("/hook", body)).status.should.equal(200);
    for (let count = 0; count < 2; count++) (await post("/hook?a=query-secret", "1", { Authorization: "Bearer x-secret" })).status.should.equal(401); // prettier-ignore
    (await post("/hook", "1", {})).status.should.equal(401);
    (await post("/hook", "{")).status.should.equal(400);
    (await post("/taking", "1")).status.should.equal(504);
    const families = await metricsOf(nodeRed());
    of("hook", "deliveries_total", families).should.eql({
      ...{ accepted: 3, duplicate: 1, handshake: 0 },
      ...{ "refused tokenInvalid": 2, "refused tokenMissing": 1, "refused jsonMalformed": 1 },
    });
    of("taking", "deliveries_total", families).should.eql({ accepted: 1, duplicate: 0, handshake: 0 });
    of("taking", "unanswered_total", families).should.eql({ "": 1 });
    of("other", "deliveries_total", families).should.eql({ accepted: 0, duplicate: 0, handshake: 0 });
    of("hook", "last_accepted_timestamp_seconds", families)[""]?.should.be.approximately(Date.now() / 1000, 600);
  });

  it("tell how long replies took", async () => {
    const families = await metricsOf(nodeRed());
    const histogram = families.get("webhook_trigger_reply_seconds")?.samples.filter(({ labels }) => labels.node === "hook") ?? []; // prettier-ignore
    const valueOf = (part: string, le?: string) =>
      histogram.find(({ name, labels }) => name.endsWith(part) && labels.le === le)?.value;
    should(valueOf("_count")).equal(4);
    should(valueOf("_bucket", "+Inf")).equal(4);
    should(valueOf("_sum")).be.above(0).and.below(60);
  });

  it("tell which nodes are open, and what they are called", async () => {
    const families = await metricsOf(nodeRed());
    for (const [node, isOpen] of [["hook", 1], ["taking", 1], ["other", 1], ["rival", 0], ["broken", 0]] as const) {
      should([node, of(node, "open", families)]).eql([node, { "": isOpen }]);
    } // prettier-ignore
    const { samples = [] } = families.get("webhook_trigger_node_info") ?? {};
    const told = samples.map(({ labels: { node, name, path } }) => [node, name, path]);
    told.should.containDeep([
      ["hook", 'Orders "A"', "/hook"],
      ["taking", "", "/taking"],
    ]);
    const [, name = ""] = told.find(([node]) => node === "other") ?? [];
    name.should.startWith("named ").and.endWith(" by mistake");
  });

  it("count on over a deploy, and end with the node", async () => {
    const before = await metricsOf(nodeRed());
    await nodeRed().deploy(flow);
    (await post("/hook", "4")).status.should.equal(200);
    (await post("/other", "1")).status.should.equal(200);
    const after = await metricsOf(nodeRed());
    const { accepted = 0, ...rest } = of("hook", "deliveries_total", before);
    of("hook", "deliveries_total", after).should.eql({ accepted: accepted + 1, ...rest });
    of("other", "deliveries_total", after).should.have.property("accepted", 1);

    await nodeRed().deploy(flow.filter(({ id }) => id !== "other"));
    const without = await metricsOf(nodeRed());
    for (const [name, { samples }] of without) {
      samples.some(({ labels }) => labels.node === "other").should.be.false(name);
    }
    of("hook", "deliveries_total", without).should.have.property("accepted", accepted + 1);
    await nodeRed().deploy(flow);
    of("other", "deliveries_total", await metricsOf(nodeRed())).should.have.property("accepted", 0);
  });
});

describe("metrics", () => {
  it("are for whoever has a token of the settings file, as the README shows", async () => {
    const code = `adminAuth: {
      type: "credentials", users: [],
      tokens: async (token) => token === "a-long-random-text" ? { username: "prometheus", permissions: ["webhook-trigger.read"] } : null,
    }`;
    const guarded = await NodeRed.start({ flow, code });
    try {
      for (const [given, status] of [["a-long-random-text", 200], ["another-text", 401]] as const) {
        const headers = { Authorization: `Bearer ${given}` };
        const { status: told } = await fetch(guarded.admin("/webhook-trigger/metrics"), { headers });
        should([given, told]).eql([given, status]);
      } // prettier-ignore
    } finally {
      await guarded.stop();
    }
  });

  const itWithSqlite = sqliteIsHere() ? it : () => undefined;
  itWithSqlite("tell of what may not be lost how the flow fares with it", async () => {
    const safe = tab(webhook("safe", "/safe", { guaranteed: true, wires: [["hold-safe"]] }), held("safe"));
    const nodeRed = await NodeRed.start({ flow: safe, plugin: holding });
    try {
      (await send(nodeRed.node("/safe"), { headers: bearer })).status.should.equal(200);
      await nodeRed.status("safe", /1 running/);
      const running = await metricsOf(nodeRed);
      of("safe", "queue_deliveries", running).should.eql({ running: 1, queued: 0, retrying: 0, failed: 0 });
      of("safe", "attempts_total", running).should.eql({ succeeded: 0, failed: 0, interrupted: 0 });
      await nodeRed.tell({ end: "hold-safe", error: "broken" }, "hold-safe ended");
      await nodeRed.status("safe", /retrying/);
      of("safe", "attempts_total", await metricsOf(nodeRed)).should.eql({ succeeded: 0, failed: 1, interrupted: 0 });
    } finally {
      await nodeRed.stop();
    }
  });
});
