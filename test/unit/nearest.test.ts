import should from "should";
import { nearestOf } from "../../src/nearest";

const paths = ["/orders", "/hook-7f3a", "/api/v1/github", "/a"];

describe("nearestOf", () => {
  for (const [called, meant] of [
    ["/ordres", "/orders"],
    ["/order", "/orders"],
    ["/Orderss/", "/orders"],
    ["/hook-7f3b", "/hook-7f3a"],
    ["/webhook/orders", "/orders"],
    ["/orders/new", "/orders"],
    ["/github", "/api/v1/github"],
    ["/api/v1/gitlab", "/api/v1/github"],
    ["/b", undefined],
    ["/", undefined],
    ["", undefined],
    ["/wp-login.php", undefined],
    [`/${"x".repeat(16_000)}`, undefined],
  ] as const) {
    it(`takes ${called.slice(0, 30)} for ${meant ?? "none"}`, () => {
      should(nearestOf(called, paths)).equal(meant);
    });
  }

  it("takes the nearest of several", () => {
    should(nearestOf("/order-12", ["/order-99", "/order-11", "/order-22"])).equal("/order-11");
  });
});
