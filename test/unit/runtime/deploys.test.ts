import should from "should";
import { hooks } from "@node-red/util";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Node, NodeAPI } from "node-red";
import { Deploys } from "../../../nodes/runtime/deploys";
import { longestFollowed, mostFollowed, Underway } from "../../../nodes/runtime/underway";
import { Endpoints } from "../../../src/endpoints";

const own = ["preRoute", "onReceive", "postReceive"].map((stage) => `${stage}.webhook-trigger`);

describe("Deploys", () => {
  let events: EventEmitter;
  let deploys: Deploys;
  let now: number;
  const node = { id: "hook", wires: [["next"]], send: () => undefined } as unknown as Node;
  const send = (id: string) => deploys.send(node, { _msgid: id });
  const added = () => own.filter((hook) => hooks.has(hook)).map((hook) => hook.replace(/\..*/, ""));

  beforeEach(() => {
    mock.timers.enable({ apis: ["setInterval"] });
    now = 1_000_000;
    mock.method(performance, "now", () => now);
    events = new EventEmitter();
    deploys = new Deploys({ hooks, events, nodes: { getNode: () => null } } as unknown as NodeAPI, [new Endpoints()]);
  });
  afterEach(() => {
    hooks.remove("*.webhook-trigger");
    hooks.remove("*.foreign");
    mock.timers.reset();
    mock.restoreAll();
  });

  it("adds no hook where no plugin has one, unless a deploy meets a message on its way", async () => {
    send("1");
    added().should.eql([]);
    await turn();
    events.emit("flows:stopping");
    added().should.eql([]);
    events.emit("flows:started");
    send("2");
    events.emit("flows:stopping");
    added().should.eql(["preRoute", "onReceive"]);
    await turn();
    events.emit("flows:started");
    added().should.eql([]);
  });

  for (const stage of ["onSend", "preRoute", "preDeliver", "onReceive"]) {
    it(`follows a message where a plugin has a hook ${stage}, until it has been received`, () => {
      hooks.add(`${stage}.foreign`, () => undefined);
      send("1");
      added().should.eql(["postReceive"]);
      void trigger("postReceive", { msg: { _msgid: "1" }, destination: { id: "another" } });
      mock.timers.tick(10_000);
      added().should.eql(["postReceive"]);
      void trigger("postReceive", { msg: { _msgid: "1" }, destination: { id: "next" } });
      mock.timers.tick(10_000);
      added().should.eql([]);
    });
  }

  it("takes its hooks away when what a deploy met on its way has come, whatever came after", () => {
    hooks.add("preDeliver.foreign", () => undefined);
    send("before");
    events.emit("flows:stopping");
    now += 1;
    events.emit("flows:started");
    added().should.eql(["preRoute", "onReceive", "postReceive"]);
    now += 1;
    send("after");
    void trigger("postReceive", { msg: { _msgid: "before" }, destination: { id: "next" } });
    mock.timers.tick(10_000);
    added().should.eql(["postReceive"]);
  });

  it("follows a message for ten minutes, since a plugin may have dropped it", () => {
    hooks.add("preDeliver.foreign", () => undefined);
    send("1");
    now += longestFollowed;
    mock.timers.tick(10_000);
    added().should.eql(["postReceive"]);
    now += 1;
    mock.timers.tick(10_000);
    should(longestFollowed).equal(600_000);
    added().should.eql([]);
  });
});

describe("Underway", () => {
  it("follows 10,000 messages, and of more the latest", () => {
    const underway = new Underway();
    for (let number = 0; number <= mostFollowed; number++) underway.add(`${number}`, "hook", ["next"]);
    should(mostFollowed).equal(10_000);
    underway.size.should.equal(mostFollowed);
    underway.isTo("0", "next").should.be.false();
    underway.isTo("1", "next").should.be.true();
  });

  it("counts each wire to a node", () => {
    const underway = new Underway();
    underway.add("1", "hook", ["next", "other", "next"]);
    underway.arrived("1", "next");
    underway.isTo("1", "next").should.be.true();
    for (const destination of ["next", "next", "nobody"]) underway.arrived("1", destination);
    underway.isTo("1", "next").should.be.false();
    underway.arrived("1", "other");
    underway.size.should.equal(0);
  });

  it("takes a message for its own only from the node that sent it", () => {
    const underway = new Underway();
    underway.add("1", "hook", ["next"]);
    underway.isTo("1", "next", "hook").should.be.true();
    underway.isTo("1", "next", "other").should.be.false();
    underway.isTo(undefined, "next").should.be.false();
  });
});

/** What Node-RED does with a message at a stage. */
function trigger(stage: string, event: object): Promise<unknown> {
  return (hooks as unknown as { trigger(stage: string, event: object): Promise<unknown> }).trigger(stage, event);
}
