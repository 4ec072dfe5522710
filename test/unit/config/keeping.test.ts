import should from "should";
import { keepingRule } from "../../../src/config/stores";

describe("keepingRule", () => {
  for (const keeping of ["file", "server", "none"] as const) {
    it(`keeps a node that may lose deliveries open where they are kept in: ${keeping}`, () => {
      should(keepingRule(false, keeping)).be.undefined();
    });

    it(`${keeping === "none" ? "closes" : "opens"} one that may lose nothing where it is kept in: ${keeping}`, () => {
      should(keepingRule(true, keeping)).equal(keeping === "none" ? "storeMissing" : undefined);
    });
  }
});
