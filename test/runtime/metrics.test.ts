import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { moduleOf, settingsOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { endHeld, guaranteed } from "../harness/guaranteed";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { type Family, parseMetrics, type Sample } from "../harness/prometheus";

/** Characters that a label has to escape. */
const name = 'Orders "A" \\ B\nC';

const flow = tab(
  webhook("hook", "/hook", { name, ignoreDuplicates: true, duplicateKey: "body", rateLimit: 1000 }),
  webhook("taking", "/taking", { reply: "flow", replyTimeout: 1 }),
  webhook("rival", "/hook"),
  webhook("broken", "/broken", { credentials: {} }),
  webhook("other", "/other", { name: `named ${token} by mistake` }),
  ...(sqliteIsHere() ? guaranteed("safe", { backoffFirst: 3600 }) : []),
);

describe("metrics", () => {
  const nodeRed = useNodeRed({ flow, code: settingsOf("admin-tokens"), plugin: moduleOf("hold") });
  /** A user who may deploy and read metrics. */
  const operator = { Authorization: "Bearer *" };

  const post = (path: string, body: string, headers: Record<string, string> = bearer) =>
    send(nodeRed().node(path), { headers: { "Content-Type": "application/json", ...headers }, body });
  const read = async () => {
    const { status, headers, body } = await send(nodeRed().admin("/webhook-trigger/metrics"), { method: "GET", headers: operator }); // prettier-ignore
    should([status, headers["content-type"], headers["cache-control"]]).eql([200, "text/plain; version=0.0.4; charset=utf-8", "no-store"]); // prettier-ignore
    for (const secret of [token, "127.0.0.1", "x-secret", "query-secret"]) body.should.not.containEql(secret);
    return parseMetrics(body);
  };
  const deploy = (nodes: typeof flow) => nodeRed().deploy(nodes, "full", operator);
  /** Each value of a metric of a node, by the labels beside the node's. */
  const valuesOf = (node: string, metric: string, families: Map<string, Family>): Record<string, number> => {
    const samples = families.get(`webhook_trigger_${metric}`)?.samples ?? [];
    const name = ({ labels: { node: _node, ...labels } }: Sample) => Object.values(labels).join(" ");
    const own = samples.filter(({ labels }) => labels.node === node);
    return Object.fromEntries(own.map((each) => [name(each), each.value]));
  };

  it("count requests by node and outcome, those without a reply by the flow, and the time of replies", async () => {
    for (const body of ["1", "2", "3", "3"]) (await post("/hook", body)).status.should.equal(200);
    for (const [path, body, headers, status] of [
      ["/hook?a=query-secret", "1", { Authorization: "Bearer x-secret" }, 401],
      ["/hook", "1", { Authorization: "Bearer x-secret" }, 401],
      ["/hook", "1", {}, 401],
      ["/hook", "{", bearer, 400],
      ["/taking", "1", bearer, 504],
    ] as const) {
      (await post(path, body, headers)).status.should.equal(status);
    }
    const families = await read();
    valuesOf("hook", "deliveries_total", families).should.eql({
      ...{ accepted: 3, duplicate: 1, handshake: 0, filtered: 0 },
      ...{ "refused tokenInvalid": 2, "refused tokenMissing": 1, "refused jsonMalformed": 1 },
    });
    valuesOf("taking", "deliveries_total", families).should.eql({
      accepted: 1,
      duplicate: 0,
      handshake: 0,
      filtered: 0,
    });
    valuesOf("taking", "unanswered_total", families).should.eql({ "": 1 });
    valuesOf("other", "deliveries_total", families).should.eql({
      accepted: 0,
      duplicate: 0,
      handshake: 0,
      filtered: 0,
    });
    const { "": accepted } = valuesOf("hook", "last_accepted_timestamp_seconds", families);
    should(accepted).be.approximately(Date.now() / 1000, 600);
    const samples = families.get("webhook_trigger_reply_seconds")?.samples ?? [];
    const histogram = samples.filter(({ labels }) => labels.node === "hook");
    const valueOf = (part: string, le?: string) =>
      histogram.find(({ name, labels }) => name.endsWith(part) && labels.le === le)?.value;
    should([valueOf("_count"), valueOf("_bucket", "+Inf")]).eql([4, 4]);
    should(valueOf("_sum")).be.above(0).and.below(60);
  });

  it("show which nodes are open, and their names and paths without secrets", async () => {
    const families = await read();
    const open = ["hook", "taking", "other", "rival", "broken"].map((node) => valuesOf(node, "open", families)[""]);
    should(open).eql([1, 1, 1, 0, 0]);
    const { samples = [] } = families.get("webhook_trigger_node_info") ?? {};
    const nodes = samples.map(({ labels: { node, name, path } }) => [node, name, path]);
    nodes.should.containDeep([
      ["hook", name, "/hook"],
      ["taking", "", "/taking"],
    ]);
    const [, other = ""] = nodes.find(([node]) => node === "other") ?? [];
    other.should.startWith("named ").and.endWith(" by mistake");
  });

  it("count on over a deploy, and end with their node", async () => {
    const { accepted = 0, ...rest } = valuesOf("hook", "deliveries_total", await read());
    await deploy(flow);
    (await post("/hook", "4")).status.should.equal(200);
    (await post("/other", "1")).status.should.equal(200);
    const after = await read();
    valuesOf("hook", "deliveries_total", after).should.eql({ accepted: accepted + 1, ...rest });
    valuesOf("other", "deliveries_total", after).should.have.property("accepted", 1);

    await deploy(flow.filter(({ id }) => id !== "other"));
    const without = await read();
    for (const [name, { samples }] of without) samples.some(({ labels }) => labels.node === "other").should.be.false(name); // prettier-ignore
    valuesOf("hook", "deliveries_total", without).should.have.property("accepted", accepted + 1);
    await deploy(flow);
    valuesOf("other", "deliveries_total", await read()).should.have.property("accepted", 0);
  });

  if (sqliteIsHere()) {
    it("show the queue and the attempts of guaranteed delivery", async () => {
      (await post("/safe", "1")).status.should.equal(200);
      await nodeRed().status("safe", /1 running/);
      const running = await read();
      valuesOf("safe", "queue_deliveries", running).should.eql({ running: 1, queued: 0, retrying: 0, failed: 0 });
      valuesOf("safe", "attempts_total", running).should.eql({ succeeded: 0, failed: 0, interrupted: 0 });
      await endHeld(nodeRed(), "safe", "broken");
      await nodeRed().status("safe", /retrying/);
      valuesOf("safe", "attempts_total", await read()).should.eql({ succeeded: 0, failed: 1, interrupted: 0 });
    });
  }
});
