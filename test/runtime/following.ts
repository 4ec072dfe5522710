/** A Node-RED whose flows are followed from nodes that the test has send, beside nodes that do what the test says. */
import type { AttemptResult } from "../../src/deliveries/queue";
import { compileFile } from "../harness/fixtures";
import { type Flow, NodeRed } from "../harness/node-red";

const plugin = () => `
const { Completion } = require(${JSON.stringify(compileFile("src/flow/completion.ts"))});
module.exports = (RED) => {
  const completion = new Completion(RED, () => undefined);
  const tell = (trace) => process.send({ trace });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  // What nodes have, by the node's id and the payload.
  const had = new Map();
  const handlers = {
    // Keeps each message until the test says what becomes of it.
    keeps(msg, send, done) {
      had.set(this.id + " " + msg.payload, { node: this, msg, send, done });
      tell(this.id + " has " + msg.payload);
    },
    passes(msg, send, done) { send(msg); done(); },
    passesFirst(msg, send, done) { done(); send(msg); },
    isDoneTwice(msg, send, done) { send(msg); done(); done(); setImmediate(done); },
    isDoneAnew(msg, send, done) { delete msg._msgid; send({ payload: "other" }); done(); },
    throwsAtOnce(msg, send, done) { throw new Error("thrown, and never done"); },
    reports(msg, send, done) { this.error("reported", msg); },
    reportsAndIsDone(msg, send, done) { this.error("reported, and done", msg); send(msg); done(); },
    reportsOfItself(msg, send, done) { this.error("of no message"); done(); },
    isSilent(msg) { this.send(msg); },
    failsAtLength(msg, send, done) { done(new Error("x".repeat(10000))); },
    failsStrangely(msg, send, done) { done({ get message() { throw 1; } }); },
  };
  RED.nodes.registerType("handling", function (config) {
    RED.nodes.createNode(this, config);
    const handler = handlers[config.by].bind(this);
    if (handlers[config.by].length < 3) this.on("input", (msg) => handler(msg));
    else this.on("input", (msg, send, done) => handler(msg, send, done));
    // As core's delay does: it is done with what it drops.
    // As clients of databases do: their connection is closed.
    if (config.complains) this.on("close", () => { for (const { node, done } of had.values()) if (node === this) done(new Error("closed")); });
    if (config.drops) this.on("close", () => { for (const { node, done } of had.values()) if (node === this) done(); });
  });
  RED.nodes.registerType("from", function (config) { RED.nodes.createNode(this, config); });

  const acts = {
    async send({ from, id, payload, rest, timeoutMs = 60_000 }) {
      const node = RED.nodes.getNode(from);
      completion.watchErrors(node);
      completion.follow(id, { redact: (error) => error, timeoutMs }).then((ending) => tell("ending of " + id + " " + JSON.stringify(ending)));
      node.send({ _msgid: id, payload, ...rest });
    },
    async go({ at, payload, does }) {
      const { node, msg, send, done } = had.get(at + " " + payload);
      for (const act of does) {
        if (act === "send") send(msg);
        if (act === "done") done();
        if (act === "fail") done(new Error("failed"));
      }
      for (let turns = 0; turns < 5; turns++) await turn();
      tell("gone");
    },
    async size() { for (let turns = 0; turns < 5; turns++) await turn(); tell("size " + completion.size); },
  };
  process.on("message", (message) => acts[message?.act]?.(message));
};`;

const neededNodes = [
  ...["05-junction.js", "10-function.js", "17-split.js", "24-complete.js"],
  ...["25-catch.js", "60-link.js", "89-delay.js", "98-unknown.js"],
];

export class Following {
  #ids = 0;

  static async start(flow: Flow, settings: Record<string, unknown> = {}): Promise<Following> {
    const options = { flow, plugin: plugin(), bare: true, only: neededNodes, settings };
    return new Following(await NodeRed.start(options));
  }

  private constructor(readonly nodeRed: NodeRed) {}

  /** Has a node send a message that is followed. @returns its id */
  send(from: string, payload: unknown = "message", rest: object = {}, timeoutMs?: number): string {
    const id = `id-${this.#ids++}`;
    this.nodeRed.say({ act: "send", from, id, payload, rest, timeoutMs });
    return id;
  }

  async ending(id: string): Promise<AttemptResult> {
    return JSON.parse(await this.nodeRed.ask({}, `ending of ${id} `)) as AttemptResult;
  }

  /** How the flow of a message ends that a node sends. */
  async endingFrom(from: string, payload?: unknown, rest?: object): Promise<AttemptResult> {
    return this.ending(this.send(from, payload, rest));
  }

  /** Waits until a `keeps` node has the message. */
  async has(at: string, payload = "message"): Promise<void> {
    await this.nodeRed.reported(`${at} has ${payload}`);
  }

  /** Has a `keeps` node go on. */
  async go(at: string, does: ("send" | "done" | "fail")[], payload = "message"): Promise<void> {
    await this.nodeRed.tell({ act: "go", at, payload, does }, "gone");
  }

  /** How many messages are followed, some turns later. */
  async size(): Promise<number> {
    return Number(await this.nodeRed.ask({ act: "size" }, "size "));
  }
}
