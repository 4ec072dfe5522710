import type { Request } from "playwright-core";
import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import { catalogText, type Editor, type Entered, refusalText } from "../harness/browser";
import { paste } from "../harness/curl";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { bearer, tab, token, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { uncalled } from "../harness/node-report";
import { useEditor } from "../harness/stage";
import { until } from "../harness/until";

declare const RED: { user: { hasPermission: (permission: string) => boolean } };

/** Nodes for lines to paste, by what they have of where the token goes. */
const lines = {
  line0: { verificationMethod: "header", headerParameter: "Authorization" },
  line1: { verificationMethod: "header", headerParameter: "X-Token" },
  line2: { verificationMethod: "query", queryParameter: "state" },
  line3: { verificationMethod: "query", queryParameter: "a key & more" },
} satisfies Record<string, Entered>;
/** Of every kind of character that a token may have. */
const typed = `'"$(x)\`y\`!%&<>|;#?*[]{}~^\\${"z".repeat(14)}`;
const sendgridKey = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA=="; // prettier-ignore
const signed = (sender: string, secret = "a secret that is long enough", fields: object = {}) =>
  webhook(sender, `/${sender}`, { sender, verificationMethod: "signature", credentials: { secret }, ...fields });

const flow = [
  ...tab(
    webhook("orders", "/orders", { methods: ["POST", "PUT"] }),
    webhook("late", "/orders"),
    webhook("tokenless", "/tokenless", { credentials: {} }),
    webhook("open", "/open", { returnQueryParams: "${RETURN}" }),
    webhook("answering", "/answering", { reply: "flow", allowFrom: "192.0.2.0/24" }),
    webhook("replying", "/replying", { reply: "flow", wires: [["answer"]] }),
    webhook("called", "/called"),
    ...Object.entries(lines).map(([id, fields]) => webhook(id, `/${id}`, { ...fields, credentials: { token: typed } })),
    signed("github"),
    { ...signed("github", undefined, { events: ["star", "issues"] }), id: "issues", relativePath: "/issues" },
    signed("sendgrid", sendgridKey),
    signed("adyen", "ab12"),
    signed("custom", undefined, { scheme: {} }),
    { ...signed("asana", undefined, { senderSettings: { arm: true } }), credentials: {} },
    { id: "answer", type: "http response", statusCode: "202", headers: {} },
  ),
  { id: "subflow", type: "subflow", name: "Subflow", in: [], out: [], env: [] },
  { ...webhook("inner", "${WHERE}"), z: "subflow", wires: [[]] },
];

const text = (key: string, values?: Record<string, string>) => catalogText(`testRequest.${key}`, values);
const accepted = text("accepted");

/** The part of the form that says what is sent. */
class Console {
  readonly element;
  readonly body;
  readonly request;
  constructor(readonly editor: Editor) {
    this.element = editor.page.locator(".webhook-trigger-console");
    this.body = editor.page.locator(".webhook-trigger-console-editor");
    this.request = this.field("request");
  }

  field(name: string) {
    return this.element.getByLabel(catalogText(`console.${name}`), { exact: true });
  }

  /** The entry that is chosen. */
  chosen(name: string) {
    return this.request.locator("option:checked", { hasText: name });
  }

  async choose(sample: string): Promise<void> {
    // Samples come after the rest.
    await this.request.locator("option", { hasText: sample }).waitFor({ state: "attached" });
    await this.request.selectOption(sample);
  }

  async upload(name: string, buffer: Buffer): Promise<void> {
    await this.field("file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
    await this.editor.page.getByText(catalogText("console.bytes", { name })).waitFor();
  }

  async writeBody(written: string): Promise<void> {
    await this.body.locator("textarea").first().focus();
    await this.editor.page.keyboard.press("ControlOrMeta+a");
    await this.editor.page.keyboard.insertText(written);
  }
}

const at = new Date().setHours(12, 53, 0, 0);
const time = new Date(at).toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const calm: NodeReport = { ...uncalled, accepted: 14, last: { at, outcome: "accepted" } };

describe("in the form of a node", () => {
  // What may be sent to the admin API is little, so that a file that is too large is not large.
  const { editor, nodeRed } = useEditor(flow, { settings: { apiMaxLength: "100kb" } });
  afterEach(() => editor().page.unrouteAll());

  describe("the last request", () => {
    type Line = "last-request" | "refused" | "looks-like" | "brought";
    const line = (name: Line) => editor().part(name);
    const shows = (name: Line, expected: string) => line(name).filter({ hasText: expected }).waitFor();
    const says = (key: string, values?: Record<string, string>) => catalogText(`lastRequest.${key}`, values);
    const sum = (accepted: string, refused = "0") => says("sum", { accepted, refused });
    /** Opens a form to which the runtime says this. */
    const edit = async (id: string, report: NodeReport) => {
      await editor().page.route("**/webhook-trigger/*/lastRequest", (route) => route.fulfill({ json: report }));
      await editor().editAsItIs(id);
    };

    it("is shown with its time and the counts, which are renewed while the form is open, below Node-RED's code editor as well", async () => {
      const report = { ...calm };
      await edit("custom", report);
      await shows("last-request", `${says("accepted", { time })} · ${sum("14")}`);
      (await line("refused").isVisible()).should.be.false();
      Object.assign(report, { handshakes: 1, credential: "second", last: { at, outcome: "handshake" } });
      const handshakes = says("handshakes_one", { count: "1" });
      await shows("last-request", [says("handshake", { time }), sum("14"), handshakes, says("second")].join(" · "));
      const unanswered = { duplicates: 3, unanswered: 2, last: { at, outcome: "unanswered" } };
      Object.assign(report, { ...calm, credential: undefined, ...unanswered });
      const counts = [catalogText("status.duplicates", { duplicates: "3" }), catalogText("status.unanswered", { unanswered: "2" })];
      await shows("last-request", [says("unanswered", { time }), sum("14"), ...counts].join(" · "));
      const { page } = editor();
      await editor().part("scheme-editor").locator("button").evaluate((button) => (button as HTMLElement).click());
      await page.locator(".webhook-trigger-form").waitFor({ state: "detached" });
      await page.waitForRequest("**/webhook-trigger/custom/lastRequest");
      await page.locator("#node-dialog-cancel").click();
      await page.locator(".webhook-trigger-form").waitFor();
      Object.assign(report, { accepted: 15 });
      await shows("last-request", sum("15"));
    });

    it("is shown with why it was refused, in sentences that have one full stop each, and sets the node up for the sender that it looks like", async () => {
      const refused = () => line("refused").locator("> span > span").innerText();
      const reasons = [{ key: "tokenBlank", values: {} }, { key: "tokenLength", values: { length: 39, expected: 40 } }];
      const report: NodeReport = { ...calm, lastRefused: { at, problem: "tokenInvalid", status: 401, reasons } };
      await edit("orders", report);
      await line("refused").waitFor();
      const [blank, length] = [catalogText("whyNot.tokenBlank"), catalogText("whyNot.tokenLength", { length: "39", expected: "40" })];
      (await refused()).trim().should.equal(`${time}: ${refusalText("tokenInvalid", 401)}. ${blank}. ${length}.`);
      const address = { problem: "addressNotAllowed", status: 403, from: "203.0.113.9", looksLike: "stripe" } as const;
      report.lastRefused = { at, reasons: [], ...address };
      await shows("refused", `${time}: ${refusalText("addressNotAllowed", 403)}: 203.0.113.9.`);
      await shows("looks-like", says("looksLike", { name: "Stripe" }));
      await line("looks-like").locator("button").click();
      (await editor().input("sender").inputValue()).should.equal("stripe");
      (await editor().input("verificationMethod").inputValue()).should.equal("signature");
      (await editor().focus()).should.equal("webhook-trigger-search");
      await line("looks-like").waitFor({ state: "hidden" });
    });

    it("is missing while the node is not deployed, and not asked for once the form is closed", async () => {
      const asked: string[] = [];
      await editor().page.route("**/webhook-trigger/*/lastRequest", (route) => {
        asked.push(route.request().url().split("/").at(-2) ?? "");
        return route.fulfill({ status: 404 });
      });
      const answered = editor().page.waitForResponse("**/lastRequest");
      await editor().editAsItIs("orders");
      await answered;
      (await line("last-request").isVisible()).should.be.false();
      await editor().cancel();
      // While the next form asks again and again.
      await editor().editAsItIs("called");
      await until(() => asked.filter((id) => id === "called").length > 2, "the next form to ask again");
      asked.slice(asked.indexOf("called")).should.not.containEql("orders");
    });

    it("is what the runtime has met, and why it refused a request", async () => {
      const call = async (headers: Record<string, string>) => (await send(nodeRed().node("/called"), { headers })).status;
      await editor().editAsItIs("called");
      await shows("last-request", says("none"));
      (await call(bearer)).should.equal(200);
      (await call({ "X-GitHub-Event": "ping", "X-GitHub-Delivery": "1", "X-Token": token })).should.equal(401);
      await shows("refused", refusalText("tokenMissing", 401));
      const said = await line("refused").innerText();
      said.should.containEql(catalogText("whyNot.tokenElsewhere", { place: "X-Token" })).and.not.containEql(token);
      await shows("last-request", sum("1", "1"));
      await shows("looks-like", says("looksLike", { name: "GitHub" }));
    });

    it("brings the secret of its sender, which the form takes over once", async () => {
      const secret = "0123456789abcdef0123456789abcdef";
      (await send(nodeRed().node("/asana"), { headers: { "X-Hook-Secret": secret } })).status.should.equal(200);
      await editor().editAsItIs("asana");
      (await editor().input("arm").isChecked()).should.be.true();
      await line("brought").locator("button").click();
      await editor().page.locator("#node-input-secret[type=text]").waitFor();
      (await editor().input("secret").inputValue()).should.equal(secret);
      (await editor().input("arm").isChecked()).should.be.false();
      (await editor().focus()).should.equal("node-input-secret");
      await editor().cancel();
      await editor().editAsItIs("asana");
      await line("last-request").waitFor();
      (await line("brought").isVisible()).should.be.false();
      should((await command(nodeRed().admin("/webhook-trigger/asana/secret"))).status).equal(404);
    });
  });

  describe("a test request", () => {
    const open = async (id: string) => {
      await editor().editAsItIs(id);
      await editor().part("console-open").click();
      const shown = new Console(editor());
      await shown.request.waitFor();
      return shown;
    };
    const result = async () => (await editor().sendTest()).trim();
    /** Sends one that is accepted, and answers with what has become of it. */
    const message = async () => {
      const answer = editor().page.waitForResponse("**/test");
      (await result()).should.equal(accepted);
      const { id } = (await (await answer).json()) as { id: string };
      return nodeRed().message(id);
    };
    const facts = () => editor().part("facts").innerText();

    it("starts the flow, without the browser knowing the token, leaves the focus on its button, and says that it does not test what was changed before that is deployed", async () => {
      const seen: string[] = [];
      const see = (request: Request) => seen.push(request.url(), request.postData() ?? "");
      editor().page.on("request", see);
      await editor().editAsItIs("orders");
      should((await message()).payload).equal("hello world");
      editor().page.off("request", see);
      seen.join("\n").should.not.containEql(token);
      (await editor().focus()).should.equal("webhook-trigger-send");
      (await editor().part("changed").isVisible()).should.be.false();
      await editor().enter({ relativePath: "/elsewhere" });
      (await editor().part("result").isVisible()).should.be.false();
      // What was changed is not tested before it is deployed.
      for (const [entered, saved] of [
        [{ relativePath: "/changed" }, { relativePath: "/orders" }],
        [{ verificationMethod: "query" }, { verificationMethod: "header" }],
        [{ returnQueryParams: true }, { returnQueryParams: false }],
        [{ token: "x".repeat(40) }, { token: "" }],
        [{}, {}],
      ] as const) {
        await editor().fillIn(entered);
        await editor().sendTest();
        (await editor().part("changed").innerText()).trim().should.equal(text("changed"), JSON.stringify(entered));
        await editor().fillIn(saved);
      }
    });

    it("works by the line for a terminal as it stands, wherever the token goes and whatever is in it, which is missing while the form does not know its parts, and where requests are signed", async () => {
      const copied: string[] = [];
      await editor().edit("orders");
      for (const [id, entered] of Object.entries(lines)) {
        await editor().fillIn({ relativePath: `/${id}`, ...entered, token: typed });
        (await editor().part("command-hint").innerText()).should.equal(text("command"));
        await editor().part("command-copy").click();
        copied.push(await editor().clipboard());
        (await editor().part("command").innerText()).should.equal(copied.at(-1));
        (await editor().part("command-token").innerText()).should.equal("");
      }
      for (const each of copied) {
        const { status, json } = await paste([each]);
        status.should.equal(200, each);
        should((await nodeRed().message(json.id)).payload).equal("hello world");
      }
      for (const [entered, key] of [
        [{ relativePath: "${HOOK}" }, "commandUnknown"],
        [{ relativePath: "/orders", verificationMethod: "header", headerParameter: "X Token" }, "commandUnknown"],
        [{ headerParameter: "X-Token", sender: "github" }, "commandSigned"],
      ] as const) {
        await editor().fillIn(entered);
        await editor().page.locator(".webhook-trigger-command").waitFor({ state: "hidden" });
        (await editor().part("command-none").innerText()).should.equal(text(key));
      }
    });

    it("becomes the message that the form shows, which follows Return Query Params and the raw body", async () => {
      const picture = () => editor().part("picture").innerText();
      await editor().edit("orders");
      for (const [entered, shown] of [
        [{}, 'msg.payload = "hello world"'],
        [{ returnQueryParams: true }, 'msg.payload = { "body": "hello world", "query": {} }'],
        [{ returnQueryParams: false, rawBody: true }, 'msg.payload = "hello world"\nmsg.rawBody = Buffer.from("hello world")'],
        [{ rawBody: false, sender: "stripe" }, 'msg.payload = { "text": "hello world", "type": "test", "id": "test" }'],
      ] as const) {
        await editor().fillIn(entered);
        (await picture()).should.equal(shown);
      }
      await editor().cancel();
      await editor().edit("open");
      (await editor().part("picture").isVisible()).should.be.false();
    });

    it("says what to do where the node has no token, where another has the path, and in a subflow, where none is possible", async () => {
      for (const [id, said] of [
        ["tokenless", text("closed", { reason: catalogText("rules.token.required") })],
        ["late", text("taken")],
      ] as const) {
        await editor().editAsItIs(id);
        (await result()).should.equal(said);
        await editor().cancel();
      }
      await editor().editAsItIs("inner");
      (await editor().part("send").isDisabled()).should.be.true();
      (await editor().part("send-hint").innerText()).should.equal(text("subflow"));
    });

    it("says where to look when the flow was to answer, what to do where something in front did, and that Node-RED cannot be reached", async () => {
      await editor().editAsItIs("answering");
      for (const [outcome, status, verdict] of [
        ["answered", 201, "good"],
        ["unanswered", 504, "bad"],
        ["blocked", 401, "bad"],
        ["otherwise", 403, "bad"],
      ] as const) {
        await editor().page.route("**/test", (route) => route.fulfill({ json: { outcome, status } }));
        const expected = text(outcome, { status: String(status) });
        const isFlows = outcome === "answered" || outcome === "unanswered";
        // The node has a list of addresses.
        (await result()).should.equal(isFlows ? `${expected} ${text("unlimited")}` : expected);
        await editor().page.locator(`.webhook-trigger-result.${verdict}`).waitFor();
        (await editor().part("debug").isVisible()).should.equal(isFlows);
      }
      const paused = { outcome: "refused", status: 503, problem: "paused" };
      await editor().page.route("**/test", (route) => route.fulfill({ json: paused }));
      (await result()).should.equal(`${refusalText("paused", 503)}. ${catalogText("fix.paused")}.`);
      await editor().page.route("**/test", (route) => route.fulfill({ status: 403 }));
      (await result()).should.equal(text("forbidden"));
      await editor().page.route("**/test", (route) => route.abort());
      await editor().part("send").click();
      await editor().page.getByText(text("failed")).waitFor();
    });

    it("is a signed payment of a sender that does not exist yet, from the palette on", async () => {
      const id = await editor().drop("webhook-trigger", 500, 300);
      await editor().wire(id, await editor().drop("debug", 600, 350));
      await editor().editAsItIs(id);
      await editor().enter({ sender: "stripe", secret: "whsec_made_up_for_this" });
      (await editor().sendTest()).should.containEql(text("notDeployed"));
      await editor().done();
      await editor().deploy();
      const shown = await open(id);
      await shown.choose("Payment succeeded");
      (await shown.element.locator(".webhook-trigger-console-sign input").isChecked()).should.be.true();
      (await result()).should.equal(accepted);
      (await facts()).should.startWith(text("signed"));
      await editor().part("debug").click();
      await editor().page.locator(".red-ui-debug-msg", { hasText: "payment_intent.succeeded" }).waitFor();
    });

    it("is the sample of an event that the filter lets through", async () => {
      const shown = await open("issues");
      await shown.chosen("Issue opened").waitFor({ state: "attached" });
      (await result()).should.startWith(accepted);
    });

    it("may be written: method, header fields, and a body in the code editor, and is what is shown, also where a sample is taken back", async () => {
      const shown = await open("github");
      const usual = catalogText("console.usual");
      for (const taken of ["Issue opened", usual, "Issue opened"]) {
        await shown.choose(taken);
        await shown.body.filter({ hasText: "größer" }).waitFor({ state: "detached" });
        await shown.writeBody('{"size":"größer"}');
        (await shown.request.inputValue()).should.equal("own");
      }
      (await shown.field("headers").inputValue()).should.containEql("X-GitHub-Event: issues");
      const { payload, topic } = await message();
      should({ payload, topic }).eql({ payload: { size: "größer" }, topic: "issues" });
      // It is no JSON any more: the code editor that colours JSON gives way to another.
      await shown.field("headers").fill("Content-Length: 1");
      (await result()).should.equal(text("impossible"));
      (await shown.body.count()).should.equal(1);
      (await shown.body.innerText()).should.containEql("größer");
    });

    it("is written in a code editor that Esc and Tab leave, in both directions", async () => {
      const shown = await open("github");
      const { keyboard } = editor().page;
      const isInside = () => shown.body.evaluate((element) => element.contains(document.activeElement));
      for (const key of ["Tab", "Shift+Tab"]) {
        await shown.writeBody("a");
        await keyboard.press("Tab");
        (await isInside()).should.be.true();
        await keyboard.press("Escape");
        await keyboard.press(key);
        (await isInside()).should.be.false();
        (await shown.body.isVisible()).should.be.true();
      }
    });

    it("is a delivery as the form shows it: its method, query and header fields, those with the same name as a list", async () => {
      const headers = { ...bearer, "X-Shop": "Bern", "X-Api-Key": "another's" };
      const { json } = await send(nodeRed().node("/orders?x=1&y=two&token=z"), { method: "PUT", headers, body: "for Bern" });
      const shown = await open("orders");
      const value = `delivery:${String(json.id)}`;
      await shown.request.locator(`option[value="${value}"]`).waitFor({ state: "attached" });
      await shown.request.selectOption(value);
      await shown.body.getByText("for Bern", { exact: true }).waitFor();
      (await shown.field("method").inputValue()).should.equal("PUT");
      (await shown.field("query").inputValue()).should.equal("x=1&y=two");
      (await shown.field("headers").inputValue()).should.equal("x-shop: Bern");
      for (const [edited, tag] of [["", {}], ["\nX-Tag: a\nx-tag: b", { "x-tag": "a, b" }]] as const) {
        if (edited !== "") await shown.field("headers").fill(`x-shop: Bern${edited}`);
        (await shown.chosen(catalogText("console.own")).count()).should.equal(edited === "" ? 0 : 1);
        const { req, payload } = await message();
        should(req).containDeep({ method: "PUT", query: { x: "1", y: "two" }, headers: { "x-shop": "Bern", ...tag } });
        should(payload).equal("for Bern");
        should(req).have.property("headers").not.have.property("x-api-key");
      }
      // It has a token, which signs nothing.
      (await facts()).should.startWith(text("presented"));
    });

    it("is the delivery that was chosen for it in the list, for its node alone, until the user takes it back", async () => {
      const { json } = await send(nodeRed().node("/orders"), { headers: { ...bearer, "X-Shop": "Chur" }, body: "the one of Chur" });
      const list = new DeliveriesTab(editor());
      await list.open();
      await list.row("the one of Chur").locator(".webhook-deliveries-what").click();
      await list.button(catalogText("delivery.useInTest")).click();
      await editor().editAsItIs("called");
      (await editor().part("usual-body").isVisible()).should.be.false();
      await editor().cancel();
      const shown = await open("orders");
      await shown.request.locator(`option:checked[value="delivery:${String(json.id)}"]`).waitFor({ state: "attached" });
      (await shown.field("headers").inputValue()).should.equal("x-shop: Chur");
      await editor().part("console-open").click();
      const hint = () => editor().part("send-hint").innerText();
      (await hint()).should.startWith(catalogText("delivery.testBody", { time: "" }).replace(".", ""));
      should((await message()).payload).equal("the one of Chur");
      await editor().part("usual-body").click();
      (await hint()).should.equal(text("hint"));
      (await editor().focus()).should.equal("webhook-trigger-send");
      should((await message()).payload).equal("hello world");
    });

    it("may be the bytes of a file, and shows what the flow replies", async () => {
      const shown = await open("replying");
      await shown.upload("photo.bin", Buffer.from("\u00ff<b>", "latin1"));
      await shown.field("headers").fill("Content-Type: text/plain; charset=latin1");
      (await result()).should.equal(text("answered", { status: "202" }));
      (await editor().part("reply").innerText()).should.equal("\u00ff<b>");
    });

    it("is not sent where it is too large, of a sender that is not deployed, or lacks what that signs, and the form says so", async () => {
      const shown = await open("github");
      await shown.upload("large.bin", Buffer.alloc(100 * 1024));
      (await result()).should.equal(text("tooLarge"));
      await editor().enter({ sender: "stripe", secret: "whsec_made_up_for_this" });
      await shown.choose("Payment succeeded");
      (await result()).should.equal(text("unknownSample"));
      await editor().cancel();
      const unsigned = await open("adyen");
      await unsigned.field("headers").fill("Content-Type: application/json");
      await unsigned.writeBody("{}");
      (await result()).should.startWith(text("unsignable")).and.containEql("pspReference");
    });

    it("is not signed where only the sender has the key, and the form says so", async () => {
      const shown = await open("sendgrid");
      await editor().page.getByText(catalogText("console.noKey")).waitFor();
      await shown.choose("Mail delivered");
      (await result()).should.equal(accepted);
      (await facts()).should.not.containEql(text("signed"));
    });

    it("is copied as a curl command with a fresh signature, which the node accepts", async () => {
      const shown = await open("github");
      await shown.choose("Push to a branch");
      await shown.element.getByRole("button", { name: catalogText("delivery.curl") }).click();
      await editor().page.getByText(catalogText("console.copied")).waitFor();
      const { status, json } = await paste([await editor().clipboard()]);
      status.should.equal(200);
      should((await nodeRed().message(json.id)).topic).equal("push");
    });

    // What these change stays in the editor.
    it("says that new wires are not tested before they are deployed", async () => {
      await editor().wire("tokenless", await editor().drop("debug", 600, 350));
      await editor().editAsItIs("orders");
      await editor().sendTest();
      (await editor().part("changed").isVisible()).should.be.true();
    });

    it("is as usual for those who may only read: they see no choice", async () => {
      await editor().page.evaluate(() => {
        RED.user.hasPermission = (permission) => permission !== "webhook-trigger.write";
      });
      await editor().editAsItIs("github");
      (await editor().part("console-open").count()).should.equal(0);
    });
  });
}); // prettier-ignore
