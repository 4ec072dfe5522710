import should from "should";
import { fullName, recipeIds, recipes, senderIds, senders } from "../../src/auth/senders/table";
import { catalogText, type FormField } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "shelly", relativePath: "/shelly", credentials: {} },
  { id: "owntracks", relativePath: "/owntracks", credentials: {} },
);

describe("the sender in the form", () => {
  const { editor, nodeRed } = useEditor(flow);

  const values = async (...fields: FormField[]) => {
    const found: Record<string, string> = {};
    for (const field of fields) found[field] = await editor().input(field).inputValue();
    return found;
  };
  const shown = (...fields: FormField[]) => editor().visible(...fields);

  const search = () => editor().part("search");
  const options = () => editor().part("senders").getByRole("option");
  const names = () => options().allInnerTexts();

  it("is the first thing in the form, chosen from a list of all that are known", async () => {
    await editor().editAsItIs("plain");
    const first = editor().page.locator(".webhook-trigger-form").locator("input, select, button").first();
    should(await first.getAttribute("id")).equal("webhook-trigger-search");
    (await search().inputValue()).should.equal(catalogText("sender.any"));
    await search().click();
    const listed = await options().evaluateAll((found) => found.map((option) => option.dataset.value ?? ""));
    listed.slice(0, 4).should.eql(["", "github", "gitlab", "gitlab-signed"]);
    should(listed.at(-1)).equal("custom");
    listed.slice().sort().should.eql(["", ...senderIds, ...recipeIds].sort());
    const group = (key: string) => editor().page.getByRole("group", { name: catalogText(`sender.${key}`) }).getByRole("option");
    (await group("wellKnown").allInnerTexts()).should.containEql(catalogText("sender.sharedSecret"));
    const others = await group("others").allInnerTexts();
    others.should.eql(others.slice().sort((one, other) => one.localeCompare(other)));
    await editor().page.keyboard.press("Escape");
    (await options().count()).should.equal(0);
    (await search().isVisible()).should.be.true();
  });

  it("is found by typing a part of its name, and chosen by mouse or keyboard", async () => {
    await editor().editAsItIs("plain");
    await search().fill("GIT");
    const found = await names();
    for (const id of ["github", "gitlab", "gitlab-signed", "gitea"] as const) found.should.containEql(fullName(id));
    found.filter((name) => !/git/i.test(name)).should.eql([]);
    (await editor().part("found").innerText()).should.equal(catalogText("sender.found", { count: String(found.length) }));
    (await values("sender")).should.eql({ sender: "" });
    await options().filter({ hasText: "GitHub" }).click();
    (await values("sender")).should.eql({ sender: "github" });
    (await shown("secret")).should.eql(["secret"]);
    (await search().inputValue()).should.equal(fullName("github"));
    (await options().count()).should.equal(0);

    await search().fill("whatsapp");
    await search().press("Enter");
    (await values("sender")).should.eql({ sender: "meta" });
    (await editor().focus()).should.equal("webhook-trigger-search");
    await search().fill("brex");
    (await names()).should.eql([fullName("standard-webhooks")]);
    await search().fill("nothing like this");
    (await options().count()).should.equal(0);
    await search().press("Enter");
    await search().press("Tab");
    (await values("sender")).should.eql({ sender: "meta" });
    (await search().inputValue()).should.equal(fullName("meta"));
    // The list opens at the chosen one.
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "Enter"]) await search().press(key);
    (await values("sender")).should.eql({ sender: "meta" });
    for (const key of ["ArrowDown", "ArrowUp", "Enter"]) await search().press(key);
    (await values("sender")).should.not.eql({ sender: "meta" });
    await search().fill("${SENDER}");
    await search().press("Tab");
    (await values("sender")).should.eql({ sender: "${SENDER}" });
    (await search().inputValue()).should.equal("${SENDER}");
    await search().fill("${OTHER}");
    await search().press("Enter");
    (await values("sender")).should.eql({ sender: "${OTHER}" });
  });

  it("gives a new node its name, as long as that has no other", async () => {
    await editor().editAsItIs(await editor().drop("webhook-trigger", 300, 400));
    for (const [sender, name] of [["github", "GitHub"], ["stripe", "Stripe"], ["", ""]] as const) {
      await editor().enter({ sender });
      (await values("name")).should.eql({ name });
    }
    await editor().enter({ name: "Orders", sender: "github" });
    (await values("name")).should.eql({ name: "Orders" });
    await editor().cancel();
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "github" });
    (await values("name")).should.eql({ name: "" });
  });

  it("says what its topic will be, and refuses a public key that has not its 32 bytes, while it is typed", async () => {
    await editor().edit("plain");
    for (const [sender, key, place] of [
      ["", undefined, ""],
      ["github", "topicInHeader", "X-GitHub-Event"],
      ["slack", "topicInJson", "event.type"],
      ["dropbox", undefined, ""],
    ] as const) {
      await editor().enter({ sender });
      (await editor().part("topic").innerText()).should.equal(key ? catalogText(`message.${key}`, { place }) : "");
    }
    for (const [sender, bytes, encoding] of [["telnyx", 31, "base64"], ["telnyx", 33, "base64"], ["discord", 31, "hex"]] as const) {
      await editor().enter({ sender, secret: Buffer.alloc(bytes, 7).toString(encoding) });
      (await editor().message("secret").innerText()).should.equal(catalogText("rules.secret.format"), sender);
      await editor().enter({ secret: Buffer.alloc(32, 7).toString(encoding) });
      (await editor().message("secret").isVisible()).should.be.false(sender);
    }
  });

  it("makes a new secret where its user chooses that, and gives it away beside the URL or in it; where it sends a token, fills in its header, and gives away that alone", async () => {
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "github" });
    (await values("verificationMethod")).should.eql({ verificationMethod: "signature" });
    (await shown("token", "secret", "verifyToken", "publicUrl", "arm")).should.eql(["secret"]);
    const { secret = "" } = await values("secret");
    secret.should.match(/^[\w-]{40}$/);
    (await editor().copyGiven("secret")).should.equal(secret);
    (await editor().copyGiven("url")).should.equal(nodeRed().node("/plain"));
    (await editor().given("header").isVisible()).should.be.false();
    (await editor().copyGiven("contentType")).should.equal("application/json");
    (await editor().part("secondSecret-make").count()).should.equal(1);
    (await editor().hint("secret").innerText()).should.containEql(catalogText("secret.chosen", { name: "GitHub" }));
    should(await editor().hint("secret").locator("a").getAttribute("href")).equal(senders.github.docs);
    // One that does not sign gets it in the URL.
    await editor().enter({ sender: "strava" });
    const { secret: inUrl = "", verifyToken = "" } = await values("secret", "verifyToken");
    (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/plain")}?state=${inUrl}`);
    (await editor().copyGiven("verifyToken")).should.equal(verifyToken);
    (await editor().given("secret").isVisible()).should.be.false();
    // A new node has its token where the sender has it, which is all that this is given.
    await editor().cancel();
    await editor().editAsItIs(await editor().drop("webhook-trigger", 300, 500));
    for (const [sender, headerParameter, item, other, before] of [
      ["gitlab", "X-Gitlab-Token", "token", "header", ""],
      ["azure-eventgrid", "Authorization", "header", "token", "Authorization: Bearer "],
    ] as const) {
      await editor().enter({ sender });
      const { token = "", ...others } = await values("token", "verificationMethod", "headerParameter");
      others.should.eql({ verificationMethod: "header", headerParameter });
      (await editor().copyGiven(item)).should.equal(before + token);
      (await editor().given(other).isVisible()).should.be.false();
    }
  });

  it("says where the sender shows the secret, and what it begins with, drops a generated one, and keeps a typed one", async () => {
    const noted = async () => (await editor().note("secret").innerText()).trim();
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "github" });
    await editor().enter({ sender: "stripe" });
    (await editor().part("secondSecret-make").count()).should.equal(0);
    (await values("secret")).should.eql({ secret: "" });
    const hint = await editor().hint("secret").innerText();
    const where = { name: "Stripe", where: "Developers → Webhooks: Signing secret" };
    for (const part of [catalogText("secret.shown", where), catalogText("secret.begins", { begins: "whsec_" }), catalogText("sender.where", where)]) {
      hint.should.containEql(part);
    }
    // A key of Stripe's API is a frequent mistake.
    await editor().enter({ secret: "sk_live_typed" });
    should(await editor().input("secret").getAttribute("type")).equal("password");
    (await noted()).should.equal(catalogText("whyNot.secretPrefixMissing", { prefix: "whsec_" }));
    await editor().enter({ secret: "whsec_typed " });
    (await noted()).should.equal(catalogText("whyNot.secretBlank"));
    await editor().enter({ secret: "whsec_typed" });
    (await editor().note("secret").isVisible()).should.be.false();
    (await editor().message("secret").isVisible()).should.be.false();
    (await editor().given("secret").isVisible()).should.be.false();
    await editor().enter({ sender: "shopify" });
    (await values("secret")).should.eql({ secret: "whsec_typed" });
  });

  it("takes a secret of any length in a header of any name, and gives both away", async () => {
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "shared-secret" });
    (await values("verificationMethod")).should.eql({ verificationMethod: "signature" });
    (await shown("token", "secret", "signatureHeader", "headerParameter")).should.eql(["secret", "signatureHeader"]);
    should(await editor().input("verificationMethod").locator(":checked").textContent()).equal(catalogText("sender.sharedSecret"));
    const label = editor().page.locator("label[for=node-input-signatureHeader]");
    (await label.innerText()).trim().should.equal(catalogText("label.headerParameter"));
    const { secret = "" } = await values("secret");
    (await editor().copyGiven("header")).should.equal(`X-Token: ${secret}`);
    await editor().enter({ secret: "short", signatureHeader: "X Key" });
    (await editor().message("signatureHeader").innerText()).should.equal(catalogText("rules.headerParameter"));
    await editor().enter({ signatureHeader: "X-Key" });
    (await editor().copyGiven("header")).should.equal("X-Key: short");
    // Nothing is signed, so there is a line for a terminal.
    (await editor().part("command").textContent() ?? "").should.containEql(' -H "X-Key: short" ');
    (await editor().message("secret").isVisible()).should.be.false();
    (await editor().given("secret").isVisible()).should.be.false();
  });

  it("keeps the header and the method that were typed for any sender while others are tried", async () => {
    await editor().edit("plain");
    for (const entered of [{ headerParameter: "X-Own" }, { verificationMethod: "query", queryParameter: "key" }]) {
      await editor().enter(entered);
      const typed = await values("verificationMethod", "headerParameter", "queryParameter");
      for (const sender of ["github", "gitlab", ""]) await editor().enter({ sender });
      (await values("verificationMethod", "headerParameter", "queryParameter")).should.eql(typed);
    }
    (await shown("token", "secret")).should.eql(["token"]);
  });

  it("asks for what it needs, and for nothing else, and does without a secret while it may bring one", async () => {
    await editor().editAsItIs("plain");
    for (const [sender, fields] of [
      ["meta", ["secret", "verifyToken"]],
      ["notion", ["secret", "arm"]],
      ["square", ["secret", "publicUrl"]],
      ["grafana-timestamp", ["secret", "signatureHeader", "timestampHeader"]],
      ["strava", ["secret", "verifyToken"]],
      ["websub", ["secret", "topicUrl", "alg"]],
      ["microsoft-graph", ["secret"]],
      ["cloudevents", ["token"]],
      ["custom", ["secret"]],
      ["google-pubsub", ["audience", "requiredClaim"]],
      ["google-chat", ["audience", "requiredClaim"]],
      ["amazon-sns", ["topicArn"]],
      ["paypal", ["webhookId"]],
      ["netlify", ["secret"]],
      ["vonage", ["secret"]],
      ["monday", ["secret", "audience"]],
    ] as const) {
      await editor().enter({ sender });
      const asked = await shown("token", "secret", "verifyToken", "arm", "publicUrl", "signatureHeader", "timestampHeader", "topicUrl", "topicArn", "webhookId", "alg", "keySource", "jwksUrl", "publicKey", "issuer", "audience", "requiredClaim");
      asked.sort().should.eql([...fields].sort(), sender);
    }
    await editor().cancel();
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "asana" });
    (await editor().input("arm").isChecked()).should.be.true();
    await editor().enter({ secret: "mine", arm: false });
    (await shown("arm")).should.eql([]);
    await editor().enter({ secret: "" });
    (await editor().message("secret").isVisible()).should.be.true();
    await editor().enter({ arm: true });
    (await editor().message("secret").isVisible()).should.be.false();
  });

  it("saves its settings in one property, those with a value", async () => {
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "websub" });
    await editor().input("topicUrl").fill("https://example.com/feed");
    await editor().done();
    should(await editor().saved("plain", "senderSettings")).eql({ topicUrl: "https://example.com/feed" });
    await editor().edit("plain");
    (await values("sender", "topicUrl")).should.eql({ sender: "websub", topicUrl: "https://example.com/feed" });
    await editor().input("topicUrl").fill("");
    await editor().enter({ sender: "" });
    await editor().done();
    await editor().invoke("core:undo");
    await editor().invoke("core:undo");
    should(await editor().saved("plain", "senderSettings")).eql({});
  });

  it("begins a custom one with a scheme that works, beside its secret, and takes over another", async () => {
    await editor().editAsItIs("plain");
    await editor().enter({ sender: "custom" });
    should(JSON.parse(await editor().input("scheme").inputValue())).eql(senders.custom.scheme);
    (await editor().message("scheme").isVisible()).should.be.false();
    // It asks for the URL as soon as the scheme signs it.
    await editor().enter({ scheme: JSON.stringify({ ...senders.custom.scheme, content: ["url", "body"] }) });
    await editor().enter({ publicUrl: "https://nodered.example/orders" });
    (await editor().copyGiven("url")).should.equal("https://nodered.example/orders");
    await editor().part("schemeOf").selectOption("slack");
    // Node-RED's code editor has it as well.
    await editor().part("scheme-editor").locator("button").click();
    const tray = editor().page.locator(".red-ui-tray").last();
    await tray.getByText("X-Slack-Signature").first().waitFor();
    await tray.locator("#node-dialog-ok").click();
    await tray.getByText("X-Slack-Signature").first().waitFor({ state: "detached" });
    await editor().done();
    should(await editor().saved("plain", "scheme")).eql(senders.slack.scheme);
    await editor().invoke("core:undo");
    should(await editor().saved("plain", "scheme")).equal(null);
  });

  it("describes a custom one by its parts, each of which is in the JSON as well", async () => {
    const enter = async (entered: Record<string, string>) => {
      for (const [name, value] of Object.entries(entered)) {
        const control = editor().part(`custom-${name}`);
        const isList = await control.evaluate((element) => element instanceof HTMLSelectElement);
        await (isList ? control.selectOption(value) : control.fill(value));
      }
    };
    await editor().edit("plain");
    (await editor().part("custom-alg").isVisible()).should.be.false();
    await editor().enter({ sender: "custom" });
    (await editor().part("custom-content").inputValue()).should.equal("{body}");
    await enter({ alg: "hmac-sha512", key: "base64", headers: "X-Acme-Signature", prefix: "v1=", enc: "base64" });
    await enter({ content: "v1:{ts}.{header:X-Id}.{body}", time: "X-Acme-Time", unit: "ms", tolerance: "60" });
    await enter({ requires: "X-Env: live\nX-Version: 2", handshake: "POST", when: "json:type=check" });
    await enter({ echo: "json:challenge", member: "challenge" });
    (await editor().message("scheme").isVisible()).should.be.false();
    const scheme = {
      alg: "hmac-sha512",
      key: { format: "base64" },
      sig: { headers: ["X-Acme-Signature"], pick: { prefix: "v1=" }, enc: "base64" },
      content: ["lit:v1:", "ts", "lit:.", "header:X-Id", "lit:.", "body"],
      ts: { source: "header:X-Acme-Time", unit: "ms", tolerance: 60 },
      requires: { "X-Env": "live", "X-Version": "2" },
      handshake: { method: "POST", when: { "json:type": "check" }, echo: "json:challenge", member: "challenge" },
    };
    should(JSON.parse(await editor().input("scheme").inputValue())).eql(scheme);
    await enter({ time: "", handshake: "", requires: "", content: "{body}" });
    const { ts, requires, handshake, ...less } = scheme;
    should(JSON.parse(await editor().input("scheme").inputValue())).eql({ ...less, content: ["body"] });
    await editor().enter({ scheme: JSON.stringify({ ...less, ts, requires, handshake }) });
    (await editor().part("custom-content").inputValue()).should.equal("v1:{ts}.{header:X-Id}.{body}");
    (await editor().part("custom-requires").inputValue()).should.equal("X-Env: live\nX-Version: 2");
    await editor().enter({ scheme: "{" });
    (await editor().part("custom-alg").isDisabled()).should.be.true();
  });

  it("that takes any header or URL has a recipe: what is filled in, and where to enter it", async () => {
    await editor().edit("plain");
    await editor().input("methods").locator("[value=PUT]").check();
    await editor().enter({ headerParameter: "X-Own", replyBody: "mine" });
    for (const [sender, expected, methods] of [
      ["shelly", { verificationMethod: "query", queryParameter: "state", replyBody: "mine" }, ["GET"]],
      ["tasmota", { verificationMethod: "header", headerParameter: "X-Token", replyBody: "mine" }, ["POST"]],
      ["owntracks", { verificationMethod: "basic", user: "owntracks", replyBody: "[]" }, ["POST"]],
      ["wunderground", { verificationMethod: "query", queryParameter: "PASSWORD", replyBody: "mine" }, ["GET"]],
      ["github", { verificationMethod: "signature", replyBody: "mine" }, ["POST", "PUT"]],
      ["", { verificationMethod: "header", headerParameter: "X-Own", replyBody: "mine" }, ["POST", "PUT"]],
    ] as const) {
      await editor().enter({ sender });
      (await values(...(Object.keys(expected) as FormField[]))).should.eql(expected, sender);
      (await editor().input("methods").locator(":checked").evaluateAll((boxes) => boxes.map((box) => (box as HTMLInputElement).value))).should.eql(methods, sender);
      (await editor().hint("sender").isVisible()).should.equal(sender in recipes, sender);
    }
    await editor().enter({ sender: "alertmanager" });
    await editor().part("token-make").click();
    const { name, where, docs } = recipes.alertmanager;
    name.should.startWith("Alertmanager");
    (await editor().hint("sender").innerText()).should.startWith(catalogText("sender.where", { name: "Alertmanager", where }));
    should(await editor().hint("sender").locator("a").getAttribute("href")).equal(docs);
    (await editor().given("token").isVisible()).should.be.true();
    (await editor().hint("token").isVisible()).should.be.false();
    (await editor().message("sender").isVisible()).should.be.false();
    await editor().enter({ verificationMethod: "signature" });
    (await editor().message("sender").innerText()).should.equal(catalogText("rules.sender.required"));
  });

  it("that is a Shelly or OwnTracks needs nothing but what is in the box: the URL that is called by GET, or user and password, and gets the list that it takes", async () => {
    await editor().editAsItIs("shelly");
    await editor().enter({ sender: "shelly" });
    const url = await editor().copyGiven("url");
    await editor().done();
    await editor().editAsItIs("owntracks");
    await editor().enter({ sender: "owntracks" });
    const [address, user, password] = [await editor().copyGiven("url"), await editor().copyGiven("user"), await editor().copyGiven("password")];
    await editor().done();
    should(await editor().saved("owntracks", "sender")).equal("owntracks");
    await editor().deploy();
    await nodeRed().status("owntracks", /owntracks/);
    // In its web interface, the URL of an action may have values: ${ev.tC}.
    const { status, json } = await send(`${url}&temperature=21.5`, { method: "GET" });
    status.should.equal(200);
    should((await nodeRed().message(json.id)).payload).eql({ temperature: "21.5" });
    (await send(url.replace(/\?.*/, ""), { method: "GET" })).status.should.equal(401);
    const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    const location = { _type: "location", lat: 48.85833, lon: 3.29513, tid: "ne", tst: 1430918166 };
    const headers = { Authorization, "Content-Type": "application/json", "X-Limit-U": "jane", "X-Limit-D": "phone" };
    const first = nodeRed().messages.length;
    const reply = await send(address, { headers, body: JSON.stringify(location) });
    should([reply.status, reply.body]).eql([200, "[]"]);
    const { payload, req } = await nodeRed().until(() => nodeRed().messages[first], "a message");
    should(payload).eql(location);
    JSON.stringify(req).should.not.containEql(password);
    // What a recipe has filled in goes with it.
    await editor().editAsItIs("shelly");
    await editor().enter({ sender: "github" });
    (await editor().state("limits").innerText()).should.startWith("POST");
  });
}); // prettier-ignore
