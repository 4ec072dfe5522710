import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import { catalogText, refusalText } from "../harness/browser";
import { bearer, token, webhookFlow } from "../harness/flow";
import { command, send } from "../harness/http";
import { useEditor } from "../harness/stage";
import { uncalled } from "../harness/node-report";
import { until } from "../harness/until";

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "called", relativePath: "/orders" },
  { id: "custom", relativePath: "/custom", verificationMethod: "signature", sender: "custom", scheme: {} },
  {
    id: "asana",
    relativePath: "/asana",
    verificationMethod: "signature",
    sender: "asana",
    senderSettings: { arm: true },
    credentials: {},
  },
);

const at = new Date().setHours(12, 53, 0, 0);
const time = new Date(at).toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const calm: NodeReport = { ...uncalled, accepted: 14, last: { at, outcome: "accepted" } };
const counted = { accepted: "14", refused: "0" };

describe("the last request in the form of its node", () => {
  const { editor, nodeRed } = useEditor(flow);
  afterEach(() => editor().page.unrouteAll());

  /** A line of the form. */
  type Line = "last-request" | "refused" | "looks-like" | "brought";
  const line = (name: Line) => editor().part(name);
  const text = async (name: Line) => {
    await line(name).waitFor();
    return (await line(name).locator("> span > span").innerText()).trim();
  };
  const shows = (name: Line, expected: string) => line(name).filter({ hasText: expected }).waitFor();
  /** Opens a form to which the runtime says this. */
  const edit = async (id: string, report: NodeReport) => {
    await editor().page.route("**/webhook-trigger/*/lastRequest", (route) => route.fulfill({ json: report }));
    await editor().editAsItIs(id);
  };

  it("is shown with its time and the counts, which are renewed while the form is open", async () => {
    const report = { ...calm };
    await edit("plain", report);
    const sum = catalogText("lastRequest.sum", counted);
    (await text("last-request")).should.equal(`${catalogText("lastRequest.accepted", { time })} · ${sum}`);
    (await line("refused").isVisible()).should.be.false();
    Object.assign(report, { handshakes: 1, credential: "second", last: { at, outcome: "handshake" } });
    const handshakes = catalogText("lastRequest.handshakes_one", { count: "1" });
    await shows("last-request", [catalogText("lastRequest.handshake", { time }), sum, handshakes, catalogText("lastRequest.second")].join(" · "));
    Object.assign(report, { ...calm, credential: undefined, duplicates: 3, unanswered: 2, last: { at, outcome: "unanswered" } });
    await shows("last-request", [
      catalogText("lastRequest.unanswered", { time }),
      sum,
      catalogText("status.duplicates", { duplicates: "3" }),
      catalogText("status.unanswered", { unanswered: "2" }),
    ].join(" · "));
  });

  it("is renewed below Node-RED's code editor as well, and afterwards", async () => {
    const report = { ...calm };
    await edit("custom", report);
    const { page } = editor();
    await editor().part("scheme-editor").locator("button").evaluate((button) => (button as HTMLElement).click());
    await page.locator(".webhook-trigger-form").waitFor({ state: "detached" });
    await page.waitForRequest("**/webhook-trigger/custom/lastRequest");
    await page.locator("#node-dialog-cancel").click();
    await page.locator(".webhook-trigger-form").waitFor();
    Object.assign(report, { accepted: 15 });
    await shows("last-request", catalogText("lastRequest.sum", { ...counted, accepted: "15" }));
  });

  it("is shown with why it was refused, in sentences that have one full stop each, or with a caller, or an address that is not allowed", async () => {
    const reasons = [{ key: "tokenBlank", values: {} }, { key: "tokenLength", values: { length: 39, expected: 40 } }];
    const report: NodeReport = { ...calm, refused: 2, lastRefused: { at, problem: "tokenInvalid", status: 401, reasons } };
    await edit("plain", report);
    const [blank, length] = [catalogText("whyNot.tokenBlank"), catalogText("whyNot.tokenLength", { length: "39", expected: "40" })];
    (await text("refused")).should.equal(`${time}: ${refusalText("tokenInvalid", 401)}. ${blank}. ${length}.`);
    report.lastRefused = { at, problem: "addressNotAllowed", status: 403, from: "203.0.113.9", reasons: [] };
    await shows("refused", `${time}: ${refusalText("addressNotAllowed", 403)}: 203.0.113.9.`);
  });

  it("sets the node up for the sender that it looks like", async () => {
    const lastRefused = { at, problem: "tokenInvalid", status: 401, reasons: [], looksLike: "stripe" as const };
    await edit("plain", { ...calm, refused: 2, last: { at, outcome: "refused" }, lastRefused });
    (await text("looks-like")).should.startWith(catalogText("lastRequest.looksLike", { name: "Stripe" }));
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
    await editor().editAsItIs("plain");
    await answered;
    (await line("last-request").isVisible()).should.be.false();
    await editor().cancel();
    // While the next form asks again and again.
    await editor().editAsItIs("called");
    await until(() => asked.filter((id) => id === "called").length > 2, "the next form to ask again");
    asked.slice(asked.indexOf("called")).should.not.containEql("plain");
  });

  it("is what the runtime has met, and why it refused a request", async () => {
    const call = async (headers: Record<string, string>) => (await send(nodeRed().node("/orders"), { headers })).status;
    await editor().editAsItIs("called");
    await shows("last-request", catalogText("lastRequest.none"));
    (await call(bearer)).should.equal(200);
    (await call({ "X-GitHub-Event": "ping", "X-GitHub-Delivery": "1", "X-Token": token })).should.equal(401);
    await shows("refused", refusalText("tokenMissing", 401));
    const said = await line("refused").innerText();
    said.should.containEql(catalogText("whyNot.tokenElsewhere", { place: "X-Token" })).and.not.containEql(token);
    (await text("last-request")).should.endWith(catalogText("lastRequest.sum", { accepted: "1", refused: "1" }));
    (await text("looks-like")).should.startWith(catalogText("lastRequest.looksLike", { name: "GitHub" }));
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
    const again = await command(nodeRed().admin("/webhook-trigger/asana/secret"));
    should(again.status).equal(404);
  });
}); // prettier-ignore
