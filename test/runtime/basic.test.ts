import should from "should";
import { tab, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { onBothWays, useNodeRed } from "../harness/layouts";
import { until } from "../harness/until";

const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const challenge = 'Basic realm="webhook", charset="UTF-8"';

const credentials = { user: "sénsor", password: "päss:wörd", secondPassword: "the-second-one" };
const flow = tab(
  webhook("basic", "/basic", { verificationMethod: "basic", credentials }),
  webhook("without", "/without", { verificationMethod: "basic", credentials: { user: "sensor" } }),
);

onBothWays("a webhook with user and password", { flow }, (nodeRed) => {
  const post = (headers: Record<string, string> = {}) => send(nodeRed().node("/basic"), { headers, body: "{}" });

  it("starts the flow with either password, which the message does not have", async () => {
    for (const [password, credential] of [
      [credentials.password, "first"],
      [credentials.secondPassword, "second"],
    ] as const) {
      const { json } = await post(basic(credentials.user, password));
      const message = await nodeRed().message(json.id);
      should(message.webhook).eql({ credential });
      const shown = JSON.stringify(message.req);
      shown.should.not
        .containEql(password)
        .and.not.containEql(basic(credentials.user, password).Authorization.slice(6));
    }
  });

  it("is refused without them and with others, always in the same words", async () => {
    const missing = await post();
    should([missing.status, missing.headers["www-authenticate"]]).eql([401, challenge]);
    const wrong = [basic(credentials.user, "x"), basic("x", credentials.password), { Authorization: "Basic x" }, { Authorization: "Bearer x" }];
    const replies = await Promise.all(wrong.map((headers) => post(headers)));
    for (const { status, headers, json } of replies) {
      should([status, headers["www-authenticate"], json]).eql([401, challenge, replies[0]?.json]);
    }
  }); // prettier-ignore

  it("says to the operator alone what was wrong", async () => {
    const hasReason = async () => {
      await post(basic("another", credentials.password));
      const { json } = await send(nodeRed().admin("/webhook-trigger/basic/lastRequest"), { method: "GET" });
      const { lastRefused } = json as { lastRefused?: { reasons: { key: string }[] } };
      return lastRefused?.reasons[0]?.key === "basic.user";
    };
    // Reasons are looked for once a second.
    await until(hasReason, "the reason");
  });

  it("takes a test request of the form", async () => {
    const { json } = await command(nodeRed().admin("/webhook-trigger/basic/test"));
    should(json.outcome).equal("accepted");
    should((await nodeRed().message(json.id)).payload).equal("hello world");
  });

  it("stays closed without a password", async () => {
    await nodeRed().status("without", /Password is missing/);
  });
});

describe("a webhook with user and password, behind httpNodeAuth", () => {
  const nodeRed = useNodeRed({ flow, code: 'httpNodeAuth: { user: "guard", pass: "$2b$04$x" }' });

  it("says why requests cannot come in", async () => {
    await nodeRed().until(() => nodeRed().log.includes("httpNodeAuth in the settings file") || undefined, "the warning");
    should((await send(nodeRed().node("/basic"), { headers: basic(credentials.user, credentials.password) })).status).equal(401);
  }); // prettier-ignore
});
