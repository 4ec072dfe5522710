import should from "should";
import { tab, token, webhook } from "./flow";
import { exchange, type Part, type RawReply, repliesIn } from "./http";
import { onBothWays, type Way } from "./layouts";
import type { NodeRed } from "./node-red";

const flow = tab(
  webhook("plain", "/hook"),
  // Two wires, so that Node-RED copies every message.
  webhook("copied", "/copied", { wires: [["sink", "other"]] }),
  { id: "other", type: "count", wires: [] },
  webhook("by-query", "/by-query", { verificationMethod: "query", returnQueryParams: true }),
  webhook("by-header", "/by-header", { headerParameter: "X-Token" }),
  webhook("throwing", "/throwing", { wires: [["thrower"]] }),
  { id: "thrower", type: "function", func: "throw new Error('thrown by the flow')", outputs: 1, libs: [] },
);

export const authorised = `Authorization: Bearer ${token}`;
/** RFC 9112 §9.6: after the reply to a request with this field the server ends the connection. */
export const last = "Connection: close";

/** The head of a request, byte by byte as given. A path begins below the root of HTTP nodes. */
export function head(method: string, path: string, ...fields: string[]): string {
  return [`${method} {root}${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n");
}

/** A POST to `/hook` with the token and a body of the length that it declares, the last one on its connection. */
export function post(body: string | Uint8Array, ...fields: string[]): (string | Uint8Array)[] {
  return [head("POST", "/hook", authorised, last, ...fields, `Content-Length: ${body.length}`), body];
}

/**
 * Code of a settings file that lets a test fire long timers at its command, by `expire`, so that it need not wait. Where
 * there is none yet, the next one fires at once. A timer that is cleared stays cleared.
 */
export const hastyTimers = `...(() => {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const pending = new Map();
  const early = new Set();
  globalThis.setTimeout = Object.assign((callback, delay, ...values) => {
    const timer = set(() => { pending.delete(timer); callback(...values); }, early.delete(delay) ? 0 : delay);
    pending.set(timer, { callback, delay });
    return timer;
  }, set);
  globalThis.clearTimeout = (timer) => { pending.delete(timer); clear(timer); };
  process.on("message", ({ expire }) => {
    const due = [...pending].filter(([, { delay }]) => delay === expire);
    if (expire && due.length === 0) early.add(expire);
    for (const [timer, { callback }] of due) {
      clearTimeout(timer);
      callback();
    }
  });
  return {};
})()`;

/** An attack over one connection, and what must come of it. */
export interface Attack {
  /** What is sent, and the rule that makes the answer right. */
  name: string;
  sends: Part[];
  /** The statuses of all replies, in order, until the server ends the connection. */
  statuses: number[];
  /** The payloads of all messages, in order. */
  payloads?: unknown[];
  /** What the replies must say as well. */
  says?: RegExp;
}

/** A runtime under attack, with a record of what it must have accepted. */
export class Siege {
  readonly #accepted: string[] = [];
  #seen = 0;

  constructor(readonly nodeRed: NodeRed) {}

  /** What to put on the wire for a request that names `{root}`. */
  wire<Sent>(part: Sent): Sent | string {
    return typeof part === "string" ? part.replaceAll("{root}", this.root) : part;
  }

  get root(): string {
    return this.nodeRed.node("").slice(this.nodeRed.origin.length);
  }

  /** Sends all parts over one connection and takes all replies until the server ends it. */
  async replies(...parts: Part[]): Promise<RawReply[]> {
    return this.note(await exchange(this.nodeRed.origin, ...parts.map((part) => this.wire(part))));
  }

  /** Takes down what replies say. */
  note(received: string): RawReply[] {
    const replies = repliesIn(received);
    for (const { status, body } of replies) {
      should(status).be.below(500, body);
      const id = status === 200 && /^\{"status":"accepted","id":"(\w+)"\}$/.exec(body)?.[1];
      if (id) this.#accepted.push(id);
      should(received).not.containEql(token);
    }
    return replies;
  }

  /** The payloads that arrived since the last time, once a further request has been accepted and has arrived. */
  async payloads(): Promise<unknown[]> {
    const [reply] = await this.replies(...post("a request like any other"));
    should(reply?.status).equal(200, reply?.body);
    await this.nodeRed.message(this.#accepted.at(-1));
    const arrived = this.nodeRed.messages.slice(this.#seen);
    this.#seen = this.nodeRed.messages.length;
    should(arrived.pop()?.payload).equal("a request like any other");
    return arrived.map(({ payload }) => payload);
  }

  async withstands({ sends, statuses, payloads = [], says }: Attack): Promise<void> {
    const replies = await this.replies(...sends);
    const told = replies.map(({ head, body }) => head + body).join("\n");
    should(replies.map(({ status }) => status)).eql(statuses, told);
    if (says) told.should.match(says);
    should(await this.payloads()).eql(payloads);
  }

  /** Makes sure that all is as if nothing had happened, but for what was accepted. */
  async isUnharmed(): Promise<void> {
    await this.nodeRed.connections(0);
    should(await this.payloads()).eql([]);
    // No flow's messages but those of accepted requests; what a flow threw away it cannot show.
    const strangers = this.nodeRed.messages.filter(({ _msgid }) => !this.#accepted.includes(_msgid));
    should(strangers).eql([]);
    should((await this.nodeRed.measure()).polluted).eql([]);
    should(this.nodeRed.starts).have.length(1);
    should(this.nodeRed.running).be.true();
    this.nodeRed.log.should.not.match(/uncaught|unhandled|warning: possible/i);
    const told = [this.nodeRed.log, JSON.stringify([...this.nodeRed.messages, ...this.nodeRed.statuses])].join("\n");
    for (const form of [token, encodeURIComponent(token)]) should(told.includes(form)).be.false();
  }
}

/** Attacks a runtime in each layout and on both ways, and looks afterwards whether it is unharmed. */
export function besiege(title: string, describeIt: (siege: () => Siege, way: Way) => void, code = ""): void {
  onBothWays(title, { flow, code }, (nodeRed, way) => {
    let siege: Siege;
    before(() => {
      siege = new Siege(nodeRed());
    });
    describeIt(() => siege, way);
    it("leaves the runtime unharmed", () => siege.isUnharmed());
  });
}

/** Describes attacks by what is sent and what is answered. */
export function withstand(siege: () => Siege, attacks: readonly Attack[]): void {
  for (const attack of attacks) {
    it(`${attack.statuses.join(", ") || "nothing"} for ${attack.name}`, () => siege().withstands(attack));
  }
}
