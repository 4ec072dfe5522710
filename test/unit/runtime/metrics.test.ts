import { register } from "prom-client";
import "should";
import { helpTexts } from "../../../src/admin/metrics";
import { problems } from "../../../src/request/problem";
import { Observed } from "../../harness/observed";
import { parseMetrics } from "../../harness/prometheus";

describe("metrics", () => {
  let observed: Observed;
  beforeEach(() => {
    observed = new Observed();
  });

  const times = (count: number, act: () => void) => {
    for (let index = 0; index < count; index++) act();
  };

  it("are named as Prometheus wants it, and keep out of the registry that all share", async () => {
    const families = parseMetrics(String(await observed.ask("metrics")));
    [...families.keys()].sort().should.eql(Object.keys(helpTexts).map((name) => `webhook_trigger_${name}`).sort()); // prettier-ignore
    for (const [name, { type, help, samples }] of families) {
      name.endsWith("_total").should.equal(type === "counter", name);
      help.should.match(/^[A-Z].*\.$/);
      samples.should.have.length(0);
    }
    register.getMetricsAsArray().should.have.length(0);
  });

  it("begin at zero, those of guaranteed delivery only where a node has it", async () => {
    observed.deploy();
    (await observed.metric("deliveries_total")).should.eql({ accepted: 0, duplicate: 0, handshake: 0 });
    (await observed.metric("open")).should.eql({ "": 1 });
    for (const name of ["attempts_total", "given_up_total", "queue_deliveries", "reply_seconds"]) {
      (await observed.metric(name)).should.eql({}, name);
    }
    (await observed.metric("last_accepted_timestamp_seconds")).should.eql({});
    observed.deploy({ isGuaranteed: true });
    (await observed.metric("attempts_total")).should.eql({ succeeded: 0, failed: 0, interrupted: 0 });
    (await observed.metric("given_up_total")).should.eql({ "": 0 });
  });

  it("count each outcome once, and go on after a deploy", async () => {
    const attempt = { node: "node", id: "1", attempt: 1 };
    for (let round = 1; round <= 2; round++) {
      observed.deploy({ isGuaranteed: true });
      times(3, () => observed.accept());
      observed.accept("1", "duplicate");
      observed.handshake();
      times(2, () => observed.refuse());
      observed.refuse(problems.rateExceeded);
      observed.outcomes.emit("unanswered", { node: "node", id: "1" });
      observed.outcomes.emit("failed", { node: "node", id: "1", attempts: 10, error: "" });
      observed.fail("1");
      times(2, () => observed.succeed("1"));
      observed.outcomes.emit("attempt:interrupted", attempt);
      observed.load({ running: 1, failed: round });
      (await observed.metric("deliveries_total")).should.eql({
        ...{ accepted: 3 * round, duplicate: round, handshake: round },
        ...{ "refused tokenInvalid": 2 * round, "refused rateExceeded": round },
      });
      (await observed.metric("unanswered_total")).should.eql({ "": round });
      (await observed.metric("given_up_total")).should.eql({ "": round });
      (await observed.metric("attempts_total")).should.eql({ succeeded: 2 * round, failed: round, interrupted: round });
      (await observed.metric("queue_deliveries")).should.eql({ running: 1, queued: 0, retrying: 0, failed: round });
    }
  });

  it("name the node as it is configured, so that nothing of its name is taken for something else", async () => {
    const name = 'a "b"\\\n# TYPE x counter\nx{y="z"} 1';
    observed.deploy({ path: "/a" }, 0, undefined, name);
    (await observed.metric("node_info")).should.eql({ [`${name} /a`]: 1 });
  });

  it("do not count failures of flows that are not followed", async () => {
    observed.deploy();
    observed.fail("1");
    (await observed.metric("attempts_total")).should.eql({});
  });

  it("end with the node, and begin anew with another of its id", async () => {
    observed.deploy({ isGuaranteed: true });
    observed.accept();
    observed.refuse();
    observed.load({ running: 1 });
    observed.outcomes.emit("replied", { node: "node", id: "1", milliseconds: 1, contentLength: 1 });
    observed.delete();
    for (const name of Object.keys(helpTexts)) (await observed.metric(name)).should.eql({}, name);
    observed.accept();
    observed.deploy();
    (await observed.metric("deliveries_total")).should.eql({ accepted: 0, duplicate: 0, handshake: 0 });
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
