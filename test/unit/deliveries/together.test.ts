import assert from "node:assert/strict";
import { createClient } from "@redis/client";
import { clientIsHere } from "../../../src/deliveries/valkey/module";
import { ValkeyStore, type ValkeyOptions } from "../../../src/deliveries/valkey-store";
import { bytes, claimsOf, delivered, Shelf } from "../../harness/stores";
import { serverIsHere, ValkeyServer } from "../../harness/valkey";

describe("Deliveries that a server is asked for together", () => {
  let server: ValkeyServer | undefined;
  let shelf: Shelf;

  before(async function () {
    if (!serverIsHere || !clientIsHere()) this.skip();
    server = await ValkeyServer.start();
  });
  after(async () => server?.stop());
  beforeEach(() => {
    shelf = new Shelf();
  });
  afterEach(async () => shelf.clear());

  const create = (namespace: string, rest: Partial<ValkeyOptions> = {}) =>
    new ValkeyStore({ url: server?.url() ?? "", namespace, maxAge: Infinity, ...rest });
  const open = (id: string, node = "n") => delivered(id, { node, state: "running", attempt: 1 });
  const tell = async (...command: string[]) => {
    const client = createClient({ url: server?.url() ?? "" });
    await client.connect();
    const answer = await client.sendCommand(command);
    client.destroy();
    return answer;
  };
  const outcomes = async (work: Promise<unknown>[]) => (await Promise.allSettled(work)).map(({ status }) => status);

  it("changes the others where one cannot be changed", async () => {
    const store = await shelf.opened(create("changes"));
    for (const id of ["good", "bad"]) await store.add(open(id, id), bytes);
    await tell("DEL", "{webhook-trigger:changes}:log:bad");
    const work = ["good", "bad"].map(async (id) => store.change(id, { state: "succeeded" }));
    assert.deepEqual(await outcomes(work), ["fulfilled", "rejected"]);
    assert.deepEqual(await store.counts("good"), { succeeded: 1 });
    await shelf.closed(store);
    assert.deepEqual(await claimsOf(await shelf.opened(create("changes")), "good", 10), [[]]);
  });

  it("adds the others whole where one cannot be added, and does not promise that one", async () => {
    const store = await shelf.opened(create("adds"));
    await store.add(open("first", "bad"), bytes);
    await tell("XGROUP", "DESTROY", "{webhook-trigger:adds}:log:bad", "instances");
    const work = ["bad", "good"].map(async (id) => store.add(open(id, id), bytes));
    assert.deepEqual(await outcomes(work), ["rejected", "fulfilled"]);
    assert.deepEqual(await store.counts("good"), { running: 1 });
    await shelf.closed(store);
    assert.deepEqual(await claimsOf(await shelf.opened(create("adds")), "good", 10), [["good"]]);
  });

  it("ends what it was asked once more to add", async () => {
    const store = await shelf.opened(create("ended", { maxBytes: 8000 }));
    const added = outcomes([store.add(open("fits"), bytes), store.add(open("large"), Buffer.alloc(6000))]);
    // Both are on their way, and the change would be before the second try.
    await new Promise((resolve) => setImmediate(resolve));
    const changed = store.change("fits", { state: "succeeded", status: 200 });
    await outcomes([store.add(open("other", "m"), bytes)]);
    await changed;
    assert.deepEqual(await added, ["fulfilled", "rejected"]);
    assert.deepEqual(await store.counts("n"), { succeeded: 1 });
  });

  it("changes what was added in the same turn after it, when something else is changed first", async () => {
    const store = await shelf.opened(create("turn"));
    await store.add(open("one"), bytes);
    const first = store.change("one", { status: 200 });
    const added = store.add(open("other"), bytes);
    await Promise.all([first, added, store.change("other", { state: "succeeded" })]);
    assert.deepEqual(await store.counts("n"), { running: 1, succeeded: 1 });
  });

  it("still works on what is changed beside what begins again", async () => {
    const store = await shelf.opened(create("again"));
    await store.add(delivered("over"), bytes);
    await store.add(open("open"), bytes);
    await Promise.all([store.change("over", { state: "running" }), store.change("open", { state: "queued" })]);
    await shelf.closed(store);
    assert.deepEqual(await claimsOf(await shelf.opened(create("again")), "n", 10), [["over", "open"]]);
  });

  it("keeps to its room though many large ones take the place of small ones", async () => {
    const maxBytes = 500_000;
    const store = await shelf.opened(create("room", { maxBytes }));
    const addAll = async (name: string, number: number, size: number) =>
      Promise.all(Array.from({ length: number }, async (_, index) => store.add(delivered(`${name}${index}`), Buffer.alloc(size)))); // prettier-ignore
    await addAll("small", 300, 0);
    await addAll("large", 50, 9000);
    const used = Number(await tell("GET", "{webhook-trigger:room}:bytes"));
    assert.ok(used <= maxBytes, `${used}`);
    assert.deepEqual(shelf.told.said, []);
  });

  it("drops nothing in vain where the server has no memory left", async () => {
    const store = await shelf.opened(create("memory"));
    await Promise.all(Array.from({ length: 100 }, async (_, index) => store.add(delivered(`old${index}`), bytes)));
    await tell("CONFIG", "SET", "maxmemory", "1");
    try {
      const work = Array.from({ length: 50 }, async (_, index) => store.add(open(`new${index}`, "m"), Buffer.alloc(20_000))); // prettier-ignore
      const added = (await outcomes(work)).filter((outcome) => outcome === "fulfilled");
      assert.notEqual(added.length, 0);
      assert.deepEqual(await store.counts("m"), { running: added.length });
    } finally {
      await tell("CONFIG", "SET", "maxmemory", "0");
    }
  });
});
