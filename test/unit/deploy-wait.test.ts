import "should";
import { createHmac } from "node:crypto";
import { gateOf } from "../../src/trust/gates";
import { resultOf } from "../../src/reply/trial";
import { problems } from "../../src/problem";
import { Reception } from "../harness/reception";

describe("a delivery that waits for a deploy", () => {
  it("is judged by when it came, not by when the deploy is over", async () => {
    const access = { method: "signature", scheme: null, settings: {}, secret: "s3cret", secondSecret: "" } as const;
    const made = () => {
      const gate = gateOf({ sender: "paddle", access: { ...access, verifyToken: "" } });
      if ("rule" in gate) throw new Error(gate.rule);
      return gate;
    };
    const reception = await Reception.open();
    reception.open(made(), "paddle");
    reception.endpoints.hold();
    const at = Math.floor(Date.now() / 1000) - 3;
    const signature = createHmac("sha256", "s3cret").update(`${at}:{}`).digest("hex");
    const headers = { "Paddle-Signature": `ts=${at};h1=${signature}` };
    const answer = fetch(`${reception.origin}/hook`, { method: "POST", body: "{}", headers });
    await reception.met(1);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    reception.open(made(), "paddle");
    reception.endpoints.resume();
    (await answer).status.should.equal(200);
    reception.close();
  });
});

describe("a test request that is refused for its signature", () => {
  it("has reached the endpoint", () => {
    const challenge = problems.signatureInvalid.headers["WWW-Authenticate"];
    resultOf(401, { "www-authenticate": challenge }, "").should.eql({ outcome: "tokenRefused", status: 401 });
  });
});
