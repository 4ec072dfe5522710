/** The tab of deliveries, and a runtime that answers it with what a test sets. */
import type { Locator, Page, Request } from "playwright-core";
import type { Detail, GroupReplay, Summary } from "../../src/admin/summary";
import type { FailureGroups } from "../../src/deliveries/failures";
import { catalogText, type Editor, noteTexts } from "./browser";

export const noon = new Date().setHours(12, 53, 1, 0);

/** Whatever may become of a delivery. */
export const states: Summary["state"][] = [
  ...(["refused", "failed", "queued", "running"] as const),
  ...(["retrying", "succeeded", "duplicate", "handshake", "filtered"] as const),
];

/** A delivery that a flow is done with. */
export function summary(given: Partial<Summary> & { id: string }): Summary {
  return {
    node: "orders",
    at: noon,
    state: "succeeded",
    status: 200,
    reason: null,
    fix: null,
    method: "POST",
    path: "/orders",
    ip: "203.0.113.9",
    sender: null,
    event: null,
    words: null,
    caller: null,
    senderId: null,
    size: 20,
    milliseconds: 12,
    attempt: 1,
    maxAttempts: null,
    nextAt: null,
    pause: null,
    replayOf: null,
    replayedBy: null,
    duplicateOf: null,
    isTest: false,
    cause: null,
    why: null,
    ...given,
  };
}

/** As many as are wanted, the newest first, a second from one to the next. */
export function summaries(count: number, given: Partial<Summary> = {}): Summary[] {
  return Array.from({ length: count }, (_, index) =>
    summary({ id: `d${index}`, at: noon - index * 1000, event: `event ${index}`, ...given }),
  );
}

/** The traffic of an hour with these numbers in its last minutes, and none before. */
export function trafficOf(last: Partial<Record<"accepted" | "refused" | "failed" | "waiting", number[]>>) {
  const of = (name: keyof typeof last) => [...Array<number>(60).fill(0), ...(last[name] ?? [])].slice(-60);
  const since = noon - 59 * 60_000;
  return { since, accepted: of("accepted"), refused: of("refused"), failed: of("failed"), waiting: of("waiting") };
}

/** The admin API, as the tab meets it. */
export class FakeRuntime {
  /** The newest first. */
  deliveries: (Summary | Detail)[] = [];
  failures: FailureGroups = { groups: [], causes: 0, failures: 0, hasMore: false };
  /** The answers to replays of groups, one after the other, and what was asked for. */
  readonly groupReplays: GroupReplay[] = [];
  readonly groupsReplayed: unknown[] = [];
  silent: { node: string; hours: number; since: number }[] = [];
  silentCallers: { node: string; caller: string; hours: number; since: number }[] = [];
  traffic = trafficOf({});
  queues: { node: string; pause: "manual" | "breaker" | null; queued: number; retrying: number }[] = [];
  /** What is answered instead; `abort` for no connection at all. */
  fault: number | "abort" | undefined;
  /** The status that a replay or a deletion is answered with instead, by the id of the delivery. */
  readonly failing = new Map<string, number>();
  /** The queries of the list that came. */
  readonly asked: URLSearchParams[] = [];
  /** The replays that were asked for: ids and bodies. */
  readonly replayed: (readonly [id: string, body: unknown])[] = [];
  /** The deletions that were asked for: ids, or queries. */
  readonly deleted: string[] = [];
  /** What was paused and resumed, retried and stopped, as the ends of the URLs. */
  readonly controlled: string[] = [];

