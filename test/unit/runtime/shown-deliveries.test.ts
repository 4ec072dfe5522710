import type { NodeAPI } from "node-red";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import should from "should";
import { pushChanges } from "../../../src/admin/deliveries-api";

describe("the push to open editors", () => {
  let published: unknown[][];
  let events: EventEmitter;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    [published, events] = [[], new EventEmitter()];
  });
  afterEach(() => mock.timers.reset());

  const open = (isListening = false) => {
    const publish = (...what: unknown[]) => published.push(what);
    return pushChanges({ events, comms: { publish }, server: { listening: isListening } } as unknown as NodeAPI);
  };

  it("says that something has changed, once for all that changes in a quarter of a second", () => {
    const changed = open();
    events.emit("comms:connection-added", {});
    for (let index = 0; index < 1000; index++) changed();
    mock.timers.tick(10_000);
    should(published).eql([["webhook-trigger/deliveries", { changed: true }, false]]);
    changed();
    mock.timers.tick(500);
    published.should.have.length(2);
  });

  it("says nothing while no editor is open", () => {
    const changed = open();
    changed();
    events.emit("comms:connection-added", {});
    events.emit("comms:connection-removed", {});
    changed();
    mock.timers.tick(10_000);
    published.should.be.empty();
  });

  it("reaches those as well that were open before this package was installed", () => {
    const changed = open(true);
    events.emit("comms:connection-removed", {});
    changed();
    mock.timers.tick(10_000);
    published.should.have.length(1);
  });
});
