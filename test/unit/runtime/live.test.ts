import should from "should";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import type { NodeAPI } from "node-red";
import { Live } from "../../../nodes/runtime/live";
import type { Notice } from "../../../src/deliveries/summary";

describe("Live", () => {
  let published: { topic: string; id: string; retain: boolean }[];
  let events: EventEmitter;
  const gone = new Set<string>();
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    [published, events] = [[], new EventEmitter()];
    gone.clear();
  });
  afterEach(() => mock.timers.reset());

  const open = (isListening = false) => {
    const publish = (topic: string, { id }: Notice, retain: boolean) => published.push({ topic, id, retain });
    const RED = { events, comms: { publish }, server: { listening: isListening } } as unknown as NodeAPI;
    return new Live(RED, (id) => Promise.resolve(gone.has(id) ? undefined : ({ id } as Notice)));
  };
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      mock.timers.tick(100);
      // What is found is told in a later turn.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  };

  it("tells each delivery that came or changed, one in a tenth of a second", async () => {
    const live = open();
    events.emit("comms:connection-added", {});
    for (const id of ["1", "2", "1"]) live.seen(id);
    await pass(100);
    should(published).eql([{ topic: "webhook-trigger/deliveries", id: "1", retain: false }]);
    await pass(1000);
    published.map(({ id }) => id).should.eql(["1", "2"]);
    live.seen("1");
    await pass(100);
    published.should.have.length(3);
  });

  it("leaves out the oldest where too many come, and what has gone", async () => {
    const live = open();
    events.emit("comms:connection-added", {});
    gone.add("993");
    for (let index = 0; index < 1000; index++) live.seen(`${index}`);
    await pass(3000);
    published.map(({ id }) => id).should.eql(["990", "991", "992", "994", "995", "996", "997", "998", "999"]);
  });

  it("tells nothing while no editor is open", async () => {
    const live = open();
    live.seen("1");
    events.emit("comms:connection-added", {});
    events.emit("comms:connection-removed", {});
    live.seen("2");
    await pass(1000);
    published.should.be.empty();
  });

  it("tells those as well that were open before this package was installed", async () => {
    const live = open(true);
    events.emit("comms:connection-removed", {});
    live.seen("1");
    await pass(1000);
    published.should.have.length(1);
  });
});
