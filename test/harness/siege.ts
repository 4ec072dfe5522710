import should from "should";
import { withClock } from "./clock";
import { callers, callerToken } from "./callers";
import { tab, token, webhook } from "./flow";
import { afterReply, exchange, hangUp, type Part, type RawReply, repliesIn } from "./http";
import { behindGuards, roots } from "./layouts";
import { NodeRed, type Options } from "./node-red";

/** Who has the token at the attacked nodes, and where these are: those of callers have no token of their own. */
export const holders = [
  { holder: "the node's token", token, under: "", credentials: { token } },
  { holder: "a caller's token", token: callerToken("door 2"), under: "/callers", credentials: callers("door 1", "door 2") },
] as const; // prettier-ignore

const flow = tab(
  // Two wires, so that Node-RED copies every message.
  ...holders.flatMap(({ under, credentials }) => [
    webhook(`plain${under}`, `${under}/hook`, { credentials, wires: [["sink", "other"]] }),
    webhook(`by-query${under}`, `${under}/by-query`, { credentials, verificationMethod: "query", returnQueryParams: true }),
    webhook(`by-header${under}`, `${under}/by-header`, { credentials, headerParameter: "X-Token" }),
    webhook(`elsewhere${under}`, `${under}/elsewhere`, { credentials, allowFrom: "203.0.113.0/24" }),
    webhook(`inspecting${under}`, `${under}/inspecting`, { credentials, reply: "flow", wires: [["inspector"]] }),
    webhook(`inspecting-query${under}`, `${under}/inspecting-query`, { credentials, reply: "flow", verificationMethod: "query", wires: [["inspector"]] }),
  ]),
  { id: "other", type: "count", wires: [] },
  webhook("throwing", "/throwing", { wires: [["thrower"]] }),
  { id: "thrower", type: "function", func: "throw new Error('thrown by the flow')", outputs: 1, libs: [] },
  { id: "core", type: "http in", method: "post", url: "/core", wires: [["inspector"]] },
  { id: "inspector", type: "function", func: "msg.payload = global.get('inspect')(msg.res); return msg;", wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
); // prettier-ignore

/** All that can be reached from an object, private properties included. */
const inspect =
  "inspect: (value) => require('node:util').inspect(value, { showHidden: true, getters: true, depth: 12, maxStringLength: null, maxArrayLength: null })";
const code = `functionGlobalContext: { ${inspect} }`;

/** The ways that a request can take; with equal roots, the admin app and its body parsers come before every node. */
const ways: Record<string, Options> = {
  "with separate roots": { settings: roots.separate, code },
  "with equal roots and behind guards": {
    settings: roots.equal,
    code: `${code}, ${behindGuards.code ?? ""}`,
  },
};
const sieges = new Map<string, Promise<Siege>>();

export const authorised = `Authorization: Bearer ${token}`;
/** RFC 9112 §9.6: after the reply to a request with this field the server ends the connection. */
export const last = "Connection: close";

/** The head of a request, byte by byte as given. A path begins below the root of HTTP nodes. */
export function head(method: string, path: string, ...fields: string[]): string {
  return [`${method} {root}${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n");
}

/** A POST to `/hook` with the token and a body of the length that it declares. */
export function post(body: string | Uint8Array, ...fields: string[]): (string | Uint8Array)[] {
  return [head("POST", "/hook", authorised, ...fields, `Content-Length: ${body.length}`), body];
}

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

/** An attack that starts a flow; its sender hangs up after the reply. */
export function accepted(name: string, sends: Part[], payload: unknown): Attack {
  return { name, sends: [...sends, afterReply, hangUp], statuses: [200], payloads: [payload] };
}

/** An attack that starts no flow; its sender hangs up after the reply, so that the server need not wait for it. */
export function refused(name: string, sends: Part[], status: number, says?: RegExp): Attack {
  return { name, sends: [...sends, afterReply, hangUp], statuses: [status], ...(says && { says }) };
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

  /** Notes the ids of accepted requests, and checks what no reply may have. */
  note(received: string): RawReply[] {
    const replies = repliesIn(received);
    for (const { status, body } of replies) {
      should(status).be.below(500, `no attack may get a 5xx: ${body}`);
      const id = status === 200 && /^\{"status":"accepted","id":"(\w+)"\}$/.exec(body)?.[1];
      if (id) this.#accepted.push(id);
      for (const { token: secret } of holders) should(received).not.containEql(secret);
    }
    return replies;
  }

  /** The payloads that arrived since the last time, once a further request has been accepted and has arrived. */
  async payloads(): Promise<unknown[]> {
    const [reply] = await this.replies(...post("a request like any other"), afterReply, hangUp);
    should(reply?.status).equal(200, reply?.body);
    await this.nodeRed.message(this.#accepted.at(-1));
    const arrived = this.nodeRed.messages.slice(this.#seen);
    this.#seen = this.nodeRed.messages.length;
    should(arrived.pop()?.payload).equal("a request like any other");
    return arrived.map(({ payload }) => payload);
  }

  async withstands({ sends, statuses, payloads = [], says }: Attack): Promise<void> {
    const replies = await this.replies(...sends);
    const text = replies.map(({ head, body }) => head + body).join("\n");
    should(replies.map(({ status }) => status)).eql(statuses, text);
    if (says) text.should.match(says);
    should(await this.payloads()).eql(payloads);
  }

  /** Makes sure that all is as if nothing had happened, but for what was accepted. */
  async isUnharmed(): Promise<void> {
    await this.nodeRed.connections(0);
    should(await this.payloads()).eql([]);
    const strangers = this.nodeRed.messages.filter(({ _msgid }) => !this.#accepted.includes(_msgid));
    should(strangers).eql([]);
    should((await this.nodeRed.measure()).polluted).eql([]);
    should(this.nodeRed.starts).have.length(1);
    should(this.nodeRed.running).be.true();
    this.nodeRed.log.should.not.match(/uncaught|unhandled|warning: possible/i);
    const shown = [this.nodeRed.log, JSON.stringify([...this.nodeRed.messages, ...this.nodeRed.statuses])].join("\n");
    for (const { token: secret } of holders) {
      for (const form of [secret, encodeURIComponent(secret)]) should(shown.includes(form)).be.false();
    }
  }
}

/** After the last test of the file, whose tests share them. */
async function liftSieges(): Promise<void> {
  const lifted = [...sieges.values()];
  sieges.clear();
  for (const siege of lifted) await (await siege).nodeRed.stop();
}

/** Attacks a runtime on each way that a request can take, and looks afterwards whether it is unharmed. */
export function besiege(title: string, describeIt: (siege: () => Siege) => void): void {
  after(liftSieges);
  for (const [way, options] of Object.entries(ways)) {
    describe(`${title}, ${way},`, () => {
      let siege: Siege;
      before(async () => {
        const started = sieges.get(way) ?? NodeRed.start({ flow, env: withClock, ...options }).then((nodeRed) => new Siege(nodeRed)); // prettier-ignore
        sieges.set(way, started);
        siege = await started;
      });
      describeIt(() => siege);
      it("leave the runtime unharmed: no other message, no secret in log or status, no open connection", () => siege.isUnharmed()); // prettier-ignore
    });
  }
}

/** Describes attacks by what is sent and what is answered. */
export function withstand(siege: () => Siege, attacks: readonly Attack[]): void {
  for (const attack of attacks) {
    it(`get ${attack.statuses.join(", ") || "no answer"} for ${attack.name}`, () => siege().withstands(attack));
  }
}