  /** Takes the place of another one. */
  static async serve(page: Page): Promise<FakeRuntime> {
    await page.unrouteAll({ behavior: "wait" });
    const runtime = new FakeRuntime();
    await page.route("**/webhook-trigger/silent", (route) =>
      route.fulfill({ json: { nodes: runtime.silent, callers: runtime.silentCallers } }),
    );
    await page.route(/webhook-trigger\/traffic(\?|$)/, (route) => route.fulfill({ json: runtime.traffic }));
    await page.route("**/webhook-trigger/queues", (route) => route.fulfill({ json: { queues: runtime.queues } }));
    await page.route(/webhook-trigger\/failures(\?|$)/, (route) => route.fulfill({ json: runtime.failures }));
    await page.route("**/webhook-trigger/failures/replay", (route) => {
      runtime.groupsReplayed.push(route.request().postDataJSON());
      const json = runtime.groupReplays.shift();
      return json ? route.fulfill({ json }) : route.fulfill({ status: 503, json: { code: "unreachable" } });
    });
    await page.route("**/webhook-trigger/deliveries?*", (route) => {
      if (route.request().method() === "DELETE") return route.fulfill(runtime.#delete(route.request()));
      const query = new URL(route.request().url()).searchParams;
      runtime.asked.push(query);
      if (runtime.fault === "abort") return route.abort();
      if (runtime.fault !== undefined) return route.fulfill({ status: runtime.fault });
      return route.fulfill({ json: runtime.#list(query) });
    });
    await page.route(/deliveries\/[^/]+$/, (route) => {
      if (route.request().method() === "DELETE") return route.fulfill(runtime.#deleteOne(route.request()));
      const found = runtime.deliveries.find(({ id }) => route.request().url().endsWith(`/${id}`));
      return found ? route.fulfill({ json: found }) : route.fulfill({ status: 404 });
    });
    await page.route(/deliveries\/[^/]+\/replay$/, (route) => {
      const id = new URL(route.request().url()).pathname.split("/").at(-2) ?? "";
      runtime.replayed.push([id, route.request().postDataJSON()]);
      const status = runtime.failing.get(id);
      if (status !== undefined) return route.fulfill({ status, json: { code: "notOpen" } });
      return route.fulfill({ json: { id: `${id}-again` } });
    });
    await page.route(/deliveries\/[^/]+\/(retry|stop)$/, (route) => {
      const [, id = "", action] = /([^/]+)\/(\w+)$/.exec(route.request().url()) ?? [];
      runtime.controlled.push(`${id} ${action}`);
      const status = runtime.failing.get(id);
      // As the runtime does, so that the list changes at once.
      const due = (each: Summary) => (each.id === id && action === "retry" ? { ...each, nextAt: Date.now() } : each);
      if (status === undefined) runtime.deliveries = runtime.deliveries.map(due);
      return route.fulfill(status === undefined ? { status: 204 } : { status, json: { code: "notRetrying" } });
    });
    await page.route(/webhook-trigger\/\w+\/(pause|resume)$/, (route) => {
      const [, node = "", action] = /(\w+)\/(\w+)$/.exec(route.request().url()) ?? [];
      runtime.controlled.push(`${node} ${action}`);
      if (runtime.fault !== undefined) return route.fulfill({ status: Number(runtime.fault) });
      runtime.queues = runtime.queues.map((queue) =>
        queue.node === node ? { ...queue, pause: action === "pause" ? "manual" : null } : queue,
      );
      return route.fulfill({ status: 204 });
    });
    return runtime;
  }

  #delete(request: Request) {
    const { search, searchParams: query } = new URL(request.url());
    this.deleted.push(search);
    const [node, state] = ["node", "state"].map((name) => query.get(name));
    const isMeant = (each: Summary) =>
      (!node || each.node === node) && (!state || each.state === state) && each.state !== "running";
    const { length } = this.deliveries;
    this.deliveries = this.deliveries.filter((each) => !isMeant(each));
    return { json: { deleted: length - this.deliveries.length } };
  }

  #deleteOne(request: Request) {
    const id = new URL(request.url()).pathname.split("/").at(-1) ?? "";
    this.deleted.push(id);
    const status = this.failing.get(id);
    if (status !== undefined) return { status, json: { code: "running" } };
    this.deliveries = this.deliveries.filter((each) => each.id !== id);
    return { status: 204 };
  }

  #list(query: URLSearchParams) {
    const [node, state, text] = ["node", "state", "text"].map((name) => query.get(name));
    const found = this.deliveries.filter(
      (each) => (!node || each.node === node) && (!state || each.state === state) && (!text || each.event?.includes(text)),
    ); // prettier-ignore
    const before = found.findIndex(({ id }) => id === query.get("before"));
    const begin = Math.max(0, before);
    const end = begin + Number(query.get("limit"));
    return { deliveries: found.slice(begin, end), next: found[end]?.id ?? null };
  }
}

/** The tab of the sidebar in an open editor. */
export class DeliveriesTab {
  /** How many deliveries were opened, in all tabs. */
  static #opened = 0;

  constructor(readonly editor: Pick<Editor, "page" | "invoke">) {}

  get element(): Locator {
    return this.editor.page.locator(".webhook-deliveries");
  }

  get list(): Locator {
    return this.element.getByRole("listbox");
  }

  get rows(): Locator {
    return this.list.getByRole("option");
  }

