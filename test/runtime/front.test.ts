import should from "should";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect, isDeepStrictEqual } from "node:util";
import { bearer, tab, webhook } from "../harness/flow";
import { roots } from "../harness/hosts";
import { send } from "../harness/http";
import { behindMiddleware } from "../harness/layouts";
import { type Flow, NodeRed, type Options } from "../harness/node-red";
import { temporaryFolder } from "../harness/package";

const json = { "Content-Type": "application/json" };
const text = { "Content-Type": "text/plain" };

/** An `http in` that answers by what it has got, and a webhook trigger beside it. */
const beside = tab(
  webhook("hook", "/hook"),
  { id: "theirs", type: "http in", method: "post", url: "/theirs", wires: [["echo"]] },
  { id: "echo", type: "http response", statusCode: "", headers: {}, wires: [] },
);

/** A host application with a layer in front that counts the bytes of bodies, and reports those of a named request. */
const counting = `
  app.use((request, response, next) => {
    let bytes = 0;
    request.on("data", (chunk) => { bytes += chunk.length; });
    request.on("end", () => {
      if (request.headers["x-name"]) process.send({ trace: request.headers["x-name"] + ": " + bytes });
    });
    next();
  });
  app.use(settings.httpAdminRoot, RED.httpAdmin);
  app.use(settings.httpNodeRoot, RED.httpNode);
`;

/** A Node-RED for the tests of a suite. */
function running(options: Options): () => NodeRed {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start(options);
  });
  after(() => nodeRed.stop());
  return () => nodeRed;
}

/** Makes sure that no message came of what was sent before. */
async function madeNoMessage(nodeRed: NodeRed, before: number): Promise<void> {
  const { status, body, json } = await send(nodeRed.node("/hook"), { headers: { ...bearer, ...text }, body: "marker" });
  should(status).equal(200, body);
  await nodeRed.message(json.id);
  should(nodeRed.messages.slice(before).map(({ payload }) => payload)).eql(["marker"]);
}

