import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { hostOf, moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { endHeld, guaranteed, lookInto, storeKinds, type StoreKind, type TestStore } from "../harness/guaranteed";
import { send, type Reply } from "../harness/http";
import { roots } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

const byFlow = { reply: "flow", replyTimeout: 300 };
/** Nothing may go wrong even once. */
const strict = { attempts: 1, breaker: 1, attemptTimeout: 86_400 };

const flow = tab(
  ...["held", "stopped"].flatMap((id) => guaranteed(id, strict)),
  ...guaranteed("asked", { ...strict, ...byFlow, ignoreDuplicates: true, duplicateKey: "header:Idempotency-Key" }),
  ...guaranteed("plain", { guaranteed: false, ...byFlow }),
  webhook("delayed", "/delayed", { guaranteed: true, ...strict, wires: [["delay", "sink"]] }),
  { id: "delay", type: "delay", pauseType: "delay", timeout: "20", timeoutUnits: "minutes", outputs: 1, wires: [[]] },
  webhook("spawned", "/spawned", { guaranteed: true, ...strict, wires: [["exec", "sink"]] }),
  { id: "exec", type: "exec", command: "sleep 600", addpay: "", append: "", useSpawn: "true", timer: "", oldrc: false, wires: [[], [], []] },
  webhook("refused", "/refused", { guaranteed: true, ...strict, wires: [["complains"]] }),
  { id: "complains", type: "function", outputs: 1, initialize: "", libs: [], wires: [[]],
    func: "context.set('msg', msg); node.on('close', () => node.error('the connection was closed', msg)); global.get('none'); await new Promise(() => {});", finalize: "" },
  { id: "watch", type: "webhook-watch", name: "", scope: null, events: null, wires: [["alerts"]] },
  { id: "alerts", type: "sink", wires: [] },
); // prettier-ignore

const json = { ...bearer, "Content-Type": "application/json" };

for (const kind of storeKinds.filter(({ isHere }) => isHere)) {
  describe(`an orderly stop, with deliveries in ${kind.name}`, () => testStops(kind));
}

function testStops(kind: StoreKind): void {
  let store: TestStore;
  let options: Options;
  let nodeRed: NodeRed;
  before(async () => {
    store = await kind.begin();
    const settings = { ...store.options.settings, runtimeState: { enabled: true, ui: false } };
    options = { ...store.options, flow, plugin: moduleOf("hold"), besides: ["90-exec.js"], settings };
    nodeRed = await NodeRed.start(options);
  });
  after(async () => {
    await nodeRed.stop();
    await store.end();
  });

  const post = (path: string, payload = "any") =>
    send(nodeRed.node(path), { headers: { ...json, "Idempotency-Key": payload }, body: JSON.stringify(payload) });
  const accepted = async (path: string): Promise<string> => {
    const { status, json: reply } = await post(path);
    status.should.equal(200);
    return String(reply.id);
  };
  const starts = (id: string) => nodeRed.messages.filter(({ _msgid }) => _msgid === id);
  const started = async (id: string, count = 1) =>
    nodeRed.until(() => starts(id)[count - 1], `start ${count} of ${id}`);
  const begun = async (sink: string, payload: string) =>
    nodeRed.until(
      () => nodeRed.messages.find((message) => message.sink === sink && message.payload === payload),
      `"${payload}" at ${sink}`,
    );
  /** Ends Node-RED as the system does, and looks into what it has left. */
  const terminated = async (ids: string[]) => {
    await nodeRed.kill("SIGTERM");
    const found = await lookInto(store, async (queue) => Promise.all(ids.map(async (id) => queue.find(id))));
    return found.map((stored) => [stored?.delivery.state, stored?.delivery.attempt, stored?.attempts]);
  };
  const putBack = ["queued", 0, []];
  const startAgain = async () => (nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir }));

  it("puts back what runs, uncounted, and it is started again, also after two stops in a row, and though a node complains", async () => {
    const ids = [await accepted("/held"), await accepted("/delayed"), await accepted("/spawned")];
    const refused = await accepted("/refused");
    const shown = () => new ShownDeliveries(nodeRed);
    for (let stop = 1; stop <= 2; stop++) {
      for (const id of ids) await started(id);
      await shown().find(({ id, state }) => id === refused && state === "running");
      const left = await terminated([...ids, refused]);
      left.should.eql([...ids, refused].map(() => putBack));
      if (kind.name === "a file")
        readdirSync(store.folder)
          .filter((file) => file.endsWith("-wal"))
          .should.be.empty();
      await startAgain();
    }
    for (const id of ids) {
      const { webhook } = await started(id);
      should(webhook).match({ attempt: 1 });
    }
    await shown().find(({ id, state }) => id === refused && state === "running");
    await endHeld(nodeRed, "held");
    await shown().find(({ id, state }) => id === ids[0] && state === "succeeded");
  });

  it("ends no attempt by its timeout while flows are stopped, and it is started again when they run", async () => {
    const id = await accepted("/stopped");
    await started(id);
    await nodeRed.setState("stop");
    const shown = new ShownDeliveries(nodeRed);
    await shown.find((each) => each.id === id && each.state === "queued");
    await nodeRed.startFlows();
    should((await started(id, 2)).webhook).match({ attempt: 1 });
    await endHeld(nodeRed, "stopped");
    await shown.find((each) => each.id === id && each.state === "succeeded");
  });

  for (const [how, end] of [
    ["as Node-RED ends", async () => nodeRed.kill("SIGTERM")],
    ["as flows are stopped", async () => nodeRed.setState("stop")],
  ] as const) {
    it(`answers 503 with Retry-After to senders that wait for a flow's reply, ${how}, and puts back what is guaranteed`, async () => {
      const asking: Promise<Reply>[] = ["/asked", "/plain"].map(async (path) => post(path, how));
      const { _msgid: id } = await begun("hold-asked", how);
      await begun("hold-plain", how);
      const { length } = nodeRed.messages;
      await end();
      for (const { status, headers } of await Promise.all(asking)) {
        should([status, headers["retry-after"]]).eql([503, "10"]);
      }
      const since = nodeRed.running ? length : 0;
      if (nodeRed.running) await nodeRed.startFlows();
      else await startAgain();
      const again = () => nodeRed.messages.slice(since).find(({ _msgid }) => _msgid === id);
      should((await nodeRed.until(again, "the next start")).webhook).match({ attempt: 1 });
      should((await post("/asked", how)).json).eql({ status: "duplicate", id });
    });
  }

  it("is no failure: there is no alert, and no breaker has opened", async () => {
    nodeRed.messages.filter(({ sink }) => sink === "alerts").should.be.empty();
    const { deliveries } = await new ShownDeliveries(nodeRed).page("state=failed");
    deliveries.filter(({ node }) => node !== "plain").should.be.empty();
    nodeRed.log.should.not.match(/paused/);
  });
}

const [inFile] = storeKinds.filter(({ name, isHere }) => name === "a file" && isHere);
if (inFile) {
  describe("a host application that stops its Node-RED and goes on", () => {
    it("has the file of deliveries closed, and what ran is put back", async () => {
      const store = await inFile.begin();
      const held = tab(...guaranteed("held", strict));
      const host = hostOf("stopping-host");
      const settings = { ...store.options.settings, ...roots.separate };
      const nodeRed = await NodeRed.start({ flow: held, plugin: moduleOf("hold"), host, settings });
      const { json: reply } = await send(nodeRed.node("/held"), { headers: json, body: "{}" });
      await nodeRed.message(reply.id);
      await nodeRed.tell({ endRed: true }, "RED ended");
      existsSync(join(store.folder, "webhook-trigger.sqlite-wal")).should.be.false();
      const left = await lookInto(store, async (queue) => queue.find(String(reply.id)));
      should(left).match({ delivery: { state: "queued", attempt: 0 } });
      await nodeRed.kill();
    });
  });
}
