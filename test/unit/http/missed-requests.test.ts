import should from "should";
import { findSimilar, shortenPath } from "../../../src/http/missed-requests";

const paths = ["/orders", "/hook-7f3a", "/api/v1/github", "/a"];

describe("the endpoint that a mistyped path was meant for", () => {
  for (const [called, meant] of [
    ["/ordres", "/orders"],
    ["/order", "/orders"],
    ["/Orderss/", "/orders"],
    ["/hook-7f3b", "/hook-7f3a"],
    ["/hok-7f3a", "/hook-7f3a"],
    ["/hook-7f3abc", "/hook-7f3a"],
    ["/hook-7f3abcd", undefined],
    ["/hxxk-7f3a", "/hook-7f3a"],
    ["/xook-7f3b", undefined],
    ["/webhook/orders", "/orders"],
    ["/orders/new", "/orders"],
    ["/github", "/api/v1/github"],
    ["/api/v1/gitlab", "/api/v1/github"],
    ["/b", undefined],
    ["/", undefined],
    ["", undefined],
    ["/wp-login.php", undefined],
    ["/ordersID=1&PASSWORD=secret&tempf=70", "/orders"],
    ["/orders&ID=1&tempf=70", "/orders"],
    ["/orders/ID=1&tempf=70", "/orders"],
    ["/orders%3FID=1&tempf=70", "/orders"],
    ["/Orders%3fid=1", "/orders"],
    ["/orderedID=1&tempf=70", undefined],
    ["/ordersaresomewhereelse", undefined],
    ["/orders%26", undefined],
    [`/${"x".repeat(16_000)}`, undefined],
  ] as const) {
    it(`takes ${called.slice(0, 30)} for ${meant ?? "none"}`, () => {
      should(findSimilar(called, paths)).equal(meant);
    });
  }

  it("takes the nearest of several", () => {
    should(findSimilar("/order-12", ["/order-99", "/order-11", "/order-22"])).equal("/order-11");
  });

  it("takes the longest of those before parameters without a question mark", () => {
    should(findSimilar("/data/upload.phpid=1", ["/data/up", "/data/upload.php", "/data/upload"])).equal(
      "/data/upload.php",
    );
  });

  it("takes no parameters for those of the root, behind which each path is", () => {
    should(findSimilar("/id=1", ["/"])).equal(undefined);
  });

  it("looks through ten thousand long ones that are alike", () => {
    const paths = Array.from({ length: 10_000 }, (_, number) => `/${"customer/".repeat(50)}${10_000 + number}`);
    should(findSimilar(`/${"customer/".repeat(50)}zzzzz`, paths)).equal(undefined);
  }).timeout(120_000);
});

describe("the path of a missed request", () => {
  const rows: readonly (readonly [sent: string, shown: string])[] = [
    ["/api/v1/orders", "/api/v1/orders"],
    [`/orders/${"a".repeat(31)}/b`, "/orders/…/b"],
    ["/data/ID=1&PASSWORD=ab", "/data/…"],
    ["/data&PASSWORD=ab/cd/ef&x", "/…/…/…"],
    ["/data%3fPASSWORD%3Dab/cd", "/…/…"],
  ];
  for (const [sent, shown] of rows) {
    it(`is shown as ${shown} where it is ${sent.slice(0, 30)}`, () => should(shortenPath(sent)).equal(shown));
  }
});
