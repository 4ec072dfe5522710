import "should";
import { parseTarget } from "../../../src/request/head";
import { getPathKey } from "../../../src/request/path-patterns";

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

describe("getPathKey", () => {
  const same = ["/Hook/a", "/hook/A/", "/HOOK/A/"];
  for (const path of same) it(`${path} is the same as /hook/a`, () => getPathKey(path).should.equal("/hook/a"));
  const others = [
    "/hook/a//",
    "//hook/a",
    "/hook%2Fa",
    "/%68ook/a",
    "/hook/a%20",
    "/hook/b/../a",
    "/hook/%2e/a",
    "/hook/%",
    "hook/a",
  ];
  for (const path of others) it(`${path} is another`, () => getPathKey(path).should.not.equal("/hook/a"));
});
