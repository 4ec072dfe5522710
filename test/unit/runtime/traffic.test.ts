import { mock } from "node:test";
import should from "should";
import { type Minute, countByMinute, Traffic } from "../../../src/admin/traffic";
import type { Authenticator } from "../../../src/auth/authenticator";
import { Redactor } from "../../../src/auth/redactor";
import { Outcomes } from "../../../src/flow/outcomes";
import { problems } from "../../../src/request/problem";
import { refusedRequest } from "../../harness/observed";

const minute = 60_000;
const sums = (minutes: readonly Minute[]) => minutes.flatMap(({ accepted, refused }, index) => (accepted + refused > 0 ? [[index, accepted, refused]] : [])); // prettier-ignore

describe("Traffic", () => {
  let outcomes: Outcomes;
  let traffic: Traffic;
  beforeEach(() => {
    mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
    outcomes = new Outcomes();
    traffic = new Traffic(outcomes);
  });
  const authenticator = { redactor: new Redactor([]) } as unknown as Authenticator;
  const accept = (node: string, event: "accepted" | "duplicate" = "accepted") =>
    outcomes.emit(event, {
      node,
      id: "1",
      authenticated: { credential: "first" },
      ip: "",
      lacksKey: false,
      at: Date.now(),
    });
  const refuse = (node: string) =>
    outcomes.emit("refused", { node, authenticator, problem: problems.tokenInvalid, request: refusedRequest });
  afterEach(() => mock.timers.reset());

  it("counts by the minute, the oldest first, each node alone and all together", () => {
    accept("a");
    mock.timers.tick(2 * minute);
    refuse("a");
    accept("b");
    sums(traffic.last("a")).should.eql([[57, 1, 0], [59, 0, 1]]); // prettier-ignore
    sums(traffic.last(undefined)).should.eql([[57, 1, 0], [59, 1, 1]]); // prettier-ignore
    sums(traffic.last("nobody")).should.eql([]);
  });

  it("forgets what is older than an hour, and nothing that is not", () => {
    accept("a");
    mock.timers.tick(59 * minute);
    sums(traffic.last("a")).should.eql([[0, 1, 0]]);
    mock.timers.tick(minute);
    sums(traffic.last("a")).should.eql([]);
    refuse("a");
    mock.timers.tick(1000 * minute);
    sums(traffic.last("a")).should.eql([]);
  });

  it("begins anew where the clock was set back", () => {
    accept("a");
    mock.timers.setTime(1_600_000_000_000);
    sums(traffic.last("a")).should.eql([]);
    accept("a");
    sums(traffic.last("a")).should.eql([[59, 1, 0]]);
  });

  it("forgets a node that is deleted", () => {
    accept("a");
    accept("b");
    outcomes.emit("removed", { node: "b" });
    sums(traffic.last(undefined)).should.eql([[59, 1, 0]]);
  });

  it("counts duplicates and handshakes as accepted, and no request twice whose reply goes wrong", () => {
    accept("a", "duplicate");
    outcomes.emit("handshake", { node: "a", secret: undefined, request: refusedRequest, status: 200 });
    outcomes.emit("refused", {
      node: "a",
      authenticator,
      problem: problems.unforeseen,
      cause: new Error("in a reply"),
    });
    sums(traffic.last("a")).should.eql([[59, 2, 0]]);
  });

  it("counts what came to no node, and each by itself", () => {
    outcomes.emit("missed", { node: "" });
    refuse("a");
    sums(traffic.last(undefined)).should.eql([[59, 0, 2]]);
    sums(traffic.last("a")).should.eql([[59, 0, 1]]);
  });

  it("is the same of deliveries that are kept, but for replays", () => {
    const now = Date.now();
    const deliveries = [
      { at: now, state: "handshake" },
      { at: now, state: "succeeded", replayOf: "other" },
      { at: now - 3 * minute, state: "refused" },
      { at: now - 60 * minute, state: "succeeded" },
      { at: now + 5 * minute, state: "succeeded" },
    ] as const;
    should(sums(countByMinute(deliveries))).eql([[56, 0, 1], [59, 1, 0]]); // prettier-ignore
  });
});
