import should from "should";
import type { Node, NodeAPI } from "node-red";
import { endpointOf, type Parts } from "../../../nodes/runtime/endpoint";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import { problems } from "../../../src/problem";
import { Recorder } from "../../../src/recorder";
import { Recent } from "../../../src/recent";
import { type Begun, mostRefusedASecond, Records } from "../../../src/records";
import { Secrecy } from "../../../src/trust/secrecy";

describe("an endpoint that is flooded with what it refuses", () => {
  it("has found out why only of what is noted", () => {
    let asked = 0;
    const secrecy = new Secrecy([]);
    const explain = () => {
      asked++;
      return { reasons: [] };
    };
    const recorder = new Recorder("n", secrecy);
    const keeps = { keepsBodies: true, keepsAnswers: true, begun: new Recent<Begun>(1) };
    const lot = { recorder, path: "/hook", ...keeps, newId: () => String(Math.random()) };
    const parts = {
      config: { reply: { by: "now" }, allowFrom: [], rateLimit: 0 },
      gate: { secrecy, explain },
      report: { refused: () => undefined },
      traffic: { add: () => undefined },
      records: new Records(new MemoryStore(), lot),
    } as unknown as Parts;
    const RED = { _: (key: string) => key } as unknown as NodeAPI;
    const endpoint = endpointOf(RED, Object.assign(Object.create(null) as Node, { id: "n" }), parts);
    const request = { head: { method: "POST", rawHeaders: [], search: "" }, at: 0 };
    for (let count = 0; count < 1000; count++) endpoint.refused(problems.tokenInvalid, request);
    // They may fall into two seconds.
    should(asked).be.within(mostRefusedASecond, 2 * mostRefusedASecond);
  });
});
