import fc from "fast-check";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import should from "should";
import { callers, callerToken } from "../harness/callers";
import { moduleOf } from "../harness/fixtures";
import { tab, webhook } from "../harness/flow";
import { endHeld, guaranteed, storeKinds, type TestStore } from "../harness/guaranteed";
import { send } from "../harness/http";
import { NodeRed, type Options } from "../harness/node-red";
import { seed } from "../harness/property";
import { ShownDeliveries } from "../harness/shown-deliveries";

/** A password that is an ordinary word, and one that is an ordinary number: bodies have them by chance. */
const [word, number] = ["thermostat", "20261126"];
/** The token of a caller, and who may send where it is one. */
const ofCaller = callerToken("device");
const byCallers = (...names: string[]) => ({ verificationMethod: "basic", credentials: callers("another", ...names) });
const access = (password: string) => ({ verificationMethod: "basic", credentials: { user: "device", password } });
const basic = (password: string) => ({
  Authorization: `Basic ${Buffer.from(`device:${password}`).toString("base64")}`,
});
const codings: Record<string, (bytes: Buffer) => Buffer> = {
  "": (bytes) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};
const flow = tab(
  ...guaranteed("numbered", access(number)),
  ...guaranteed("named", access(word)),
  ...guaranteed("called", byCallers("device")),
  ...guaranteed("changing", { ...access(word), backoffFirst: 3600 }),
  ...guaranteed("going", access(word)),
  ...guaranteed("losing", { ...byCallers("device"), backoffFirst: 3600 }),
  ...guaranteed("leaving", byCallers("device")),
  webhook("guarded", "/guarded", { guaranteed: true, rawBody: true, ...access(word) }),
  webhook("plain", "/plain", { rawBody: true, ...access(word) }),
);

