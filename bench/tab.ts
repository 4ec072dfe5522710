/** What the sidebar's tab of deliveries costs the editor, and the endpoint that it shows. */
import type { Browser } from "playwright-core";
import { Editor, startBrowser } from "../test/harness/browser";
import { DeliveriesTab, FakeRuntime, summaries } from "../test/harness/deliveries-tab";
import { costOf } from "./cost";
import { inTurns, milliseconds, ratios, report, spread } from "./figures";
import { steadyLoad } from "./load";
import { accepted, small } from "./requests";
import { nodeRed, oneWebhook, runtimeOf, type Subject } from "./subjects";

/** How many rows are scrolled through, and requests come in a second. */
const [rows, rate] = [10_000, 1000];
/** How far each step of scrolling goes, in px: some screens, so that all rows are others. */
const step = 1400;
const connections = 8;
const count = (value: number) => value.toLocaleString("en");

export async function tab(): Promise<void> {
  process.stdout.write("the tab of deliveries\n");
  const subject = await nodeRed(oneWebhook);
  const browser = await startBrowser();
  await scrolling(subject, browser);
  await burst(subject, browser);
  await browser.close();
  await subject.stop();
}

/** How long it takes until as many rows as fit are others, drawn, with a list that is made up. */
async function scrolling(subject: Subject, browser: Browser): Promise<void> {
  const editor = await Editor.open(browser, runtimeOf(subject));
  const runtime = await FakeRuntime.serve(editor.page);
  runtime.deliveries = summaries(rows);
  const shown = new DeliveriesTab(editor);
  await shown.open();
  await shown.rows.first().waitFor();
  await shown.list.focus();
  while ((await shown.active()) !== `event ${rows - 1}`) await editor.page.keyboard.press("End");
  const times = await shown.list.evaluate(async (list, distance) => {
    const taken: number[] = [];
    for (let top = 0; top < list.scrollHeight; top += distance) {
      const begin = performance.now();
      list.scrollTo(0, top);
      // At once, and not with the next frame, so that what is measured is the work alone.
      list.dispatchEvent(new Event("scroll"));
      list.getBoundingClientRect();
      taken.push(performance.now() - begin);
      await new Promise(requestAnimationFrame);
    }
    return taken;
  }, step);
  const sorted = times.toSorted((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? NaN;
  report(
    `95th percentile of a step through ${count(rows)} deliveries in the tab`,
    "≤ 16 ms",
    `**${p95.toFixed(1)}** ms`,
  );
}

/** Requests come while the tab is open, and while another one is. */
async function burst(subject: Subject, browser: Browser): Promise<void> {
  const editor = await Editor.open(browser, runtimeOf(subject));
  const shown = new DeliveriesTab(editor);
  await shown.open();
  await editor.page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      entryTypes: ["longtask"],
    });
  });
  const longTasks = () => editor.page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks.splice(0));
  const tasks: number[] = [];
  let lists = 0;
  editor.page.on("request", (request) => (lists += Number(request.url().includes("/deliveries?"))));
  const measured = await inTurns("µs", {
    closed: async () => {
      await shown.leave();
      const before = lists;
      const cost = await costOfLoad(subject);
      if (lists > before) throw new Error("the tab has asked, though nobody looks");
      return cost;
    },
    open: async () => {
      await shown.open();
      await longTasks();
      const before = lists;
      const cost = await costOfLoad(subject);
      if (lists === before) throw new Error("the tab has not followed");
      tasks.push(...(await longTasks()));
      return cost;
    },
  });
  const longest = Math.max(0, ...tasks);
  const at = `${count(rate)} requests a second`;
  report(`longest task of the editor with the tab open, ${at}`, "≤ 100 ms", `**${longest.toFixed(0)}** ms`);
  report(
    `requests per processor time, tab open vs not, ${at}`,
    "≥ 0.95",
    spread(ratios(measured.closed, measured.open)),
  );
}

/** The tab fetches once a second at most. */
const minMs = 3000;

/** The processor time for one request, in µs. */
async function costOfLoad(subject: Subject): Promise<number> {
  let answered = 0;
  const cost = await costOf(subject, async () => {
    const load = await steadyLoad(subject.port, accepted(small), {
      connections,
      rate,
      milliseconds: Math.max(milliseconds, minMs),
    });
    answered = load.statuses["200"] ?? 0;
  });
  return cost / answered;
}
