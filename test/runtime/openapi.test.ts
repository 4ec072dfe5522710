import should from "should";
import document from "../../docs/openapi.json";
import { sqliteIsHere } from "../../src/config/stores";
import { exportsOf, settingsOf } from "../harness/fixtures";
import { callers } from "../harness/callers";
import { bearer, tab, webhook } from "../harness/flow";
import { endHeld, guaranteed, storeIn } from "../harness/guaranteed";
import { send } from "../harness/http";
import { NodeRed, type Options } from "../harness/node-red";
import { deviationsOf, errorsOf, invalidities, objectsOf, operations } from "../harness/openapi";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

/** A call of the admin API, and the status of its answer: each documented status needs one. */
type Row = [operation: string, status: number, call?: { id?: string; search?: string; body?: unknown }];

const json = { "Content-Type": "application/json" };
const operator = { Authorization: "Bearer *", ...json };

const flow = tab(
  webhook("orders", "/orders", { ignoreDuplicates: true, duplicateKey: "header:X-Id" }),
  webhook("split", "/split", { sender: "github", verificationMethod: "signature", credentials: { secret: "key" }, events: ["push"], outputPerEvent: true }),
  webhook("adyen", "/adyen", { sender: "adyen", verificationMethod: "signature", credentials: { secret: "ab12" } }),
  webhook("two", "/two", { verificationMethod: "basic", credentials: { user: "sensor", password: "old", secondPassword: "new" } }),
  webhook("local", "/local", { allowFrom: "192.0.2.1" }),
  webhook("late", "/late", { reply: "flow", replyTimeout: 1 }),
  webhook("silent", "/silent", { alertWhenSilent: 1e-6, alertPerCaller: true, credentials: callers("door 1") }),
  webhook("closed", "/not a path"),
  webhook("cold", "/cold", { conditions: [{ place: "json:degrees", operator: "above", value: 20 }] }),
  webhook("notion", "/notion", { verificationMethod: "signature", sender: "notion", senderSettings: { arm: true }, credentials: {} }),
  ...guaranteed("safe", { backoffFirst: 3600 }),
); // prettier-ignore

const base: Options = {
  flow,
  code: settingsOf("admin-tokens"),
  plugin: `module.exports = (RED) => [${exportsOf("hold")}, ${exportsOf("admin-api")}].forEach((add) => add(RED));`,
};

interface Met {
  accepted: string;
  refused: string;
  running: string;
  retrying: string;
  all: string[];
}

