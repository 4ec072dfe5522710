import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { loadedPackages, withModules } from "./modules";
import { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

/** What the node needs for each endpoint, whatever it is set to. */
const always = ["bytes"];

const credentials = { secret: "a secret of 32 bytes or some more" };
const byJwt = { verificationMethod: "jwt", keySource: "secret", issuer: "me", audience: "you", credentials };

describe("a small machine", () => {
  it("loads a library when something needs it, and none for an endpoint with a token", async () => {
    const jwt = webhook("jwt", "/jwt", byJwt);
    const safe = webhook("safe", "/safe", { guaranteed: true });
    const nodeRed = await NodeRed.start({ flow: tab(webhook("orders", "/orders"), jwt), env: withModules });
    try {
      const loads = async (...names: string[]) => {
        const expected = [...always, ...names].sort();
        await until(async () => (await loadedPackages(nodeRed)).length >= expected.length, names.join());
        (await loadedPackages(nodeRed)).sort().should.eql(expected);
      };
      const post = async (path: string, headers: Record<string, string>, body: string | Buffer = "{}") =>
        (await send(nodeRed.node(path), { headers, body })).status;
      await loads();
      should(await post("/orders", { ...bearer, "Content-Type": "application/json" })).equal(200);
      await loads();
      should(await post("/orders", { ...bearer, "Content-Type": "text/plain; charset=latin1" }, "a")).equal(200);
      await loads("@exodus/bytes");
      should(await post("/jwt", { Authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA" })).equal(401);
      await loads("@exodus/bytes", "jose");
      if (!sqliteIsHere()) return;
      await nodeRed.deploy(tab(safe));
      await loads("@exodus/bytes", "jose", "node:sqlite");
    } finally {
      await nodeRed.stop();
    }
  });

  it("loads what only some settings need with these settings", async () => {
    const settings = { httpNodeCors: { origin: "*" } };
    const code = "httpNodeMiddleware: (request, response, next) => next()";
    const nodeRed = await NodeRed.start({ flow: tab(webhook("orders", "/orders")), settings, code, env: withModules });
    try {
      (await loadedPackages(nodeRed)).sort().should.eql([...always, "cookie-parser", "cors"]);
    } finally {
      await nodeRed.stop();
    }
  });

  it("with 256 MB of heap has room for 50 endpoints, 200 deliveries of one of them, and bodies of 5 MB", async () => {
    const paths = Array.from({ length: 50 }, (_, index) => `/hook/${index}`);
    const nodeRed = await NodeRed.start({
      // Messages of such a size to the test would cost more than all else: it has that of the last.
      flow: tab(
        ...paths.map((path, index) => webhook(`hook${index}`, path, index < 49 ? { wires: [["count"]] } : {})),
        { id: "count", type: "count", wires: [] },
      ),
      env: { NODE_OPTIONS: "--max-old-space-size=256" },
    });
    try {
      const post = (path: string, type: string, body: string | Buffer) =>
        send(nodeRed.node(path), { headers: { ...bearer, "Content-Type": type }, body });
      const size = 5 * 1024 * 1024;
      const replies: Reply[] = [];
      for (const path of paths) replies.push(await post(path, "application/octet-stream", Buffer.alloc(size, "x")));
      new Set(replies.map(({ status }) => status)).should.eql(new Set([200]));
      should((await nodeRed.message(replies.at(-1)?.json.id)).payload).have.length(size);
      (await nodeRed.measure()).counted.should.equal(49);
      for (let count = 0; count < 200; count++) await post("/hook/0", "application/json", `{"order":${count}}`);
      const { deliveries } = await new ShownDeliveries(nodeRed).page("node=hook0&limit=500");
      deliveries.length.should.equal(200);
    } finally {
      await nodeRed.stop();
    }
  });
});
