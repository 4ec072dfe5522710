import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";

const hub = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=verify-me";

const flow = tab(
  webhook("open", "/open"),
  webhook("here", "/here", { allowFrom: "::1, 127.0.0.0/8" }),
  webhook("local", "/local"),
  webhook("elsewhere", "/elsewhere", { allowFrom: "192.0.2.0/24\n2001:db8::/32" }),
  webhook("unread", "/unread", { allowFrom: "192.0.2.0/33" }),
  webhook("meta", "/meta", {
    ...{ sender: "meta", verificationMethod: "signature", allowFrom: "192.0.2.1" },
    credentials: { secret: "a secret of meta's", verifyToken: "verify-me" },
  }),
  webhook("three", "/three", { rateLimit: 3 }),
  webhook("one", "/one", { rateLimit: "1" }),
  webhook("tried", "/tried", { rateLimit: 1, allowFrom: "192.0.2.1" }),
);

/** Behind a proxy on the same computer. */
const settings = { httpServerOptions: { "trust proxy": "loopback" } };

onBothWays("limits", { flow, settings }, (nodeRed) => {
  const post = (path: string, headers: Record<string, string> = bearer, body = '{"a":1}') =>
    send(nodeRed().node(path), { headers: { "Content-Type": "application/json", ...headers }, body });
  const from = (address: string) => ({ ...bearer, "X-Forwarded-For": address });

  it("let in who may come, and nobody else", async () => {
    for (const [path, headers, status] of [
      ["/here", bearer, 200],
      ["/elsewhere", bearer, 403],
      ["/elsewhere", from("192.0.2.77"), 200],
      ["/elsewhere", from("::ffff:192.0.2.77"), 200],
      ["/elsewhere", from("2001:DB8::1"), 200],
      ["/elsewhere", from("192.0.3.1"), 403],
      ["/elsewhere", from("nobody"), 403],
      // What a caller has made up stands before what the proxy has added.
      ["/elsewhere", from("192.0.2.77, 198.51.100.1"), 403],
    ] as const) {
      const reply = await post(path, headers);
      should([path, headers, reply.status]).eql([path, headers, status]);
    }
  });

  it("hold before the token, the body and the method of a handshake are looked at", async () => {
    const replies = [
      await post("/elsewhere", bearer),
      await post("/elsewhere", { Authorization: `Bearer ${token}x` }),
      await post("/elsewhere", {}),
      await post("/elsewhere", bearer, "not JSON"),
      await post("/elsewhere", { Authorization: `Bearer ${token}x` }, "not JSON"),
      await send(nodeRed().node(`/meta?${hub}`), { method: "GET" }),
    ];
    const told = replies.map(({ status, headers: { date, ...headers }, body }) => ({ status, headers, body }));
    for (const each of told) each.should.eql(told[0]);
    await nodeRed().logged(/\[warn\] \[webhook-trigger:elsewhere\] .*403.*127\.0\.0\.1/);
  });

  it("keep the endpoint closed when the list cannot be read", async () => {
    (await post("/unread")).status.should.equal(404);
    await nodeRed().status("unread", /allow/i);
  });

  it("count what an address sends in a minute, accepted and refused, and tell when to come again", async () => {
    const statuses = [];
    for (const headers of [bearer, {}, bearer, bearer, {}]) statuses.push((await post("/three", headers)).status);
    statuses.should.eql([200, 401, 200, 429, 429]);
    const { headers, json } = await post("/three");
    Number(headers["retry-after"]).should.be.within(1, 60);
    json.should.have.property("status", 429);
    (await post("/three", from("192.0.2.9"))).status.should.equal(200);
    (await post("/open")).status.should.equal(200);
  });

  it("count on after a deploy", async () => {
    (await post("/one")).status.should.equal(200);
    await nodeRed().deploy(flow);
    (await post("/one")).status.should.equal(429);
  });

  it("do not keep the editor's test request out", async () => {
    for (let sent = 0; sent < 2; sent++) {
      const { json } = await send(nodeRed().admin("/webhook-trigger/tried/test"));
      should(json.outcome).equal("accepted");
    }
    (await post("/tried")).status.should.equal(403);
  });

  it("tell the form when every caller seems to be this computer", async () => {
    const standing = async (id: string) =>
      (await send(nodeRed().admin(`/webhook-trigger/${id}/standing`), { method: "GET" })).json;
    (await standing("local")).should.have.property("hasOnlyLoopback", false);
    await post("/local");
    (await standing("local")).should.have.property("hasOnlyLoopback", true);
    await post("/local", from("192.0.2.1"));
    (await standing("local")).should.have.property("hasOnlyLoopback", false);
  });
});

const inHost = (trust: unknown): Options => ({
  host: `app.set("trust proxy", ${JSON.stringify(trust)}); app.use("/", RED.httpAdmin); app.use("/", RED.httpNode);`,
});

describe("trust proxy that trusts every proxy", () => {
  const limited = tab(
    webhook("unlimited", "/unlimited"),
    webhook("listed", "/listed", { allowFrom: "192.0.2.1" }),
    webhook("rated", "/rated", { rateLimit: 60 }),
  );
  const warned = ({ log }: NodeRed) =>
    Array.from(log.matchAll(/\[warn\] \[webhook-trigger:(\w+)\] (.*)/g), ([, node, text]) => [node, text]);
  const rows: [name: string, options: Options, isReported: boolean][] = [
    ["true, in a host application", inHost(true), true],
    ["true, in the settings file", { settings: { httpServerOptions: { "trust proxy": true } } }, true],
    ["1, in a host application", inHost(1), false],
    ['"loopback", in a host application', inHost("loopback"), false],
    ["nothing", {}, false],
  ];
  for (const [name, options, isReported] of rows) {
    it(`is ${isReported ? "reported" : "not reported"} with ${name}, where a limit relies on it`, async () => {
      const nodeRed = await NodeRed.start({ ...options, flow: limited });
      try {
        const each = ["listed", "rated"].map((node) => [node, catalog.limits.trustsEveryProxy]);
        warned(nodeRed).should.eql(isReported ? each : []);
        await nodeRed.deploy(limited);
        if (isReported) await nodeRed.until(() => warned(nodeRed).length === 4 || undefined, "the warnings");
        warned(nodeRed).should.eql(isReported ? [...each, ...each] : []);
        const { json } = await send(nodeRed.admin("/webhook-trigger/listed/standing"), { method: "GET" });
        json.should.have.property("trustsEveryProxy", isReported);
      } finally {
        await nodeRed.stop();
      }
    });
  }
});
