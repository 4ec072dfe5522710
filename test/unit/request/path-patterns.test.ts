import should from "should";
import {
  getPathKey,
  getPatternKey,
  hasCaseOf,
  preparePatterns,
  readParameters,
} from "../../../src/request/path-patterns";

function prepare(...paths: string[]): ReturnType<typeof preparePatterns> {
  return preparePatterns(paths.map(getPatternKey));
}

describe("paths with parameters", () => {
  it("match one whole segment for each parameter, without letter case and a trailing slash", () => {
    const find = prepare("/devices/:id/state");
    for (const path of ["/devices/7/state", "/Devices/7/STATE/"]) should(find(path)).equal("/devices/:/state");
    for (const path of ["/devices/7", "/devices//state", "/devices/7/8/state", "/devices/7/state/x", "/"]) {
      should(find(path)).equal(undefined);
    }
  });

  it("prefer more literal segments, then the earlier literal", () => {
    const find = prepare("/:a/:b/:c", "/:a/x/y", "/p/:b/:c", "/p/:b/y");
    should(find("/p/x/y")).equal("/p/:/y");
    should(find("/q/x/y")).equal("/:/x/y");
    should(find("/p/1/2")).equal("/p/:/:");
    should(find("/1/2/3")).equal("/:/:/:");
    const findOfTwo = prepare("/p/:b/:c", "/:a/x/y");
    should(findOfTwo("/p/x/y")).equal("/:/x/y");
  });

  it("have values that look like a parameter", () => {
    const find = prepare("/:a/y", "/x/:b", "/:a/:b");
    should(find("/x/:")).equal("/x/:");
    should(find("/z/:")).equal("/:/:");
  });

  it("are found as soon among ten thousand as among ten", () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `/hook/${index}/:id`);
    const [few, many] = [prepare(...paths.slice(0, 10)), prepare(...paths)];
    const time = (find: typeof few) => {
      const begun = performance.now();
      for (let index = 0; index < 1000; index++) find("/hook/none/7");
      return performance.now() - begun;
    };
    const ratios = Array.from({ length: 9 }, () => time(many) / time(few)).sort((one, other) => one - other);
    should(ratios[4]).be.below(100);
  });

  it("have the same key where they match the same paths", () => {
    getPatternKey("/Devices/:id/").should.equal(getPatternKey("/devices/:name"));
    getPatternKey("/devices/:id").should.not.equal(getPatternKey("/devices/:id/state"));
  });

  it("may mind the letter case, but for their parameters", () => {
    hasCaseOf("/Devices/:id", "/Devices/A").should.be.true();
    hasCaseOf("/Devices/:id", "/devices/A").should.be.false();
  });

  it("give decoded values by name, and nothing where an escape is broken", () => {
    should(readParameters("/a/:b/:c", "/a/x%20y/Z%2F")).eql({ b: "x y", c: "Z/" });
    should(readParameters("/a/:b", "/a/%E4")).equal(undefined);
  });
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
