import fc from "fast-check";
import should from "should";
import type { Delivery, State } from "../../src/deliveries/delivery";
import { MemoryStore } from "../../src/deliveries/memory-store";
import type { Change, Store } from "../../src/deliveries/store";
import { seed } from "../harness/property";
import { claimsOf, delivered, engines, pagesOf, Shelf } from "../harness/stores";

const states: State[] = ["refused", "duplicate", "handshake", "queued", "running", "succeeded", "failed"];
const state = fc.constantFrom(...states);
const id = fc.nat(12).map(String);
const node = fc.constantFrom("n", "m");
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), fc.constantFrom("%", "_", "\\", "É", "aB", "'"));

type Step = (store: Store, prefix: string) => Promise<unknown>;

const add: fc.Arbitrary<Step> = fc
  .record({ id, node, state, at: fc.integer({ min: 0, max: 2e12 }), text, body: fc.uint8Array({ maxLength: 20 }) })
  .map((each) => async (store, prefix) => {
    const head = { method: "POST", path: `/${each.text}`, search: each.text, headers: { "x-text": each.text }, ip: "::1" };
    const rest: Partial<Delivery> = { node: prefix + each.node, state: each.state, at: each.at, head };
    return store.add(delivered(prefix + each.id, rest), Buffer.from(each.body));
  }); // prettier-ignore
const run = fc.record({ at: fc.nat(), ended: fc.nat(), error: text }, { requiredKeys: ["at"], noNullPrototype: true });
const change: fc.Arbitrary<Step> = fc
  .tuple(id, fc.record({ state, status: fc.nat(999), milliseconds: fc.double({ min: 0, max: 1e6 }), answer: text, run }, { requiredKeys: [], noNullPrototype: true }), fc.boolean())
  .map(([which, said, isNext]) => async (store, prefix) => {
    const known = await store.find(prefix + which);
    const change: Change = isNext && known ? { ...said, attempt: known.delivery.attempt + 1 } : said;
    return store.change(prefix + which, change);
  }); // prettier-ignore

/** All that a store says of what it has. */
async function told(store: Store, prefix: string, sought: string): Promise<unknown> {
  const [one, other] = [`${prefix}n`, `${prefix}m`];
  return {
    kept: await Promise.all(Array.from({ length: 13 }, (_, index) => store.find(`${prefix}${index}`))),
    counts: await Promise.all([store.counts(one), store.counts(other)]),
    claims: (await claimsOf(store, one, 2, new Set([`${prefix}3`]))).flat(),
    pages: await pagesOf(store, { node: one, limit: 3 }),
    deliveries: (await store.page({ node: one, limit: 50 })).deliveries,
    succeeded: await pagesOf(store, { node: one, state: "succeeded", limit: 2 }),
    found: (await pagesOf(store, { node: other, text: sought, limit: 2 })).flat(),
  };
}

describe("for any deliveries and changes", () => {
  for (const engine of engines) {
    if (!engine.isHere || !engine.outlives) continue;
    it(`a store that keeps them ${engine.name} says the same as one in memory, also after a restart`, async () => {
      await engine.begin?.();
      const shelf = new Shelf();
      let store = await shelf.opened(engine.create(shelf.place));
      let runs = 0;
      const steps = fc.array(fc.oneof(add, change), { maxLength: 40 });
      const property = fc.asyncProperty(steps, text, async (all, sought) => {
        const prefix = `${++runs} `;
        const model = new MemoryStore();
        for (const step of all) await step(model, prefix);
        // What they read in between comes in the same order.
        for (const step of all) await step(store, prefix);
        if (runs % 10 === 0) {
          await shelf.closed(store);
          store = await shelf.opened(engine.create(shelf.place));
        }
        should(await told(store, prefix, sought)).eql(await told(model, prefix, sought));
      });
      await fc.assert(property, { seed, numRuns: 60 });
      await shelf.clear();
      await engine.end?.();
    });
  }
});
