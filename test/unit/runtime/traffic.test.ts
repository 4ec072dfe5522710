import should from "should";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import type { NodeAPI } from "node-red";
import { type Minute, minutesOf, Traffic } from "../../../nodes/runtime/traffic";

const minute = 60_000;
const sums = (minutes: readonly Minute[]) => minutes.flatMap(({ accepted, refused }, index) => (accepted + refused > 0 ? [[index, accepted, refused]] : [])); // prettier-ignore

describe("Traffic", () => {
  const events = new EventEmitter();
  let there: string[];
  let traffic: Traffic;
  beforeEach(() => {
    mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
    there = ["a", "b"];
    traffic = new Traffic({
      events,
      nodes: { getNode: (id: string) => there.find((each) => each === id) ?? null },
    } as unknown as NodeAPI);
  });
  afterEach(() => mock.timers.reset());

  it("counts by the minute, the oldest first, each node alone and all together", () => {
    traffic.add("a", "accepted");
    mock.timers.tick(2 * minute);
    traffic.add("a", "refused");
    traffic.add("b", "accepted");
    sums(traffic.last("a")).should.eql([[57, 1, 0], [59, 0, 1]]); // prettier-ignore
    sums(traffic.last(undefined)).should.eql([[57, 1, 0], [59, 1, 1]]); // prettier-ignore
    sums(traffic.last("nobody")).should.eql([]);
  });

  it("forgets what is older than an hour, and nothing that is not", () => {
    traffic.add("a", "accepted");
    mock.timers.tick(59 * minute);
    sums(traffic.last("a")).should.eql([[0, 1, 0]]);
    mock.timers.tick(minute);
    sums(traffic.last("a")).should.eql([]);
    traffic.add("a", "refused");
    mock.timers.tick(1000 * minute);
    sums(traffic.last("a")).should.eql([]);
  });

  it("begins anew where the clock was set back", () => {
    traffic.add("a", "accepted");
    mock.timers.setTime(1_600_000_000_000);
    sums(traffic.last("a")).should.eql([]);
    traffic.add("a", "accepted");
    sums(traffic.last("a")).should.eql([[59, 1, 0]]);
  });

  it("goes on over a deploy, and forgets a node that is deleted", () => {
    traffic.add("a", "accepted");
    traffic.add("b", "accepted");
    there = ["a"];
    events.emit("flows:started");
    sums(traffic.last(undefined)).should.eql([[59, 1, 0]]);
  });

  it("counts what came to no node, over deploys as well, and each by itself", () => {
    traffic.add("", "refused");
    events.emit("flows:started");
    traffic.add("a", "refused");
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
    should(sums(minutesOf(deliveries))).eql([[56, 0, 1], [59, 1, 0]]); // prettier-ignore
  });
});
