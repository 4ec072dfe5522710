import { mock } from "node:test";
import should from "should";
import type { Alert } from "../../../src/admin/alert";
import { problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";
import { Observed } from "../../harness/observed";

const minute = 60_000;

describe("alerts", () => {
  let observed: Observed;
  let heard: Alert[];
  let now = 0;
  beforeEach(() => {
    mock.method(performance, "now", () => now);
    observed = new Observed();
    heard = [];
    observed.observers.alerts.subscribe(null, (alert) => heard.push(alert));
  });
  afterEach(() => mock.restoreAll());

  const events = () => heard.splice(0).map(({ event }) => event);
  const refuse = (count: number, problem = problems.tokenInvalid) => {
    for (let each = 0; each < count; each++) observed.refuse(problem);
  };

  it("say once in ten minutes that many requests were refused, most of them why", () => {
    observed.deploy();
    refuse(9);
    now += minute;
    refuse(9);
    events().should.eql([]);
    refuse(1, problems.jsonMalformed);
    const [{ reason, fix } = { reason: "", fix: "" }] = heard;
    should([reason, fix]).eql([
      "alert.reason.refusals 10 refused.tokenInvalid",
      "lastRequest.sentence fix.tokenInvalid",
    ]);
    events().should.eql(["refusals"]);
    now += 10 * minute - 1;
    refuse(100);
    events().should.eql([]);
    now += 1;
    refuse(10);
    events().should.eql(["refusals"]);
  });

  it("name the node without its secrets, and the delivery that has failed for good", () => {
    observed.deploy({ isGuaranteed: true, path: `/${token}` });
    observed.fail("1");
    events().should.eql([]);
    observed.outcomes.emit("failed", { node: "node", id: "1", attempts: 3, error: "it broke" });
    const [{ at, ...alert } = { at: 0 }] = heard;
    should(at).be.above(0);
    should(alert).eql({
      ...{ event: "delivery-failed", node: "node", name: "", path: "/[redacted]", delivery: "1" },
      ...{ reason: "it broke", fix: "lastRequest.sentence fix.flow" },
    });
  });

  it("say without guaranteed delivery that a flow has failed, as it is not started again", () => {
    observed.deploy();
    observed.fail("1");
    events().should.eql(["delivery-failed"]);
  });

  it("say that a node was paused or resumed, but not what was so before", () => {
    observed.deploy({ isGuaranteed: true });
    observed.load({ pause: "manual" });
    observed.load({ pause: "breaker" });
    events().should.eql([]);
    observed.load({});
    observed.load({ queued: 1 });
    observed.deploy({ isGuaranteed: true });
    observed.load({ pause: "breaker" });
    should(heard.at(-1)?.reason).equal("alert.reason.breaker");
    events().should.eql(["resumed", "paused"]);
  });

  it("say once that the store is away, whatever its trouble, and that it is back", () => {
    const down = (trouble: "unreachable" | "full") =>
      observed.outcomes.emit("store:down", { trouble, cause: undefined });
    observed.deploy({ isGuaranteed: true });
    down("unreachable");
    down("unreachable");
    down("full");
    const [{ reason, fix, node } = { reason: "", fix: "", node: "" }] = heard;
    should([reason, fix, node]).eql([
      "status.store.unreachable",
      "lastRequest.sentence alert.fix.store.unreachable bullmq ioredis",
      undefined,
    ]);
    events().should.eql(["store-down"]);
    down("unreachable");
    observed.outcomes.emit("store:up");
    events().should.eql(["store-up"]);
  });

  it("say once for each deploy that a second credential is used, and not in a test request", () => {
    const accept = (credential: "first" | "second", isTest = false) =>
      observed.outcomes.emit("accepted", {
        ...{ node: "node", id: "1", ip: "192.0.2.1", lacksKey: false, at: Date.now() },
        authenticated: { credential, ...(isTest && { isTest }) },
      });
    observed.deploy();
    accept("first");
    accept("second", true);
    events().should.eql([]);
    accept("second");
    accept("second");
    events().should.eql(["second-credential"]);
    observed.deploy();
    accept("second");
    events().should.eql(["second-credential"]);
  });

  it("wait for the flows to run, during a deploy", () => {
    observed.deploy();
    observed.stopFlows();
    observed.fail("1");
    events().should.eql([]);
    observed.deploy();
    events().should.eql(["delivery-failed"]);
  });

  it("are heard from the chosen nodes only, and from none with an empty list; of the store, where one of them needs it", () => {
    const told = new Map<string, string[]>();
    for (const scope of [[], ["node"], ["other"], ["template"]]) {
      const list: string[] = [];
      told.set(scope.join(), list);
      observed.observers.alerts.subscribe(scope, ({ event }) => list.push(event));
    }
    observed.deploy();
    observed.outcomes.emit("store:down", { trouble: "full", cause: undefined });
    observed.deploy({ isGuaranteed: true });
    observed.outcomes.emit("failed", { node: "node", id: "1", attempts: 1, error: "" });
    observed.outcomes.emit("store:down", { trouble: "full", cause: undefined });
    observed.outcomes.emit("store:up");
    should(Object.fromEntries(told)).eql({
      "": [],
      node: ["delivery-failed"],
      other: [],
      template: ["delivery-failed"],
    });
  });

  it("are not heard any more after the end of a subscription", () => {
    const end = observed.observers.alerts.subscribe(null, () => should.fail(1, 0, "heard", ""));
    end();
    observed.deploy();
    observed.fail("1");
    events().should.eql(["delivery-failed"]);
  });
});
