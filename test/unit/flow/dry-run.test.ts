import should from "should";
import { Redactor } from "../../../src/auth/redactor";
import type { StoredDelivery } from "../../../src/deliveries/delivery";
import type { DeliveryList } from "../../../src/deliveries/queue";
import { tryFilter } from "../../../src/flow/dry-run";
import type { Endpoint } from "../../../src/flow/endpoint";
import { shouldCostLess } from "../../harness/cost";
import { delivered } from "../../harness/deliveries";

const config = { access: { method: "header" }, sender: "", returnQueryParams: true };
const endpoint = {
  ...{ node: { id: "node" }, config, sender: undefined, maxBodyBytes: 2_000_000 },
  authenticator: { redactor: new Redactor(["a secret"]) },
} as unknown as Endpoint;

/** Deliveries with bodies of JSON, each a second after the one before. */
function listOf(bodies: readonly (string | undefined)[], state: "succeeded" | "refused" = "succeeded"): DeliveryList {
  const stored = bodies.map((body, at): StoredDelivery => {
    const head = { ...delivered("").head, headers: { "content-type": "application/json", "x-at": String(at) } };
    return { delivery: delivered(String(at), { at, state, head, size: 7 }), body: Buffer.from(body ?? ""), attempts: [] };
  });
  return {
    list: (query) => Promise.resolve(stored.map(({ delivery }) => delivery).filter((each) => each.state === query.state).reverse().slice(0, query.limit)),
    find: (id) => Promise.resolve(stored[Number(id)]),
    update: () => Promise.resolve(),
    remove: () => Promise.resolve("unknown" as const),
    removeAll: () => Promise.resolve(0),
  };
} // prettier-ignore

const above = (value: string) => ({ events: [], conditions: [{ place: "json:n", operator: "above" as const, value }] });

describe("A filter that is tried", () => {
  it("looks at the last 200 deliveries that have started the flow, as far as their bodies are there and can be read", async () => {
    const bodies = Array.from({ length: 300 }, (_, n) => JSON.stringify({ n }));
    should(await tryFilter(endpoint, [listOf(bodies)], above("198"))).match({ of: 200, passing: 101, not: (all: unknown[]) => all.length === 99 }); // prettier-ignore
    should(await tryFilter(endpoint, [listOf(bodies, "refused")], above("198"))).match({ of: 0, passing: 0 });
    should(await tryFilter(endpoint, [listOf(['{"n":1}', undefined, "{"])], above("0"))).match({
      of: 1,
      passing: 1,
      not: [],
    });
  });

  it("lets others have their turn between any two bodies", async () => {
    const large = JSON.stringify({ n: 1, rest: Array(50_000).fill("x") });
    let [turns, isDone] = [0, false];
    const turn = () => {
      turns++;
      if (!isDone) setImmediate(turn);
    };
    turn();
    const { of } = await tryFilter(endpoint, [listOf(Array<string>(20).fill(large))], above("0"));
    isDone = true;
    of.should.equal(20);
    turns.should.be.aboveOrEqual(20);
  });

  it("takes at most three times as long for a body of 1 MB as JSON.parse, so that no turn takes 50 ms", async () => {
    const orders = Array.from({ length: 12_000 }, (_, id) => ({ id, item: `item ${id}`, price: id * 1.1, tags: ["a", "b"], note: "thanks" })); // prettier-ignore
    const large = JSON.stringify({ n: 1, orders });
    const list = listOf([large]);
    await shouldCostLess(
      () => tryFilter(endpoint, [list], above("0")),
      3,
      () => JSON.parse(large),
    );
  });

  it("is tried on bodies as they are shown: no secret in one is found out, letter by letter", async () => {
    const body = '{"clientState":"an old secret","n":1}';
    const at = body.indexOf("an old");
    const list = listOf([body]);
    const found = async (id: string): ReturnType<DeliveryList["find"]> => {
      const stored = await list.find(id);
      if (!stored) return undefined;
      return { ...stored, delivery: { ...stored.delivery, hidden: [[at, at + "an old secret".length]] } };
    };
    const passing = async (place: string, value: string) => {
      const conditions = [{ place, operator: "contains" as const, value }];
      return (await tryFilter(endpoint, [{ ...list, find: found }], { events: [], conditions })).passing;
    };
    for (const place of ["body", "json:clientState"]) (await passing(place, "an old")).should.equal(0);
    for (const [place, value] of [["body", '"n":1'], ["header:x-at", "0"]] as const) (await passing(place, value)).should.equal(1);
    const { places, not } = await tryFilter(endpoint, [{ ...list, find: found }], above("1"));
    should(JSON.stringify([places, not])).not.match(/old secret/);
  }); // prettier-ignore

  it("is one at a time, so that many do not hold up others together", async () => {
    let [running, most] = [0, 0];
    const list = listOf(Array<string>(5).fill('{"n":1}'));
    const counted = async (id: string) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return list.find(id);
    };
    await Promise.all(Array.from({ length: 4 }, () => tryFilter(endpoint, [{ ...list, find: counted }], above("0"))));
    most.should.equal(1);
  });

  it("names the places of a bounded number of values, however many and however deep they are", async () => {
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`m${n}`, n])));
    const deep = `${'{"a":'.repeat(20)}1${"}".repeat(20)}`;
    const { places } = await tryFilter(endpoint, [listOf([wide, deep, '{"b":[{"c":"a secret"}]}'])], above("0"));
    should(places).containDeep(["json:b.*.c", "header:x-at"]);
    places.length.should.be.within(100, 250);
    should(places.filter((place) => place.startsWith("json:a"))).be.empty();
  });
});
