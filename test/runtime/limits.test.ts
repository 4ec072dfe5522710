import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { callerMethods, callers, presentations } from "../harness/callers";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { onBothWays, useNodeRed } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";

const hub = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=verify-me";

const flow = tab(
  webhook("open", "/open"),
  webhook("here", "/here", { allowFrom: "::1, 127.0.0.0/8" }),
  webhook("local", "/local"),
  webhook("elsewhere", "/elsewhere", { allowFrom: "192.0.2.0/24\n2001:db8::/32" }),
  webhook("meta", "/meta", {
    ...{ sender: "meta", verificationMethod: "signature", allowFrom: "192.0.2.1" },
    credentials: { secret: "a secret of meta's", verifyToken: "verify-me" },
  }),
  webhook("three", "/three", { rateLimit: 3 }),
  webhook("one", "/one", { rateLimit: "1" }),
  ...callerMethods.map((verificationMethod) =>
    webhook(verificationMethod, `/per-caller/${verificationMethod}`, {
      ...{ verificationMethod, rateLimit: 2, rateLimitBy: "caller" },
      credentials: { token, user: "own", password: token, ...callers("door 1", "door 2") },
    }),
  ),
);

/** The warnings that `trust proxy` trusts every proxy, by their nodes. */
const findWarnings = ({ log }: NodeRed) =>
  Array.from(log.matchAll(/\[warn\] \[webhook-trigger:(\w+)\] (.*)/g), ([, node, text]) => ({ node, text }))
    .filter(({ text }) => text === catalog.limits.trustsEveryProxy)
    .map(({ node }) => node); // prettier-ignore

/** Behind a proxy on the same computer. */
const settings = { httpServerOptions: { "trust proxy": "loopback" } };

onBothWays("limits by address and rate", { flow, settings }, (nodeRed) => {
  const post = (path: string, headers: Record<string, string> = bearer, body = '{"a":1}') =>
    send(nodeRed().node(path), { headers: { "Content-Type": "application/json", ...headers }, body });
  const from = (address: string) => ({ ...bearer, "X-Forwarded-For": address });
  const lastRequest = async (id: string) =>
    (await send(nodeRed().admin(`/webhook-trigger/${id}/lastRequest`), { method: "GET" })).json;

  it("accept requests from allowed addresses, and from no others", async () => {
    for (const [path, headers, status] of [
      ["/here", bearer, 200],
      ["/elsewhere", bearer, 403],
      ["/elsewhere", from("192.0.2.77"), 200],
      ["/elsewhere", from("::ffff:192.0.2.77"), 200],
      ["/elsewhere", from("2001:DB8::1"), 200],
      ["/elsewhere", from("192.0.3.1"), 403],
      ["/elsewhere", from("nobody"), 403],
      // What a sender has made up is before what the proxy has added.
      ["/elsewhere", from("192.0.2.77, 198.51.100.1"), 403],
    ] as const) {
      const reply = await post(path, headers);
      should([path, headers, reply.status]).eql([path, headers, status]);
    }
  });

  it("refuse an address before they look at the token, the body or a handshake, all with one reply", async () => {
    const replies = [
      await post("/elsewhere", bearer),
      await post("/elsewhere", { Authorization: `Bearer ${token}x` }),
      await post("/elsewhere", {}),
      await post("/elsewhere", bearer, "not JSON"),
      await send(nodeRed().node(`/meta?${hub}`), { method: "GET" }),
    ];
    const [first, ...others] = replies.map(({ status, headers: { date, ...headers }, body }) => ({ status, headers, body })); // prettier-ignore
    should(first).have.property("status", 403);
    for (const other of others) other.should.eql(first);
    await nodeRed().logged(/\[warn\] \[webhook-trigger:elsewhere\] .*403.*127\.0\.0\.1/);
  });

  it("refuse with 429 and Retry-After what an address sends beyond its rate, also after a deploy", async () => {
    const statuses = [];
    for (const headers of [bearer, {}, bearer, bearer, {}]) statuses.push((await post("/three", headers)).status);
    statuses.should.eql([200, 401, 200, 429, 429]);
    const { headers, json } = await post("/three");
    Number(headers["retry-after"]).should.be.within(1, 60);
    json.should.have.property("status", 429);
    (await post("/three", from("192.0.2.9"))).status.should.equal(200);
    (await post("/open")).status.should.equal(200);
    (await post("/one")).status.should.equal(200);
    await nodeRed().deploy(flow);
    (await post("/one")).status.should.equal(429);
  });

  for (const method of callerMethods) {
    it(`count each caller for itself where the node says so, and strangers by their address: ${method}`, async () => {
      const statuses = async (name: string, address: string, sent?: string) => {
        const { search, headers } = presentations[method](name, sent);
        const replies = [];
        for (let count = 0; count < 3; count++) {
          replies.push(await post(`/per-caller/${method}${search}`, { ...headers, "X-Forwarded-For": address }));
        }
        return replies.map(({ status }) => status);
      };
      const [here, there, elsewhere] = ["192.0.2.11", "192.0.2.12", "192.0.2.13"] as const;
      // A stranger uses up an address, and no caller; nor does one that only knows a name.
      should(await statuses("door 1", here, "x".repeat(40))).eql([401, 401, 429]);
      should(await statuses("door 1", here)).eql([200, 200, 429]);
      should(await statuses("door 2", here)).eql([200, 200, 429]);
      should(await statuses("door 1", there)).eql([429, 429, 429]);
      // The node's own credential is no caller.
      const own = encodeURIComponent(token);
      should(await statuses("own", here, method === "query" ? own : token)).eql([429, 429, 429]);
      should(await statuses("own", elsewhere, method === "query" ? own : token)).eql([200, 200, 429]);
      await nodeRed().deploy(flow);
      should(await statuses("door 2", there)).eql([429, 429, 429]);
      should((await post("/open")).status).equal(200);
    });
  }

  it("report to the form whether all requests seem to be from this computer, and that no proxy is trusted blindly", async () => {
    for (const [headers, isOnly] of [[undefined, false], [bearer, true], [from("192.0.2.1"), false]] as const) {
      if (headers) await post("/local", headers);
      (await lastRequest("local")).should.have.properties({ hasOnlyLoopback: isOnly, trustsEveryProxy: false });
    } // prettier-ignore
    findWarnings(nodeRed()).should.eql([]);
  });
});

describe("trust proxy that trusts every proxy", () => {
  const limited = tab(
    webhook("unlimited", "/unlimited"),
    webhook("listed", "/listed", { allowFrom: "192.0.2.1" }),
    webhook("rated", "/rated", { rateLimit: 60 }),
  );
  const nodeRed = useNodeRed({ flow: limited, settings: { httpServerOptions: { "trust proxy": true } } });

  it("is reported by each node with a limit, at each deploy, and in the form", async () => {
    findWarnings(nodeRed()).should.eql(["listed", "rated"]);
    await nodeRed().deploy(limited);
    await nodeRed().until(() => findWarnings(nodeRed()).length === 4 || undefined, "the warnings");
    const { json } = await send(nodeRed().admin("/webhook-trigger/listed/lastRequest"), { method: "GET" });
    json.should.have.property("trustsEveryProxy", true);
    // The address of the sender is the proxy's word: that of the message is it, too.
    const { json: reply } = await send(nodeRed().node("/unlimited"), { headers: { ...bearer, "X-Forwarded-For": "192.0.2.7" } }); // prettier-ignore
    (await nodeRed().message(reply.id)).req.should.have.property("ip", "192.0.2.7");
  });
});
