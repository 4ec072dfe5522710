import fc from "fast-check";
import { mock } from "node:test";
import should from "should";
import smartcar from "smartcar";
import type { SenderId } from "../../src/auth/senders/table";
import { DecodedBody } from "../../src/request/decode";
import { seed } from "../harness/property";
import { signers } from "../harness/signers";
import { authenticatorFor } from "../harness/verification";
import { askZoom, type Sent } from "./libraries";

const at = 1_767_225_600;
const secret = "It's a Secret to Everybody";
const challenges = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

/** The JSON of the node's reply. */
function replyOf(sender: SenderId, { fields, body }: Sent): unknown {
  const head = { method: "POST", rawHeaders: fields.flat(), search: "" };
  const entry = authenticatorFor(sender, { first: secret }).checkHead(head, at * 1000);
  const answer = "verify" in entry ? entry.verify(DecodedBody.of(head, body)) : entry;
  return "body" in answer ? JSON.parse(answer.body) : answer;
}

describe("checks of the URL beside the senders' own libraries", () => {
  before(() => {
    // Zoom's library prints each request.
    mock.method(console, "debug", () => undefined);
  });
  after(() => {
    mock.restoreAll();
  });

  it("by Zoom get the reply that @zoom/rivet gives", async () => {
    const holds = async (plainToken: string) => {
      const body = Buffer.from(JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } }));
      const sent = { fields: signers.zoom.headers({ body, at, id: "" }, 0), search: "", body };
      const { body: wanted } = await askZoom(sent, secret);
      should(replyOf("zoom", sent)).eql(JSON.parse(wanted));
    };
    await fc.assert(fc.asyncProperty(challenges, holds), { seed, numRuns: 30 });
  });

  it("by Smartcar get the challenge as its library signs it", () => {
    const holds = (challenge: string) => {
      const wanted = { challenge: smartcar.hashChallenge(secret, challenge) };
      for (const asked of [
        { eventType: "VERIFY", data: { challenge } },
        { eventName: "verify", payload: { challenge } },
      ]) {
        const body = Buffer.from(JSON.stringify(asked));
        should(replyOf("smartcar", { fields: [], search: "", body })).eql(wanted);
      }
    };
    fc.assert(fc.property(challenges, holds), { seed, numRuns: 30 });
  });
});