/** Has a Node-RED meet requests of all kinds, and returns the ids of their deliveries. */
async function meetRequests(nodeRed: NodeRed): Promise<Met> {
  const shown = new ShownDeliveries(nodeRed, operator);
  const post = (path: string, headers: Record<string, string>, body: string | Buffer = '{"a":1}') =>
    send(nodeRed.node(path), { headers: { ...json, ...headers }, body });
  const { json: reply } = await post("/orders?color=red&color=blue", { ...bearer, "X-Id": "1" });
  for (const [path, headers, body] of [
    ["/orders", { ...bearer, "X-Id": "1" }],
    ["/orders", bearer, Buffer.from([0xff])],
    ["/orders", { "X-GitHub-Event": "push", "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` }],
    ["/two", { Authorization: `Basic ${btoa("sensor:new")}` }],
    ["/local", bearer],
    ["/late", bearer],
    ["/cold", bearer],
    ["/nobodys", bearer],
    ["/notion", {}, '{"verification_token":"secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"}'],
    ["/safe", bearer],
  ] as const) {
    await post(path, headers, body);
  }
  await nodeRed.status("safe", /running/);
  await endHeld(nodeRed, "safe", "the database is away");
  await nodeRed.status("safe", /retrying/);
  await post("/safe", bearer);
  const { id: refused } = await shown.find(({ node, state }) => node === "orders" && state === "refused");
  const { id: running } = await shown.find(({ node, state }) => node === "safe" && state === "running");
  const { deliveries } = await shown.page();
  const { id: retrying } = await shown.find(({ state }) => state === "retrying");
  return { accepted: String(reply.id), refused, running, retrying, all: deliveries.map(({ id }) => id) };
}

function rowsOf({ accepted, refused, running, retrying, all }: Met): Row[] {
  const [id, body] = [accepted, {}];
  return [
    ["get deliveries", 200, { search: "?limit=2" }],
    ["get deliveries", 200],
    ["get deliveries", 200, { search: "?state=filtered" }],
    ["get deliveries", 400, { search: "?limit=0" }],
    ...all.map((each): Row => ["get deliveries/{id}", 200, { id: each }]),
    ["get deliveries/{id}", 404],
    ["post deliveries/{id}/replay", 200, { id, body }],
    ["post deliveries/{id}/replay", 200, { id, body: { payload: 1 } }],
    ["post deliveries/{id}/replay", 400, { id, body: [] }],
    ["post deliveries/{id}/replay", 404, { body }],
    ["post deliveries/{id}/replay", 409, { id: refused, body }],
    ["get failures", 200, { search: "?node=late" }],
    ["post failures/replay", 200, { body: { node: "late", error: "HTTP 504", last: Date.now() } }],
    ["post failures/replay", 400, { body: {} }],
    ["post failures/replay", 400, { body: { node: "late", error: "HTTP 504", last: 1e15, after: 5 } }],
    ["post failures/replay", 400, { body: '{ "node": "late", "error": "HTTP 504", "last": 1e400 }' }],
    ["get session", 200],
    ["get nodes", 200],
    ["get changes", 200],
    ["post {node}/test", 200, { id: "orders", body: { delivery: id } }],
    ["post {node}/test", 200, { id: "closed" }],
    ["post {node}/test", 200, { id: "split" }],
    ["post {node}/test", 200],
    ["post {node}/test", 200, { id: "split", body: { sample: "Push to a branch", send: false } }],
    [
      "post {node}/test",
      200,
      { id: "adyen", body: { method: "POST", headers: json, body: "e30=", encoding: "base64" } },
    ],
    ["post {node}/test", 400, { id: "orders", body: { sample: "Push to a branch" } }],
    ["post callers", 200, { body: { names: ["door 1", "door 2"] } }],
    ...[[], [""], [" door"], ["Door", "door"], ["a\nb"], "door", Array(1001).fill("door")].map((names): Row => ["post callers", 400, { body: { names } }]), // prettier-ignore
    ...["silent", "adyen"].map((node): Row => ["get {node}/callers", 200, { id: node }]),
    ["get {node}/callers", 404],
    ["get samples/{sender}", 200, { id: "github" }],
    ["get samples/{sender}", 404],
    ...["orders", "two", "local", "late", "notion"].map((node): Row => ["get {node}/lastRequest", 200, { id: node }]),
    ["get {node}/lastRequest", 404],
    [
      "post {node}/filter",
      200,
      { id: "cold", body: { events: [], conditions: [{ place: "body", operator: "missing" }] } },
    ],
    ["post {node}/filter", 400, { id: "cold", body: { events: ["${EVENT}"], conditions: [] } }],
    ["post {node}/filter", 400, { id: "cold", body: { events: ["x".repeat(10_000)], conditions: [] } }],
    ...["header:X-Api-Key", "query:code", "header:x-hub-signature-256"].map((place): Row => ["post {node}/filter", 400, { id: "cold", body: { events: [], conditions: [{ place, operator: "contains", value: "a" }] } }]), // prettier-ignore
    ["post {node}/filter", 404, { body: { events: [], conditions: [] } }],
    ["post {node}/secret", 200, { id: "notion" }],
    ["post {node}/secret", 404, { id: "notion" }],
    ["post {node}/pause", 204, { id: "safe" }],
    ["get queues", 200],
    ["get deliveries", 200, { search: "?node=safe" }],
    ...["retry", "stop"].flatMap((act): Row[] => [
      [`post deliveries/{id}/${act}`, 204, { id: retrying }],
      [`post deliveries/{id}/${act}`, 409, { id: running }],
      [`post deliveries/{id}/${act}`, 404],
    ]),
    ["post {node}/resume", 204, { id: "safe" }],
    ...["pause", "resume"].flatMap((act): Row[] => [
      [`post {node}/${act}`, 409, { id: "orders" }],
      [`post {node}/${act}`, 404],
    ]),
    ["get silent", 200],
    ["get traffic", 200, { search: "?node=orders" }],
    ["get traffic", 400, { search: "?node=orders&node=two" }],
    ["get metrics", 200],
    ["delete deliveries/{id}", 409, { id: running }],
    ["delete deliveries/{id}", 204, { id: refused }],
    ["delete deliveries/{id}", 404, { id: refused }],
    ["delete deliveries", 400],
    ["delete deliveries", 400, { search: "?state=gone" }],
    ["delete deliveries", 200, { search: "?node=orders&state=refused" }],
  ];
}

/** While the store fails. */
const whileStoreFails: Row[] = [
  ["get deliveries", 503],
  ["get deliveries/{id}", 503],
  ["post deliveries/{id}/replay", 503, { body: {} }],
  ["get failures", 503],
  ["delete deliveries/{id}", 503],
  ["delete deliveries", 503, { search: "?state=failed" }],
  ["post failures/replay", 503, { body: { node: "safe", error: "", last: 0 } }],
  ["post deliveries/{id}/retry", 503],
  ["post deliveries/{id}/stop", 503],
  ["post {node}/pause", 503, { id: "safe" }],
  ["post {node}/resume", 503, { id: "safe" }],
  ["post {node}/filter", 503, { id: "orders", body: { events: [], conditions: [] } }],
];

describe("docs/openapi.json", () => {
  /** Each operation and status that was seen, and each name in an answer. */
  const [answered, named] = [new Set<string>(), new Set<string>()];
  const call = async (nodeRed: NodeRed, [operation, status, { id = "nobody", search = "", body } = {}]: Row) => {
    const [method = "", path = ""] = operation.split(" ");
    const url = nodeRed.admin(`/webhook-trigger/${path.replace(/\{\w+\}/, id)}${search}`);
    const reply = await send(url, { method: method.toUpperCase(), headers: operator, body: typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body) });
    should([operation, id, reply.status, deviationsOf(operation, reply)]).eql([operation, id, status, ""]);
    const { request } = operations.get(operation) ?? {};
    if (status < 300 && body !== undefined) errorsOf(request?.["application/json"]?.schema ?? false, body).should.equal("");
    answered.add(`${operation} ${status}`);
    for (const name of objectsOf(reply.json).flatMap(Object.keys)) named.add(name);
  }; // prettier-ignore
  /** Starts a Node-RED for a test. */
  const using = async (options: Options, test: (nodeRed: NodeRed) => Promise<void>) => {
    const nodeRed = await NodeRed.start({ ...base, ...options });
    try {
      await test(nodeRed);
    } finally {
      await nodeRed.stop();
    }
  };

  it("is valid, its examples are, and it allows no property in an answer that it does not describe", () => {
    invalidities().should.equal("");
    for (const { schema, example } of objectsOf(document).filter((each) => "schema" in each && "example" in each)) {
      errorsOf(schema as object, example).should.equal("");
    }
    const isClosed = ({ $ref, additionalProperties, unevaluatedProperties }: Record<string, unknown>) =>
      $ref !== undefined || additionalProperties === false || unevaluatedProperties === false;
    // What two others refer to, which are closed.
    const { DeliverySummary: _, ...schemas } = document.components.schemas;
    const open = objectsOf({ ...document, components: { ...document.components, schemas } }).filter(
      (each) => each.properties !== undefined && !isClosed(each),
    );
    open.should.eql([]);
  });

  if (sqliteIsHere()) {
    it("has each route and what it answers, with deliveries in memory and in a file", async () => {
      await using({}, async (nodeRed) => {
        const unnamed = (route: string) => route.replace(/:\w+|\{\w+\}/, "{}");
        const routes = JSON.parse(await nodeRed.ask({ routes: true }, "routes: ")) as string[];
        const documented = [...operations.keys()].map(unnamed).sort();
        routes
          // The files of the page.
          .filter((route) => !/\/(?:page\.\w+|deliveries\.css)?$/.test(route))
          .map((route) => unnamed(route.replace("/webhook-trigger/", "")))
          .sort()
          .should.eql(documented);
        for (const row of rowsOf(await meetRequests(nodeRed))) await call(nodeRed, row);
      });
    });
  }
  if (serverIsHere) {
    it("has what each route answers with deliveries in a server", async () => {
      const server = await ValkeyServer.start();
      try {
        await using(storeIn(server).options, async (nodeRed) => {
          for (const row of rowsOf(await meetRequests(nodeRed))) await call(nodeRed, row);
        });
      } finally {
        await server.stop();
      }
    });
  }

  it("has what each route answers while the store fails", async () => {
    await using({ settings: { webhookTriggerStore: { type: "sqlite", folder: "/nowhere/at/all" } } }, async (nodeRed) => {
      for (const row of whileStoreFails) await call(nodeRed, row);
    });
  }); // prettier-ignore

  it("has no answer and no property that these tests have not seen", () => {
    const described = [...operations].flatMap(([operation, { responses }]) =>
      // `permissions.test.ts` has these of each.
      Object.keys(responses).filter((status) => !["401", "403", "415", "default"].includes(status)).map((status) => `${operation} ${status}`),
    ); // prettier-ignore
    described.filter((each) => !answered.has(each)).should.eql([]);
    const answers = [...operations.values()].map(({ responses }) => responses);
    const names = objectsOf([answers, document.components.schemas]).flatMap(({ properties }) => Object.keys(properties ?? {})); // prettier-ignore
    names.filter((name) => !named.has(name)).should.eql([]);
  });
});
