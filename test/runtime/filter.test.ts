import { createHmac } from "node:crypto";
import { Agent } from "node:http";
import should from "should";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { bytesOf, endHeld, guaranteed, storeKinds, type TestStore } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

const secret = "key";
const github = { sender: "github", verificationMethod: "signature", credentials: { secret } };
const reading = { place: "json:temperature", operator: "above", value: "${LIMIT}" };
const outputs = { outputPerEvent: true, outputs: 3, wires: [["pushed"], [], ["sink"]] };
const named = (id: string) => ({
  id,
  type: "change",
  rules: [{ t: "set", p: "output", pt: "msg", to: id, tot: "str" }],
});

const flow = tab(
  webhook("some", "/some", { ...github, events: ["push", "issue*"] }),
  webhook("routed", "/routed", { ...github, events: ["push", "star", "issue*"], ...outputs }),
  webhook("warm", "/warm", { conditions: [reading, { place: "query:room", operator: "exists" }] }),
  webhook("why", "/why", { conditions: [{ ...reading, place: "json:degrees" }, { place: "query:room", operator: "exists" }] }),
  webhook("listed", "/listed", { ...github, events: ["push"] }),
  webhook("tried", "/tried", { ...github, events: ["push", "issues"] }),
  webhook("custom", "/custom", { ...github, events: ["push"], replyStatus: "202", replyBody: "seen", replyType: "text/plain" }),
  webhook("asking", "/asking", { ...github, events: ["push"], reply: "flow" }),
  webhook("plain", "/plain", { events: ["push"] }),
  webhook("batches", "/batches", { sender: "azure-eventgrid", events: ["Created", "Deleted"], ...outputs, outputs: 2, wires: [["sink"], ["pushed"]] }),
  webhook("anyWarm", "/anyWarm", { conditions: [{ ...reading, place: "json:readings.*.temperature" }], ignoreDuplicates: true, duplicateKey: "json:readings.*.id" }),
  { ...named("pushed"), wires: [["sink"]] },
); // prettier-ignore

/** A request of GitHub, signed. */
function signed(event: string | undefined, body = '{"action":"opened"}') {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "Content-Type": "application/json", "X-Hub-Signature-256": `sha256=${signature}` };
  return { headers: { ...headers, ...(event !== undefined && { "X-GitHub-Event": event }) }, body };
}

