import axe from "axe-core";
import type { Locator } from "playwright-core";
import should from "should";
import type { Detail } from "../../src/deliveries/summary";
import { catalogText, Editor } from "../harness/browser";
import { paste } from "../harness/curl";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { token, webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { at, done, refused, TellingRuntime } from "../harness/one-delivery";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "query", relativePath: "/query", verificationMethod: "query", returnQueryParams: true },
  { id: "signed", relativePath: "/signed", verificationMethod: "signature", sender: "github", credentials: { secret: "a secret of ours" } },
  { id: "other", relativePath: "/other", name: "Orders" },
); // prettier-ignore

const text = (key: string, values?: Record<string, string>) => catalogText(`delivery.${key}`, values);
const bytes = Buffer.from(Array.from({ length: 9000 }, (_, index) => index % 256));
/** Why a request has come to no endpoint. */
const cause = { problem: "noEndpoint", reasons: [], looksLike: null, error: null };
const binary: Detail = { ...done, body: { encoding: "base64", data: bytes.toString("base64"), truncated: false } };

describe("one delivery in the sidebar", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  let runtime: TellingRuntime;
  before(async () => {
    nodeRed = await sharedNodeRed(flow);
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    runtime = await TellingRuntime.standInFor(editor);
  });
  beforeEach(() => {
    runtime.asked.length = 0;
    runtime.looked.length = 0;
    runtime.failing.clear();
    runtime.most = 0;
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const section = (shown: Locator, name: string) => shown.locator(`[data-section="${name}"]`);
  const unfolded = async (shown: Locator, name: string) => {
    const found = section(shown, name);
    if ((await found.getAttribute("open")) === null) await found.locator("summary").click();
    return found;
  };
  const press = (shown: Locator, key: string) => shown.getByRole("button", { name: text(key), exact: true }).click();
  const result = (shown: Locator, said: string) =>
    shown.locator(".webhook-delivery-result").filter({ hasText: said }).waitFor();
  const clipboard = () => editor.page.evaluate(() => navigator.clipboard.readText());
  const setRoot = (to: string) =>
    editor.page.evaluate(`RED.settings.webhookTriggerRoots = { admin: "/", node: "${to}" }`);
  const focused = () => editor.page.evaluate(() => document.activeElement?.textContent.trim() ?? "");

  describe("shows", () => {
    it("what came, from where, and what became of it", async () => {
      const shown = await runtime.open({ ...done, attempt: 3, replayOf: "earlier" });
      const head = await shown.locator(".webhook-delivery-head").innerText();
      for (const told of ["/plain on Test", "POST /plain", "203.0.113.9", "GitHub", "push", "72d3162e-cc78-11e3", "0f3c1b2a", "earlier", catalogText("tab.state.succeeded")])
        head.should.containEql(told);
      head.should.match(/\b12\s?ms\b/);
      (await shown.locator("time").getAttribute("datetime") ?? "").should.equal(new Date(at).toISOString());
      (await shown.locator(".webhook-delivery-cause").count()).should.equal(0);
    });

    it("the delivery that a duplicate repeats, and opens it", async () => {
      const duplicate: Detail = { ...done, id: "again", state: "duplicate", duplicateOf: done.id };
      const rows = await runtime.list(duplicate, done);
      await rows.first().locator(".webhook-deliveries-what").click();
      const head = editor.page.locator(".webhook-delivery-head");
      await head.getByRole("button", { name: text("openOther", { id: done.id }) }).click();
      await head.filter({ hasText: catalogText("tab.state.succeeded") }).waitFor();
    });

    it("that the delivery that a duplicate repeats is no longer kept", async () => {
      const shown = await runtime.open({ ...done, id: "again", state: "duplicate", duplicateOf: "gone" });
      await shown.getByRole("button", { name: text("openOther", { id: "gone" }) }).click();
      await shown.getByText(text("gone")).waitFor();
    });

    it("a node that was deleted by its id, and none where no node has the path", async () => {
      const deleted = await runtime.open({ ...done, node: "long gone" });
      (await deleted.locator(".webhook-delivery-head").innerText()).should.containEql(text("deletedNode", { id: "long gone" }));
      (await deleted.getByRole("button", { name: text("useInTest") }).count()).should.equal(0);
      const none = await runtime.open({ ...refused, node: null });
      (await none.locator(".webhook-delivery-head").innerText()).should.containEql(text("noNode"));
    });

    it("the node that was meant where none has the path, and whole paths", async () => {
      const head = (shown: Locator) => shown.locator(".webhook-delivery-head").innerText();
      await setRoot("/hooks/");
      const astray = await head(await runtime.open({ ...refused, path: "/plan", cause }));
      astray.should.containEql(text("meant")).and.containEql("/plain on Test").and.containEql("POST /plan");
      const met = await head(await runtime.open(refused));
      await setRoot("/");
      met.should.containEql("POST /hooks/plain").and.not.containEql(text("meant"));
      const nobody = await head(await runtime.open({ ...refused, node: null, cause }));
      nobody.should.containEql(text("noNode")).and.not.containEql(text("meant"));
    });

    it("why it was refused and what to do, in the editor's language, before all else of it", async () => {
      const shown = await runtime.open(refused);
      const cause = await shown.locator(".webhook-delivery-cause").innerText();
      const why = catalogText("whyNot.tokenLength", { length: "39", expected: "40" });
      cause.replace(/\s+/g, " ").should.equal(`${catalogText("refused.tokenInvalid")} ${why}.`);
      const first = shown.locator(".webhook-delivery-cause, .webhook-delivery-list").first();
      (await first.getAttribute("class") ?? "").should.equal("webhook-delivery-cause");
      (await shown.innerText()).should.containEql(text("noReplay.refused")).and.not.containEql("another language");
      (await shown.getByRole("button", { name: text("replay"), exact: true }).count()).should.equal(0);
      (await (await unfolded(shown, "body")).innerText()).should.containEql(text("bodyNotKept"));
    });

    it("what its flow has failed with", async () => {
      const failed = async (error: string) => {
        const cause = { problem: null, reasons: [], looksLike: null, error };
        const shown = await runtime.open({ ...done, state: "failed", cause, reason: "?", fix: "?" });
        return shown.locator(".webhook-delivery-cause p").allInnerTexts();
      };
      (await failed("TypeError: no <b>id</b>")).should.eql(["TypeError: no <b>id</b>", `${catalogText("fix.flow")}.`]);
      (await failed("interrupted")).should.eql([catalogText("store.interrupted"), `${catalogText("fix.flow")}.`]);
      (await failed("HTTP 504")).should.eql([catalogText("refused.flowLate"), `${catalogText("fix.flowLate")}.`]);
    });

    it("headers and parameters by name and value, a row for each value", async () => {
      const shown = await runtime.open(done);
      const rows = await (await unfolded(shown, "headers")).locator("tbody tr").allInnerTexts();
      rows.map((row) => row.split(/\s*\t\s*/)).slice(-2).should.eql([["x-tag", "it's"], ["x-tag", "two"]]);
      (await (await unfolded(shown, "query")).locator("tbody td").allInnerTexts()).should.eql(["2"]);
    });

    it("what was answered, and each run with its time and error", async () => {
      const shown = await runtime.open({ ...done, state: "running", attempts: [{ at, ended: at + 1500, error: "no <i>id</i>" }, { at: at + 5000 }] });
      (await (await unfolded(shown, "answer")).innerText()).should.containEql("200").and.containEql("0f3c1b2a");
      const attempts = await (await unfolded(shown, "attempts")).locator("li").allInnerTexts();
      attempts.length.should.equal(2);
      (attempts[0] ?? "").should.containEql("1.5").and.containEql("no <i>id</i>");
      (attempts[1] ?? "").should.endWith(text("stillRunning"));
    });

    it("says when it is not kept any more, and when nobody may see it", async () => {
      for (const [status, key] of [[404, "gone"], [403, "unreadable"]] as const) {
        await editor.page.route("**/webhook-trigger/deliveries/away", (route) => route.fulfill({ status }));
        const rows = await runtime.list({ ...done, id: "away" });
        await rows.first().locator(".webhook-deliveries-what").click();
        await editor.page.locator(".webhook-delivery").filter({ hasText: text(key) }).waitFor();
        await editor.page.unroute("**/webhook-trigger/deliveries/away");
      }
    });
  });

  describe("follows what becomes of it", () => {
    const running: Detail = { ...done, state: "running", status: null, milliseconds: null, answer: null, attempts: [{ at }] };
    const state = (shown: Locator, of: string) => shown.locator(`.webhook-delivery-line [data-state="${of}"]`).waitFor();
    const told = () => new DeliveriesTab(editor).publish();

    it("within a second of its change, and leaves what is typed and unfolded", async () => {
      const shown = await runtime.open(running);
      const order = section(shown, "body").getByRole("button", { name: /^order: object/ });
      await order.press("Enter");
      await press(shown, "replayChanged");
      await shown.locator("textarea").fill('{"order":');
      runtime.become(done);
      await told();
      await state(shown, "succeeded");
      await (await unfolded(shown, "answer")).getByText("200").last().waitFor();
      (await order.getAttribute("aria-expanded") ?? "").should.equal("true");
      (await shown.locator("textarea").inputValue()).should.equal('{"order":');
    });

    it("and leaves the focus where it is", async () => {
      const shown = await runtime.open(running);
      const attempts = await unfolded(shown, "attempts");
      await attempts.getByText(text("stillRunning")).waitFor();
      await attempts.locator("summary").focus();
      runtime.become(done);
      await told();
      await state(shown, "succeeded");
      await attempts.getByText(text("stillRunning")).waitFor({ state: "detached" });
      (await focused()).should.startWith(text("section.attempts"));
      (await attempts.getAttribute("open"))?.should.equal("");
    });

    it("and asks for it at most once a second, and for no list that is out of sight", async () => {
      const shown = await runtime.open(running);
      let lists = 0;
      editor.page.on("request", (request) => (lists += request.url().includes("/deliveries?") ? 1 : 0));
      const begin = Date.now();
      while (Date.now() < begin + 2500) await told();
      const seconds = Math.ceil((Date.now() - begin) / 1000);
      runtime.become(done);
      await told();
      await state(shown, "succeeded");
      runtime.looked.length.should.be.within(3, 3 + seconds);
      lists.should.equal(0);
    });
  });

  describe("shows a body", () => {
    it("that is JSON as the debug sidebar does, unfolded by keyboard as well", async () => {
      const body = await unfolded(await runtime.open(done), "body");
      const order = body.getByRole("button", { name: /^order: object/ });
      (await order.getAttribute("aria-expanded") ?? "").should.equal("false");
      await order.press("Enter");
      await body.getByText("17").waitFor();
      (await order.getAttribute("aria-expanded") ?? "").should.equal("true");
      await body.getByRole("button", { name: catalogText("copy", { name: text("section.body") }) }).click();
      (await clipboard()).should.equal(done.body.data);
    });

    it("that would be taken for something else as the text that it is", async () => {
      for (const data of ['{"hasOwnProperty":1}', '{"a":{"__enc__":true,"type":"undefined"}}', "<b>no JSON</b>"]) {
        const body = await unfolded(await runtime.open({ ...done, body: { encoding: "utf8", data, truncated: false } }), "body");
        (await body.locator("pre").innerText()).should.equal(data);
      }
    });

    it("that has numbers beyond 2^53 as the text that it is, not rounded", async () => {
      const data = '{"id":12345678901234567890}';
      const body = await unfolded(await runtime.open({ ...done, body: { encoding: "utf8", data, truncated: false } }), "body");
      (await body.locator("pre").innerText()).should.equal(data);
    });

    it("that is no text as a hex dump, the first 4 kB and more on demand", async () => {
      const body = await unfolded(await runtime.open(binary), "body");
      const lines = async () => (await body.locator("pre").innerText()).trimEnd().split("\n");
      const first = await lines();
      first.length.should.equal(256);
      (first[4] ?? "").should.equal("00000040  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|");
      await body.getByRole("button", { name: text("more") }).click();
      await body.getByRole("button", { name: text("more") }).click();
      (await lines()).length.should.equal(Math.ceil(9000 / 16));
      ((await lines()).at(-1) ?? "").should.startWith("00002320  20 21 22 23 24 25 26 27                           |");
      (await body.getByRole("button", { name: text("more") }).count()).should.equal(0);
    });

    it("and says that it is cut, or empty", async () => {
      const cut = await unfolded(await runtime.open({ ...done, body: { ...done.body, truncated: true } }), "body");
      (await cut.innerText()).should.containEql(text("bodyTruncated"));
      const empty = await unfolded(await runtime.open({ ...done, size: 0, body: { ...done.body, data: "" } }), "body");
      (await empty.innerText()).should.containEql(text("bodyEmpty"));
    });
  });

  describe("is replayed", () => {
    it("as it was, and the id of the new one is told", async () => {
      const shown = await runtime.open(done);
      await press(shown, "replay");
      await result(shown, text("replayed", { id: "0f3c1b2a-again" }));
      runtime.asked.should.eql([["0f3c1b2a", {}]]);
      (await focused()).should.equal(text("replay"));
    });

    it("or it is said why not", async () => {
      const shown = await runtime.open(done);
      const cases = [[403, text("forbidden")], [404, text("gone")], [409, `${catalogText("replay.notOpen")}.`], [500, text("otherwise", { status: "500" })]] as const;
      for (const [status, said] of cases) {
        runtime.failing.set(done.id, status);
        await press(shown, "replay");
        await result(shown, said);
      }
    });

    it("with another payload, once that is JSON", async () => {
      const shown = await runtime.open(done);
      await press(shown, "replayChanged");
      const field = shown.locator("textarea");
      should(JSON.parse(await field.inputValue())).eql(JSON.parse(done.body.data));
      await field.fill('{"order":');
      const said = await shown.locator(".webhook-delivery-change [role=status]").innerText();
      said.should.equal(catalogText("reply.noJson"));
      await shown.getByRole("button", { name: text("replayNoJson") }).press("Enter");
      runtime.asked.should.eql([]);
      await field.fill('{"order":18}');
      await press(shown, "replayThis");
      await result(shown, text("replayed", { id: "0f3c1b2a-again" }));
      runtime.asked.should.eql([["0f3c1b2a", { payload: { order: 18 } }]]);
    });

    it("with the payload that the flow got, as the runtime tells that, whatever was sent", async () => {
      const offered = async (payload: unknown): Promise<string> => {
        const shown = await runtime.open({ ...done, payload });
        await press(shown, "replayChanged");
        return shown.locator("textarea").inputValue();
      };
      for (const payload of [{ body: 1, query: { page: "2" } }, "12345", null]) {
        should(JSON.parse(await offered(payload))).eql(payload);
      }
      (await offered(undefined)).should.equal("");
    });

    it("and the Escape key leaves the change, not the delivery", async () => {
      const shown = await runtime.open(done);
      await press(shown, "replayChanged");
      await shown.locator("textarea").press("Escape");
      await shown.locator("textarea").waitFor({ state: "detached" });
      (await shown.isVisible()).should.be.true();
      (await focused()).should.equal(text("replayChanged"));
    });
  });

  describe("goes elsewhere", () => {
    const copied = async (delivery: Detail) => {
      const shown = await runtime.open(delivery);
      await press(shown, "curl");
      await result(shown, text("curlCopied"));
      return { shown, line: await clipboard() };
    };
    const placeholder = catalogText("trial.placeholder");

    it("to a terminal, with a place for the token, as the same request", async () => {
      const { shown, line } = await copied(done);
      await result(shown, text("curlToken", { placeholder }));
      line.should.containEql(`Authorization: Bearer ${placeholder}`).and.not.match(/content-length|host:|•/i);
      const { status, json } = await paste([line.replace(placeholder, token)]);
      status.should.equal(200);
      const { payload, req } = await nodeRed.message(json.id);
      should(payload).eql(JSON.parse(done.body.data));
      should(req.query).eql({ page: "2" });
      should(req.headers).containEql({ "content-type": "application/json", "x-github-event": "push" });
    });

    it("to a terminal with the whole path, which has the root of HTTP nodes once", async () => {
      await setRoot("/hooks/");
      const astray = await copied({ ...refused, path: "/hooks/plan", cause });
      const met = await copied(done);
      await setRoot("/");
      astray.line.should.match(/^curl -X POST "http:\/\/[^/]+\/hooks\/plan\?/);
      met.line.should.match(/^curl "http:\/\/[^/]+\/hooks\/plain\?/);
    });

    it("to a terminal as JSON where its body is kept as that, whatever was sent", async () => {
      const headers = { "Content-Type": "application/x-www-form-urlencoded" };
      const { line } = await copied({ ...done, headers, isJson: true, body: { ...done.body, data: '"a=1"' } });
      (line.match(/content-type: [^"]*/gi) ?? []).should.eql(["Content-Type: application/json"]);
      const { json } = await paste([line.replace(placeholder, token)]);
      should((await nodeRed.message(json.id)).payload).equal("a=1");
    });

    it("to a terminal with bytes, and with the token in the query", async () => {
      const headers = { "content-type": "application/octet-stream" };
      const { line } = await copied({ ...binary, node: "query", path: "/query", headers });
      const { status, json } = await paste([line.replace(placeholder, encodeURIComponent(token))]);
      status.should.equal(200);
      const { payload } = await nodeRed.message(json.id);
      JSON.stringify(payload).should.equal(JSON.stringify({ body: bytes, query: { page: "2" } }));
    });

    it("to a terminal where the sender signs, with what is left to do", async () => {
      const { line } = await copied({ ...done, node: "signed", path: "/signed" });
      const [comment = "", command = ""] = line.split("\n");
      const signature = text("signaturePlaceholder");
      comment.should.equal(`# ${text("curlSigned", { placeholder: signature })}`);
      command.should.containEql(`-H 'X-Hub-Signature-256: sha256=${signature}'`);
    });

    it("to the test request of its node, until the usual body is wanted again", async () => {
      const sent: unknown[] = [];
      await editor.page.route("**/webhook-trigger/*/test", (route) => {
        sent.push(route.request().postDataJSON());
        return route.fulfill({ json: { outcome: "accepted" } });
      });
      await press(await runtime.open(done), "useInTest");
      await editor.editAsItIs("other");
      (await editor.page.locator("#webhook-trigger-usual-body").isVisible()).should.be.false();
      await editor.cancel();
      await editor.editAsItIs("plain");
      const hint = editor.page.locator("#webhook-trigger-send-hint");
      (await hint.innerText()).should.startWith(text("testBody", { time: "" }).replace(".", ""));
      await editor.sendTest();
      await editor.page.locator("#webhook-trigger-usual-body").click();
      (await hint.innerText()).should.equal(catalogText("trial.hint"));
      (await editor.page.evaluate(() => document.activeElement?.id ?? "")).should.equal("webhook-trigger-send");
      await editor.sendTest();
      sent.should.eql([{ delivery: done.id }, null]);
      await editor.page.unroute("**/webhook-trigger/*/test");
    });

    it("to its node, and to the list of that node alone", async () => {
      const shown = await runtime.open(done);
      // What is revealed flashes, and so soon that a busy machine may not see it.
      const revealed = editor.page.evaluate(
        "new Promise((resolve) => { const { reveal } = RED.view; RED.view.reveal = (id) => { RED.view.reveal = reveal; resolve(id); }; })",
      );
      await press(shown, "showNode");
      should(await revealed).equal("plain");
      await press(shown, "onlyNode");
      await shown.waitFor({ state: "detached" });
      (await editor.page.locator(".webhook-deliveries-filters select").first().inputValue()).should.equal("plain");
    });
  });
}); // prettier-ignore

describe("one delivery, for everyone", () => {
  const looks: Record<string, (runtime: TellingRuntime) => Promise<Locator>> = {
    "all of it unfolded": async (runtime) => {
      const shown = await runtime.open({ ...done, attempt: 2, replayOf: "earlier" });
      await shown.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")));
      await shown.getByRole("button", { name: /^order: object/ }).click();
      await shown.getByRole("button", { name: text("replayChanged") }).click();
      await shown.locator("textarea").fill("{");
      await shown.getByRole("button", { name: text("curl") }).click();
      return shown;
    },
    "a refusal": (runtime) => runtime.open(refused),
    "a failure, and a body that is no text": async (runtime) => {
      const cause = { problem: null, reasons: [], looksLike: null, error: "TypeError: no id" };
      const attempts = [{ at, ended: at + 1, error: "TypeError: no id" }];
      const shown = await runtime.open({ ...binary, state: "failed", cause, attempts });
      await shown.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")));
      return shown;
    },
  };

  const examine = async ({ page }: Editor) => {
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
    return page.evaluate(async () => {
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
      const [shown] = document.querySelectorAll<HTMLElement>(".webhook-delivery");
      if (!shown) throw new Error("no delivery is shown");
      // It takes for unseen what has to be scrolled to.
      const place = shown.parentElement;
      let behind: Element | null = shown;
      while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
      const background = behind ? getComputedStyle(behind).backgroundColor : "white";
      Object.assign(shown.style, { position: "fixed", left: "0", top: "0", width: "400px", zIndex: "1000", background });
      document.body.append(shown);
      const { violations, passes } = await run(shown);
      shown.removeAttribute("style");
      place?.append(shown);
      const contrasts = passes.find(({ id }) => id === "color-contrast")?.nodes.length ?? 0;
      return { violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]), contrasts };
    });
  };

  for (const colorScheme of ["light", "dark"] as const) {
    describe(`in the ${colorScheme} theme`, () => {
      let editor: Editor;
      let runtime: TellingRuntime;
      before(async () => {
        const look = { colorScheme, style: "html, body { height: 100%; }", viewport: { width: 1280, height: 2800 } };
        editor = await Editor.open(await sharedBrowser(), await sharedNodeRed(flow), look);
        runtime = await TellingRuntime.standInFor(editor);
      });
      after(() => editor.close());

      for (const [what, show] of Object.entries(looks)) {
        it(`has no fault that axe-core finds, with ${what}`, async () => {
          await show(runtime);
          const { violations, contrasts } = await examine(editor);
          violations.should.eql([]);
          contrasts.should.be.above(10);
        });

        it(`fits into 280 px, with ${what}`, async () => {
          const shown = await show(runtime);
          const wide = await shown.evaluate((element) => {
            Object.assign(element.style, { position: "fixed", left: "0", top: "0", width: "280px", zIndex: "1000" });
            // What is as wide as its bytes scrolls by itself.
            const all = [...element.querySelectorAll("*")].filter((each) => each.closest("pre") === null || each.matches("pre"));
            const found = all.filter((each) => each.getBoundingClientRect().right > 280.5).map(({ outerHTML }) => outerHTML);
            element.removeAttribute("style");
            return found;
          });
          wide.should.eql([]);
        });
      }
    });
  }
}); // prettier-ignore
