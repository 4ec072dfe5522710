import "should";
import { StoreError } from "../../../src/deliveries/store";
import { SharedRateCounter } from "../../../src/deliveries/valkey/rates";

describe("rates that are shared", () => {
  it("take so much memory at most, whoever comes, and are counted alone without a server", () => {
    let now = 0;
    const counter = new SharedRateCounter(() => now, 1000);
    counter.share({ ask: () => Promise.reject(new StoreError("unreachable")) });
    for (let index = 0; index < 5000; index++) counter.count(`${index}`).requests.should.equal(1);
    counter.size.should.be.belowOrEqual(1000);
    counter.count("4999").should.eql({ requests: 2, leftMs: 60_000 });
    now += 60_000;
    counter.count("4999").should.eql({ requests: 1, leftMs: 60_000 });
  });
});
