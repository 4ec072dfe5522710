import should from "should";
import { fullName, recipeIds, recipes, senderIds, senders } from "../../src/auth/senders/table";
import { tokenLength } from "../../src/config/fields";
import { catalogText, type Entered, type FormField } from "../harness/browser";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const hidden = { z: "tab", x: 100, y: 300, name: "", wires: [[]] };

const flow = [
  ...webhookFlow(
    ...["plain", "edited", "saved", "renamed", "replaced"].map((id) => ({ id, relativePath: `/${id}` })),
    ...["shelly", "owntracks", "deployed"].map((id) => ({ id, relativePath: `/${id}`, credentials: {} })),
    { id: "named", relativePath: "/named", name: 'Shop & "more" <b>' },
    { id: "nameless", relativePath: "/nameless" },
    { id: "disabled", relativePath: "/disabled", d: true },
    { id: "elsewhere", relativePath: "/elsewhere", z: "disabledTab" },
    { id: "pathless", relativePath: "" },
  ),
  { id: "disabledTab", type: "tab", label: "Disabled", disabled: true },
  { id: "put", type: "http in", url: "/put", method: "put", ...hidden },
  { id: "get", type: "http in", url: "/got", method: "get", ...hidden },
  { id: "off", type: "http in", url: "/off", method: "post", d: true, ...hidden },
];