for (const layout of ["equal", "separate", "nested"] as const) {
  const settings = roots[layout];

  describe(`behind a layer that counts the bytes of bodies, with ${layout} roots`, () => {
    const nodeRed = running({ flow: beside, host: counting, settings });

    for (const [what, headers, body, payload] of [
      ["a short JSON", json, '{"a":1}', { a: 1 }],
      ["a JSON of a megabyte", json, JSON.stringify({ a: "x".repeat(1e6) }), { a: "x".repeat(1e6) }],
      ["a form", { "Content-Type": "application/x-www-form-urlencoded" }, "a=1&b=2", { a: "1", b: "2" }],
      ["a text of a megabyte", text, "y".repeat(1e6), "y".repeat(1e6)],
      ["a chunked text", { ...text, "Transfer-Encoding": "chunked" }, "chunks", "chunks"],
    ] as const) {
      // With an admin app in front, a text has gone by before http in looks for it.
      const isTheirs = layout === "separate" || typeof payload !== "string";

      it(`a message has all of ${what}${isTheirs ? ", as that of http in has" : ""}`, async () => {
        if (isTheirs) {
          const theirs = await send(nodeRed().node("/theirs"), { headers: { ...headers, "X-Name": "theirs" }, body });
          should(theirs.status).equal(200);
          const echo = typeof payload === "string" ? payload : JSON.stringify(payload);
          should(theirs.body === echo).equal(true, theirs.body.slice(0, 100));
          await nodeRed().told(`theirs: ${body.length}`);
        }
        const ours = await send(nodeRed().node("/hook"), {
          headers: { ...headers, ...bearer, "X-Name": "ours" },
          body,
        });
        should(ours.status).equal(200, ours.body);
        const message = await nodeRed().message(ours.json.id);
        should(isDeepStrictEqual(message.payload, payload)).equal(true, inspect(message.payload).slice(0, 100));
        await nodeRed().told(`ours: ${body.length}`);
      });
    }
  });

  for (const [where, options] of [
    ["in a plain installation", {}],
    ["behind httpNodeMiddleware", behindMiddleware],
  ] satisfies [string, Options][]) {
    describe(`a path with a percent-encoded character, ${where} with ${layout} roots`, () => {
      const nodeRed = running({ ...options, flow: beside, settings });

      it("is another path than the endpoint's, as it is for http in", async () => {
        const before = nodeRed().messages.length;
        const theirs = await send(nodeRed().node("/th%65irs"), { headers: { ...bearer, ...json }, body: "{}" });
        const ours = await send(nodeRed().node("/h%6Fok"), { headers: { ...bearer, ...json }, body: "{}" });
        should([theirs.status, theirs.body]).match([404, /Cannot POST/]);
        should([ours.status, ours.body.replace("h%6Fok", "th%65irs")]).eql([404, theirs.body]);
        await madeNoMessage(nodeRed(), before);
      });
    });
  }

  describe(`a file of httpStatic at an endpoint's path, with ${layout} roots`, () => {
    const files = temporaryFolder("static");
    writeFileSync(join(files, "hook"), "a file");
    const httpStatic = [{ path: files, root: settings.httpNodeRoot }];
    const nodeRed = running({ flow: beside, settings: { ...settings, httpStatic } });

    for (const [method, content] of Object.entries({ GET: "a file", HEAD: "" })) {
      it(`is what ${method} gets, and starts no flow`, async () => {
        const before = nodeRed().messages.length;
        const { status, headers, body } = await send(nodeRed().node("/hook"), { method, headers: bearer });
        should([status, headers["content-length"], body]).eql([200, "6", content]);
        await madeNoMessage(nodeRed(), before);
      });
    }

    it("does not hide the endpoint: POST with the token starts the flow, and without it gets 401", async () => {
      const headers = { ...bearer, ...json };
      const { status, body, json: reply } = await send(nodeRed().node("/hook"), { headers, body: '{"a":1}' });
      should(status).equal(200, body);
      should((await nodeRed().message(reply.id)).payload).eql({ a: 1 });
      should((await send(nodeRed().node("/hook"), { headers: json, body: "{}" })).status).equal(401);
    });

    it("leaves PUT, which nothing answers, with 405 and the methods that are allowed", async () => {
      await refusesPut(nodeRed());
    });
  });

  describe(`another method where nothing else answers, with ${layout} roots`, () => {
    const nodeRed = running({ flow: beside, settings });

    it("gets 405 and the methods that are allowed", async () => {
      await refusesPut(nodeRed());
    });
  });

  describe(`an http in that comes first at the endpoint's path, with ${layout} roots`, () => {
    const first = tab(
      { id: "first", type: "http in", method: "post", url: "/hook", wires: [["answer"]] },
      { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
    );
    const ours: Flow = [
      { id: "later", type: "tab", label: "Later" },
      { ...webhook("hook", "/hook"), z: "later", x: 0, y: 0, wires: [["sink"]] },
    ];
    const sink = first.filter(({ id }) => id === "sink");
    const nodeRed = running({ flow: first, settings });

    for (const [how, type] of [
      ["since an earlier deploy", "nodes"],
      ["in an earlier tab", "full"],
    ] as const) {
      describe(how, () => {
        beforeEach(async () => {
          await nodeRed().deploy(first);
          nodeRed().statuses.clear();
          await nodeRed().deploy([...first, ...ours], type);
        });

        it("keeps its requests, with and without the token", async () => {
          const before = nodeRed().messages.length;
          for (const headers of [json, { ...json, ...bearer }]) {
            const reply = await send(nodeRed().node("/hook"), { headers, body: '{"a":1}' });
            should([reply.status, reply.body]).eql([202, '{"a":1}']);
          }
          await nodeRed().measure();
          nodeRed().messages.length.should.equal(before);
        });

        it("is reported by a yellow status of the webhook trigger", async () => {
          (await statusOf(nodeRed(), (fill) => fill === "yellow")).text.should.not.equal("");
        });
      });
    }

    it("leaves the path to the webhook trigger when it is gone", async () => {
      await nodeRed().deploy([...first, ...ours]);
      nodeRed().statuses.clear();
      await nodeRed().deploy([...ours, ...sink.map((node) => ({ ...node, z: "later" }))]);
      const before = nodeRed().messages.length;
      await madeNoMessage(nodeRed(), before);
      await statusOf(nodeRed(), (fill) => fill !== "yellow");
    });
  });
}

async function refusesPut(nodeRed: NodeRed): Promise<void> {
  const before = nodeRed.messages.length;
  const headers = { ...bearer, ...json };
  const {
    status,
    headers: fields,
    json: problem,
  } = await send(nodeRed.node("/hook"), { method: "PUT", headers, body: "{}" });
  should(status).equal(405);
  fields.should.have.properties({ "content-type": "application/problem+json", allow: "POST" });
  problem.should.have.property("status", 405);
  await madeNoMessage(nodeRed, before);
}

/** Waits until the webhook trigger has a status with such a colour. */
async function statusOf(nodeRed: NodeRed, fits: (fill: string) => boolean) {
  return nodeRed.until(() => {
    const status = nodeRed.statuses.get("hook");
    return status && fits(status.fill) ? status : undefined;
  }, "the status of the webhook trigger");
}

describe("a guard of the host application for one method", () => {
  const nodeRed = running({
    flow: tab(
      webhook("dropbox", "/dropbox", { sender: "dropbox", verificationMethod: "signature", credentials: { secret: "of dropbox" } }), // prettier-ignore
      webhook("events", "/events", { sender: "cloudevents", verificationMethod: "signature", credentials: { secret: "of events" } }), // prettier-ignore
    ),
    host: `
      app.get("*", (request, response, next) => request.headers["x-pass"] ? next() : response.sendStatus(401));
      app.options("*", (request, response, next) => request.headers["x-pass"] ? next() : response.sendStatus(401));
      app.use("/", RED.httpAdmin);
      app.use("/", RED.httpNode);
    `,
  });
  const handshakes: [method: string, path: string, headers: Record<string, string>][] = [
    ["GET", "/dropbox?challenge=a", {}],
    ["OPTIONS", "/events", { "WebHook-Request-Origin": "a.example" }],
  ];
  for (const [method, path, headers] of handshakes) {
    it(`stands in front of a handshake by ${method}`, async () => {
      (await send(nodeRed().node(path), { method, headers })).status.should.equal(401);
      (await send(nodeRed().node(path), { method, headers: { ...headers, "X-Pass": "1" } })).status.should.equal(200);
    });
  }
});
