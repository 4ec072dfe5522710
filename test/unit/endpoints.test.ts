import should from "should";
import { Endpoints } from "../../src/endpoints";

describe("Endpoints", () => {
  function claimAll(paths: string[]) {
    const endpoints = new Endpoints<string>();
    const events: string[] = [];
    const claims = paths.map((path, index) => {
      const name = `${path}#${index}`;
      return endpoints.claim(path, name, () => events.push(`${name} open`), () => events.push(`${name} waits`)); // prettier-ignore
    });
    return { endpoints, events, claims };
  }

  it("finds the endpoint of a path in any letter case, with or without a trailing slash", () => {
    const { endpoints } = claimAll(["/a", "/B/c"]);
    should(endpoints.find("/A/")).equal("/a#0");
    should(endpoints.find("/b/%43")).equal("/B/c#1");
    should(endpoints.find("/b")).equal(undefined);
  });

  it("gives a path to the first claim, and to the next one when the first goes", () => {
    const { endpoints, events, claims } = claimAll(["/a", "/A/", "/a"]);
    events.should.eql(["/a#0 open", "/A/#1 waits", "/a#2 waits"]);
    claims[0]?.release();
    should(endpoints.find("/a")).equal("/A/#1");
    events.slice(3).should.eql(["/A/#1 open"]);
    claims[1]?.release();
    should(endpoints.find("/a")).equal("/a#2");
    claims[2]?.release();
    should(endpoints.find("/a")).equal(undefined);
  });

  it("lets a waiting claim go without a sound", () => {
    const { endpoints, events, claims } = claimAll(["/a", "/a", "/a"]);
    claims[1]?.release();
    events.should.have.length(3);
    claims[0]?.release();
    should(endpoints.find("/a")).equal("/a#2");
  });

  it("takes a second release of the same claim for nothing", () => {
    const { endpoints, events, claims } = claimAll(["/a", "/a"]);
    claims[0]?.release();
    claims[0]?.release();
    should(endpoints.find("/a")).equal("/a#1");
    events.should.eql(["/a#0 open", "/a#1 waits", "/a#1 open"]);
  });
});
