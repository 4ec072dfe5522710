import "should";
import { answersInFront, isOfApi } from "../harness/answers-in-front";
import { catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, summaries, summary } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { done } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";
import { until } from "../harness/until";

const flow = webhookFlow({ id: "plain", relativePath: "/plain" });
/** What the tab asks for besides the list. */
const isBeside = (url: URL) => /\/webhook-trigger\/(?:silent|queues|failures|traffic)$/.test(url.pathname);

describe("the tab of deliveries while something in front answers instead of Node-RED", () => {
  let editor: Editor;
  let tab: DeliveriesTab;
  let runtime: FakeRuntime;
  before(async () => {
    ({ editor } = await openEditor(flow));
    tab = new DeliveriesTab(editor);
  });
  beforeEach(async () => {
    runtime = await FakeRuntime.serve(editor.page);
    runtime.deliveries = [done, ...summaries(2)];
    await editor.leave();
    await tab.open();
    await tab.row("push").waitFor();
  });

  type Answer = (typeof answersInFront)[number];
  /** Has it answer all calls, from the next one on. */
  const during = async ({ answer }: Answer, act: () => Promise<void>, isMeant = isOfApi) => {
    await editor.page.route(isMeant, answer);
    await act();
    await editor.page.unroute(isMeant, answer);
  };
  /** Has the tab ask at once. */
  const lookAgain = async () => {
    await tab.leave();
    await editor.invoke("webhook-trigger:show-deliveries");
    await tab.element.waitFor();
  };
  const say = ({ trouble }: Answer, others: Partial<Record<Answer["trouble"], string>>) =>
    others[trouble] ?? catalogText(`tab.trouble.${trouble}`);

  it("says so above the list and of a press on a button, and goes on by itself when Node-RED answers again", async () => {
    runtime.queues = [{ node: "plain", pause: "manual", queued: 1, retrying: 0 }];
    const resume = tab.button(`${catalogText("tab.queue.resume")}: /plain`);
    await lookAgain();
    await resume.waitFor();
    for (const each of answersInFront) {
      await during(each, async () => {
        await lookAgain();
        await tab.notice.filter({ hasText: say(each, {}) }).waitFor();
        const isNotified = await editor.noteNotifications();
        await resume.click();
        const failed = catalogText("tab.queue.failed");
        const said = say(each, { failed, unreachable: failed });
        await isNotified(said);
      });
      await lookAgain();
      await tab.notice.waitFor({ state: "hidden" });
    }
    const [last] = answersInFront;
    if (last) await during(last, lookAgain);
    runtime.deliveries = [summary({ id: "later", event: "came later" }), ...runtime.deliveries];
    await tab.row("came later").waitFor();
    await resume.click();
    await resume.waitFor({ state: "detached" });
  });

  it("lists what comes where only what is around the list is missing", async () => {
    for (const each of answersInFront) {
      const asked = editor.page.waitForRequest((request) => isBeside(new URL(request.url())));
      await during(
        each,
        async () => {
          await lookAgain();
          await asked;
          const event = `during ${each.name}`;
          runtime.deliveries = [summary({ id: event.replaceAll(" ", "-"), event }), ...runtime.deliveries];
          await tab.publish();
          await tab.row(event).waitFor();
        },
        isBeside,
      );
    }
  });

  it("says so in an opened delivery and of its replay, and follows it by itself when Node-RED answers again", async () => {
    await tab.row("push").locator(".webhook-deliveries-what").click();
    const shown = tab.element.locator(".webhook-delivery");
    await shown.locator('[data-section="body"]').waitFor();
    for (const each of answersInFront) {
      const said = say(each, {
        unreachable: catalogText("testRequest.failed"),
        failed: catalogText("delivery.otherwise", { status: "502" }),
      });
      await during(each, async () => {
        await lookAgain();
        await shown.locator(":scope > [role=status]").filter({ hasText: said }).waitFor();
        await shown.getByRole("button", { name: catalogText("delivery.replay"), exact: true }).click();
        await shown.locator(".webhook-delivery-result").filter({ hasText: said }).waitFor();
      });
      await lookAgain();
      await shown.locator(":scope > [role=status]").filter({ hasText: said }).waitFor({ state: "hidden" });
    }
    runtime.replayed.should.eql([]);
    const [last] = answersInFront;
    if (last) await during(last, lookAgain);
    runtime.deliveries = [{ ...done, answer: { status: 202, milliseconds: 1, body: null } }, ...summaries(2)];
    await shown.locator('[data-section="answer"] summary').filter({ hasText: "202" }).waitFor();
    await tab.button(catalogText("tab.back")).click();
  });

  it("says so of a deletion, which deletes nothing", async () => {
    await tab.row("push").locator(".webhook-deliveries-what").click();
    const dialog = editor.page.getByRole("dialog");
    const press = (key: string) => dialog.getByRole("button", { name: catalogText(key), exact: true }).click();
    // The browser follows a redirect of DELETE with DELETE, which no login page answers.
    for (const each of answersInFront.filter(({ name }) => !name.startsWith("a redirect"))) {
      await tab.button(catalogText("delivery.delete")).click();
      const failed = catalogText("delivery.otherwise", { status: "502" });
      const said = say(each, { unreachable: catalogText("testRequest.failed"), failed });
      await during(each, async () => {
        await press("delivery.delete");
        await dialog.getByText(said).waitFor();
      });
      await press("delivery.close");
    }
    runtime.deleted.should.eql([]);
    await tab.button(catalogText("tab.back")).click();
  });

  it("goes on in the form of a node, whose test request says so", async () => {
    const counts = { refused: 0, handshakes: 0, duplicates: 0, filtered: 0, unanswered: 0 };
    const report = { accepted: 5, ...counts, last: { at: done.at, outcome: "accepted" } };
    await editor.page.route("**/lastRequest", (route) => route.fulfill({ json: report }));
    await editor.editAsItIs("plain");
    for (const each of answersInFront) {
      const failed = catalogText("testRequest.failed");
      let asked = 0;
      const count = () => asked++;
      editor.page.on("request", count);
      await during(each, async () => {
        await editor.part("send").click();
        await editor
          .part("result")
          .filter({ hasText: say(each, { failed, unreachable: failed }) })
          .waitFor();
        await until(() => asked > 1, "the last request to be asked for");
      });
      editor.page.off("request", count);
    }
    report.accepted = 7;
    await editor.part("last-request").filter({ hasText: "7" }).waitFor();
  });
});
