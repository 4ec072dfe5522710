import should from "should";
import { type Detail, startsFlow } from "../../src/deliveries/summary";
import {
  compose,
  type FieldCase,
  fieldCases,
  type FieldRequest,
  idOf,
  judge,
  pathOf,
  type Values,
} from "../harness/field-cases";
import { tab, webhook } from "../harness/flow";
import { storeKinds, type TestStore } from "../harness/guaranteed";
import { exchange, type RawReply, repliesIn } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { NodeRed, type Received } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

/** What a request has met. */
interface Met {
  reply: RawReply;
  values: Values;
  listed: Detail | undefined;
  shown: string;
}

/** The nodes of all cases. */
const nodesWith = (more: Record<string, unknown>) =>
  fieldCases.flatMap((each) =>
    each.nodes.map((fields, index) => webhook(idOf(each, index), pathOf(each, index), { ...fields, ...more })),
  );

/** Sends a request of a case on a connection of its own. */
async function send(nodeRed: NodeRed, fieldCase: FieldCase, request: FieldRequest): Promise<Met> {
  const deliveries = new ShownDeliveries(nodeRed);
  const query = `node=${idOf(fieldCase, request.node)}&limit=500`;
  const before = new Set((await deliveries.page(query)).deliveries.map(({ id }) => id));
  const target = nodeRed.node(request.target ?? pathOf(fieldCase, request.node)).slice(nodeRed.origin.length);
  const { bytes, values } = compose(request, target);
  const [reply] = repliesIn(await exchange(nodeRed.origin, bytes));
  if (!reply) throw new Error("There is no reply");
  const page = await deliveries.page(query);
  const summary = page.deliveries.find(({ id }) => !before.has(id));
  const listed = summary && (await deliveries.detail(summary.id));
  return { reply, values, listed, shown: JSON.stringify([page, listed, [...nodeRed.statuses]]) + nodeRed.log };
}

/** Judges the requests of a case in their order; one that is right is enough where they are alternatives. */
async function judgeAll({ requests, enough }: FieldCase, judgeOne: (request: FieldRequest) => Promise<void>) {
  const wrong: string[] = [];
  for (const [index, request] of requests.entries()) {
    await judgeOne(request).catch((error: unknown) => wrong.push(`request ${index + 1}: ${String(error)}`));
  }
  const allowed = enough ? requests.length - 1 : 0;
  if (wrong.length > allowed) throw new Error(wrong.join("\n"));
}

onBothWays("a request as the field sends it", { flow: tab(...nodesWith({})) }, (nodeRed) => {
  for (const fieldCase of fieldCases) {
    it(`${fieldCase.id}: ${fieldCase.title}`, async () => {
      await judgeAll(fieldCase, async (request) => {
        const first = nodeRed().messages.length;
        const met = await send(nodeRed(), fieldCase, request);
        // What it has reported before, it has sent before.
        await nodeRed().measure();
        judge(request.expect, { ...met, messages: nodeRed().messages.slice(first) }, met.values);
      });
    });
  }
});

const failOnce = 'if (msg.webhook.attempt === 1 && !msg.webhook.replay) throw new Error("once more");';

for (const kind of storeKinds.filter(({ isHere }) => isHere)) {
  describe(`a request as the field sends it, with guaranteed delivery in ${kind.name}, at the first attempt, at the second and in a replay`, () => {
    const met = new Map<FieldRequest, Met>();
    const known = new Set<string>();
    let store: TestStore;
    let nodeRed: NodeRed;
    before(async () => {
      store = await kind.begin();
      const nodes = nodesWith({ guaranteed: true, attempts: 2, backoffFirst: 1, wires: [["sink", "fail"]] });
      const fail = { id: "fail", type: "function", func: failOnce, outputs: 1, wires: [[]] };
      nodeRed = await NodeRed.start({ ...store.options, flow: tab(...nodes, fail) });
      // All of them at first: while one waits for its second attempt, the others do, too.
      for (const fieldCase of fieldCases) {
        for (const request of fieldCase.requests) met.set(request, await send(nodeRed, fieldCase, request));
      }
    });
    after(async () => {
      await nodeRed.stop();
      await store.end();
    });

    const started = (id: string, attempt: number) => {
      known.add(id);
      const isIt = ({ _msgid, webhook }: Received) => _msgid === id && webhook.attempt === attempt;
      return nodeRed.until(() => nodeRed.messages.find(isIt), `attempt ${attempt} of ${id}`);
    };
    /** The messages of a delivery: of two attempts, and of a replay. */
    const messagesOf = async ({ listed }: Met) => {
      if (!listed || !startsFlow(listed.state)) return [];
      const attempts = [await started(listed.id, 1), await started(listed.id, 2)];
      const deliveries = new ShownDeliveries(nodeRed);
      await deliveries.find(({ id, state }) => id === listed.id && state === "succeeded");
      const { json } = await deliveries.replay(listed.id);
      return [...attempts, await started(String(json.id), 1)];
    };

    for (const fieldCase of fieldCases) {
      it(`${fieldCase.id}: ${fieldCase.title}`, async () => {
        await judgeAll(fieldCase, async (request) => {
          const found = met.get(request);
          if (!found) throw new Error("It was not sent");
          const messages = await messagesOf(found);
          judge(request.expect, { ...found, messages }, found.values);
          const [first, ...others] = messages.map(({ payload, topic, rawBody, req }) => ({
            payload,
            topic,
            rawBody,
            files: req.files,
          }));
          for (const other of others) should(other).eql(first);
        });
      });
    }

    it("starts no flow that it should not", () => {
      should(nodeRed.messages.filter(({ _msgid }) => !known.has(_msgid))).eql([]);
    });
  });
}
