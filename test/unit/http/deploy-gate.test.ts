import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import should from "should";
import { DeployGate, maxHeld } from "../../../src/flow/deploy-gate";

const createResponse = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;

describe("a deploy", () => {
  it("holds at most 1,000 requests, and frees the place of a sender that goes", async () => {
    const gate = new DeployGate();
    gate.close();
    const responses = Array.from({ length: maxHeld }, createResponse);
    const held = responses.map((response) => gate.wait(response));
    should(await gate.wait(createResponse())).be.false();
    responses[0]?.emit("close");
    should(await held[0]).be.false();
    const next = gate.wait(createResponse());
    gate.open();
    should(await next).be.true();
    should(await held[1]).be.true();
  });
});