describe("in the form", () => {
  const { editor, nodeRed } = useEditor(flow);

  describe("the sender", () => {
    const values = async (...fields: FormField[]) => {
      const found: Record<string, string> = {};
      for (const field of fields) found[field] = await editor().input(field).inputValue();
      return found;
    };
    const shown = (...fields: FormField[]) => editor().visible(...fields);

    const search = () => editor().part("search");
    const options = () => editor().part("senders").getByRole("option");
    const names = () => options().allInnerTexts();

    it("is the first thing in the form, chosen from a list of all that are known, found by typing a part of its name, by mouse or keyboard", async () => {
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

      await search().fill("GIT");
      const found = await names();
      for (const id of ["github", "gitlab", "gitlab-signed", "gitea"] as const) found.should.containEql(fullName(id));
      found.filter((name) => !/git/i.test(name)).should.eql([]);
      (await editor().part("found").innerText()).should.equal(catalogText("sender.found", { count: String(found.length) }));
      (await values("sender")).should.eql({ sender: "" });
      await options().filter({ hasText: "GitHub" }).click();
      (await values("sender", "name")).should.eql({ sender: "github", name: "" });
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

    it("gives a new node its name, as long as that has no other, and fills in the header of one that sends a token, which alone it gives away", async () => {
      await editor().editAsItIs(await editor().drop("webhook-trigger", 300, 400));
      for (const [sender, name] of [["github", "GitHub"], ["stripe", "Stripe"], ["", ""]] as const) {
        await editor().fillIn({ sender });
        (await values("name")).should.eql({ name });
      }
      await editor().fillIn({ name: "Orders", sender: "github" });
      (await values("name")).should.eql({ name: "Orders" });
      for (const [sender, headerParameter, item, other, before] of [
        ["gitlab", "X-Gitlab-Token", "token", "header", ""],
        ["azure-eventgrid", "Authorization", "header", "token", "Authorization: Bearer "],
      ] as const) {
        await editor().fillIn({ sender });
        const { token = "", ...others } = await values("token", "verificationMethod", "headerParameter");
        others.should.eql({ verificationMethod: "header", headerParameter });
        (await editor().copyGiven(item)).should.equal(before + token);
        (await editor().given(other).isVisible()).should.be.false();
      }
    });

    it("makes a new secret where its user chooses that, and gives it away beside the URL or in it; says where the sender shows it, and what it begins with, drops a generated one, and keeps a typed one", async () => {
      const topic = () => editor().part("topic").innerText();
      const noted = async () => (await editor().note("secret").innerText()).trim();
      await editor().editAsItIs("plain");
      await editor().part("heading-message").click();
      (await topic()).should.equal("");
      await editor().enter({ sender: "github" });
      (await topic()).should.equal(catalogText("message.topicInHeader", { place: "X-GitHub-Event" }));
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
      await editor().fillIn({ sender: "strava" });
      const { secret: inUrl = "", verifyToken = "" } = await values("secret", "verifyToken");
      (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/plain")}?state=${inUrl}`);
      (await editor().copyGiven("verifyToken")).should.equal(verifyToken);
      (await editor().given("secret").isVisible()).should.be.false();
      await editor().fillIn({ sender: "github" });
      await editor().fillIn({ sender: "stripe" });
      (await topic()).should.equal(catalogText("message.topicInJson", { place: "type" }));
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
      await editor().fillIn({ sender: "shopify" });
      (await values("secret")).should.eql({ secret: "whsec_typed" });
    });

    it("keeps the header and the method that were typed for any sender while others are tried, and takes a secret of any length in a header of any name, which it gives away", async () => {
      await editor().editAsItIs("plain");
      for (const entered of [{ headerParameter: "X-Own" }, { verificationMethod: "query", queryParameter: "key" }]) {
        await editor().fillIn(entered);
        const typed = await values("verificationMethod", "headerParameter", "queryParameter");
        for (const sender of ["github", "gitlab", ""]) await editor().fillIn({ sender });
        (await values("verificationMethod", "headerParameter", "queryParameter")).should.eql(typed);
      }
      (await shown("token", "secret")).should.eql(["token"]);
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

    it("asks for what it needs, and for nothing else, and does without a secret while it may bring one", async () => {
      await editor().editAsItIs("plain");
      for (const [sender, fields] of [
        ["meta", ["secret", "verifyToken"]],
        ["notion", ["secret", "arm"]],
        ["square", ["secret", "publicUrl"]],
        ["grafana-timestamp", ["secret", "signatureHeader", "timestampHeader"]],
        ["websub", ["secret", "topicUrl", "alg"]],
        ["cloudevents", ["token"]],
        ["google-pubsub", ["audience", "requiredClaim"]],
        ["amazon-sns", ["topicArn"]],
        ["paypal", ["webhookId"]],
      ] as const) {
        await editor().fillIn({ sender });
        const asked = await shown("token", "secret", "verifyToken", "arm", "publicUrl", "signatureHeader", "timestampHeader", "topicUrl", "topicArn", "webhookId", "alg", "keySource", "jwksUrl", "publicKey", "issuer", "audience", "requiredClaim");
        asked.sort().should.eql([...fields].sort(), sender);
      }
      await editor().fillIn({ sender: "asana" });
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
      await editor().fillIn({ sender: "websub" });
      await editor().input("topicUrl").fill("https://example.com/feed");
      await editor().done();
      should(await editor().saved("plain", "senderSettings")).eql({ topicUrl: "https://example.com/feed" });
      await editor().editAsItIs("plain");
      (await values("sender", "topicUrl")).should.eql({ sender: "websub", topicUrl: "https://example.com/feed" });
      await editor().input("topicUrl").fill("");
      await editor().enter({ sender: "" });
      await editor().done();
      await editor().invoke("core:undo");
      await editor().invoke("core:undo");
      should(await editor().saved("plain", "senderSettings")).eql({});
    });

    it("begins a custom one with a scheme that works, beside its secret, describes it by its parts, each of which is in the JSON as well, and takes over another", async () => {
      const enter = async (entered: Record<string, string>) => {
        for (const [name, value] of Object.entries(entered)) {
          const control = editor().part(`custom-${name}`);
          const isList = await control.evaluate((element) => element instanceof HTMLSelectElement);
          await (isList ? control.selectOption(value) : control.fill(value));
        }
      };
      await editor().editAsItIs("plain");
      (await editor().part("custom-alg").isVisible()).should.be.false();
      await editor().fillIn({ sender: "custom" });
      should(JSON.parse(await editor().input("scheme").inputValue())).eql(senders.custom.scheme);
      (await editor().message("scheme").isVisible()).should.be.false();
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

    it("that takes any header or URL has a recipe: what is filled in, and where to enter it", async () => {
      await editor().edit("plain");
      await editor().input("methods").locator("[value=PUT]").check();
      await editor().fillIn({ headerParameter: "X-Own", replyBody: "mine" });
      for (const [sender, expected, methods] of [
        ["shelly", { verificationMethod: "query", queryParameter: "state", replyBody: "mine" }, ["GET"]],
        ["owntracks", { verificationMethod: "basic", user: "owntracks", replyBody: "[]" }, ["POST"]],
        ["github", { verificationMethod: "signature", replyBody: "mine" }, ["POST", "PUT"]],
        ["", { verificationMethod: "header", headerParameter: "X-Own", replyBody: "mine" }, ["POST", "PUT"]],
      ] as const) {
        await editor().fillIn({ sender });
        (await values(...(Object.keys(expected) as FormField[]))).should.eql(expected, sender);
        (await editor().input("methods").locator(":checked").evaluateAll((boxes) => boxes.map((box) => (box as HTMLInputElement).value))).should.eql(methods, sender);
        (await editor().hint("sender").isVisible()).should.equal(sender in recipes, sender);
      }
      await editor().fillIn({ sender: "alertmanager" });
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
  });

  describe("the token, and the box with what to give to the sender", () => {
    const note = async (name: "seen" | "yours" | "closed") => (await editor().note(name).innerText()).trim();
    const type = () => editor().input("token").getAttribute("type");

    it("has the URL, as the path is typed, but not for a path from the environment, and the token where it goes, in a header or in the URL, hides it with its field, and copies it as a whole", async () => {
      await editor().editAsItIs("edited");
      for (const [relativePath, path] of [["orders/new", "/orders/new"], ["/orders/", "/orders"]] as const) {
        await editor().enter({ relativePath });
        (await editor().given("url").innerText()).should.equal(nodeRed().node(path));
        (await editor().copyGiven("url")).should.equal(nodeRed().node(path));
      }
      for (const [relativePath, key] of [["/orders/*", "correctPath"], ["${HOOK}", "pathFromEnvironment"]] as const) {
        await editor().enter({ relativePath });
        (await editor().given("url").isVisible()).should.be.false();
        await editor().page.getByText(catalogText(`handover.${key}`)).waitFor();
      }
      await editor().enter({ relativePath: "/orders/:id" });
      await editor().makeToken();
      (await editor().given("url").innerText()).should.equal(nodeRed().node("/orders/:id"));
      (await note("yours")).should.equal(catalogText("handover.parameters"));
      await editor().enter({ relativePath: "/edited" });
      const token = await editor().input("token").inputValue();
      (await editor().given("header").innerText()).should.equal(`Authorization: Bearer ${token}`);
      await editor().enter({ headerParameter: "X-Token" });
      (await editor().copyGiven("header")).should.equal(`X-Token: ${token}`);
      await editor().enter({ verificationMethod: "query" });
      (await editor().given("url").innerText()).should.equal(`${nodeRed().node("/edited")}?state=${token}`);
      (await editor().given("header").isVisible()).should.be.false();
      await editor().tokenButton("show").click();
      (await editor().given("url").innerText()).should.match(/\?state=•+$/);
      await editor().enter({ queryParameter: "a key" });
      (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/edited")}?a+key=${token}`);
      await editor().enter({ verificationMethod: "header" });
      (await editor().given("header").innerText()).should.match(/^X-Token: •+$/);
      (await editor().copyGiven("header")).should.equal(`X-Token: ${token}`);
    });

    it("has a placeholder for a credential that it does not know, in the line for a terminal as well, and says what to do, and to copy in time what Node-RED will not show again, and not what the sender shows", async () => {
      const placeholder = catalogText("testRequest.placeholder");
      const button = catalogText("make.token");
      await editor().edit("edited");
      for (const [entered, key, values] of [
        [{}, "replace", { button }],
        [{ token: "${TOKEN}" }, "fromEnvironment", { variable: "${TOKEN}" }],
        [{ token: "short" }, "missing", { button }],
        [{ token: "" }, "missing", { button }],
      ] as [Entered, string, Record<string, string>][]) {
        await editor().fillIn(entered);
        const said = catalogText(`handover.${key}`, { placeholder, ...values });
        (await editor().copyGiven("header")).should.equal(`Authorization: Bearer ${placeholder}`);
        (await note("yours")).should.equal(said);
        (await editor().part("command").innerText()).should.containEql(`Bearer ${placeholder}"`);
        (await editor().part("command-token").innerText()).should.equal(said);
        (await editor().note("seen").isVisible()).should.be.false();
      }
      await editor().enter({ verificationMethod: "query" });
      (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/edited")}?state=${placeholder}`);
      await editor().fillIn({ sender: "custom" });
      const secret = { placeholder: catalogText("testRequest.secretPlaceholder"), button: catalogText("make.secret") };
      (await editor().copyGiven("secret")).should.equal(secret.placeholder);
      (await note("yours")).should.equal(catalogText("handover.missing", secret));
      // What Node-RED will not show again is to be copied in time, but for what the sender shows.
      const typed = "0123456789abcdef0123456789abcdef";
      for (const [entered, key] of [
        [{ sender: "", token: "x".repeat(40) }, "tokenSeen"],
        [{ sender: "slack", secret: typed }, undefined],
        // It shows the secret, and asks for a word besides.
        [{ sender: "meta", secret: typed }, "tokenSeen"],
        [{ verifyToken: "" }, undefined],
        [{ sender: "github", secret: "" }, undefined],
        [{ sender: "custom" }, undefined],
        [{ secret: typed }, "secretSeen"],
      ] as const) {
        await editor().fillIn(entered);
        (await editor().note("seen").isVisible()).should.equal(key !== undefined, JSON.stringify(entered));
        if (key) (await note("seen")).should.equal(catalogText(`handover.${key}`));
      }
    });

    it("follows webhookTriggerBaseUrl and the roots, and says who cannot reach the address, or that HTTP nodes are switched off, or that another node has the path, which it names with its flow, and shows", async () => {
      const url = () => editor().given("url").innerText();
      const reach = editor().note("reach");
      const root = "/";
      await editor().edit("edited");
      for (const [base, node, shown, key] of [
        ["", root, nodeRed().node(""), "computer"],
        ["http://192.168.1.7:1880", root, "http://192.168.1.7:1880", "network"],
        ["http://localhost:1880", root, "http://localhost:1880", "computer"],
        ["https://example.com/node-red/", "/api", "https://example.com/node-red/api", undefined],
        // Where that setting is no URL, it is the editor's address.
        ["hooks.example.com", root, nodeRed().node(""), "computer"],
      ] as const) {
        await editor().set("webhookTriggerBaseUrl", base);
        await editor().set("webhookTriggerRoots", { admin: "/admin", node });
        // A path of the editor's API is free below another root.
        for (const [relativePath, isFree] of [["/flows", true], ["/admin/flows", node !== root], ["/orders", true]] as const) {
          await editor().fillIn({ relativePath });
          const rule = isFree ? "" : catalogText("rules.relativePath.admin");
          (await editor().message("relativePath").textContent() ?? "").should.equal(rule, `${base} ${relativePath}`);
        }
        (await url()).should.equal(`${shown}/orders`);
        (await editor().part("command").textContent() ?? "").should.containEql(`"${shown}/orders"`);
        (await reach.isVisible()).should.equal(key !== undefined, base);
        if (!key) continue;
        const host = new URL(shown).hostname;
        (await reach.locator("> span > span").innerText()).should.equal(catalogText(`url.${key}`, { host }));
        should(await reach.locator("a").getAttribute("href")).endWith("/docs/reaching-node-red.md");
      }
      await editor().set("webhookTriggerRoots", { admin: "/", node: false });
      await editor().enter({ relativePath: "/orders/new" });
      (await note("closed")).should.equal(catalogText("url.closed"));
      (await editor().given("url").isVisible()).should.be.false();
      await editor().set("webhookTriggerBaseUrl", undefined);
      await editor().set("webhookTriggerRoots", { admin: "/", node: "/" });
      // Another node has the path.
      await editor().input("methods").locator("[value=PUT]").check();
      for (const [path, key, name] of [
        ["/named", "url.takenByWebhook", 'Shop & "more" <b>'],
        ["/nameless", "url.takenByWebhook", catalogText("paletteLabel")],
        ["NAMED/", "url.takenByWebhook", 'Shop & "more" <b>'],
        ["/put", "url.takenByHttpIn", "http in"],
      ] as const) {
        await editor().fillIn({ relativePath: path });
        const named = catalogText("url.rival", { name, flow: "Test" });
        const said = await editor().note("taken").locator("> span > span").innerText();
        said.should.equal(catalogText(key, { name: named, method: "PUT" }));
      }
      const revealed = editor().revealed();
      await editor().note("taken").locator("button").click();
      (await revealed).should.equal("put");
      // Not of the node itself, of disabled nodes, and of those for other methods.
      for (const path of ["/edited", "/got", "/disabled", "/elsewhere", "/off", ""]) {
        await editor().fillIn({ relativePath: "/named" });
        await editor().note("taken").waitFor();
        await editor().fillIn({ relativePath: path });
        (await editor().note("taken").isVisible()).should.be.false(path);
      }
    });

    it("keeps the token without showing it once it is saved, and replaces it as a whole by typing", async () => {
      await editor().editAsItIs("saved");
      (await type())?.should.equal("password");
      (await editor().message("token").isVisible()).should.be.false();
      (await editor().hint("token").innerText()).should.equal(catalogText("credential.kept"));
      (await editor().tokenButton("show").isDisabled()).should.be.true();
      await editor().input("token").focus();
      await editor().page.keyboard.type("typed");
      (await editor().input("token").inputValue()).should.equal("typed");
      (await editor().tokenButton("show").isDisabled()).should.be.false();
      (await editor().message("token").innerText()).should.equal(catalogText("rules.token.length"));
    });

    it("makes a token of 40 base64url characters, which can be shown again until it is deployed, stays when another field is changed, and replaces another", async () => {
      const status = async (path: string, headers: Record<string, string>) =>
        (await send(nodeRed().node(path), { headers })).status;
      await editor().editAsItIs("renamed");
      await editor().enter({ relativePath: "/other" });
      await editor().done();
      await editor().editAsItIs("replaced");
      const replacing = await editor().makeToken();
      await editor().done();
      await editor().editAsItIs("deployed");
      const token = await editor().makeToken();
      token.should.match(/^[\w-]*$/).and.have.length(tokenLength).and.not.equal(replacing);
      (await type())?.should.equal("text");
      await editor().done();
      await editor().editAsItIs("deployed");
      for (const [label, now, next] of [["credential.show", "password", "text"], ["credential.hide", "text", "password"]] as const) {
        (await type())?.should.equal(now);
        const name = catalogText(label, { name: catalogText("label.token") });
        (await editor().tokenButton("show").getAttribute("aria-label"))?.should.equal(name);
        await editor().tokenButton("show").click();
        (await type())?.should.equal(next);
      }
      (await editor().input("token").inputValue()).should.equal(token);
      await editor().done();
      await editor().deploy();
      await nodeRed().status("renamed", /other/);
      (await status("/other", bearer)).should.equal(200);
      (await status("/deployed", { Authorization: `Bearer ${token}` })).should.equal(200);
      (await status("/replaced", { Authorization: `Bearer ${replacing}` })).should.equal(200);
      (await status("/replaced", bearer)).should.equal(401);
      await editor().editAsItIs("deployed");
      (await editor().tokenButton("show").isDisabled()).should.be.true();
      (await editor().input("token").inputValue()).should.not.equal(token);
    });
  });
}); // prettier-ignore
