import fc from "fast-check";
import "should";
import { MemoryBudget, maxSmallBytes } from "../../src/request/memory";
import { seed } from "../harness/property";

const max = 64 * maxSmallBytes;
const networks = ["192.0.2.1", "192.0.2.2", "2001:db8:0:0", "?", "198.51.100.7"];

/** A body takes memory, grows, shrinks or ends; the number says which, of all that there are. */
const step = fc.record({
  network: fc.constantFrom(...networks),
  which: fc.nat(20),
  bytes: fc.oneof(fc.nat(2 * maxSmallBytes), fc.nat(max), fc.constant(0)),
});

describe("the memory of bodies", () => {
  it("is never more than there is, a quarter for a network, and nothing when all have ended", () => {
    const property = fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const budget = new MemoryBudget(max);
      const bodies = networks.flatMap((network) => Array.from({ length: 4 }, () => ({ network, bytes: 0, lease: budget.lease(network) }))); // prettier-ignore
      const sumOf = (network?: string) =>
        bodies.filter((body) => network === undefined || body.network === network).reduce((sum, { bytes }) => sum + bytes, 0); // prettier-ignore
      for (const { network, which, bytes } of steps) {
        const body = bodies.filter((each) => each.network === network)[which % 4];
        if (!body) throw new Error("There is no such body");
        const mayShrink = bytes <= body.bytes;
        if (body.lease.resize(bytes)) body.bytes = bytes;
        else mayShrink.should.be.false();
        budget.getUsed().should.equal(sumOf()).and.belowOrEqual(max);
        budget
          .getUsed(network)
          .should.equal(sumOf(network))
          .and.belowOrEqual(max / 4);
        const large = bodies.filter((each) => each.network === network && each.bytes > maxSmallBytes);
        large.reduce((sum, each) => sum + each.bytes, 0).should.be.belowOrEqual((max / 4) * (3 / 4));
      }
      for (const { lease } of bodies) {
        lease.release();
        lease.release();
      }
      budget.getUsed().should.equal(0);
      for (const network of networks) budget.getUsed(network).should.equal(0);
    });
    fc.assert(property, { seed, numRuns: 200 });
  });

  it("has room for small bodies of a network whose large ones have filled its part, and for all of another", () => {
    const budget = new MemoryBudget(max);
    const large = 2 * maxSmallBytes;
    const fill = (network: string, bytes: number) => {
      let count = 0;
      while (budget.lease(network).resize(bytes)) count++;
      return count;
    };
    fill("192.0.2.1", large).should.equal(6);
    fill("192.0.2.1", maxSmallBytes).should.equal(4);
    for (const network of ["192.0.2.2", "192.0.2.3", "192.0.2.4"]) fill(network, large).should.equal(6);
    // All that large bodies may have in all is taken.
    fill("192.0.2.5", large).should.equal(0);
    fill("192.0.2.5", maxSmallBytes).should.equal(12);
    budget.getUsed().should.equal(max);
  });

  it("is given back when what was done with a body has failed", async () => {
    const budget = new MemoryBudget(max);
    await budget.hold("192.0.2.1", 1000, async () => Promise.reject(new Error("failed"))).should.be.rejectedWith("failed"); // prettier-ignore
    budget.getUsed().should.equal(0);
  });
});
