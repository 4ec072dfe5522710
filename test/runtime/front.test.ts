import should from "should";
import { inspect, isDeepStrictEqual } from "node:util";
import { hostOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { behindMiddleware, roots, useNodeRed } from "../harness/layouts";
import type { Flow, NodeRed } from "../harness/node-red";

const json = { "Content-Type": "application/json" };
const text = { "Content-Type": "text/plain" };
const signed = (sender: string) => ({
  sender,
  verificationMethod: "signature",
  credentials: { secret: `of ${sender}` },
});

/** An `http in` that answers by what it has got, and webhook triggers beside it. */
const beside = tab(
  webhook("hook", "/hook"),
  webhook("dropbox", "/dropbox", signed("dropbox")),
  webhook("events", "/events", signed("cloudevents")),
  { id: "theirs", type: "http in", method: "post", url: "/theirs", wires: [["echo"]] },
  { id: "echo", type: "http response", statusCode: "", headers: {}, wires: [] },
);

/** Makes sure that no message was made since then. */
async function madeNoMessage(nodeRed: NodeRed, before: number): Promise<void> {
  const { json: reply } = await send(nodeRed.node("/hook"), { headers: { ...bearer, ...text }, body: "marker" });
  await nodeRed.message(reply.id);
  should(nodeRed.messages.slice(before).map(({ payload }) => payload)).eql(["marker"]);
}

for (const layout of ["equal", "separate"] as const) {
  const settings = roots[layout];

  describe(`a webhook trigger behind a layer that counts the bytes of bodies, with ${layout} roots`, () => {
    const nodeRed = useNodeRed({ flow: beside, host: hostOf("counting-host"), settings });

    for (const [what, headers, body, payload] of [
      ["a JSON of a megabyte", json, JSON.stringify({ a: "x".repeat(1e6) }), { a: "x".repeat(1e6) }],
      ["a form", { "Content-Type": "application/x-www-form-urlencoded" }, "a=1&b=2", { a: "1", b: "2" }],
      ["a chunked text", { ...text, "Transfer-Encoding": "chunked" }, "chunks", "chunks"],
    ] as const) {
      // With an admin app in front, a text has gone by before http in looks for it.
      const isTheirs = layout === "separate" || typeof payload !== "string";

      it(`makes a message with all of ${what}${isTheirs ? ", as http in does" : ""}`, async () => {
        if (isTheirs) {
          const theirs = await send(nodeRed().node("/theirs"), { headers: { ...headers, "X-Name": "theirs" }, body });
          const echo = typeof payload === "string" ? payload : JSON.stringify(payload);
          should(theirs.body === echo).equal(true, theirs.body.slice(0, 100));
          await nodeRed().reported(`theirs: ${body.length}`);
        }
        const ours = await send(nodeRed().node("/hook"), {
          headers: { ...headers, ...bearer, "X-Name": "ours" },
          body,
        });
        should(ours.status).equal(200, ours.body);
        const message = await nodeRed().message(ours.json.id);
        should(isDeepStrictEqual(message.payload, payload)).equal(true, inspect(message.payload).slice(0, 100));
        await nodeRed().reported(`ours: ${body.length}`);
      });
    }

    if (layout === "equal") {
      it("answers handshakes by GET and OPTIONS only behind the host application's guards of these methods, also during a deploy", async () => {
        for (const [method, path, headers] of [
          ["GET", "/dropbox?challenge=a", {}],
          ["OPTIONS", "/events", { "WebHook-Request-Origin": "a.example" }],
        ] as const) {
          const deployed = nodeRed().deploy(beside);
          (await send(nodeRed().node(path), { method, headers })).status.should.equal(401);
          await deployed;
          (await send(nodeRed().node(path), { method, headers })).status.should.equal(401);
          const passing = { ...headers, "X-Pass": "1" };
          (await send(nodeRed().node(path), { method, headers: passing })).status.should.equal(200);
        }
      });
    }
  });

  describe(`a webhook trigger behind an http in at its path, with ${layout} roots`, () => {
    const first = tab(
      { id: "first", type: "http in", method: "post", url: "/hook", wires: [["answer"]] },
      { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
    );
    const ours: Flow = [
      { id: "later", type: "tab", label: "Later" },
      { ...webhook("hook", "/hook"), z: "later", x: 0, y: 0, wires: [["sink"]] },
      { id: "sink", type: "sink", z: "later", x: 0, y: 0, wires: [] },
    ];
    const both = [...first.filter(({ id }) => id !== "sink"), ...ours];
    const nodeRed = useNodeRed({ ...(layout === "equal" ? {} : behindMiddleware), flow: first, settings });
    const hasStatus = (fits: (fill: string) => boolean) =>
      nodeRed().until(() => fits(nodeRed().statuses.get("hook")?.fill ?? "") || undefined, "the status");

    for (const [how, type] of [["since an earlier deploy", "nodes"], ["in an earlier tab", "full"]] as const) {
      it(`leaves it its requests, with and without the token, and turns yellow where it is there ${how}`, async () => {
        await nodeRed().deploy(first);
        nodeRed().statuses.clear();
        await nodeRed().deploy(both, type);
        const before = nodeRed().messages.length;
        for (const headers of [json, { ...json, ...bearer }]) {
          const reply = await send(nodeRed().node("/hook"), { headers, body: '{"a":1}' });
          should([reply.status, reply.body]).eql([202, '{"a":1}']);
        }
        await hasStatus((fill) => fill === "yellow");
        await nodeRed().measure();
        nodeRed().messages.length.should.equal(before);
      });
    } // prettier-ignore

    it("takes the requests when it is gone", async () => {
      await nodeRed().deploy(both);
      nodeRed().statuses.clear();
      await nodeRed().deploy(ours);
      await madeNoMessage(nodeRed(), nodeRed().messages.length);
      await hasStatus((fill) => fill === "green");
    });
  });
}