onBothWays("a webhook with a filter", { flow, env: { LIMIT: "20.5" } }, (nodeRed) => {
  const call = (path: string, event?: string, body?: string) => send(nodeRed().node(path), signed(event, body));
  const read = (path: string, body: string) =>
    send(nodeRed().node(path), { headers: { ...bearer, "Content-Type": "application/json" }, body });
  const filtered = async (path: string, event?: string) => {
    const { status, json } = await call(path, event);
    should([status, json]).eql([200, { status: "filtered" }]);
  };

  it("starts the flow for its events only, and answers others with 200", async () => {
    const { length } = nodeRed().messages;
    for (const event of ["star", "Push", "pushed", undefined]) await filtered("/some", event);
    for (const event of ["push", "issues", "issue_comment"]) {
      const { json } = await call("/some", event);
      should((await nodeRed().message(json.id)).topic).equal(event);
    }
    nodeRed().messages.length.should.equal(length + 3);
    should(await nodeRed().status("some", /filtered: 4/)).match({ fill: "green" });
  });

  it("refuses a request with a wrong signature before it looks at its event", async () => {
    const { headers } = signed("star");
    const forged = await send(nodeRed().node("/some"), { headers, body: "{}" });
    forged.status.should.equal(401);
  });

  it("has an output for each event where wanted, so that each starts a flow of its own", async () => {
    const { json: pushed } = await call("/routed", "push");
    should(await nodeRed().message(pushed.id)).match({
      topic: "push",
      keys: (keys: string[]) => keys.includes("output"),
    });
    const { json: issue } = await call("/routed", "issues");
    should((await nodeRed().message(issue.id)).keys).not.containEql("output");
    const { length } = nodeRed().messages;
    should((await call("/routed", "star")).json.status).equal("accepted");
    await call("/routed", "push").then(({ json }) => nodeRed().message(json.id));
    nodeRed().messages.length.should.equal(length + 1);
  });

  it("delivers a batch whole, with the topic and by the output of the first of its events that is on the list", async () => {
    const batch = (...types: string[]) => types.map((eventType, index) => ({ id: String(index), eventType }));
    const sendBatch = (...types: string[]) => read("/batches", JSON.stringify(batch(...types)));
    for (const [types, topic, isPushed] of [
      [["Renamed", "Deleted", "Created"], "Deleted", true],
      [["Created", "Deleted"], "Created", false],
    ] as const) {
      const { json } = await sendBatch(...types);
      const message = await nodeRed().message(json.id);
      should(message).match({ topic, payload: batch(...types), webhook: { event: topic, id: "0" } });
      message.keys.includes("output").should.equal(isPushed);
    }
    should((await sendBatch("Renamed", "Moved")).json).eql({ status: "filtered" });
    should((await sendBatch()).json).eql({ status: "filtered" });
  });

  it("starts the flow where all conditions hold, with values from the environment", async () => {
    const { json } = await read("/warm?room=1", '{"temperature":21}');
    should((await nodeRed().message(json.id)).payload).eql({ temperature: 21 });
    for (const [path, body] of [
      ["/warm?room=1", '{"temperature":20.5}'],
      ["/warm", '{"temperature":30}'],
      ["/warm?room=1", '{"temp":30}'],
      ["/warm?room=1", '"no object"'],
    ] as const)
      should((await read(path, body)).json).eql({ status: "filtered" });
  });

  it("starts the flow where a condition holds for one element of a list, once for the same elements", async () => {
    const reading = (id: number, temperature: number) => ({ id, temperature });
    const sendAll = async (...readings: object[]) => (await read("/anyWarm", JSON.stringify({ readings }))).json;
    const { id } = await sendAll(reading(1, 3), reading(2, 21));
    should(await nodeRed().message(id)).match({ payload: { readings: [reading(1, 3), reading(2, 21)] } });
    should(await sendAll(reading(2, 21), reading(1, 3))).eql({ status: "duplicate", id });
    should(await sendAll(reading(2, 21), reading(3, 3))).match({ status: "accepted" });
    should(await sendAll(reading(4, 3), reading(5, 20.5))).eql({ status: "filtered" });
  });

  it("answers a filtered request as an accepted one: as configured, and at once where the flow replies", async () => {
    const { status, headers, body } = await call("/custom", "star");
    should([status, headers["content-type"], body]).eql([202, "text/plain", "seen"]);
    await filtered("/asking", "star");
  });

  it("shows why it has filtered a request if asked for that, and replays it whatever the filter says", async () => {
    const shown = new ShownDeliveries(nodeRed());
    const last = async (node: string) => (await shown.page(`state=filtered&node=${node}`)).deliveries[0];
    await read("/why?room=1", `{"degrees":20,"by":"${token}"}`);
    const [place, operator, value] = ["json:degrees", "above", "20.5"];
    const found = await last("why");
    should(found).match({ state: "filtered", status: 200, why: { place, operator, value, found: "20" } });
    should(found?.reason).match(/json:degrees is above 20\.5.*20/);
    should(found?.fix).be.a.String();
    const id = found?.id ?? "";
    const { body, attempts, headers } = await shown.detail(id);
    should(body.data).equal('{"degrees":20,"by":"[redacted]"}');
    should(attempts).be.empty();
    should(headers).not.have.property("authorization");
    const { json } = await shown.replay(id);
    should(await nodeRed().message(json.id)).match({ payload: { degrees: 20, by: token }, webhook: { replay: true } });
    should((await shown.page("node=why")).deliveries.map(({ state }) => state)).eql(["succeeded"]);

    await read("/why", `{"degrees":21,"by":"${"x".repeat(70_000)}"}`);
    const large = await last("why");
    should(large?.why).eql({ place: "query:room", operator: "exists", value: "", found: null });
    should((await shown.replay(large?.id ?? "")).json).match({ code: "bodyMissing" });
    await call("/listed", "star");
    should(await last("listed")).match({
      event: "star",
      why: { place: "event", operator: "listed", value: "push", found: "star" },
    });
  });

  it("tries a filter on the last requests, those that it has filtered included, and says where they have values", async () => {
    const tryOut = async (events: string[], conditions: object[]) => {
      const { status, json } = await command(nodeRed().admin("/webhook-trigger/tried/filter"), { events, conditions });
      should(status).equal(200);
      return json as { of: number; passing: number; not: { id: string; why: object }[]; places: string[] };
    };
    const known: string[] = [];
    for (const [event, body] of [
      ["push", '{"n":1,"list":[{"a":{"b":1}}],"x.y":1}'],
      ["issues", '{"n":2}'],
      ["star", '{"n":3}'],
    ] as const) {
      await call("/tried?room=1", event, body);
      const { deliveries } = await new ShownDeliveries(nodeRed()).page(
        `node=tried${event === "star" ? "&state=filtered" : ""}`,
      );
      known.unshift(deliveries[0]?.id ?? "");
    }
    const why = (place: string, operator: string, value: string, found: string | null) => ({
      place,
      operator,
      value,
      found,
    });
    const { places, ...all } = await tryOut([], []);
    should(all).eql({ of: 3, passing: 3, not: [] });
    should(places).containDeep(["json:n", "json:list.*.a.b", "query:room", "header:x-github-event"]);
    should(places.filter((place) => place.includes("x.y"))).be.empty();
    should(await tryOut(["push", "st*"], [])).match({
      passing: 2,
      not: [{ id: known[1], why: why("event", "listed", "push, st*", "issues") }],
    });
    const { not } = await tryOut([], [{ place: "json:n", operator: "above", value: 2 }]);
    should(not).eql([2, 1].map((n) => ({ id: known[3 - n], why: why("json:n", "above", "2", String(n)) })));
    should(await tryOut(["push"], [{ place: "json:no", operator: "exists" }])).match({
      of: 3,
      passing: 0,
      not: [{}, {}, { why: why("json:no", "exists", "", null) }],
    });
  });

  it("filters every request where the sender names no event", async () => {
    should((await read("/plain", "{}")).json).eql({ status: "filtered" });
  });

  it("counts what it filters, and remembers the events for the form", async () => {
    const { json } = await send(nodeRed().admin("/webhook-trigger/some/lastRequest"), { method: "GET" });
    should(json).match({ filtered: 4, accepted: 3, filteredEvents: ["pushed", "Push", "star"] });
    const { body } = await send(nodeRed().admin("/webhook-trigger/metrics"), { method: "GET" });
    body.should.match(/deliveries_total\{node="some",outcome="filtered"\} 4/);
  });
});

