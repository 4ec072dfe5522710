import { createHmac } from "node:crypto";
import should from "should";
import type { HandshakeAnswer } from "../../../src/auth/authenticator";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { maxUnsignedBytes } from "../../../src/auth/handshakes";
import { isSenderId, type SenderId } from "../../../src/auth/senders/table";
import type { Settings } from "../../../src/config/fields";
import { Problem } from "../../../src/request/problem";
import rows from "../../data/handshakes.json";

interface Asked {
  method?: string;
  headers?: string[];
  search?: string;
  body?: string | Buffer;
  at?: number;
}

interface Configured {
  first?: string;
  second?: string;
  settings?: Settings;
  verifyToken?: string;
}

function authenticatorFor(
  sender: SenderId,
  { first, second: secondSecret = "", settings = {}, verifyToken = "" }: Configured,
) {
  const secret = first ?? (settings.arm ? "" : "secret");
  const access = { method: "signature", scheme: null, settings, secret, secondSecret, verifyToken } as const;
  const authenticator = createAuthenticator({ sender, access });
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

/** The reply to a handshake; nothing for another request. */
function answerTo(sender: SenderId, configured: Configured, asked: Asked): HandshakeAnswer | undefined {
  const { method = "POST", headers = [], search = "", body = "", at = 0 } = asked;
  const entry = authenticatorFor(sender, configured).begin({ method, rawHeaders: headers, search }, at * 1000);
  const result = "verify" in entry ? entry.verify(Buffer.from(body)) : entry;
  return "status" in result && !(result instanceof Problem) ? result : undefined;
}

const signed = (name: string, prefix: string, encoding: "hex" | "base64", body: string, secret = "secret") => [
  name,
  prefix + createHmac("sha256", secret).update(body).digest(encoding),
];

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

  it("that are signed are answered only where the signature fits", () => {
    for (const { sender, method, search, headers, body, at } of rows.filter(({ method }) => method === "POST")) {
      if (!isSenderId(sender) || sender === "notion") continue;
      const first = sender === "discord" ? "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511b" : "other";
      should(answerTo(sender, { first }, { method, headers, search, body, at })).be.undefined();
    }
  });

  describe("by GET", () => {
    const subscribe = "hub.mode=subscribe&hub.challenge=abc&hub.verify_token=token";
    const topic = "hub.mode=unsubscribe&hub.topic=https%3A%2F%2Fexample.com%2Ffeed&hub.challenge=c";
    const settings = { topicUrl: "https://example.com/feed" };
    const plain = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
    const nothing = (status: number) => ({ status, headers: {}, body: "" });
    /** What every other request of the method gets. */
    const otherwise = (status: number) => ({ ...nothing(status), isFallback: true as const });
    const cases: [string, SenderId, Configured, string, HandshakeAnswer | undefined][] = [
      ["Meta's with another token", "meta", { verifyToken: "other" }, subscribe, otherwise(403)],
      ["Meta's without a token", "meta", {}, subscribe.replace("=token", "="), otherwise(403)],
      ["Meta's with the token twice", "meta", { verifyToken: "token" }, `${subscribe}&hub.verify_token=token`, otherwise(403)],
      ["Meta's with another mode", "meta", { verifyToken: "token" }, subscribe.replace("subscribe", "x"), otherwise(403)],
      ["Meta's with markup", "meta", { verifyToken: "token" }, subscribe.replace("abc", "<b>"), nothing(400)],
      ["Meta's with two challenges", "meta", { verifyToken: "token" }, `${subscribe}&hub.challenge=d`, nothing(400)],
      ["Meta's without a challenge", "meta", { verifyToken: "token" }, subscribe.replace("=abc", "="), nothing(400)],
      ["Dropbox's with markup", "dropbox", {}, "challenge=%3Cscript%3E", nothing(400)],
      ["Dropbox's without a challenge", "dropbox", {}, "a=1", undefined],
      ["a hub's", "websub", { settings }, topic, { status: 200, headers: plain, body: "c" }],
      ["a hub's for another topic", "websub", { settings }, topic.replace("feed", "other"), otherwise(404)],
      ["a hub's where no topic is configured", "websub", {}, topic, otherwise(404)],
      ["a hub's where both are empty", "websub", {}, topic.replace(/https.*feed/, ""), otherwise(404)],
      ["X's with what could be a body", "x", {}, "crc_token=%7B%22a%22%3A1%7D", nothing(400)],
      ["X's that is too long", "x", {}, `crc_token=${"a".repeat(129)}`, nothing(400)],
      ["one that GitHub does not know", "github", {}, "challenge=a", undefined],
    ]; // prettier-ignore
    for (const [name, sender, configured, search, expected] of cases) {
      it(`${name}: ${expected?.status ?? "none"}`, () => {
        should(answerTo(sender, configured, { method: "GET", search })).eql(expected);
      });
    }

    it("X's is answered by a MAC of what it asked, under the first secret", () => {
      const token = createHmac("sha256", "secret").update("a-b=").digest("base64");
      should(answerTo("x", { first: "secret", second: "other" }, { method: "GET", search: "crc_token=a-b%3D" })).eql({
        status: 200,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ response_token: `sha256=${token}` }),
      });
    });
  });

  it("by HEAD and OPTIONS need no signature, and say back only what looks like an origin", () => {
    should(answerTo("intercom", {}, { method: "HEAD" })).eql({ status: 200, headers: {}, body: "" });
    should(answerTo("github", {}, { method: "HEAD" })).be.undefined();
    for (const sender of ["cloudevents", "azure-eventgrid"] as const) {
      const ask = (origin: string) =>
        answerTo(sender, {}, { method: "OPTIONS", headers: ["webhook-request-origin", origin] });
      should(ask("eventgrid.azure.net")).eql({
        status: 200,
        headers: { "WebHook-Allowed-Origin": "eventgrid.azure.net", "WebHook-Allowed-Rate": "*", Allow: "POST" },
        body: "",
      });
      should(ask("<b>")?.status).equal(400);
      should(answerTo(sender, {}, { method: "OPTIONS" })).be.undefined();
    }
  });

  it("by another method are none", () => {
    const search = "hub.mode=subscribe&hub.challenge=abc&hub.verify_token=token";
    for (const method of ["HEAD", "POST", "PUT", "get"]) {
      should(answerTo("meta", { verifyToken: "token" }, { method, search })).be.undefined();
    }
    authenticatorFor("meta", {}).methods.should.eql(["GET"]);
    authenticatorFor("azure-eventgrid", {}).methods.should.eql(["OPTIONS"]);
    authenticatorFor("notion", { settings: { arm: true } }).methods.should.eql([]);
  });

  describe("that bring the secret", () => {
    const token = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
    const notion = (body: unknown, configured: Configured) =>
      answerTo("notion", configured, { body: JSON.stringify(body) });
    const armed = { settings: { arm: true } };

    it("show it to the operator, and say it to nobody", () => {
      should(notion({ verification_token: token }, armed)).eql({ status: 200, headers: {}, body: "", show: token });
      const asana = answerTo("asana", armed, { headers: ["X-Hook-Secret", "0123456789abcdef"] });
      const headers = { "X-Hook-Secret": "0123456789abcdef" };
      should(asana).eql({ status: 200, headers, body: "", show: "0123456789abcdef" });
    });

    it("are refused without First contact, and while there is a secret", () => {
      for (const configured of [{}, { settings: { arm: false } }, { ...armed, first: "secret" }]) {
        should(notion({ verification_token: token }, configured)).be.undefined();
        should(answerTo("asana", configured, { headers: ["X-Hook-Secret", "0123456789abcdef"] })).be.undefined();
      }
    });

    it("are none with anything else beside it, and refused when it looks otherwise", () => {
      should(notion({ verification_token: token, type: "page.created" }, armed)).be.undefined();
      for (const other of ["", 1, null, [token]]) should(notion({ verification_token: other }, armed)).be.undefined();
      for (const other of ["short", "<b>0123456789abcdef", "x".repeat(129)]) {
        should(notion({ verification_token: other }, armed)).eql({ status: 400, headers: {}, body: "" });
      }
      const headers = ["X-Hook-Secret", "0123456789abcdef", "X-Hook-Signature", "00"];
      should(answerTo("asana", armed, { headers })).be.undefined();
      should(answerTo("asana", armed, { headers: ["X-Hook-Secret", ""] })?.status).equal(400);
    });
  });

  it("of a shop are a form with an id and nothing else, and without a signature", () => {
    const form = ["Content-Type", "application/x-www-form-urlencoded"];
    const ping = (body: string, headers = form) => answerTo("woocommerce", {}, { headers, body });
    should(ping("webhook_id=12")).eql({ status: 200, headers: {}, body: "" });
    should(ping("webhook_id=12&a=1")).be.undefined();
    should(ping("webhook_id=12\n")).be.undefined();
    should(ping("webhook_id=12", ["Content-Type", "application/json"])).be.undefined();
    should(ping("webhook_id=12", [...form, "X-WC-Webhook-Signature", "AAAA"])).be.undefined();
  });

  it("read no body that is longer than theirs can be", () => {
    const ask = (length: number) => {
      const body = JSON.stringify({ verification_token: "a".repeat(16) }).padEnd(length);
      return answerTo("notion", { settings: { arm: true } }, { body });
    };
    should(ask(maxUnsignedBytes)?.status).equal(200);
    should(ask(maxUnsignedBytes + 1)).be.undefined();
  });

  it("of Graph say back a token that is decoded once, with no markup in it", () => {
    const ask = (search: string) => answerTo("microsoft-graph", {}, { search });
    should(ask("validationToken=Validation%3A+a%252B%20b")?.body).equal("Validation: a%2B b");
    should(ask("validationToken=%3Cscript%3E")).eql({ status: 400, headers: {}, body: "" });
    should(ask("validationToken=a&validationToken=b")).be.undefined();
    should(ask("validationToken=")).be.undefined();
  });

  it("say nothing where what is to be said back is missing", () => {
    const body = '{"type":"url_verification"}';
    const headers = ["X-Slack-Request-Timestamp", "17", ...signed("X-Slack-Signature", "v0=", "hex", `v0:17:${body}`)];
    should(answerTo("slack", {}, { headers, body, at: 17 })).eql({
      status: 400,
      headers: {},
      body: "",
    });
  });

  it("make a MAC with the secret that fitted", () => {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    for (const secret of ["old", "new"]) {
      const headers = [
        "x-zm-request-timestamp",
        "17",
        ...signed("x-zm-signature", "v0=", "hex", `v0:17:${body}`, secret),
      ];
      const encryptedToken = createHmac("sha256", secret).update("abc").digest("hex");
      const said = answerTo("zoom", { first: "new", second: "old" }, { headers, body, at: 17 });
      should(said?.body).equal(JSON.stringify({ plainToken: "abc", encryptedToken }));
    }
  });

  it("make no signature of a caller's choice", () => {
    const plainToken = "v0:17:{}";
    const body = JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } });
    const headers = ["x-zm-request-timestamp", "17", ...signed("x-zm-signature", "v0=", "hex", `v0:17:${body}`)];
    should(answerTo("zoom", {}, { headers, body, at: 17 })?.status).equal(400);
  });

  it("are told from ordinary events that look like them", () => {
    const line = (body: string) =>
      answerTo("line", {}, { headers: signed("x-line-signature", "", "base64", body), body });
    should(line('{"events":[]}')).eql({ status: 200, headers: {}, body: "" });
    for (const body of ['{"events":[{}]}', "{}", '{"events":{}}', '{"events":""}']) should(line(body)).be.undefined();
    const xero = (body: string) =>
      answerTo("xero", {}, { headers: signed("x-xero-signature", "", "base64", body), body });
    should(xero('{"events":[],"entropy":"a"}')?.status).equal(200);
    should(xero('{"events":[],"entropy":1}')).be.undefined();
    const azure = (code: unknown, type = "SubscriptionValidation") =>
      answerTo(
        "azure-eventgrid",
        { first: "secret" },
        {
          headers: ["Authorization", "Bearer secret", "aeg-event-type", type],
          body: JSON.stringify([{ data: { validationCode: code } }]),
        },
      );
    should(azure("512d38b6")?.body).equal('{"validationResponse":"512d38b6"}');
    should(azure("512d38b6", "Notification")).be.undefined();
    should(azure(1)).be.undefined();
  });
});
