import should from "should";
import type { Node, NodeAPI } from "node-red";
import { endpointOf, type Parts } from "../../../nodes/runtime/endpoint";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import { problems } from "../../../src/problem";
import { Recent } from "../../../src/recent";
import { Recorder } from "../../../src/recorder";
import { type Begun, mostRefusedASecond, Records } from "../../../src/records";
import { Redactor } from "../../../src/trust/redactor";

/** An endpoint, with what it has told and what it was asked. */
function opened() {
  const seen = { explained: 0, traffic: [] as string[] };
  const redactor = new Redactor([]);
  const explain = () => {
    seen.explained++;
    return { reasons: [] };
  };
  const recorder = new Recorder("n", redactor);
  const keeps = { keepsBodies: true, keepsAnswers: true, begun: new Recent<Begun>(1) };
  const lot = { recorder, path: "/hook", ...keeps, newId: () => String(Math.random()) };
  const parts = {
    config: { reply: { by: "now" }, allowFrom: [], rateLimit: 0 },
    gate: { redactor, explain },
    limiting: {},
    report: { refused: () => undefined, greeted: () => undefined },
    traffic: { add: (_node: string, outcome: string) => seen.traffic.push(outcome) },
    records: new Records(new MemoryStore(), lot),
  } as unknown as Parts;
  const RED = { _: (key: string) => key } as unknown as NodeAPI;
  return { seen, endpoint: endpointOf(RED, Object.assign(Object.create(null) as Node, { id: "n" }), parts) };
}

const request = { head: { method: "POST", rawHeaders: [], search: "" }, at: 0 };

describe("an endpoint", () => {
  it("that is flooded with what it refuses has found out why only of what is noted", () => {
    const { seen, endpoint } = opened();
    for (let count = 0; count < 1000; count++) endpoint.refused(problems.tokenInvalid, request);
    // They may fall into two seconds.
    should(seen.explained).be.within(mostRefusedASecond, 2 * mostRefusedASecond);
    seen.traffic.should.eql(Array.from({ length: 1000 }, () => "refused"));
  });

  it("counts handshakes as accepted, and no request twice whose answer goes wrong", () => {
    const { seen, endpoint } = opened();
    endpoint.greeted(undefined, request, 200);
    endpoint.refused(problems.unforeseen, undefined, new Error("in an answer"));
    seen.traffic.should.eql(["accepted"]);
  });
});
