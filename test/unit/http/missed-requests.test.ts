import should from "should";
import fc from "fast-check";
import { findSimilar } from "../../../src/http/missed-requests";

const paths = ["/orders", "/hook-7f3a", "/api/v1/github", "/a"];
const similar = (called: string, among: readonly string[]) =>
  findSimilar(called, among.map((path) => ({ path })))?.path; // prettier-ignore

/** V. Levenshtein, 1966, as it is written in books. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 0; line < one.length; line++) {
    const next = [line + 1];
    for (let column = 1; column <= other.length; column++) {
      const [above = 0, before = 0, left = 0] = [row[column], row[column - 1], next[column - 1]];
      next.push(Math.min(above + 1, left + 1, before + (one[line] === other[column - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

describe("the endpoint that a mistyped path was meant for", () => {
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
      should(similar(called, paths)).equal(meant);
    });
  }

  it("takes the nearest of several", () => {
    should(similar("/order-12", ["/order-99", "/order-11", "/order-22"])).equal("/order-11");
  });

  it("takes what differs in two letters at most", () => {
    const path = fc
      .string({ unit: fc.constantFrom("a", "b", "c"), minLength: 3, maxLength: 8 })
      .map((text) => `/${text}`);
    fc.assert(
      fc.property(path, path, (one, other) => {
        const isNear = distance(one, other) <= 2 || one.endsWith(other) || other.endsWith(one);
        should(similar(one, [other])).equal(isNear ? other : undefined);
      }),
    );
  });

  // The whole table of each pair would be two thousand million letters.
  it("looks through ten thousand long ones that are alike", () => {
    const paths = Array.from({ length: 10_000 }, (_, number) => `/${"customer/".repeat(50)}${10_000 + number}`);
    should(similar(`/${"customer/".repeat(50)}zzzzz`, paths)).equal(undefined);
  }).timeout(10_000);
});
