/** What a key in the form, and the list of deliveries, cost the editor in a real Chromium. */
import { Editor, startBrowser } from "../test/harness/browser";
import { DeliveriesTab, FakeRuntime, summaries } from "../test/harness/deliveries-tab";
import { bearer } from "../test/harness/flow";
import { report, spread } from "./figures";
import { requestBytes, steadyLoad } from "./load";
import { nodeRed, oneWebhook, runtimeOf } from "./subjects";

export async function editor(): Promise<void> {
  const browser = await startBrowser();
  const subject = await nodeRed(oneWebhook);
  const shown = await Editor.open(browser, runtimeOf(subject));
  report("scripting for one key in the form", "< 4 ms", `${spread(await measureKeys(shown))} ms`);

  const runtime = await FakeRuntime.serve(shown.page);
  runtime.deliveries = summaries(10_000);
  const tab = new DeliveriesTab(shown);
  await tab.open();
  report("a frame while 10,000 deliveries are scrolled", "≤ 16.7 ms", `${spread(await measureFrames(tab), 1)} ms`);

  await shown.page.unrouteAll();
  await tab.publish();
  const longTasks = await shown.page.evaluateHandle(() => {
    const found: number[] = [];
    const observer = new PerformanceObserver((list) => found.push(...list.getEntries().map((task) => task.duration)));
    observer.observe({ type: "longtask" });
    return found;
  });
  const request = requestBytes("/hook/0", bearer, '{"order":42}');
  await steadyLoad(subject.port, request, { connections: 4, rate: 100, milliseconds: 5000 });
  report(
    "tasks above 50 ms in a tab that sees 100 requests a second",
    "0",
    `**${(await longTasks.jsonValue()).length}**`,
  );
  await subject.stop();
  await browser.close();
}

/** @returns ms of the page's thread: other work on the machine does not count */
async function measureKeys(shown: Editor): Promise<number[]> {
  const { page } = shown;
  await shown.edit("w0");
  await shown.input("relativePath").fill("/a");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const costs: number[] = [];
  for (let keys = 0, last = 0; keys < 50; keys++) {
    await page.keyboard.press("b");
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const { metrics } = await session.send("Performance.getMetrics");
    const total = metrics.find(({ name }) => name === "ScriptDuration")?.value ?? NaN;
    costs.push((total - last) * 1000);
    last = total;
  }
  await shown.cancel();
  return costs.slice(10);
}

/** @returns ms between frames, from the first delivery to the last */
function measureFrames(tab: DeliveriesTab): Promise<number[]> {
  return tab.list.evaluate(async (list) => {
    const found: number[] = [];
    for (let frame = 0, last = performance.now(); frame < 300; frame++) {
      list.scrollTo(0, frame * 1500);
      const now = await new Promise<number>((done) => requestAnimationFrame(done));
      found.push(now - last);
      last = now;
    }
    return found.slice(10);
  });
}
