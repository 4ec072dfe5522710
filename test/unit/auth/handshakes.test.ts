import { createHmac } from "node:crypto";
import should from "should";
import type { HandshakeReply } from "../../../src/auth/authenticator";
import { maxUnsignedBytes } from "../../../src/auth/handshakes";
import { isSenderId, type SenderId, senders } from "../../../src/auth/senders/table";
import type { SignatureAccess } from "../../../src/config/parse";
import { DecodedBody } from "../../../src/request/decode";
import { Problem } from "../../../src/request/problem";
import rows from "../../data/handshakes.json";
import { authenticatorFor } from "../../harness/verification";

interface Asked {
  method?: string;
  headers?: string[];
  search?: string;
  body?: string | Buffer;
  at?: number;
}

/** The reply to a handshake; nothing for another request. */
function answerTo(sender: SenderId, given: Partial<SignatureAccess>, asked: Asked): HandshakeReply | undefined {
  const { method = "POST", headers = [], search = "", body = "", at = 0 } = asked;
  const first = given.settings?.arm ? "" : "secret";
  const head = { method, rawHeaders: headers, search };
  const entry = authenticatorFor(sender, { first, ...given }).checkHead(head, at * 1000);
  const result = "verify" in entry ? entry.verify(DecodedBody.of(head, Buffer.from(body))) : entry;
  return "status" in result && !(result instanceof Problem) ? result : undefined;
}

const signed = (name: string, prefix: string, encoding: "hex" | "base64", body: string, secret = "secret") => [
  name,
  prefix + createHmac("sha256", secret).update(body).digest(encoding),
];

const nothing = (status: number) => ({ status, headers: {}, body: "" });

