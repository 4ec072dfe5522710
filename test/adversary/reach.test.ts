import should from "should";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { grasps, reachingNode } from "../harness/reach";

const answering = { reply: "flow", wires: [["reach"]] };
const flow = tab(
  webhook("by-authorization", "/by-authorization", answering),
  webhook("by-header", "/by-header", { ...answering, headerParameter: "X-Own" }),
  webhook("by-query", "/by-query", { ...answering, verificationMethod: "query" }),
  { id: "core", type: "http in", method: "post", url: "/core", wires: [["reach"]] },
  { id: "reach", type: "reach", wires: [] },
);
const encoded = encodeURIComponent(token);
/** Where the token is, and what else a proxy may have written of it. */
const places: Record<string, { path: string; headers: Record<string, string> }> = {
  Authorization: { path: "/by-authorization?", headers: bearer },
  "a header of its own": { path: "/by-header?", headers: { "X-Own": token, "X-Again": `t=${token}` } },
  "the query": { path: `/by-query?state=${encoded}&`, headers: { "X-Original-Url": `/by-query?state=${encoded}` } },
};
const hex = [token, encoded].map((text) => Buffer.from(text).toString("hex")).join(" ");

onBothWays("what lets a request in", { flow, plugin: reachingNode }, (nodeRed) => {
  let trace = 0;
  /** Where it was found. */
  async function reached(path: string, headers: Record<string, string>, grasp?: string): Promise<string> {
    const query = new URLSearchParams({ hex, ...(grasp !== undefined && { grasp }) });
    const name = `reach${++trace}`;
    // Some take its connection away from the caller.
    await send(nodeRed().node(path + String(query)), { headers: { ...headers, "X-Trace": name } }).catch(
      () => undefined,
    );
    // What is called when the connection ends has been called then.
    await nodeRed().left(name);
    return nodeRed().ask({ look: true }, "reached ");
  }

  for (const [place, { path, headers }] of Object.entries(places)) {
    it(`is nowhere in what msg.res leads to, in ${place}`, async () => {
      (await reached(path, headers)).should.equal("nothing");
    });
  }

  for (const [name, grasp] of Object.entries(grasps)) {
    it(`is not to be had by ${name}`, async () => {
      (await reached("/by-authorization?", bearer, grasp)).should.equal("nothing");
    });
  }

  it("is found in core's own, so that to find nothing means something", async () => {
    (await reached("/core?", bearer)).should.not.equal("nothing");
    for (const name of [
      "a writeHead() of one's own",
      "what its time limit calls",
      "what its connection's time limit calls",
    ]) {
      should(await reached("/core?", bearer, grasps[name])).not.equal("nothing", name);
    }
  });
});
