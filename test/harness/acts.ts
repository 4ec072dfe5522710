// Flows that do with a response whatever a request says.

import { webhook } from "./flow";
import type { Flow } from "./node-red";

/** How long the acting flow may take to answer, in s. */
export const actingTimeout = 9;

/**
 * A node that runs the JavaScript in the payload, with `res`, the message, `send`, and `hold`, which keeps a function
 * until the test says `{ release: true }`. Asked for `{ timers: true }`, it tells how many timers there are.
 */
export const actingNode = `module.exports = (RED) => {
  const held = [];
  const hold = (goOn) => {
    held.push(goOn);
    process.send({ trace: "held" });
  };
  process.on("message", ({ release, timers }) => {
    const count = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    if (timers) process.send({ trace: "timers " + count() });
    if (!release) return;
    for (const goOn of held.splice(0)) goOn();
    setImmediate(() => process.send({ trace: "released" }));
  });
  RED.nodes.registerType("act", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", (msg, send) => {
      const values = { res: msg.res._res, msg, send, hold, require, __filename };
      new Function(...Object.keys(values), msg.payload)(...Object.values(values));
    });
  });
};`;

/** Endpoints at `/act`, and at `/patient` with more time, and core's own at `/core`. */
export function actingFlow(fields: Record<string, unknown> = {}): Flow {
  const ours = { reply: "flow", z: "tab", x: 100, y: 40, wires: [["act"]], ...fields };
  return [
    { id: "tab", type: "tab", label: "Acts" },
    webhook("ours", "/act", { ...ours, replyTimeout: actingTimeout }),
    webhook("patient", "/patient", { ...ours, replyTimeout: 300 }),
    webhook("now", "/now", { z: "tab", x: 100, y: 80, wires: [[]] }),
    { id: "core", type: "http in", method: "post", url: "/core", z: "tab", x: 100, y: 120, wires: [["act"]] },
    { id: "act", type: "act", z: "tab", x: 300, y: 40, wires: [["answer"]] },
    { id: "answer", type: "http response", z: "tab", x: 500, y: 40, statusCode: "", headers: {}, wires: [] },
  ];
}
