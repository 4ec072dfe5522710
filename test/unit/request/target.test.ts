import "should";
import { parseTarget, pathKey } from "../../../src/request/target";

describe("parseTarget", () => {
  for (const [target, path, search] of [
    ["/", "/", ""],
    ["/hook", "/hook", ""],
    ["/hook?a=1&b", "/hook", "a=1&b"],
    ["/hook?", "/hook", ""],
    ["/hook?a=?b", "/hook", "a=?b"],
    ["/hook#top?a=1", "/hook", ""],
    ["/hook?a#top", "/hook", "a"],
    ["//hook", "//hook", ""],
    ["http://host:80/hook?a=1", "/hook", "a=1"],
    ["http://host", "", ""],
    ["*", "*", ""],
    ["", "", ""],
  ] as const) {
    it(`splits ${JSON.stringify(target)}`, () => parseTarget(target).should.eql({ path, search }));
  }
});

describe("pathKey", () => {
  const same = ["/Hook/a", "/hook/A/", "/%68ook/%61", "/h%4Fok/a"];
  for (const path of same) it(`${path} is the same as /hook/a`, () => pathKey(path).should.equal("/hook/a"));
  const others = [
    "/hook/a//",
    "//hook/a",
    "/hook%2Fa",
    "/hook/a%20",
    "/hook/b/../a",
    "/hook/%2e/a",
    "/hook/%",
    "hook/a",
  ];
  for (const path of others) it(`${path} is another`, () => pathKey(path).should.not.equal("/hook/a"));
});
