import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { mock } from "node:test";
import should from "should";
import { DeployGate, holdTimeoutMs, maxHeld } from "../../../src/flow/deploy-gate";

const waiting = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;

describe("the deploy gate", () => {
  let gate: DeployGate;
  let now = 0;
  const pass = (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
  };
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    now = 0;
    mock.method(performance, "now", () => now);
    gate = new DeployGate();
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  it("lets everything pass while the flows run", async () => {
    should(await gate.wait()).be.true();
  });

  it("holds requests until the flows run", async () => {
    gate.close();
    const held = gate.wait(waiting());
    gate.open();
    should(await held).be.true();
    should(gate.isClosed).be.false();
  });

  it("holds no request for longer than ten seconds after the flows began to stop", async () => {
    gate.close();
    pass(4000);
    const held = gate.wait(waiting());
    pass(holdTimeoutMs - 4000);
    should(await held).be.false();
    should(await gate.wait(waiting())).be.false();
    should(gate.isClosed).be.true();
  });

  it("holds a request only once, also where another deploy begins meanwhile", async () => {
    gate.close();
    const response = waiting();
    const held = gate.wait(response);
    pass(6000);
    gate.close();
    pass(4000);
    should(await held).be.false();
    should(await gate.wait(response)).be.false();
  });

  it("holds at most 1,000 requests, and frees the place of a sender that goes", async () => {
    gate.close();
    const responses = Array.from({ length: maxHeld }, waiting);
    const held = responses.map((response) => gate.wait(response));
    should(await gate.wait(waiting())).be.false();
    responses[0]?.emit("close");
    should(await held[0]).be.false();
    const next = gate.wait(waiting());
    gate.open();
    should(await next).be.true();
    should(await held[1]).be.true();
  });
});
