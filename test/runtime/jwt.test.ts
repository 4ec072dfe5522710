import { once } from "node:events";
import { request } from "node:http";
import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { tab, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { createKeyPair, sharedKey, signToken, type TokenKey } from "../harness/jwt";
import { onBothWays, useNodeRed } from "../harness/layouts";
import { type Publisher, startPublisher } from "../harness/publisher";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

const [issuer, audience, secret] = ["https://issuer.example", "orders", "a-shared-secret-of-more-than-32-bytes"];
const fields = { verificationMethod: "jwt", issuer, audience };
const byKeySet = { ...fields, keySource: "jwks", jwksUrl: "${JWKS_URL}" };
const shared = { ...fields, keySource: "secret", credentials: { secret } };

const flow = tab(
  webhook("jwks", "/jwks", byKeySet),
  webhook("guaranteed", "/guaranteed", { ...byKeySet, guaranteed: sqliteIsHere() }),
  webhook("failing", "/failing", { ...byKeySet, jwksUrl: "${FAILING_URL}" }),
  webhook("pem", "/pem", { ...fields, keySource: "publicKey", publicKey: "${PUBLIC_KEY}" }),
  webhook("secret", "/secret", { ...shared, headerParameter: "X-Token" }),
  webhook("netlify", "/netlify", { ...shared, sender: "netlify" }),
  webhook("plain", "/plain", { ...byKeySet, jwksUrl: "http://issuer.example/keys" }),
  { id: "slow", type: "slow" },
  webhook("open", "/open", { ...byKeySet, sender: "google-pubsub" }),
);

describe("a webhook with JSON Web Tokens", () => {
  const env: Record<string, string> = {};
  let publisher: Publisher;
  let key: TokenKey;

  before(async () => {
    publisher = await startPublisher();
    const pair = await createKeyPair("RS256", "1");
    ({ key } = pair);
    publisher.handle = ({ url }, response) => {
      if (url === "/keys") response.end(JSON.stringify({ keys: [pair.jwk] }));
      else response.writeHead(302, { Location: "/keys" }).end();
    };
    Object.assign(env, {
      NODE_EXTRA_CA_CERTS: publisher.certificateFile,
      JWKS_URL: `${publisher.origin}/keys`,
      FAILING_URL: `${publisher.origin}/moved`,
      PUBLIC_KEY: pair.pem,
    });
  });
  after(() => publisher.close());

  const sign = (claims: object = {}, by = key) => {
    const now = Math.floor(Date.now() / 1000);
    return signToken({ iss: issuer, aud: audience, exp: now + 600, ...claims }, by);
  };
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}`, "Content-Type": "application/json" });

  onBothWays("that is open", { flow, env }, (nodeRed) => {
    const post = async (path: string, token: string, body = '{"a":1}') =>
      send(nodeRed().node(path), { headers: bearer(token), body });

    it("starts the flow with the claims of the token, which the message does not have", async () => {
      const token = await sign({ sub: "4711" });
      for (const path of ["/jwks", "/guaranteed", "/pem"]) {
        const { status, json } = await post(path, token);
        status.should.equal(200, path);
        const { payload, req, webhook: about } = await nodeRed().message(json.id);
        should({ payload, about }).match({
          payload: { a: 1 },
          about: { credential: "first", claims: { sub: "4711" } },
        });
        JSON.stringify(req).should.not.containEql(token);
      }
    });

    it("keeps the claims for replays", async () => {
      const { json } = await post("/jwks", await sign({ sub: "replayed" }));
      const { body } = await new ShownDeliveries(nodeRed()).replay(String(json.id));
      const { id } = JSON.parse(body) as { id: string };
      should((await nodeRed().message(id)).webhook).match({ replay: true, claims: { sub: "replayed" } });
    });

    it("takes the token of another header, and a token that is for the body alone", async () => {
      const token = await sign({}, sharedKey(secret));
      (await send(nodeRed().node("/secret"), { headers: { "X-Token": token }, body: "x" })).status.should.equal(200);
      const sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
      const signed = await signToken({ iss: "netlify", sha256 }, sharedKey(secret));
      const headers = { "X-Webhook-Signature": signed, "Content-Type": "application/json" };
      (await send(nodeRed().node("/netlify"), { headers, body: "hello" })).status.should.equal(400);
      const { status } = await send(nodeRed().node("/netlify"), { headers, body: "hullo" });
      status.should.equal(401);
    });

    it("is refused without a token and with a wrong one, always in the same words", async () => {
      const missing = await send(nodeRed().node("/jwks"), { body: "{}" });
      should([missing.status, missing.headers["www-authenticate"]]).eql([401, 'Bearer realm="webhook"']);
      const wrong = [sign({ exp: 1 }), sign({ aud: "others" }), sign({}, sharedKey(secret)), Promise.resolve("x")];
      const replies = await Promise.all(wrong.map(async (token) => post("/jwks", await token)));
      for (const { status, headers, json } of replies) {
        const challenge = 'Bearer realm="webhook", error="invalid_token"';
        should([status, headers["www-authenticate"], json]).eql([401, challenge, replies[0]?.json]);
      }
    });

    it("is refused before the body is read", async () => {
      const headers = { ...bearer(await sign({ exp: 1 })), "Content-Length": 1000 };
      const sent = request(nodeRed().node("/jwks"), { method: "POST", headers });
      sent.flushHeaders();
      const [response] = (await once(sent, "response")) as [{ statusCode: number }];
      should(response.statusCode).equal(401);
      sent.destroy();
    });

    it("says to the operator alone what was wrong", async () => {
      const hasReason = async () => {
        await post("/jwks", await sign({ exp: Math.floor(Date.now() / 1000) - 180 }));
        const { json } = await send(nodeRed().admin("/webhook-trigger/jwks/lastRequest"), { method: "GET" });
        const { lastRefused } = json as { lastRefused?: { reasons: { key: string }[] } };
        return lastRefused?.reasons[0]?.key === "jwt.expired";
      };
      // Reasons are looked for once a second.
      await until(hasReason, "the reason");
    });

    it("is answered with 503 while the keys are not where they should be, and the log says why", async () => {
      const count = publisher.count;
      const token = await sign();
      let sent = 0;
      // Reasons have a budget of time: where it is spent, the next line of the log has one.
      await until(async () => {
        const { status, headers } = await post("/failing", token);
        should([status, headers["retry-after"]]).eql([503, "30"]);
        return ++sent >= 5 && /could not be fetched \(503\).*127\.0\.0\.1:\d+ redirects/.test(nodeRed().log);
      }, "the reason in the log");
      publisher.count.should.equal(count + 1);
    });

    it("takes a test request of the form", async () => {
      const { json } = await command(nodeRed().admin("/webhook-trigger/jwks/test"));
      should(json.outcome).equal("accepted");
    });

    it("stays closed with a key set by http, and without the claim that says who has sent the token", async () => {
      await nodeRed().status("plain", /Key Set URL/);
      await nodeRed().status("open", /Required Claim/);
    });

    it("waits during a deploy", async () => {
      const token = await sign();
      const finish = await nodeRed().beginDeploy(flow);
      const headers = { ...bearer(token), "X-Trace": "waiting" };
      const reply = send(nodeRed().node("/jwks"), { headers, body: "{}" });
      await nodeRed().arrived("waiting");
      await finish();
      (await reply).status.should.equal(200);
    });
  });

  describe("behind httpNodeAuth", () => {
    const nodeRed = useNodeRed({ flow, env, code: 'httpNodeAuth: { user: "guard", pass: "$2b$04$x" }' });

    it("says why requests cannot come in", async () => {
      await nodeRed().logged(/\[webhook-trigger:jwks\].*httpNodeAuth in the settings file/);
      nodeRed().log.should.not.match(/\[webhook-trigger:secret\].*httpNodeAuth/);
    });
  });
});