describe("handshakes of senders", () => {
  for (const { sender, name, secret = "", verifyToken = "", arm = false, answer, ...asked } of rows) {
    it(`${sender}: ${name}`, () => {
      if (!isSenderId(sender)) throw new Error(sender);
      const said = answerTo(sender, { ...(secret && { first: secret }), verifyToken, settings: { arm } }, asked);
      should(said).have.properties({ status: answer.status, body: answer.body });
      should(said?.show).equal(answer.show);
      const given = Object.entries(said?.headers ?? {}).map(([field, value]) => [field.toLowerCase(), value] as const);
      for (const [field, value] of Object.entries(answer.headers)) should(new Map(given).get(field)).startWith(value);
    });
  }

  it("of Trello asks by HEAD whether the URL is there", () => {
    const trello = { settings: { publicUrl: "https://example.com/hook" } };
    should(answerTo("trello", trello, { method: "HEAD" })).have.properties({ status: 200, body: "" });
    should(answerTo("trello", trello, { method: "GET" })).be.undefined();
  });

  describe("of a custom sender", () => {
    const ask = (handshake: object, asked: Asked) => {
      const { body, status, headers } =
        answerTo("custom", { scheme: { ...senders.custom.scheme, handshake } }, asked) ?? {};
      return [status, body, headers?.["Content-Type"]];
    };
    const json = (value: object) => ({ headers: ["Content-Type", "application/json"], body: JSON.stringify(value) });
    const none = [undefined, undefined, undefined];

    it("give back a query parameter as plain text", () => {
      const handshake = { method: "GET", when: { "query:mode": "subscribe" }, echo: "query:challenge" };
      const search = "mode=subscribe&challenge=abc";
      should(ask(handshake, { method: "GET", search })).eql([200, "abc", "text/plain; charset=utf-8"]);
      should(ask(handshake, { method: "GET", search: "mode=other&challenge=abc" })).eql(none);
      should(ask(handshake, { method: "GET", search: "mode=subscribe" })).eql(none);
      should(ask(handshake, { method: "GET", search: "mode=subscribe&challenge=<b>" })[0]).equal(400);
    });

    it("give back a member of the body in JSON, and leave other requests to the signature", () => {
      const handshake = { method: "POST", when: { "json:type": "check" }, echo: "json:value", member: "value" };
      should(ask(handshake, json({ type: "check", value: "x1" }))).eql([200, '{"value":"x1"}', "application/json"]);
      should(ask(handshake, json({ type: "order", value: "x1" }))).eql(none);
      should(ask(handshake, json({ type: "check", value: "a".repeat(257) }))[0]).equal(400);
    });

    it("compare a number in JSON as it is written", () => {
      const handshake = { method: "POST", when: { "json:type": "1" }, echo: "json:value" };
      should(ask(handshake, json({ type: 1, value: "x1" }))[1]).equal("x1");
    });

    it("give back the value of a header field in one, and may be known by it alone", () => {
      for (const when of [{}, { "header:Content-Type": "application/json" }]) {
        const handshake = { method: "POST", when, echo: "header:Validation-Token", header: "Validation-Token" };
        const scheme = { ...senders.custom.scheme, handshake };
        const asks = (token: string) =>
          answerTo("custom", { scheme }, { headers: ["Content-Type", "application/json", "validation-token", token] });
        should(asks("0123-abcd")).eql({ ...nothing(200), headers: { "Validation-Token": "0123-abcd" } });
        should(asks("<b>")).eql(nothing(400));
        should(answerTo("custom", { scheme }, json({ a: 1 }))).be.undefined();
      }
    });

    it("may only want an answer", () => {
      should(ask({ method: "HEAD" }, { method: "HEAD" })).eql([200, "", undefined]);
      should(ask({ method: "HEAD" }, json({}))).eql(none);
    });
  });

  /** Of those whose secrets are written in their own way. */
  const others: Partial<Record<SenderId, string>> = {
    discord: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511b",
    samsara: "b3RoZXI=",
  };

  it("that are signed are answered only where the signature fits", () => {
    for (const { sender, method, search, headers, body, at } of rows.filter(({ method }) => method === "POST")) {
      if (!isSenderId(sender) || senders[sender].handshakes?.every(({ signed }) => !signed)) continue;
      const secret = others[sender] ?? "other";
      should(answerTo(sender, { first: secret }, { method, headers, search, body, at })).be.undefined();
    }
  });

  const subscribe = "hub.mode=subscribe&hub.challenge=abc&hub.verify_token=token";
  const topic = "hub.mode=unsubscribe&hub.topic=https%3A%2F%2Fexample.com%2Ffeed&hub.challenge=c";
  const hub = { settings: { topicUrl: "https://example.com/feed" } };
  const verifyToken = { verifyToken: "token" };
  const armed = { settings: { arm: true } };
  const plain = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  /** By its signature or token, as other requests have one. */
  const proved = { isVerified: true as const };
  /** What every other request of the method gets. */
  const otherwise = (status: number) => ({ ...nothing(status), isFallback: true as const });
  const by = (method: string, search = "") => ({ method, search });
  const from = (origin: string) => ({ method: "OPTIONS", headers: ["webhook-request-origin", origin] });
  const brings = (token: unknown, more: object = {}) => ({
    body: JSON.stringify({ verification_token: token, ...more }),
  });
  const hook = (secret: string, ...more: string[]) => ({ headers: ["X-Hook-Secret", secret, ...more] });
  const form = ["Content-Type", "application/x-www-form-urlencoded"];
  const byLine = (body: string) => ({ headers: signed("x-line-signature", "", "base64", body), body });
  const byAsana = (body: string) => ({ headers: signed("X-Hook-Signature", "", "hex", body), body });
  const byBitbucket = (body: string, event = "diagnostics:ping") => ({
    headers: ["Content-Type", "application/json; charset=utf-8", "X-Event-Key", event, "X-Request-Id", "r1"],
    body,
  });
  const byXero = (body: string) => ({ headers: signed("x-xero-signature", "", "base64", body), body });
  const verify = (challenge?: string, eventType = "VERIFY") => ({
    body: JSON.stringify({ eventType, data: { challenge } }),
  });
  const older = (challenge: string, eventName = "verify") => ({
    body: JSON.stringify({ version: "2.0", eventName, payload: { challenge } }),
  });
  const byEnode = (...events: string[]) => {
    const body = JSON.stringify(events.map((event) => ({ event })));
    return { headers: ["X-Enode-Signature", `sha1=${createHmac("sha1", "secret").update(body).digest("hex")}`], body };
  };
  const byAzure = (code: unknown, type = "SubscriptionValidation") => ({
    headers: ["Authorization", "Bearer secret", "aeg-event-type", type],
    body: JSON.stringify([{ data: { validationCode: code } }]),
  });
  const bySlack = (body: string) => ({
    headers: ["X-Slack-Request-Timestamp", "17", ...signed("X-Slack-Signature", "v0=", "hex", `v0:17:${body}`)],
    body,
    at: 17,
  });
  const byZoom = (plainToken: string, secret = "secret") => {
    const body = JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } });
    return {
      headers: ["x-zm-request-timestamp", "17", ...signed("x-zm-signature", "v0=", "hex", `v0:17:${body}`, secret)],
      body,
      at: 17,
    };
  };
  const mac = (text: string, encoding: "hex" | "base64", secret = "secret") =>
    createHmac("sha256", secret).update(text).digest(encoding);
  const zoomed = (secret: string) => JSON.stringify({ plainToken: "abc", encryptedToken: mac("abc", "hex", secret) });
  const echoed = (origin: string) => ({ "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*", Allow: "POST" });
  const jsonType = { "Content-Type": "application/json" };
  const secret = "0123456789abcdef";

  const cases: [string, SenderId, Partial<SignatureAccess>, Asked, HandshakeReply | undefined][] = [
    ["Meta's with another token", "meta", { verifyToken: "other" }, by("GET", subscribe), otherwise(403)],
    ["Meta's without a token", "meta", {}, by("GET", subscribe.replace("=token", "=")), otherwise(403)],
    ["Meta's with the token twice", "meta", verifyToken, by("GET", `${subscribe}&hub.verify_token=token`), otherwise(403)],
    ["Meta's with another mode", "meta", verifyToken, by("GET", subscribe.replace("subscribe", "x")), otherwise(403)],
    ["Meta's with markup", "meta", verifyToken, by("GET", subscribe.replace("abc", "<b>")), nothing(400)],
    ["Meta's with two challenges", "meta", verifyToken, by("GET", `${subscribe}&hub.challenge=d`), nothing(400)],
    ["Meta's without a challenge", "meta", verifyToken, by("GET", subscribe.replace("=abc", "=")), nothing(400)],
    ...["HEAD", "POST", "PUT", "get"].map((method): (typeof cases)[number] => [`Meta's by ${method}`, "meta", verifyToken, by(method, subscribe), undefined]),
    ["Dropbox's with markup", "dropbox", {}, by("GET", "challenge=%3Cscript%3E"), nothing(400)],
    ["Dropbox's without a challenge", "dropbox", {}, by("GET", "a=1"), undefined],
    ["a hub's", "websub", hub, by("GET", topic), { status: 200, headers: plain, body: "c" }],
    ["a hub's for another topic", "websub", hub, by("GET", topic.replace("feed", "other")), otherwise(404)],
    ["a hub's where no topic is configured", "websub", {}, by("GET", topic), otherwise(404)],
    ["a hub's where both are empty", "websub", {}, by("GET", topic.replace(/https.*feed/, "")), otherwise(404)],
    ["a hub's denial", "websub", hub, by("GET", "hub.mode=denied&hub.topic=https%3A%2F%2Fexample.com%2Ffeed&hub.reason=x"), nothing(200)],
    ["a hub's denial of another topic", "websub", hub, by("GET", "hub.mode=denied&hub.topic=https%3A%2F%2Fexample.com%2Fother"), otherwise(404)],
    ["X's with what could be a body", "x", {}, by("GET", "crc_token=%7B%22a%22%3A1%7D"), nothing(400)],
    ["X's that is too long", "x", {}, by("GET", `crc_token=${"a".repeat(129)}`), nothing(400)],
    ["X's, by a MAC under the first secret", "x", { second: "other" }, by("GET", "crc_token=a-b%3D"), { status: 200, headers: jsonType, body: JSON.stringify({ response_token: `sha256=${mac("a-b=", "base64")}` }) }],
    ["one that GitHub does not know", "github", {}, by("GET", "challenge=a"), undefined],
    ["Intercom's by HEAD", "intercom", {}, by("HEAD"), nothing(200)],
    ["GitHub's by HEAD", "github", {}, by("HEAD"), undefined],
    ...(["cloudevents", "azure-eventgrid"] as const).flatMap((sender): typeof cases => [
      [`an origin for ${sender}`, sender, {}, from("eventgrid.azure.net"), { ...nothing(200), headers: echoed("eventgrid.azure.net") }],
      [`markup for ${sender}`, sender, {}, from("<b>"), nothing(400)],
      [`no origin for ${sender}`, sender, {}, by("OPTIONS"), undefined],
    ]),
    ["Notion's secret, which is shown", "notion", armed, brings(secret), { ...nothing(200), show: secret }],
    ["Notion's secret without First contact", "notion", {}, brings(secret), undefined],
    ["Notion's secret while there is one", "notion", { ...armed, first: "secret" }, brings(secret), undefined],
    ["Notion's secret beside an event", "notion", armed, brings(secret, { type: "page.created" }), undefined],
    ...["", 1, null, [secret]].map((other): (typeof cases)[number] => [`Notion's ${JSON.stringify(other)}`, "notion", armed, brings(other), undefined]),
    ...["short", "<b>0123456789abcdef", "x".repeat(129)].map((other): (typeof cases)[number] => [`Notion's ${other}`, "notion", armed, brings(other), nothing(400)]),
    ["Notion's in the longest body that is read", "notion", armed, { body: brings(secret).body.padEnd(maxUnsignedBytes) }, { ...nothing(200), show: secret }],
    ["Notion's in a longer body", "notion", armed, { body: brings(secret).body.padEnd(maxUnsignedBytes + 1) }, undefined],
    ["Asana's secret, which is said back", "asana", armed, hook(secret), { ...nothing(200), headers: { "X-Hook-Secret": secret }, show: secret }],
    ["Asana's secret without First contact", "asana", {}, hook(secret), undefined],
    ["Asana's secret and a signature", "asana", armed, hook(secret, "X-Hook-Signature", "00"), undefined],
    ["Asana's empty secret", "asana", armed, hook(""), nothing(400)],
    ["a shop's id in a form", "woocommerce", {}, { headers: form, body: "webhook_id=12" }, nothing(200)],
    ["a shop's id and more", "woocommerce", {}, { headers: form, body: "webhook_id=12&a=1" }, undefined],
    ["a shop's id and a line feed", "woocommerce", {}, { headers: form, body: "webhook_id=12\n" }, undefined],
    ["a shop's id in no form", "woocommerce", {}, { headers: ["Content-Type", "application/json"], body: "webhook_id=12" }, undefined],
    ["a shop's id and a signature", "woocommerce", {}, { headers: [...form, "X-WC-Webhook-Signature", "AAAA"], body: "webhook_id=12" }, undefined],
    ["Graph's, decoded once", "microsoft-graph", {}, by("POST", "validationToken=Validation%3A+a%252B%20b"), { status: 200, headers: plain, body: "Validation: a%2B b" }],
    ["Graph's with markup", "microsoft-graph", {}, by("POST", "validationToken=%3Cscript%3E"), nothing(400)],
    ["Graph's, twice", "microsoft-graph", {}, by("POST", "validationToken=a&validationToken=b"), undefined],
    ["Graph's, empty", "microsoft-graph", {}, by("POST", "validationToken="), undefined],
    ["SharePoint's, spelled in its own way", "microsoft-graph", {}, by("POST", "validationtoken=UQe-zq5k90S5JFxKGFGgtQ"), { status: 200, headers: plain, body: "UQe-zq5k90S5JFxKGFGgtQ" }],
    ["SharePoint's with markup", "microsoft-graph", {}, by("POST", "validationtoken=%3Cscript%3E"), nothing(400)],
    ["one in a spelling that nobody documents", "microsoft-graph", {}, by("POST", "VALIDATIONTOKEN=a"), undefined],
    ["a test of the connection by Bitbucket Data Center", "bitbucket", {}, byBitbucket('{"test":true}'), nothing(200)],
    ...['{"test":true,"push":1}', '{"test":"true"}', '{"test":false}', "{}", '[{"test":true}]'].map((body): (typeof cases)[number] => [`Bitbucket's ${body}`, "bitbucket", {}, byBitbucket(body), undefined]),
    ["Bitbucket's test of another event", "bitbucket", {}, byBitbucket('{"test":true}', "repo:push"), undefined],
    ...['{"events":[]}', '{ "events" : [ ] }\n'].map((body): (typeof cases)[number] => [`Asana's heartbeat ${body}`, "asana", {}, byAsana(body), { ...nothing(200), ...proved }]),
    ...['{"events":[{"action":"added"}]}', '{"events":{}}', "[]"].map((body): (typeof cases)[number] => [`Asana's ${body}`, "asana", {}, byAsana(body), undefined]),
    ["Asana's heartbeat without its signature", "asana", {}, { ...byAsana('{"events":[]}'), headers: [] }, undefined],
    ["Slack's with nothing to say back", "slack", {}, bySlack('{"type":"url_verification"}'), nothing(400)],
    ...["new", "old"].map((fitting): (typeof cases)[number] => [`Zoom's, by a MAC under the ${fitting} secret that fits`, "zoom", { first: "new", second: "old" }, byZoom("abc", fitting), { status: 200, headers: jsonType, body: zoomed(fitting), ...proved }]),
    ["Zoom's that wants a signature", "zoom", {}, byZoom("v0:17:{}"), nothing(400)],
    ["Smartcar's that could be a body", "smartcar", {}, verify('{"eventType":"VEHICLE_STATE"}'), nothing(400)],
    ["Smartcar's without a challenge", "smartcar", {}, verify(undefined), nothing(400)],
    ["Smartcar's of another type", "smartcar", {}, verify("abc", "VEHICLE_STATE"), undefined],
    ["Smartcar's of version 2.0", "smartcar", {}, older("abc"), { status: 200, headers: jsonType, body: JSON.stringify({ challenge: mac("abc", "hex") }) }],
    ["Smartcar's of version 2.0 that could be a body", "smartcar", {}, older('{"eventName":"schedule"}'), nothing(400)],
    ["Smartcar's schedule of version 2.0", "smartcar", {}, older("abc", "schedule"), undefined],
    ["Enode's heartbeat with an event beside it", "enode", {}, byEnode("system:heartbeat", "user:vehicle:updated"), undefined],
    ["Okta's with markup", "okta", {}, { method: "GET", headers: ["X-Okta-Verification-Challenge", "<b>"] }, nothing(400)],
    ["RingCentral's with markup", "ringcentral", {}, { headers: ["Validation-Token", "<b>"] }, nothing(400)],
    ["RingCentral's in an event", "ringcentral", {}, { headers: ["Validation-Token", "abc", "Content-Type", "application/json"], body: '{"uuid":"1"}' }, undefined],
    ["Nylas' with markup", "nylas", {}, by("GET", "challenge=%3Cb%3E"), nothing(400)],
    ["Nylas' without a challenge", "nylas", {}, by("GET"), undefined],
    ["Front's without a signature", "front", {}, { headers: ["X-Front-Challenge", "abc", "Content-Type", "application/json"], body: '{"type":"sync"}' }, undefined],
    ["Figma's with another passcode", "figma", {}, { headers: ["Content-Type", "application/json"], body: '{"event_type":"PING","passcode":"other"}' }, undefined],
    ["Okta's without a challenge", "okta", {}, by("GET"), undefined],
    ["Strava's with another token", "strava", { verifyToken: "other" }, by("GET", subscribe), otherwise(403)],
    ["Oura's with another token", "oura", { verifyToken: "other" }, by("GET", "verification_token=token&challenge=a"), otherwise(403)],
    ["LINE's", "line", {}, byLine('{"events":[]}'), { ...nothing(200), ...proved }],
    ...['{"events":[{}]}', "{}", '{"events":{}}', '{"events":""}'].map((body): (typeof cases)[number] => [`LINE's ${body}`, "line", {}, byLine(body), undefined]),
    ["Xero's", "xero", {}, byXero('{"events":[],"entropy":"a"}'), { ...nothing(200), ...proved }],
    ["Xero's with a number", "xero", {}, byXero('{"events":[],"entropy":1}'), undefined],
    ["Azure's", "azure-eventgrid", {}, byAzure("512d38b6"), { status: 200, headers: jsonType, body: '{"validationResponse":"512d38b6"}', ...proved }],
    ["Azure's of another type", "azure-eventgrid", {}, byAzure("512d38b6", "Notification"), undefined],
    ["Azure's with a number", "azure-eventgrid", {}, byAzure(1), undefined],
  ]; // prettier-ignore
  for (const [name, sender, given, asked, expected] of cases) {
    it(`${name}: ${expected?.status ?? "none"}`, () => should(answerTo(sender, given, asked)).eql(expected));
  }

  it("take a method of its own only where they need it", () => {
    authenticatorFor("meta").handshakeMethods.should.eql(["GET"]);
    authenticatorFor("azure-eventgrid").handshakeMethods.should.eql(["OPTIONS"]);
    authenticatorFor("notion", armed).handshakeMethods.should.eql([]);
  });
});
