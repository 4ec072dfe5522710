import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { mock } from "node:test";
import should from "should";
import { DeployGate, holdTimeoutMs, maxHeld, maxStrangers } from "../../../src/flow/deploy-gate";

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

  it("holds no more than a part of them for one network and for all that are not verified, and others besides", async () => {
    const gate = new DeployGate();
    gate.close();
    const held: Promise<boolean>[] = [];
    const fill = async (network: string | undefined) => {
      for (let count = 0; ; count++) {
        const response = createResponse();
        const waiting = gate.wait(response, network);
        if (response.listenerCount("close") === 0) return [count, await waiting];
        held.push(waiting);
      }
    };
    const { ofNetwork } = maxStrangers;
    should(await fill("192.0.2.1")).eql([ofNetwork, false]);
    for (const network of ["192.0.2.2", "192.0.2.3"]) should(await fill(network)).eql([ofNetwork, false]);
    should(await fill("192.0.2.4")).eql([0, false]);
    should(await fill(undefined)).eql([maxHeld - maxStrangers.all, false]);
    gate.open();
    should(await Promise.all(held)).matchEach(true);
  });

  it("holds requests for their time also where a sender has gone during the deploy before", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const gate = new DeployGate();
      gate.close();
      const gone = createResponse();
      void gate.wait(gone);
      gone.emit("close");
      const held = gate.wait(createResponse());
      gate.open();
      should(await held).be.true();
      mock.timers.tick(holdTimeoutMs / 2);
      gate.close();
      const next = gate.wait(createResponse());
      mock.timers.tick(holdTimeoutMs * 0.75);
      gate.open();
      should(await next).be.true();
    } finally {
      mock.timers.reset();
    }
  });
});
