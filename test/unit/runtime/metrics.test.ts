import "should";
import { metrics } from "../../../src/admin/metrics";
import { Observed } from "../../harness/observed";
import { parseMetrics } from "../../harness/prometheus";

describe("metrics", () => {
  let observed: Observed;
  beforeEach(() => {
    observed = new Observed();
  });

  it("are named as Prometheus wants it", async () => {
    const families = parseMetrics(String(await observed.ask("metrics")));
    [...families.keys()].sort().should.eql(Object.keys(metrics).map((name) => `webhook_trigger_${name}`).sort()); // prettier-ignore
    for (const [name, { type, help, samples }] of families) {
      name.endsWith("_total").should.equal(type === "counter", name);
      help.should.match(/^[A-Z].*\.$/);
      samples.should.have.length(0);
    }
  });

  it("do not count failures of flows that are not followed", async () => {
    observed.deploy();
    observed.fail("1");
    (await observed.metric("attempts_total")).should.eql({});
  });

  it("have a histogram whose buckets hold what took as long or less", async () => {
    observed.deploy();
    for (const milliseconds of [0.05, 0.1, 0.11, 3, 10_000, 60_000]) {
      observed.outcomes.emit("replied", { node: "node", id: "1", milliseconds, contentLength: 1 });
    }
    const histogram = await observed.metric("reply_seconds");
    const at = (most: number | "+Inf") => histogram[`_bucket ${most}`];
    [0.0001, 0.00025, 0.0025, 0.005, 5, 10, "+Inf" as const].map(at).should.eql([2, 3, 3, 4, 4, 5, 6]);
    Number(histogram._count).should.equal(6);
    Number(histogram._sum).should.be.approximately(70.00326, 1e-9);
  });
});