const memory: Pick<TestStore, "options" | "end"> = { options: {}, end: () => Promise.resolve() };
const engines = [
  { name: "memory", begin: () => Promise.resolve(memory) },
  ...storeKinds.filter(({ isHere }) => isHere),
];

for (const engine of engines) {
  describe(`a thousand filtered requests, with deliveries in ${engine.name}`, () => {
    const isStored = engine.name !== "memory";
    const wanted = { ...github, events: ["push", "issues"], outputPerEvent: true, outputs: 2 };
    let store: TestStore | typeof memory;
    let nodeRed: NodeRed;
    before(async () => {
      store = await engine.begin();
      const nodes = guaranteed("hook", { ...wanted, guaranteed: isStored, wires: [[], ["hold-hook"]] });
      nodeRed = await NodeRed.start({ flow: tab(...nodes), ...store.options, plugin: moduleOf("hold") });
    });
    after(async () => {
      await nodeRed.stop();
      await store.end();
    });

    it("leave store and list as they were, and the next wanted one is delivered by the output of its event", async () => {
      const shown = new ShownDeliveries(nodeRed);
      const call = (event: string, agent?: Agent) =>
        send(nodeRed.node("/hook"), { ...signed(event), ...(agent && { agent }) });
      const first = await call("push");
      const before = await shown.find(({ id, state }) => id === first.json.id && state === "succeeded");
      const size = () => ("folder" in store ? bytesOf(store).length : 0);
      const stored = size();
      const agent = new Agent({ keepAlive: true, maxSockets: 20 });
      for (let sent = 0; sent < 1000; sent += 20) {
        const replies = await Promise.all(Array.from({ length: 20 }, () => call("star", agent)));
        for (const { status, json } of replies) should([status, json]).eql([200, { status: "filtered" }]);
      }
      agent.destroy();
      should((await shown.page()).deliveries.map(({ id }) => id)).eql([before.id]);
      (await shown.page("state=filtered")).deliveries.should.have.length(20);
      // A server writes what its clients ask it for besides: a thousand deliveries take some hundred kilobytes.
      size().should.be.below(stored + 50_000);
      const { json } = await call("issues");
      should((await nodeRed.message(json.id)).topic).equal("issues");
      if (isStored) await endHeld(nodeRed, "hook");
      await shown.find(({ id, state }) => id === json.id && state === "succeeded");
    });
  });
}
