import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { killAgainAndAgain, type Plan } from "../harness/kills";

/** In how many requests at once, and how often, it is killed: `npm run kills` does so a hundred times. */
const often = {
  times: 2,
  callers: 100,
  seed: Number(process.env.SEED ?? 1),
  backoff: { backoffFirst: 1, backoffLongest: 2 },
};

describe("what was answered with a 2xx by a Node-RED that is ended again and again", function () {
  this.timeout(300_000);

  const plans: [string, Plan][] = [
    ["while requests come, and is known when it is sent again", { ...often, duplicates: true }],
    ["while it deploys", { ...often, deploys: true }],
  ];
  for (const [when, plan] of sqliteIsHere() ? plans : []) {
    it(`reaches the end of its flow, or is kept as failed, with its deliveries in a file, ${when}`, async () => {
      const { accepted, lost, delivered, usedUp, startedAgain, repeated, keysLost } = await killAgainAndAgain(plan);
      accepted.should.be.above(plan.times * 20);
      startedAgain.should.be.above(0);
      should({ lost, keysLost, sum: delivered + usedUp }).eql({ lost: 0, keysLost: 0, sum: accepted });
      if (plan.duplicates) repeated.should.be.above(plan.times * 20);
    });
  }

  if (sqliteIsHere()) {
    it("reaches the end of its flow, and no attempt is counted, where it is told to end", async () => {
      const { accepted, lost, delivered, startedAgain, counted } = await killAgainAndAgain({ ...often, term: true });
      accepted.should.be.above(often.times * 20);
      startedAgain.should.be.above(0);
      should({ lost, delivered, counted }).eql({ lost: 0, delivered: accepted, counted: 0 });
    });
  }
});
