import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import { catalogText, Editor } from "../harness/browser";
import { bearer, token, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";
import { uncalled } from "../harness/standing";
import { until } from "../harness/until";

const at = new Date().setHours(12, 53, 0, 0);
const time = new Date(at).toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit" });
const calm: NodeReport = { ...uncalled, accepted: 14, last: { at, outcome: "accepted" } };

/** A line of the form that tells how the node fares. */
type Line = "standing" | "refused" | "looks-like" | "brought" | "fetch-failed";

describe("how the node fares, in its form", () => {
  let editor: Editor;
  /** What the runtime answers; nothing of a node that is not deployed. */
  let standing: NodeReport | undefined;
  let asked: number;
  before(async () => {
    const nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "plain", relativePath: "/plain" },
        { id: "asana", relativePath: "/asana", verificationMethod: "signature", sender: "asana", senderSettings: { arm: true } },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    await editor.page.route("**/webhook-trigger/*/standing", (route) => {
      asked += 1;
      return standing ? route.fulfill({ json: standing }) : route.fulfill({ status: 404 });
    });
  });
  beforeEach(() => {
    asked = 0;
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const line = (name: Line) => editor.page.locator(`#webhook-trigger-${name}`);
  const text = async (name: Line) => (await line(name).locator("> span").first().innerText()).trim();
  const counts = { accepted: "14", refused: "2", handshakes: "1" };

  it("is told by the last request and by how many there were, and told anew", async () => {
    standing = calm;
    await editor.editAsItIs("plain");
    await line("standing").waitFor();
    (await text("standing")).should.equal(`${catalogText("standing.accepted", { time })} · ${catalogText("standing.sum", { ...counts, refused: "0" })}`);
    (await line("refused").isVisible()).should.be.false();
    standing = { ...calm, refused: 2, handshakes: 1, credential: "second", last: { at, outcome: "handshake" } };
    const sum = catalogText("standing.sumWithHandshakes", counts);
    const expected = [catalogText("standing.handshake", { time }), sum, catalogText("standing.second")].join(" · ");
    await line("standing").filter({ hasText: expected }).waitFor();
  });

  it("counts what the flow has not answered", async () => {
    standing = { ...calm, duplicates: 3, unanswered: 2, last: { at, outcome: "unanswered" } };
    await editor.editAsItIs("plain");
    await line("standing").waitFor();
    const counted = [catalogText("status.duplicates", { duplicates: "3" }), catalogText("status.unanswered", { unanswered: "2" })];
    const sum = catalogText("standing.sum", { ...counts, refused: "0" });
    (await text("standing")).should.equal([catalogText("standing.unanswered", { time }), sum, ...counted].join(" · "));
  });

  it("says why the last one was refused in sentences that have one full stop each", async () => {
    const reasons = [{ key: "tokenBlank", values: {} }, { key: "tokenLength", values: { length: 39, expected: 40 } }];
    standing = { ...calm, refused: 2, lastRefused: { at, problem: "tokenInvalid", reasons } };
    await editor.editAsItIs("plain");
    await line("refused").waitFor();
    const [blank, length] = [catalogText("whyNot.tokenBlank"), catalogText("whyNot.tokenLength", { length: "39", expected: "40" })];
    (await text("refused")).should.equal(`${time}: ${catalogText("refused.tokenInvalid")}. ${blank}. ${length}.`);
  });

  it("tells from where the last one came, where its address was against it", async () => {
    standing = { ...calm, refused: 2, lastRefused: { at, problem: "addressNotAllowed", ip: "203.0.113.9", reasons: [] } };
    await editor.editAsItIs("plain");
    await line("refused").waitFor();
    (await text("refused")).should.equal(`${time}: ${catalogText("refused.addressNotAllowed")}: 203.0.113.9.`);
  });

  it("is not told of a node that is not deployed", async () => {
    standing = undefined;
    await editor.editAsItIs("plain");
    await editor.page.waitForResponse("**/standing");
    (await line("standing").isVisible()).should.be.false();
  });

  it("says when no request has come yet", async () => {
    standing = uncalled;
    await editor.editAsItIs("plain");
    await line("standing").waitFor();
    (await text("standing")).should.equal(catalogText("standing.none"));
  });

  it("says why the last one was refused, and sets up for whom it looks like", async () => {
    const lastRefused = { at, problem: "tokenInvalid", reasons: [], looksLike: "stripe" as const };
    standing = { ...calm, refused: 2, last: { at, outcome: "refused" }, lastRefused };
    await editor.editAsItIs("plain");
    await line("looks-like").waitFor();
    (await text("refused")).should.equal(catalogText("standing.refusedAt", { time, refused: catalogText("refused.tokenInvalid") }));
    (await text("looks-like")).should.startWith(catalogText("standing.looksLike", { name: "Stripe" }));
    await line("looks-like").locator("button").click();
    (await editor.input("sender").inputValue()).should.equal("stripe");
    (await editor.input("verificationMethod").inputValue()).should.equal("signature");
    (await editor.page.evaluate(() => document.activeElement?.id ?? "")).should.equal("node-input-sender");
    await line("looks-like").waitFor({ state: "hidden" });
  });

  it("takes over the secret that the sender has brought", async () => {
    standing = { ...calm, hasSecret: true };
    await editor.page.route("**/webhook-trigger/*/secret", (route) => route.fulfill({ json: { secret: "brought along" } }));
    await editor.editAsItIs("asana");
    (await editor.input("arm").isChecked()).should.be.true();
    await line("brought").locator("button").click();
    await editor.page.locator("#node-input-secret[type=text]").waitFor();
    (await editor.input("secret").inputValue()).should.equal("brought along");
    (await editor.input("arm").isChecked()).should.be.false();
    (await editor.page.evaluate(() => document.activeElement?.id ?? "")).should.equal("node-input-secret");
  });

  it("says when somebody else has taken it", async () => {
    standing = { ...calm, hasSecret: true };
    await editor.page.route("**/webhook-trigger/*/secret", (route) => route.fulfill({ status: 404 }));
    await editor.editAsItIs("asana");
    await line("brought").locator("button").click();
    await line("fetch-failed").waitFor();
    (await text("fetch-failed")).should.equal(catalogText("standing.fetchFailed"));
  });

  it("is not asked for any more once the form is closed", async () => {
    standing = calm;
    // Has the form ask twenty times as often. A clock of Playwright's would be that of all tabs, and stay.
    await editor.page.evaluate("const wait = setTimeout; setTimeout = (then, ms = 0) => wait(then, ms / 20);");
    await editor.editAsItIs("plain");
    await until(() => asked > 2, "the form to ask again");
    await editor.cancel();
    // What was on its way when the form closed.
    await editor.page.waitForTimeout(200);
    const before = asked;
    await editor.page.waitForTimeout(500);
    asked.should.equal(before);
  });
}); // prettier-ignore

describe("how the node fares, as the runtime tells its form", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "orders", relativePath: "/orders" },
        { id: "asana", relativePath: "/asana", verificationMethod: "signature", sender: "asana", senderSettings: { arm: true }, credentials: {} },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const line = (name: Line) => editor.page.locator(`#webhook-trigger-${name}`);

  it("is what came of the requests, and why one was refused", async () => {
    const call = async (headers: Record<string, string>) => (await send(nodeRed.node("/orders"), { headers })).status;
    await editor.editAsItIs("orders");
    await line("standing").filter({ hasText: catalogText("standing.none") }).waitFor();
    (await call(bearer)).should.equal(200);
    (await call({ "X-GitHub-Event": "ping", "X-GitHub-Delivery": "1", "X-Token": token })).should.equal(401);
    await line("refused").filter({ hasText: catalogText("refused.tokenMissing") }).waitFor();
    const told = await line("refused").innerText();
    told.should.containEql(catalogText("whyNot.tokenElsewhere", { place: "X-Token" })).and.not.containEql(token);
    const sum = catalogText("standing.sum", { accepted: "1", refused: "1" });
    (await line("standing").locator("> span").innerText()).should.endWith(sum);
    (await line("looks-like").innerText()).should.startWith(catalogText("standing.looksLike", { name: "GitHub" }));
  });

  it("has the secret that the sender has brought, once", async () => {
    const secret = "0123456789abcdef0123456789abcdef";
    const { status } = await send(nodeRed.node("/asana"), { headers: { "X-Hook-Secret": secret } });
    status.should.equal(200);
    await editor.editAsItIs("asana");
    await line("brought").locator("button").click();
    await editor.page.locator("#node-input-secret[type=text]").waitFor();
    (await editor.input("secret").inputValue()).should.equal(secret);
    await editor.cancel();
    await editor.editAsItIs("asana");
    await line("standing").waitFor();
    (await line("brought").isVisible()).should.be.false();
    should(await fetch(nodeRed.admin("/webhook-trigger/asana/secret"), { method: "POST" })).have.property("status", 404);
  });
}); // prettier-ignore
