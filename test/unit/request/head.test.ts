import "should";
import { parseTarget } from "../../../src/request/head";

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
