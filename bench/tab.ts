/** What the sidebar's tab of deliveries costs the editor, and the endpoint that it shows. */
import { chromium } from "../scripts/setup.mjs";
import { Editor, startBrowser } from "../test/harness/browser";
import { DeliveriesTab } from "../test/harness/deliveries-tab";
import { compare, costOf, milliseconds, report, spread } from "./figures";
import { accepted, nodeRed, oneWebhook, runtimeOf, small } from "./subjects";

/** Requests that come in a second, for longer than the tab waits before it fetches again. */
const load = { rate: 1000, duration: Math.max(milliseconds, 3000) };

/** Requests come while the tab is open, and while another one is. */
export async function tab(): Promise<void> {
  process.env.CHROMIUM_PATH ??= chromium();
  const subject = await nodeRed(oneWebhook);
  const browser = await startBrowser();
  const editor = await Editor.open(browser, runtimeOf(subject));
  const shown = new DeliveriesTab(editor);
  await shown.open();
  await editor.page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    const observer = new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    );
    observer.observe({ entryTypes: ["longtask"] });
  });
  const longTasks = () => editor.page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks.splice(0));
  let lists = 0;
  editor.page.on("request", (request) => (lists += Number(request.url().includes("/deliveries?"))));
  const cost = costOf(subject, accepted(small), load);
  const tasks: number[] = [];
  const closed = async () => {
    await shown.leave();
    lists = 0;
    const taken = await cost();
    if (lists > 0) throw new Error("the tab has asked, though nobody looks");
    return taken;
  };
  const open = async () => {
    await shown.open();
    await longTasks();
    lists = 0;
    const taken = await cost();
    if (lists === 0) throw new Error("the tab has not followed");
    tasks.push(...(await longTasks()));
    return taken;
  };
  const ratios = await compare(closed, open);
  const longest = Math.max(0, ...tasks).toFixed(0);
  report("longest task of the editor with the tab open, 1,000 requests a second", "≤ 100 ms", `**${longest}** ms`);
  report("requests per processor time, tab open vs not, 1,000 requests a second", "≥ 0.95", spread(ratios));
  await browser.close();
  await subject.stop();
}
