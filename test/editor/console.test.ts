import should from "should";
import { catalogText, type Editor } from "../harness/browser";
import { paste } from "../harness/curl";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

declare const RED: { user: { hasPermission: (permission: string) => boolean } };

const secret = "a secret that is long enough";
const signed = (sender: string, fields: object = {}) => ({
  ...{ sender, verificationMethod: "signature", credentials: { secret } },
  ...fields,
});

const flow = [
  ...tab(
    webhook("github", "/github", signed("github")),
    webhook("sendgrid", "/sendgrid", signed("sendgrid", { credentials: { secret: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==" } })),
    webhook("issues", "/issues", signed("github", { events: ["star", "issues"] })),
    webhook("token", "/token", { reply: "flow", wires: [["answer"]] }),
    webhook("orders", "/orders", { methods: ["POST", "PUT"] }),
    webhook("adyen", "/adyen", signed("adyen", { credentials: { secret: "ab12" } })),
    { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
  ),
]; // prettier-ignore

/** The part of the form that says what is sent. */
class Console {
  readonly #editor: Editor;

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  async open(): Promise<void> {
    await this.#editor.part("console-open").click();
    await this.request.waitFor();
  }

  get request() {
    return this.field("request");
  }

  field(name: string) {
    return this.#editor.page.locator(".webhook-trigger-console").getByLabel(catalogText(`console.${name}`), { exact: true });
  }

  button(key: string) {
    return this.#editor.page.locator(".webhook-trigger-console").getByRole("button", { name: catalogText(key) });
  }

  get sign() {
    return this.#editor.page.locator(".webhook-trigger-console-sign input");
  }

  async choose(sample: string): Promise<void> {
    // Samples come after the rest.
    await this.request.locator("option", { hasText: sample }).waitFor({ state: "attached" });
    await this.request.selectOption(sample);
  }

  get body() {
    return this.#editor.page.locator(".webhook-trigger-console-editor");
  }

  async writeBody(text: string): Promise<void> {
    const { page } = this.#editor;
    await page.locator(".webhook-trigger-console-editor textarea").first().focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(text);
  }
} // prettier-ignore

describe("what the form's test request sends", () => {
  const { editor, nodeRed } = useEditor(flow);
  const opened = async (id: string) => {
    await editor().editAsItIs(id);
    const shown = new Console(editor());
    await shown.open();
    return shown;
  };
  const result = async () => (await editor().sendTest()).trim();
  const facts = () => editor().part("facts").innerText();
  const text = (key: string, values?: Record<string, string>) => catalogText(key, values);

  it("is a signed push, payment or order of a sender that does not exist yet, from the palette on", async () => {
    const id = await editor().drop("webhook-trigger", 500, 300);
    const debug = await editor().drop("debug", 600, 350);
    await editor().wire(id, debug);
    for (const [sender, sample, event] of [
      ["github", "Push to a branch", "push"],
      ["stripe", "Payment succeeded", "payment_intent.succeeded"],
      ["shopify", "Order created", "orders/create"],
    ] as const) {
      await editor().editAsItIs(id);
      await editor().enter({ sender, secret: "whsec_made_up_for_this" });
      await editor().done();
      await editor().deploy();
      const shown = await opened(id);
      await shown.choose(sample);
      (await shown.sign.isChecked()).should.be.true();
      (await result()).should.equal(text("testRequest.accepted"));
      (await facts()).should.startWith(text("testRequest.signed"));
      await editor().part("debug").click();
      await editor().page.locator(".red-ui-debug-msg", { hasText: event }).waitFor();
      await editor().done();
    }
  });

  it("is the sample of an event that the filter lets through", async () => {
    const shown = await opened("issues");
    await shown.request.locator("option:checked", { hasText: "Issue opened" }).waitFor({ state: "attached" });
    (await result()).should.startWith(text("testRequest.accepted"));
  });

  it("may be written: method, header fields, and a body in the code editor", async () => {
    const shown = await opened("github");
    await shown.choose("Issue opened");
    (await shown.field("headers").inputValue()).should.containEql("X-GitHub-Event: issues");
    await shown.writeBody('{"size":"größer"}');
    (await shown.request.inputValue()).should.equal("own");
    const answer = editor().page.waitForResponse("**/test");
    (await result()).should.equal(text("testRequest.accepted"));
    const { id } = (await (await answer).json()) as { id: string };
    const { payload, topic } = await nodeRed().message(id);
    should({ payload, topic }).eql({ payload: { size: "größer" }, topic: "issues" });
    await shown.field("headers").fill("Content-Length: 1");
    (await result()).should.equal(text("testRequest.impossible"));
  });

  it("is what is shown, also where a sample or the default body is taken back after a change", async () => {
    const shown = await opened("github");
    for (const taken of ["Issue opened", text("console.usual")]) {
      await shown.choose(taken);
      await shown.writeBody('{"written":"here"}');
      await shown.choose(taken);
      await editor().page.locator(".webhook-trigger-console-editor", { hasText: "written" }).waitFor({ state: "detached" });
    }
  }); // prettier-ignore

  it("is a delivery as the form shows it: its method, query and header fields", async () => {
    const headers = { ...bearer, "X-Shop": "Bern", "X-Api-Key": "another's" };
    const { json } = await send(nodeRed().node("/orders?x=1&y=two&token=z"), {
      method: "PUT",
      headers,
      body: "for Bern",
    });
    const shown = await opened("orders");
    const value = `delivery:${String(json.id)}`;
    await shown.request.locator(`option[value="${value}"]`).waitFor({ state: "attached" });
    await shown.request.selectOption(value);
    await shown.body.getByText("for Bern", { exact: true }).waitFor();
    (await shown.field("method").inputValue()).should.equal("PUT");
    (await shown.field("query").inputValue()).should.equal("x=1&y=two");
    (await shown.field("headers").inputValue()).should.equal("x-shop: Bern");
    const isEdited = shown.request.locator("option:checked", { hasText: text("console.own") });
    for (const edited of [false, true]) {
      if (edited) await shown.field("query").fill("x=1&y=two&");
      (await isEdited.count()).should.equal(Number(edited));
      const answer = editor().page.waitForResponse("**/test");
      (await result()).should.equal(text("testRequest.accepted"));
      const { id } = (await (await answer).json()) as { id: string };
      const { req, payload } = await nodeRed().message(id);
      should(req).containDeep({ method: "PUT", query: { x: "1", y: "two" }, headers: { "x-shop": "Bern" } });
      should(payload).equal("for Bern");
      should(req).have.property("headers").not.have.property("x-api-key");
    }
  });

  it("is the delivery that was chosen for it in the list, once it is opened", async () => {
    const { json } = await send(nodeRed().node("/orders"), {
      headers: { ...bearer, "X-Shop": "Chur" },
      body: "the one of Chur",
    });
    const list = new DeliveriesTab(editor());
    await list.open();
    await list.row("the one of Chur").locator(".webhook-deliveries-what").click();
    await list.button(text("delivery.useInTest")).click();
    const shown = await opened("orders");
    await shown.request.locator(`option:checked[value="delivery:${String(json.id)}"]`).waitFor({ state: "attached" });
    (await shown.field("headers").inputValue()).should.equal("x-shop: Chur");
    // It stays chosen, also for the tests after this one.
    await editor().part("console-open").click();
    await editor().part("usual-body").click();
  });

  it("is too large for the editor, or of a sender that is not deployed, and the form says so", async () => {
    const shown = await opened("token");
    await shown.field("file").setInputFiles({ name: "large.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(5 * 1024 * 1024) });
    await editor().page.getByText(text("console.bytes", { name: "large.bin" })).waitFor();
    (await result()).should.equal(text("testRequest.tooLarge"));
    await editor().cancel();
    await editor().editAsItIs("github");
    await editor().enter({ sender: "stripe", secret: "whsec_made_up_for_this" });
    const changed = new Console(editor());
    await changed.open();
    await changed.choose("Payment succeeded");
    (await result()).should.equal(text("testRequest.unknownSample"));
  }); // prettier-ignore

  it("has a code editor that Esc and Tab leave, in both directions", async () => {
    const shown = await opened("github");
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

  it("has the values of lines with the same name as a list", async () => {
    const shown = await opened("orders");
    await shown.field("headers").fill("X-Tag: a\nx-tag: b\nX-Shop: Bern");
    const answer = editor().page.waitForResponse("**/test");
    (await result()).should.equal(text("testRequest.accepted"));
    // It has a token, which signs nothing.
    (await facts()).should.startWith(text("testRequest.presented"));
    const { id } = (await (await answer).json()) as { id: string };
    const { req } = await nodeRed().message(id);
    should(req).containDeep({ headers: { "x-tag": "a, b", "x-shop": "Bern" } });
  });

  it("may be the bytes of a file, and shows what the flow replies", async () => {
    const shown = await opened("token");
    await shown.field("file").setInputFiles({ name: "photo.bin", mimeType: "application/octet-stream", buffer: Buffer.from("\u00ff<b>", "latin1") });
    await editor().page.getByText(text("console.bytes", { name: "photo.bin" })).waitFor();
    await shown.field("headers").fill("Content-Type: text/plain; charset=latin1");
    (await result()).should.equal(text("testRequest.answered", { status: "202" }));
    (await editor().part("reply").innerText()).should.equal("\u00ff<b>");
  }); // prettier-ignore

  it("is copied as a curl command with a fresh signature, which the node accepts", async () => {
    const shown = await opened("github");
    await shown.choose("Push to a branch");
    await shown.button("delivery.curl").click();
    await editor().page.getByText(text("console.copied")).waitFor();
    const { status, json } = await paste([await editor().clipboard()]);
    status.should.equal(200);
    should((await nodeRed().message(json.id)).topic).equal("push");
  }); // prettier-ignore

  it("is not signed where only the sender has the key, and the form says so", async () => {
    const shown = await opened("sendgrid");
    await editor().page.getByText(text("console.noKey")).waitFor();
    await shown.choose("Mail delivered");
    (await result()).should.equal(text("testRequest.accepted"));
    (await facts()).should.not.containEql(text("testRequest.signed"));
  });

  it("is not sent where it lacks what the sender signs, and the form names that", async () => {
    const shown = await opened("adyen");
    await shown.field("headers").fill("Content-Type: application/json");
    await shown.writeBody("{}");
    (await result()).should.startWith(text("testRequest.unsignable")).and.containEql("pspReference");
  });

  it("is as usual for those who may only read: they see no choice", async () => {
    await editor().page.evaluate(() => {
      RED.user.hasPermission = (permission) => permission !== "webhook-trigger.write";
    });
    await editor().editAsItIs("github");
    (await editor().part("console-open").count()).should.equal(0);
  });
});
