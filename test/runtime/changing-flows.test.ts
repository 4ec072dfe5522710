import should from "should";
import { bearer, tab, webhook } from "../harness/flow";
import { storeKinds, type TestStore } from "../harness/guaranteed";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

/** What flows do to their messages, as function nodes. */
const changes: [id: string, what: string, func: string][] = [
  ["timer", "puts a timer into msg.webhook", "msg.webhook.timer = setTimeout(() => {}, 1e6); msg.webhook.timer.unref();"],
  ["function", "puts a function into msg.webhook and the headers", "msg.webhook.act = msg.req.headers.act = () => 1;"],
  ["promise", "puts a promise into msg.webhook and the headers", "msg.webhook.later = msg.req.headers.later = Promise.resolve();"],
  ["circle", "makes circles", "msg.webhook.self = msg.webhook; msg.req.self = msg.req; msg.req.headers.self = msg.req.headers;"],
  ["nulls", "removes the event, the headers and the URL", "msg.webhook.event = null; msg.req.headers = undefined; delete msg.req.url;"],
  ["gone", "removes msg.webhook and msg.req", "delete msg.webhook; msg.req = 1;"],
  ["headers", "makes the headers of its own request of them", 'msg.headers = msg.req.headers; delete msg.headers["content-type"]; msg.headers["x-upstream"] = "key-of-another-api";'],
  ["values", "changes the event, the id, a parameter, the path and the method", 'msg.webhook.event = "changed"; msg.webhook.id = {}; msg.req.params.id = "changed"; msg.req.path = msg.req.method = "changed";'],
  ["bytes", "changes the payload and the raw body", 'for (const each of [msg.payload, msg.rawBody]) if (Buffer.isBuffer(each)) each.fill("x"); else each.order = "changed";'],
]; // prettier-ignore
const end = (id: string) => `${id === "gone" ? "" : 'msg.topic = msg.webhook?.event ?? "none";'} return msg;`;

/** How the nodes are set up, of which each change has one, by the first part of their paths. */
const inMemory: [way: string, how: string, fields: Record<string, unknown>][] = [
  ["now", "", {}],
  ["by-flow", ", with a reply by the flow", { reply: "flow" }],
];
const inStore: typeof inMemory = [
  ...inMemory,
  ["guaranteed", ", with guaranteed delivery", { guaranteed: true, attempts: 1 }],
  ["guaranteed-by-flow", ", with guaranteed delivery and a reply by the flow", { guaranteed: true, attempts: 1, reply: "flow" }],
]; // prettier-ignore

const flow = (ways: typeof inMemory) =>
  tab(
    ...ways.flatMap(([way, , fields]) =>
      changes.flatMap(([id, , func]) => [
        webhook(`${way}-${id}`, `/${way}/${id}/:id`, { rawBody: true, ...fields, wires: [[`does-${way}-${id}`]] }),
        { id: `does-${way}-${id}`, type: "function", func: `${func} ${end(id)}`, wires: [fields.reply === "flow" ? ["response"] : []] },
      ]),
    ),
    { id: "response", type: "http response", statusCode: "200", headers: {}, wires: [] },
  ); // prettier-ignore

for (const kind of [undefined, ...storeKinds.filter(({ isHere }) => isHere)]) {
  const ways = kind ? inStore : inMemory;
  describe(`a flow changes its message, and nothing that is kept in ${kind?.name ?? "memory"},`, () => {
    let store: TestStore | undefined;
    let nodeRed: NodeRed;
    let shown: ShownDeliveries;
    before(async () => {
      store = await kind?.begin();
      nodeRed = await NodeRed.start({ ...store?.options, flow: flow(ways) });
      shown = new ShownDeliveries(nodeRed);
    });
    after(async () => {
      await nodeRed.stop();
      await store?.end();
    });

    const json = { ...bearer, "Content-Type": "application/json", "X-Kind": "order" };
    const post = (path: string, headers: Record<string, string> = json, body: string | Buffer = '{"order":42}') =>
      send(nodeRed.node(path), { headers, body });

    for (const [way, how] of ways) {
      for (const [id, what] of changes) {
        it(`where it ${what}${how}`, async () => {
          // Others that come in the same turn are not affected.
          const replies = await Promise.all([post(`/${way}/${id}/7?a=1`), post(`/${way}/headers/8`), post(`/${way}/${id}/9`)]);
          for (const { status } of replies) should(status).equal(200);
          const node = `node=${way}-${id}`;
          const first = await shown.find(({ path, status, state }) => path === `/${way}/${id}/7` && status === 200 && state === "succeeded", node);
          should(first).containDeep({ method: "POST", event: null, senderId: null, reason: null });
          const { headers, query, body, payload } = await shown.detail(first.id);
          should(headers).containDeep({ "content-type": "application/json", "x-kind": "order" });
          should(headers).not.have.property("x-upstream");
          should([query, body.data, payload]).eql([{ a: "1" }, '{"order":42}', { order: 42 }]);
          const { json: again } = await shown.replay(first.id);
          await shown.find((each) => each.id === again.id && each.state === "succeeded", node);
          const detail = await shown.detail(String(again.id));
          should([detail.headers, detail.query, detail.body, detail.payload]).eql([headers, query, body, payload]);
        }); // prettier-ignore
      }

      it(`where it overwrites a Buffer${how}`, async () => {
        const bytes = Buffer.from([0, 255, 1, 2]);
        await post(`/${way}/bytes/1`, { ...bearer, "Content-Type": "application/octet-stream" }, bytes);
        const first = await shown.find((each) => each.path === `/${way}/bytes/1` && each.state === "succeeded");
        const { json: again } = await shown.replay(first.id);
        await shown.find((each) => each.id === again.id && each.state === "succeeded");
        for (const id of [first.id, String(again.id)]) {
          should((await shown.detail(id)).body).eql({ encoding: "base64", data: bytes.toString("base64"), truncated: false }); // prettier-ignore
        }
      });
    }

    it("without a request that is refused, and without an error", async () => {
      (await shown.page("state=refused")).deliveries.should.eql([]);
      nodeRed.log.should.not.match(/\(500\)|could not be|DataCloneError|Uncaught/);
      nodeRed.running.should.be.true();
    });
  });
}