  /** What has failed, by its cause. */
  get failures(): Locator {
    return this.element.locator(".webhook-deliveries-failures");
  }

  /** The picture of the last hour. */
  get traffic(): Locator {
    return this.element.locator(".webhook-deliveries-traffic");
  }

  /** Shows the causes. */
  async unfoldFailures(): Promise<void> {
    const isOpen = (await this.failures.getAttribute("open")) !== null;
    if (!isOpen) await this.failures.locator("summary").click();
  }

  get notice(): Locator {
    return this.element.locator(".webhook-deliveries-notice");
  }

  /** Notes from now on what screen readers are told, of which one text soon takes the place of another. */
  async listen(): Promise<() => Promise<string[]>> {
    return noteTexts(this.element.locator(".webhook-deliveries-announcement"));
  }

  /** How many deliveries it has loaded, of which it draws those that can be seen. */
  async loaded(): Promise<number> {
    const [list = 0, row = 1] = await this.list.evaluate((list) =>
      [list.firstElementChild, list.querySelector("[role=option]")].map((each) => each?.getBoundingClientRect().height),
    );
    return Math.round(list / row);
  }

  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text });
  }

  /** The row that the keys have to do with. */
  async active(): Promise<string> {
    const id = await this.list.getAttribute("aria-activedescendant");
    // A row that is not drawn yet has no `innerText`.
    return (id && (await this.editor.page.locator(`#${id} .webhook-deliveries-what`).textContent())) ?? "";
  }

  button(name: string): Locator {
    return this.element.getByRole("button", { name, exact: true });
  }

  /** Shows the list, as to somebody who has looked at another tab before. */
  async open(): Promise<void> {
    await this.leave();
    await this.editor.invoke("webhook-trigger:show-deliveries");
    await this.element.waitFor();
    const back = this.button(catalogText("tab.back"));
    if (await back.isVisible()) await back.click();
  }

  /** Shows another tab. */
  async leave(): Promise<void> {
    await this.editor.invoke("core:show-info-tab");
    await this.element.waitFor({ state: "hidden" });
    // It notices in the next frame that nobody looks.
    await this.editor.page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  }

  /** Opens a delivery, which is the runtime's newest from now on: its time tells it from those of tests before. */
  async openDelivery(runtime: FakeRuntime, delivery: Detail, ...older: Detail[]): Promise<Locator> {
    DeliveriesTab.#opened += 1;
    const at = delivery.at + DeliveriesTab.#opened * 1000;
    runtime.deliveries = [{ ...delivery, at }, ...older];
    await this.open();
    const time = this.editor.page.locator(`time[datetime="${new Date(at).toISOString()}"]`);
    await this.rows.filter({ has: time }).locator(".webhook-deliveries-what").click();
    const shown = this.element.locator(".webhook-delivery");
    await shown.locator('[data-section="body"]').waitFor();
    return shown;
  }

  /** Makes it as wide, in px, and waits until nothing is wider. */
  async fitInto(width: number): Promise<void> {
    await this.element.evaluate((tab, px) => tab.setAttribute("style", `width: ${px}px`), width);
    await this.fits();
  }

  /** Waits until nothing is wider than it is; what is as wide as its bytes scrolls by itself. */
  async fits(): Promise<void> {
    // The list sees its size in the next frame.
    await this.editor.page.waitForFunction(() => {
      const tab = document.querySelector(".webhook-deliveries");
      const right = (tab?.getBoundingClientRect().right ?? 0) + 0.5;
      const all = [...(tab?.querySelectorAll("*:not(pre *)") ?? [])].filter((each) => each.checkVisibility());
      return all.length > 10 && all.every((each) => each.getBoundingClientRect().right <= right);
    });
  }

  /** Goes to the top of the list, and looks elsewhere. */
  async stopReading(): Promise<void> {
    await this.editor.page.locator(".webhook-deliveries-list").evaluate((list: HTMLElement) => {
      list.scrollTo(0, 0);
      list.blur();
    });
  }

  /** Has the editor hear what a runtime pushes when deliveries have come or have changed. */
  async publish(): Promise<void> {
    await this.editor.page.evaluate(() => {
      const packet = JSON.stringify([{ topic: "webhook-trigger/deliveries", data: { changed: true } }]);
      const { comms } = globalThis as unknown as { comms: WebSocket };
      comms.dispatchEvent(new MessageEvent("message", { data: packet }));
    });
  }
}
