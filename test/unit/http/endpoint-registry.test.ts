import should from "should";
import type { Endpoint } from "../../../src/flow/endpoint";
import { EndpointRegistry } from "../../../src/flow/endpoints";

describe("the registry of endpoints", () => {
  let registry: EndpointRegistry;
  let events: string[];
  const register = (nodeId: string, path: string): (() => void) =>
    registry.register({
      endpoint: { nodeId, path } as Endpoint,
      onActive: () => events.push(`${nodeId} is active`),
      onBlocked: () => events.push(`${nodeId} is blocked`),
    });
  const find = (path: string) => registry.find(path)?.nodeId;
  beforeEach(() => {
    registry = new EndpointRegistry();
    events = [];
  });

  it("finds an endpoint in any letter case and with a trailing slash, and decodes no percent-encoding", () => {
    register("a", "/a");
    register("b", "/B/c");
    should([find("/A/"), find("/b/C"), find("/b/%43"), find("/b")]).eql(["a", "b", undefined, undefined]);
  });

  it("gives a path to the first that asks, and to the next one when the first goes", () => {
    const [first, second, third] = [register("1", "/a"), register("2", "/A/"), register("3", "/a")];
    events.should.eql(["1 is active", "2 is blocked", "3 is blocked"]);
    first();
    should(find("/a")).equal("2");
    events.slice(3).should.eql(["2 is active"]);
    second();
    should(find("/a")).equal("3");
    third();
    should(find("/a")).equal(undefined);
  });

  it("reports nothing when an endpoint goes that was blocked", () => {
    const [first, second] = [register("1", "/a"), register("2", "/a"), register("3", "/a")];
    second();
    events.should.have.length(3);
    first();
    should(find("/a")).equal("3");
  });

  it("ignores a second release", () => {
    const first = register("1", "/a");
    register("2", "/a");
    first();
    first();
    should(find("/a")).equal("2");
    events.should.eql(["1 is active", "2 is blocked", "2 is active"]);
  });

  describe("while flows are deployed", () => {
    it("still knows an endpoint whose node was closed, and forgets it when the node does not come back", () => {
      const release = register("a", "/a");
      registry.suspend();
      release();
      should(find("/a")).equal("a");
      registry.resume();
      should(find("/a")).equal(undefined);
    });

    it("keeps the place of a node that comes back, whichever is made first", () => {
      const [first, second] = [register("1", "/a"), register("2", "/a")];
      events = [];
      registry.suspend();
      first();
      second();
      register("2", "/a");
      register("1", "/a");
      registry.resume();
      should(find("/a")).equal("1");
      events.should.eql(["1 is active", "2 is blocked"]);
    });

    it("lets two nodes swap their paths without blocking either", () => {
      const [first, second] = [register("1", "/a"), register("2", "/b")];
      events = [];
      registry.suspend();
      first();
      second();
      register("1", "/b");
      register("2", "/a");
      registry.resume();
      should([find("/a"), find("/b")]).eql(["2", "1"]);
      events.sort().should.eql(["1 is active", "2 is active"]);
    });
  });
});
