import { scheduler } from "node:timers/promises";
import should from "should";
import type { Summary } from "../../src/admin/summary";
import { startsFlow } from "../../src/deliveries/states";
import {
  compose,
  type FieldCase,
  fieldCases,
  type FieldRequest,
  idOf,
  judge,
  pathOf,
  type Values,
} from "./field-cases";
import { tab, webhook } from "../harness/flow";
import { storeKinds, type TestStore } from "../harness/guaranteed";
import { exchange, type RawReply, repliesIn } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { NodeRed, type Received } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

/** What a request has met. */
interface Met {
  reply: RawReply;
  values: Values;
  listed: Summary | undefined;
}

/** The nodes of all cases. */
const nodesWith = (more: Record<string, unknown>) =>
  fieldCases.flatMap((each) =>
    each.nodes.map((fields, index) => webhook(idOf(each, index), pathOf(each, index), { ...fields, ...more })),
  );

/**
 * Sends a request of a case on a connection of its own.
 *
 * @param isListed whether to look for its delivery
 */
async function send(nodeRed: NodeRed, fieldCase: FieldCase, request: FieldRequest, isListed: boolean): Promise<Met> {
  const deliveries = new ShownDeliveries(nodeRed);
  const query = `node=${idOf(fieldCase, request.node)}&limit=500`;
  const before = isListed ? (await deliveries.page(query)).deliveries : [];
  const root = nodeRed.node("").slice(nodeRed.origin.length);
  const target = (request.target ?? pathOf(fieldCase, request.node)).replace(/^(?:http:\/\/[^/]+)?/, `$&${root}`);
  const { bytes, values } = compose(request, target);
  const [reply] = repliesIn(await exchange(nodeRed.origin, bytes));
  if (!reply) throw new Error("There is no reply");
  if (!isListed) return { reply, values, listed: undefined };
  const { deliveries: after } = await deliveries.page(query);
  return { reply, values, listed: after.find(({ id }) => !before.some((each) => each.id === id)) };
}

/** All that users are shown, once a request has come. */
async function showAll(nodeRed: NodeRed, listed: Summary | undefined): Promise<string> {
  const deliveries = new ShownDeliveries(nodeRed);
  const detail = listed && (await deliveries.detail(listed.id));
  return JSON.stringify([await deliveries.page("limit=500"), detail, [...nodeRed.statuses]]) + nodeRed.log;
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

/** Explanations for the operator have a budget of time: where it is spent, they are missing for a moment. */
async function untilRight(judgeIt: () => Promise<void>): Promise<void> {
  for (const limit = AbortSignal.timeout(60_000); ;) {
    try {
      return await judgeIt();
    } catch (error) {
      if (limit.aborted) throw error;
    }
    await scheduler.wait(100);
  }
}

onBothWays("a request as the field sends it", { flow: tab(...nodesWith({})) }, (nodeRed) => {
  for (const fieldCase of fieldCases) {
    it(`${fieldCase.id}: ${fieldCase.title}`, async () => {
      await judgeAll(fieldCase, async (request) => {
        const isListed = request.expect.some(({ operator }) => operator);
        const hides = request.expect.some(({ operator }) => operator?.hides);
        const judgeIt = async () => {
          const first = nodeRed().messages.length;
          const met = await send(nodeRed(), fieldCase, request, isListed);
          // What it has reported before, it has sent before.
          await nodeRed().measure();
          const shown = hides ? await showAll(nodeRed(), met.listed) : "";
          judge(request.expect, { ...met, messages: nodeRed().messages.slice(first), shown }, met.values);
        };
        if (isListed) await untilRight(judgeIt);
        else await judgeIt();
      });
    });
  }
});

const failOnce = 'if (msg.webhook.attempt === 1 && !msg.webhook.replay) throw new Error("once more");';

// What is true of one store is true of the others: the suite of the queue compares them.
for (const kind of storeKinds.filter(({ isHere }) => isHere).slice(0, 1)) {
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
      const deliveries = new ShownDeliveries(nodeRed);
      // Where so many nodes take long to start, a server counts as away until they have.
      await until(() => deliveries.page("limit=1").then(() => true, () => false), "the store to be there"); // prettier-ignore
      // All of them at first: while one waits for its second attempt, the others do, too.
      for (const fieldCase of fieldCases) {
        for (const request of fieldCase.requests) met.set(request, await send(nodeRed, fieldCase, request, true));
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
      await deliveries.find(
        ({ id, state }) => id === listed.id && state === "succeeded",
        `node=${String(listed.node)}`,
      );
      const { json } = await deliveries.replay(listed.id);
      return [...attempts, await started(String(json.id), 1)];
    };

    for (const fieldCase of fieldCases) {
      it(`${fieldCase.id}: ${fieldCase.title}`, async () => {
        await judgeAll(fieldCase, async (request) => {
          const found = met.get(request);
          if (!found) throw new Error("It was not sent");
          const messages = await messagesOf(found);
          judge(request.expect.map(({ operator: _operator, ...rest }) => rest), { ...found, messages, shown: "" }, found.values); // prettier-ignore
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
