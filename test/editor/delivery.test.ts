import type { Locator } from "playwright-core";
import should from "should";
import type { Detail, Summary } from "../../src/admin/summary";
import { catalogText, type Editor, refusalText } from "../harness/browser";
import { paste } from "../harness/curl";
import { DeliveriesTab, FakeRuntime } from "../harness/deliveries-tab";
import { token, webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { at, done, failed, refused } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";
import { until } from "../harness/until";

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "query", relativePath: "/query", verificationMethod: "query", returnQueryParams: true },
  { id: "signed", relativePath: "/signed", verificationMethod: "signature", sender: "github", credentials: { secret: "a secret of ours" } },
  { id: "other", relativePath: "/other", name: "Orders" },
  { id: "device", relativePath: "/devices/:id/state" },
); // prettier-ignore

const text = (key: string, values?: Record<string, string>) => catalogText(`delivery.${key}`, values);
/** Why a request has come to no endpoint. */
const cause = { problem: "noEndpoint", reasons: [], looksLike: null, error: null };

describe("a delivery in the sidebar", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  let tab: DeliveriesTab;
  let runtime: FakeRuntime;
  before(async () => {
    ({ editor, nodeRed } = await openEditor(flow));
    tab = new DeliveriesTab(editor);
  });
  beforeEach(async () => {
    await editor.leave();
    runtime = await FakeRuntime.serve(editor.page);
  });

  const open = (delivery: Detail, ...older: Detail[]) => tab.openDelivery(runtime, delivery, ...older);
  const unfolded = async (shown: Locator, name: string) => {
    const found = shown.locator(`[data-section="${name}"]`);
    if ((await found.getAttribute("open")) === null) await found.locator("summary").click();
    return found;
  };
  const textOf = async (delivery: Detail) => {
    const shown = await open(delivery);
    await unfolded(shown, "facts");
    return shown.innerText();
  };
  const press = (shown: Locator, key: string) => shown.getByRole("button", { name: text(key), exact: true }).click();
  const result = (shown: Locator, said: string) =>
    shown.locator(".webhook-delivery-result").filter({ hasText: said }).waitFor();
  const setRoot = (node: string) => editor.set("webhookTriggerRoots", { admin: "/", node });
  const focused = () => editor.page.evaluate(() => document.activeElement?.textContent.trim() ?? "");

  it("shows what came, from where, and what became of it: fields, parameters, the answer, and each attempt with its time and error", async () => {
    const attempts = [...failed.attempts, { at: at + 5000 }];
    const shown = await open({ ...done, state: "running", attempt: 3, replayOf: "earlier", attempts });
    const facts = await unfolded(shown, "facts");
    for (const part of ["/plain on Test", "POST /plain", "203.0.113.9", "GitHub", "push", "72d3162e-cc78-11e3", "0f3c1b2a", "earlier"]) {
      (await shown.innerText()).should.containEql(part);
    }
    (await facts.innerText()).should.match(/\b12\s?ms\b/);
    (await editor.page.locator(".webhook-delivery-cause").count()).should.equal(0);
    const headers = await (await unfolded(shown, "headers")).locator("tbody tr").allInnerTexts();
    headers.map((row) => row.split(/\s*\t\s*/)).slice(-2).should.eql([["x-tag", "it's"], ["x-tag", "two"]]);
    (await (await unfolded(shown, "query")).locator("tbody td").allInnerTexts()).should.eql(["2"]);
    (await (await unfolded(shown, "answer")).innerText()).should.containEql("200").and.containEql("0f3c1b2a");
    const [first, second] = await (await unfolded(shown, "attempts")).locator("li").allInnerTexts();
    should(first).containEql("1.5").and.containEql("no <i>id</i>");
    should(second).endWith(text("stillRunning"));
    const replayed = await textOf({ ...done, replayedBy: "later" });
    replayed.should.containEql("later").and.containEql(catalogText("tab.state.replayed"));
  });

  it("leads from a duplicate to the delivery that it repeats; one may be no longer kept, or not for the user's eyes", async () => {
    const duplicate: Detail = { ...done, id: "again", state: "duplicate", duplicateOf: done.id };
    const shown = await open(duplicate, done);
    await shown.getByRole("button", { name: text("openOther", { id: done.id }) }).click();
    const head = editor.page.locator(".webhook-delivery-head");
    await head.filter({ hasText: catalogText("tab.state.succeeded") }).waitFor();
    for (const [status, key] of [[404, "gone"], [403, "unreadable"]] as const) {
      await editor.page.route("**/webhook-trigger/deliveries/away", (route) => route.fulfill({ status }));
      await open({ ...duplicate, duplicateOf: "away" });
      await editor.page.getByRole("button", { name: text("openOther", { id: "away" }) }).click();
      await editor.page.locator(".webhook-delivery").filter({ hasText: text(key) }).waitFor();
    }
  });

  it("says which node was deleted, that no node has the path, and which one was meant", async () => {
    (await textOf({ ...done, node: "long gone" })).should.containEql(text("deletedNode", { id: "long gone" }));
    (await textOf({ ...refused, node: null, cause })).should.containEql(text("noNode")).and.not.containEql(text("meant"));
    await setRoot("/hooks/");
    const astray = await textOf({ ...refused, path: "/plan", cause });
    const met = await textOf(refused);
    await setRoot("/");
    astray.should.containEql(text("meant")).and.containEql("/plain on Test").and.containEql("POST /plan");
    met.should.containEql("POST /hooks/plain").and.not.containEql(text("meant"));
  });

  it("begins with why it was refused and what to do, in the editor's language, and offers no replay", async () => {
    const shown = await open(refused);
    const first = await shown.locator(".webhook-delivery-cause, .webhook-delivery-list").first().innerText();
    const why = catalogText("whyNot.tokenLength", { length: "39", expected: "40" });
    first.replace(/\s+/g, " ").should.equal(`${refusalText("tokenInvalid", 401)} ${why}.`);
    (await shown.innerText()).should.containEql(text("noReplay.refused")).and.not.containEql("another language");
    (await shown.getByRole("button", { name: text("replay"), exact: true }).count()).should.equal(0);
    (await (await unfolded(shown, "body")).innerText()).should.containEql(text("bodyNotKept"));
  });

  it("begins with what its flow has failed with, or why it was filtered, and what to do, in the editor's language, and may be replayed", async () => {
    const failure: Detail = { ...failed, cause: { problem: null, reasons: [], looksLike: null, error: "TypeError: no <b>id</b>" } };
    const why = { place: "json:total", operator: "above", value: "100", found: "20" } as const;
    const filtered: Detail = { ...done, state: "filtered", why, attempts: [] };
    const condition = `json:total ${catalogText("filter.operators.above")} 100`;
    for (const [delivery, said, fix] of [
      [failure, "TypeError: no <b>id</b>", "flow"],
      [filtered, catalogText("filter.why.condition", { condition, found: "20" }), "filtered"],
    ] as const) {
      const shown = await open(delivery);
      (await shown.locator(".webhook-delivery-cause p").allInnerTexts()).should.eql([said, `${catalogText(`fix.${fix}`)}.`]);
      (await shown.getByRole("button", { name: text("replay"), exact: true }).count()).should.equal(1);
    }
  });

  it("follows what becomes of it, and leaves the focus and what is typed and unfolded", async () => {
    const shown = await open({ ...done, state: "failed", status: null, milliseconds: null, answer: null, attempts: [{ at }] });
    const order = shown.getByRole("button", { name: /^order: object/ });
    await order.press("Enter");
    await press(shown, "replayChanged");
    await shown.locator("textarea").fill('{"order":');
    const attempts = await unfolded(shown, "attempts");
    await attempts.locator("summary").focus();
    runtime.deliveries = [done];
    await tab.publish();
    await shown.locator('.webhook-delivery-line [data-state="succeeded"]').waitFor();
    await attempts.getByText(text("endUnknown")).waitFor({ state: "detached" });
    (await focused()).should.startWith(text("section.attempts"));
    should(await order.getAttribute("aria-expanded")).equal("true");
    (await shown.locator("textarea").inputValue()).should.equal('{"order":');
  });

  it("shows a body of JSON as the debug sidebar does, by keyboard as well, and copies it", async () => {
    const body = await unfolded(await open(done), "body");
    const order = body.getByRole("button", { name: /^order: object/ });
    should(await order.getAttribute("aria-expanded")).equal("false");
    await order.press("Enter");
    await body.getByText("17").waitFor();
    should(await order.getAttribute("aria-expanded")).equal("true");
    await body.getByRole("button", { name: catalogText("copy", { name: text("section.body") }) }).click();
    (await editor.clipboard()).should.equal(done.body.data);
  });

  it("shows a body as its text where the debug sidebar would show something else, and says that it is cut, or empty", async () => {
    for (const [data, answered, said] of [
      ['{"hasOwnProperty":1}', '{"a":{"__enc__":true,"type":"undefined"}}'],
      ["x", "<b>no JSON</b>", "bodyTruncated"],
      ["", '{"id":12345678901234567890}', "bodyEmpty"],
    ] as const) {
      const body = { encoding: "utf8", data, truncated: said === "bodyTruncated" } as const;
      const shown = await open({ ...done, body, size: data.length, answer: { status: 200, milliseconds: 1, body: answered } });
      // The body of the answer is shown by the same rules.
      for (const [name, written] of [["body", data], ["answer", answered]] as const) {
        const found = await unfolded(shown, name);
        if (written !== "") (await found.locator("pre").innerText()).should.equal(written);
        if (name === "body" && said) (await found.innerText()).should.containEql(text(said));
      }
    }
  });

  it("shows the first 1,000 bytes of a body that is no text as the debug sidebar does", async () => {
    const body = await unfolded(await open(failed), "body");
    const view = body.locator(".webhook-delivery-object");
    (await view.innerText()).should.containEql("buffer[9000]");
    await view.getByText("10 … 19").click();
    (await view.innerText()).should.match(/\b19:\s*0x13\b/).and.match(/990 … 999[^]*1000 … 9000/);
  });

  it("is replayed as it was, or says why not", async () => {
    const shown = await open(done);
    await press(shown, "replay");
    await result(shown, text("replayed", { id: "0f3c1b2a-again" }));
    runtime.replayed.should.eql([["0f3c1b2a", {}]]);
    (await focused()).should.equal(text("replay"));
    for (const [status, said] of [
      [403, text("forbidden")],
      [404, text("gone")],
      [409, `${catalogText("replay.notOpen")}.`],
      [500, text("otherwise", { status: "500" })],
    ] as const) {
      runtime.failing.set(done.id, status);
      await press(shown, "replay");
      await result(shown, said);
    }
  });

  it("offers no replay while its flow is still to run with it, and says when", async () => {
    const nextAt = new Date(2024, 1, 3, 4, 5, 6).getTime();
    const retrying: Detail = { ...failed, state: "retrying", maxAttempts: 5, nextAt };
    const again = (shown: Locator) => shown.getByRole("button", { name: text("replay"), exact: true });
    for (const [delivery, key] of [
      [{ ...done, state: "queued" }, "queued"],
      [{ ...done, state: "running" }, "running"],
      [retrying, "retryingAt"],
    ] as const) {
      const shown = await open(delivery);
      await shown.getByText(text(`noReplay.${key}`, { time: "02/03, 04:05:06" })).waitFor();
      (await again(shown).isVisible()).should.be.false();
      (await shown.getByRole("button", { name: text("delete") }).isVisible()).should.equal(key !== "running");
      runtime.deliveries = runtime.deliveries.map((each) => ({ ...each, state: "failed", nextAt: null }));
      await tab.publish();
      await again(shown).waitFor();
    }
  });

  it("is retried now or not any more where it waits for another attempt, or says why not", async () => {
    const retrying: Detail = { ...failed, state: "retrying", maxAttempts: 5, nextAt: at };
    const paused = await open({ ...retrying, pause: "manual" });
    await paused.getByRole("button", { name: text("stopRetrying"), exact: true }).waitFor();
    (await paused.getByRole("button", { name: text("retryNow"), exact: true }).count()).should.equal(0);
    const shown = await open(retrying);
    const next = shown.getByText(text("noReplay.retryingAt", { time: "" }).slice(0, -1));
    await next.waitFor();
    await press(shown, "retryNow");
    await result(shown, text("retried"));
    (await next.isVisible()).should.be.false();
    runtime.deliveries = runtime.deliveries.map((each) => ({ ...each, attempt: each.attempt + 1, nextAt: at + 60_000 }));
    await tab.publish();
    await next.waitFor();
    (await shown.locator(".webhook-delivery-result").innerText()).should.equal("");
    runtime.failing.set(failed.id, 409);
    await press(shown, "retryNow");
    await result(shown, `${catalogText("retry.notRetrying")}.`);
    runtime.failing.clear();
    runtime.deliveries = runtime.deliveries.map((each) => ({ ...each, state: "failed", nextAt: null }));
    await press(shown, "stopRetrying");
    await result(shown, text("stopped"));
    await shown.getByRole("button", { name: text("replay"), exact: true }).waitFor();
    runtime.controlled.should.eql(["retry", "retry", "stop"].map((act) => `${failed.id} ${act}`));
  });

  it("is deleted after a question, and the list is shown again without it", async () => {
    const shown = await open({ ...done, state: "queued" }, failed);
    const dialog = editor.page.getByRole("dialog");
    await press(shown, "delete");
    await dialog.getByText(text("removal.one")).waitFor();
    (await dialog.innerText()).should.containEql(text("removal.waiting"));
    await editor.page.keyboard.press("Escape");
    runtime.deleted.should.eql([]);
    runtime.failing.set(done.id, 409);
    await press(shown, "delete");
    await press(dialog, "delete");
    await dialog.getByText(catalogText("deletion.running")).waitFor();
    await press(dialog, "close");
    runtime.failing.clear();
    await press(shown, "delete");
    await press(dialog, "delete");
    await shown.waitFor({ state: "detached" });
    await until(async () => (await tab.rows.count()) === 1, "the other one to be left");
    runtime.deleted.should.eql([done.id, done.id]);
    (await tab.list.evaluate((list) => list === document.activeElement)).should.be.true();
  });

  it("is replayed with the payload that the flow got once it is changed and JSON; the Escape key leaves only the change", async () => {
    for (const payload of [{ body: 1, query: { page: "2" } }, "12345", null, undefined]) {
      const shown = await open({ ...done, payload });
      await press(shown, "replayChanged");
      const offered = await shown.locator("textarea").inputValue();
      should(offered === "" ? undefined : JSON.parse(offered)).eql(payload);
      await shown.locator("textarea").press("Escape");
      await shown.locator("textarea").waitFor({ state: "detached" });
      (await shown.isVisible()).should.be.true();
      (await focused()).should.equal(text("replayChanged"));
    }
    const shown = editor.page.locator(".webhook-delivery");
    await press(shown, "replayChanged");
    await shown.locator("textarea").fill('{"order":');
    (await shown.locator(".webhook-delivery-change [role=status]").innerText()).should.equal(catalogText("reply.noJson"));
    await shown.getByRole("button", { name: text("replayNoJson") }).press("Enter");
    runtime.replayed.should.eql([]);
    await shown.locator("textarea").fill('{"order":18}');
    await press(shown, "replayThis");
    await result(shown, text("replayed", { id: "0f3c1b2a-again" }));
    runtime.replayed.should.eql([["0f3c1b2a", { payload: { order: 18 } }]]);
  });

  describe("copied as a curl line", () => {
    const placeholder = catalogText("testRequest.placeholder");
    const copied = async (delivery: Detail) => {
      const shown = await open(delivery);
      await press(shown, "curl");
      await result(shown, text("curlCopied"));
      return editor.clipboard();
    };
    const pasted = async (line: string, credential = token) => {
      const { json } = await paste([line.replace(placeholder, credential)]);
      return nodeRed.message(json.id);
    };

    it("is the same request, with a placeholder for the token and the root of HTTP nodes once in its path", async () => {
      const line = await copied(done);
      await result(editor.page.locator(".webhook-delivery"), text("curlToken", { placeholder }));
      line.should.containEql(`Authorization: Bearer ${placeholder}`).and.not.match(/content-length|host:|•/i);
      const { payload, req } = await pasted(line);
      should(payload).eql(JSON.parse(done.body.data));
      should(req).containDeep({ query: { page: "2" }, headers: { "content-type": "application/json", "x-github-event": "push" } });
      await setRoot("/hooks/");
      const astray = await copied({ ...refused, path: "/hooks/plan", cause });
      const met = await copied(done);
      await setRoot("/");
      astray.should.match(/^curl -X POST "http:\/\/[^/]+\/hooks\/plan\?/);
      met.should.match(/^curl "http:\/\/[^/]+\/hooks\/plain\?/);
    });

    it("is one request to the same path, where curl would take it for several", async () => {
      const line = await copied({ ...done, node: "device", path: "/devices/[1-5]/state" });
      should((await pasted(line)).req).have.propertyByPath("params", "id").equal("[1-5]");
    });

    it("has the body as it is kept: JSON, whatever was sent, or bytes; and the token in the query where it goes there", async () => {
      const form = { "Content-Type": "application/x-www-form-urlencoded" };
      const kept = await copied({ ...done, headers: form, isJson: true, body: { ...done.body, data: '"a=1"' } });
      should((await pasted(kept)).payload).equal("a=1");
      const headers = { "content-type": "application/octet-stream" };
      const line = await copied({ ...failed, node: "query", path: "/query", headers });
      const { payload } = await pasted(line, encodeURIComponent(token));
      const body = Buffer.from(failed.body.data, "base64");
      JSON.stringify(payload).should.equal(JSON.stringify({ body, query: { page: "2" } }));
    });

    it("has a long text whose carriage returns a terminal would drop", async () => {
      const data = "line\r\n".repeat(30_000);
      const line = await copied({ ...done, body: { ...done.body, data } });
      line.should.startWith(`echo ${Buffer.from(data).toString("base64")} | base64 -d | curl `);
    });

    it("says what is left to do where the sender signs", async () => {
      const [comment = "", command = ""] = (await copied({ ...done, node: "signed", path: "/signed" })).split("\n");
      const signature = text("signaturePlaceholder");
      comment.should.equal(`# ${text("curlSigned", { placeholder: signature })}`);
      command.should.containEql(`-H 'X-Hub-Signature-256: sha256=${signature}'`);
    });
  });

  it("leads to its page, which does not replace the editor, to its node, and to the list of that node or caller alone", async () => {
    const shown = await open(done);
    const popup = editor.page.waitForEvent("popup");
    await (await unfolded(shown, "facts")).getByRole("link").click();
    const page = await popup;
    page.url().should.endWith(`/webhook-trigger/#${done.id}`);
    await page.close();
    // What is revealed flashes, and so soon that a busy machine may not see it.
    const revealed = editor.revealed();
    const name = catalogText("url.rival", { name: "/plain", flow: "Test" });
    await shown.getByRole("button", { name: catalogText("url.reveal", { name }) }).click();
    should(await revealed).equal("plain");
    await press(shown, "onlyNode");
    await shown.waitFor({ state: "detached" });
    const filter = tab.element.getByLabel(catalogText("tab.filter.node"), { exact: true });
    (await filter.inputValue()).should.equal("plain");
    const caller = 'Tür "1" <b>';
    await (await open({ ...done, caller })).getByRole("button", { name: text("searchCaller", { name: caller }) }).click();
    await until(() => runtime.asked.at(-1)?.get("text") === `caller: "${caller}"`, "what the caller has sent to be asked for");
    should(runtime.asked.at(-1)?.get("node")).equal("plain");
    await tab.button(catalogText("tab.filter.clear")).click();
  });

  describe("chosen with others", () => {
    /** Eleven to two nodes, and a duplicate. */
    const chosen: Summary[] = [
      ...Array.from({ length: 8 }, (_, index) => ({ ...done, id: `plain${index}`, at: at - index })),
      ...Array.from({ length: 3 }, (_, index) => ({ ...done, id: `orders${index}`, at: at - 9 - index, node: "other" })),
      { ...done, id: "again", state: "duplicate" },
    ];
    const dialog = () => editor.page.getByRole("dialog");
    const heading = () => dialog().getByRole("heading").innerText();
    const rows = () => dialog().locator("dl > div").evaluateAll((all) => all.map((row) => [...row.children].map((each) => each.textContent)));
    const closable = () => dialog().getByRole("button", { name: text("close") }).waitFor();
    afterEach(async () => {
      while (await dialog().isVisible()) await editor.page.keyboard.press("Escape");
      const unselect = tab.button(catalogText("tab.unselect"));
      if (await unselect.isVisible()) await unselect.click();
    });

    const ask = async (deliveries: Summary[]) => {
      runtime.deliveries = deliveries;
      await tab.open();
      await tab.rows.nth(deliveries.length - 1).waitFor();
      await tab.rows.first().locator(".webhook-deliveries-check").click();
      await tab.rows.nth(deliveries.length - 1).click({ modifiers: ["Shift"] });
      await editor.page.locator(".webhook-deliveries-tools button").first().click();
      await dialog().waitFor();
    };

    it("is replayed only after a question, which names nodes and numbers, once and in the order of arrival, and the sum says what failed and why", async () => {
      await ask(chosen);
      (await heading()).should.equal(text("several.ask", { count: "11" }));
      const asked = await dialog().innerText();
      asked.should.containEql(text("several.toNodes", { count: "2" })).and.containEql(text("several.leftOut", { count: "1" }));
      (await rows()).should.eql([["Orders on Test", "3"], ["/plain on Test", "8"]]);
      should(await dialog().evaluate((element) => element.contains(document.activeElement))).be.true();
      await press(dialog(), "cancel");
      await dialog().waitFor({ state: "detached" });
      runtime.replayed.should.eql([]);
      (await focused()).should.equal(catalogText("tab.replay", { count: "11" }));
      runtime.failing.set("plain3", 409).set("orders1", 404).set("orders2", 404);
      await editor.page.keyboard.press("Enter");
      await press(dialog(), "replay");
      await closable();
      (await heading()).should.equal(text("several.sum", { count: "8" }));
      (await dialog().innerText()).should.containEql(text("several.follow"));
      (await rows()).sort().should.eql([[text("gone"), "2"], [`${catalogText("replay.notOpen")}.`, "1"]].sort());
      runtime.replayed.should.eql(chosen.slice(0, 11).reverse().map(({ id }) => [id, {}]));
    });

    it("is not replayed any more once the user stops, and the sum says how many were not", async () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await editor.page.route("**/replay", async (route) => {
        await held;
        await route.fallback();
      });
      await ask(chosen);
      await press(dialog(), "replay");
      await press(dialog(), "several.stop");
      release();
      await closable();
      (await heading()).should.equal(text("several.sum", { count: "1" }));
      (await dialog().innerText()).should.containEql(text("several.left", { count: "10" }));
    });

    it("is not tried to the last where the user may not replay", async () => {
      for (const { id } of chosen) runtime.failing.set(id, 403);
      await ask(chosen);
      await press(dialog(), "replay");
      await closable();
      runtime.replayed.length.should.equal(1);
      (await dialog().innerText()).should.containEql(text("forbidden")).and.not.containEql(text("several.follow"));
    });
  });
}); // prettier-ignore
