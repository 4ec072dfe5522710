import fc from "fast-check";
import { Agent } from "node:http";
import "should";
import { DuplicateGuard, Guarding, MemoryDuplicates } from "../../src/deliveries/duplicates";
import { answerTo } from "../harness/answering";
import { bearer, token } from "../harness/flow";
import { dial, send } from "../harness/http";
import { seed } from "../harness/property";
import { hookRequest, Reception } from "../harness/reception";

interface Sent {
  key: string;
  /** What the flow answers if this one starts it; or that it is refused before that, or that its caller goes. */
  fate: 200 | 422 | 503 | "refused" | "gone";
  /** How many turns of the event loop the flow takes for it. */
  turns: number;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  key: fc.constantFrom("a", "b"),
  fate: fc.constantFrom<Sent["fate"]>(200, 200, 422, 503, "refused", "gone"),
  turns: fc.nat(30),
});

describe("for any deliveries at once, over real connections", () => {
  const agent = new Agent({ keepAlive: true });
  let reception: Reception;
  /** The deliveries that have started the flow and are not answered, and those that were answered well, by key. */
  const running = new Map<string, string>();
  const answered = new Map<string, string>();
  const faults: string[] = [];

  before(async () => {
    reception = await Reception.open();
    const how = {
      endpoint: "hook",
      key: "header:X-Id",
      keptFor: 3_600_000,
      isIdLoose: false,
      patience: 60_000,
    } as const;
    reception.duplicates = new DuplicateGuard(how, new Guarding(new MemoryDuplicates()));
    reception.reply = { by: "flow", timeout: 60_000 };
    reception.onDelivery = (payload) => void run(payload as Sent, reception.owed.length - 1);
    reception.deploy();
  });
  after(() => {
    agent.destroy();
    reception.close();
  });

  async function run({ key, fate, turns }: Sent, index: number): Promise<void> {
    const id = `${index}`;
    if (running.has(key)) faults.push(`${id} starts while ${running.get(key)} runs`);
    if (answered.has(key)) faults.push(`${id} starts after ${answered.get(key)} was answered`);
    running.set(key, id);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    running.delete(key);
    const status = typeof fate === "number" ? fate : 200;
    if (status < 500) answered.set(key, id);
    answerTo(reception.owed[index]).status(status).type("text").send(`${key} ${id} ${status}`);
  }

  it("one of a key runs at a time, none after it was answered, and all are told of one with their key", async () => {
    let example = 0;
    const property = fc.asyncProperty(fc.array(sent, { maxLength: 10 }), async (all) => {
      // What a caller has left behind that goes may come later than the next example.
      const prefix = `${++example}`;
      const outcomes = all.map(async ({ key: letter, fate, turns }) => {
        const key = prefix + letter;
        const body = fate === "refused" ? "{" : JSON.stringify({ key, fate, turns });
        const fields = { ...bearer, "X-Id": key, "Content-Type": "application/json" };
        if (fate !== "gone") return send(`${reception.origin}/hook`, { headers: fields, body, agent });
        const [authorised, type] = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
        const socket = dial(reception.origin)
          .on("error", () => undefined)
          .resume();
        const closed = new Promise<undefined>((resolve) => socket.once("close", () => resolve(undefined)));
        socket.end(hookRequest(body, authorised, type, `X-Id: ${key}`));
        return closed;
      });
      for (const [index, reply] of (await Promise.all(outcomes)).entries()) {
        if (reply && all[index]?.fate === "refused") reply.status.should.equal(400);
        else if (reply) reply.body.should.match(new RegExp(`^${prefix}${all[index]?.key} \\d+ ${reply.status}$`));
      }
      faults.should.eql([]);
    });
    await fc.assert(property, { seed, numRuns: 60 });
  });
});
