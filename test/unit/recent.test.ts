import should from "should";
import { Recent } from "../../src/recent";

describe("what came last", () => {
  it("is known by its id until others have taken its room, and no longer", () => {
    const recent = new Recent<{ number: number }>(3);
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    for (const number of numbers) recent.add(String(number), { number });
    const known = numbers.filter((number) => recent.take(String(number)));
    known.slice(-3).should.eql([97, 98, 99]);
    known.length.should.be.within(3, 6);
  });

  it("is taken once", () => {
    const recent = new Recent<{ number: number }>(3);
    recent.add("a", { number: 1 });
    should(recent.take("a")).eql({ number: 1 });
    should(recent.take("a")).be.undefined();
    should(recent.take("b")).be.undefined();
  });
});