for (const kind of storeKinds.filter(({ isHere }) => isHere)) {
  describe(`a body in ${kind.name} that has the node's own password in it`, () => {
    let store: TestStore;
    let options: Options;
    let nodeRed: NodeRed;
    let shown: ShownDeliveries;
    before(async () => {
      store = await kind.begin();
      options = { ...store.options, flow, plugin: moduleOf("hold") };
      nodeRed = await NodeRed.start(options);
      shown = new ShownDeliveries(nodeRed);
    });
    after(async () => {
      await nodeRed.stop();
      await store.end();
    });

    const json = { "Content-Type": "application/json" };
    const accepted = async (node: string, password: string, body: string | Buffer, headers: Record<string, string> = json) => {
      const reply = await send(nodeRed.node(`/${node}`), { headers: { ...basic(password), ...headers }, body });
      should(reply.status).equal(200);
      return String(reply.json.id);
    }; // prettier-ignore
    const attempt = async (id: string, count: number) =>
      nodeRed.until(
        () => nodeRed.messages.find(({ _msgid, webhook: { attempt } }) => _msgid === id && attempt === count),
        `attempt ${count} of ${id}`,
      );
    /** All that users and their programs are shown. */
    const allShown = async () => {
      const answers: unknown[] = [...nodeRed.statuses, nodeRed.log.split("\n").filter((line) => line.includes("webhook-trigger"))]; // prettier-ignore
      const { deliveries } = await shown.page("limit=500");
      for (const { id } of deliveries) answers.push(await shown.detail(id));
      for (const path of ["failures", "queues", "nodes", "metrics", "numbered/lastRequest", "named/lastRequest"]) {
        answers.push((await send(nodeRed.admin(`/webhook-trigger/${path}`), { method: "GET" })).body);
      }
      return JSON.stringify([deliveries, answers]);
    };

    for (const [node, password, value] of [
      ["numbered", number, { order: Number(number), all: [1, Number(`-${number}.5`), `no ${number}`] }],
      ["named", word, { device: word, [word]: `a ${word}`, n: 1 }],
      ["called", ofCaller, { device: ofCaller, [ofCaller]: `a ${ofCaller}`, n: 1 }],
    ] as const) {
      it(`reaches the flow as it was sent, at the first attempt, at the second and in a replay, and is not shown: ${password}`, async () => {
        const body = JSON.stringify(value, undefined, 1);
        const id = await accepted(node, password, body);
        should((await attempt(id, 1)).payload).eql(value);
        await endHeld(nodeRed, node, `no order ${password}`);
        should((await attempt(id, 2)).payload).eql(value);
        await endHeld(nodeRed, node);
        await shown.find((each) => each.id === id && each.state === "succeeded");
        const again = String((await shown.replay(id)).json.id);
        should((await attempt(again, 1)).payload).eql(value);
        await endHeld(nodeRed, node);
        const packed = await accepted(node, password, gzipSync(body), { ...json, "Content-Encoding": "gzip" });
        should((await attempt(packed, 1)).payload).eql(value);
        await endHeld(nodeRed, node);
        const clean = JSON.parse(JSON.stringify(value).replaceAll(password, "[redacted]").replaceAll(/:\[redacted\]|-\[redacted\]\.5/g, (found) => `${found.startsWith(":") ? ":" : ""}"[redacted]"`)) as unknown; // prettier-ignore
        for (const each of [id, again, packed]) {
          const detail = await shown.detail(each);
          should(JSON.parse(detail.body.data)).eql(clean);
          should(detail).not.have.property("payload");
          should(String(detail.words)).not.containEql(password);
          should((await shown.page(`text=${password}`)).deliveries).eql([]);
        }
        (await allShown()).should.not.containEql(password);
      });
    }

    for (const [what, password, staying, leaving, fields] of [
      ["password was changed", word, "changing", "going", access("another-password")],
      ["caller was removed", ofCaller, "losing", "leaving", byCallers()],
    ] as const) {
      it(`is not shown either after the ${what}, and when the node is gone`, async () => {
        const body = JSON.stringify({ device: password });
        const ids = [await accepted(staying, password, body), await accepted(leaving, password, gzipSync(body), { ...json, "Content-Encoding": "gzip" })]; // prettier-ignore
        for (const id of ids) await attempt(id, 1);
        const [changing, going] = ids.map(String);
        await nodeRed.deploy(
          flow.filter(({ id }) => id !== leaving).map((node) => (node.id === staying ? { ...node, ...fields } : node)),
        );
        await nodeRed.until(() => nodeRed.messages.filter(({ _msgid }) => _msgid === changing)[1], "the start after the deploy"); // prettier-ignore
        await endHeld(nodeRed, staying, `not ${password}`);
        const failed = await shown.find((each) => each.id === changing && each.state === "retrying");
        should(failed.cause?.error).equal("hold: not [redacted]");
        for (const id of [changing, going]) {
          const detail = await shown.detail(String(id));
          should(JSON.parse(detail.body.data)).eql({ device: "[redacted]" });
          JSON.stringify(detail).should.not.containEql(password);
        }
      });
    }

    it("gives the flow the same payload and raw body as without guaranteed delivery, whatever is around it", async () => {
      const around = fc.string({
        unit: fc.constantFrom(...Array.from('aä"\\ {}[],:&=%+\u20ac\0\r\n0')),
        maxLength: 30,
      });
      const bodies = fc
        .tuple(
          fc.constantFrom("application/json", "text/plain", "text/plain; charset=latin1", "application/json; charset=utf-16le", "application/x-www-form-urlencoded", "application/octet-stream", "multipart/form-data; boundary=b", ""),
          fc.array(around, { minLength: 1, maxLength: 3 }),
          fc.constantFrom(...Object.keys(codings)),
        )
        .map(([type, parts, coding]) => {
          const text = parts.join(word);
          const form = `--b\r\nContent-Disposition: form-data; name="${word}"; filename="f"\r\n\r\n${text}\r\n--b--\r\n`;
          const written = type.includes("json") ? JSON.stringify({ [word]: text }) : type.startsWith("multipart") ? form : text;
          const encoding = type.includes("utf-16") ? "utf16le" : type.includes("latin1") ? "latin1" : "utf8";
          const bytes = Buffer.from(written, encoding);
          const body = codings[coding]?.(bytes) ?? bytes;
          return { body, headers: { "Content-Type": type, ...(coding !== "" && { "Content-Encoding": coding }) } };
        }); // prettier-ignore
      const property = fc.asyncProperty(bodies, async ({ body, headers }) => {
        const [kept, direct] = await Promise.all(
          ["guarded", "plain"].map(async (node) => nodeRed.message(await accepted(node, word, body, headers))),
        );
        should([kept?.payload, kept?.rawBody, kept?.req.files]).eql([direct?.payload, direct?.rawBody, direct?.req.files]); // prettier-ignore
      });
      await fc.assert(property, { seed, numRuns: 40 });
    });
  });
}
