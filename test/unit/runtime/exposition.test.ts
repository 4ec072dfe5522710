import should from "should";
import { register } from "prom-client";
import { Counts } from "../../../nodes/runtime/counts";
import { Exposition, helpTexts } from "../../../nodes/runtime/exposition";
import { parseMetrics } from "../../harness/prometheus";

async function told(counted: Record<string, Counts>) {
  const exposition = new Exposition(new Map(Object.entries(counted)));
  exposition.contentType.should.equal("text/plain; version=0.0.4; charset=utf-8");
  return parseMetrics(await exposition.text());
}

/** The values of a metric, by its labels. */
function valuesOf(families: Awaited<ReturnType<typeof told>>, name: string): Record<string, number> {
  const samples = families.get(`webhook_trigger_${name}`)?.samples ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).sort().join(" "), value]));
}

describe("Exposition", () => {
  it("names the metrics as Prometheus wants them, and keeps out of the registry that all share", async () => {
    const families = await told({});
    [...families.keys()].sort().should.eql(Object.keys(helpTexts).map((name) => `webhook_trigger_${name}`).sort()); // prettier-ignore
    for (const [name, { type, help, samples }] of families) {
      name.endsWith("_total").should.equal(type === "counter", name);
      help.should.match(/^[A-Z].*\.$/);
      samples.should.have.length(0);
    }
    register.getMetricsAsArray().should.have.length(0);
  });

  it("tells of a node that has had no request yet", async () => {
    const families = await told({ a: new Counts() });
    valuesOf(families, "deliveries_total").should.eql({ "a accepted": 0, "a repeated": 0, "a handshake": 0 });
    valuesOf(families, "open").should.eql({ a: 0 });
    for (const name of [
      "attempts_total",
      "given_up_total",
      "queue_deliveries",
      "reply_seconds",
      "last_accepted_timestamp_seconds",
    ]) {
      valuesOf(families, name).should.eql({});
    }
  });

  it("tells what was counted, each time it is asked", async () => {
    const counts = new Counts();
    const exposition = new Exposition(new Map([["a", counts]]));
    for (let round = 1; round <= 2; round++) {
      counts.accepted += 3;
      counts.refuse("tokenInvalid");
      counts.refuse("rateExceeded");
      counts.refuse("tokenInvalid");
      counts.unanswered++;
      counts.givenUp++;
      counts.attempts.failed++;
      counts.fares = { running: 1, waiting: 0, failed: round };
      counts.acceptedAt = 1500;
      const families = parseMetrics(await exposition.text());
      valuesOf(families, "deliveries_total").should.eql({
        ...{ "a accepted": 3 * round, "a repeated": 0, "a handshake": 0 },
        ...{ "a refused tokenInvalid": 2 * round, "a rateExceeded refused": round },
      });
      valuesOf(families, "unanswered_total").should.eql({ a: round });
      valuesOf(families, "given_up_total").should.eql({ a: round });
      valuesOf(families, "attempts_total").should.eql({ "a succeeded": 0, "a failed": round, "a lost": 0 });
      valuesOf(families, "queue_deliveries").should.eql({ "a running": 1, "a waiting": 0, "a failed": round });
      valuesOf(families, "last_accepted_timestamp_seconds").should.eql({ a: 1.5 });
    }
  });

  it("has a histogram whose buckets hold what took as long or less", async () => {
    const counts = new Counts();
    for (const milliseconds of [0.05, 0.1, 0.11, 3, 10_000, 60_000]) counts.replies.add(milliseconds);
    const family = (await told({ a: counts, b: new Counts() })).get("webhook_trigger_reply_seconds");
    should(family?.type).equal("histogram");
    const samples = family?.samples.filter(({ labels }) => labels.node === "a") ?? [];
    const buckets = samples.filter(({ name }) => name.endsWith("_bucket"));
    const at = (most: number | "+Inf") => buckets.find(({ labels }) => labels.le === String(most))?.value;
    [0.0001, 0.00025, 0.0025, 0.005, 5, 10, "+Inf" as const].map(at).should.eql([2, 3, 3, 4, 4, 5, 6]);
    const values = buckets.map(({ value }) => value);
    values.should.eql([...values].sort((one, other) => one - other));
    should(samples.find(({ name }) => name.endsWith("_count"))?.value).equal(6);
    should(samples.find(({ name }) => name.endsWith("_sum"))?.value).be.approximately(70.00326, 1e-9);
  });

  it("writes names so that nothing of them is taken for something else", async () => {
    const counts = new Counts();
    counts.identity = { name: 'a "b"\\\n# TYPE x counter\nx{y="z"} 1', path: "/a" };
    const families = await told({ a: counts });
    const { samples = [] } = families.get("webhook_trigger_node_info") ?? {};
    samples.should.eql([{ name: "webhook_trigger_node_info", labels: { node: "a", ...counts.identity }, value: 1 }]);
  });
});
