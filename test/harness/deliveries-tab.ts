/** What the runtime would tell the tab of deliveries, and what the tab asks it for. */
import type { Locator, Page } from "playwright-core";
import type { Summary } from "../../src/deliveries/summary";
import type { Editor } from "./browser";

const noon = new Date().setHours(12, 53, 1, 0);

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
    senderId: null,
    size: 20,
    milliseconds: 12,
    attempt: 1,
    maxAttempts: null,
    nextAt: null,
    pause: null,
    replayOf: null,
    duplicateOf: null,
    isTest: false,
    cause: null,
    ...given,
  };
}

/** As many as are wanted, the newest first, a second from one to the next. */
export function summaries(count: number, given: Partial<Summary> = {}): Summary[] {
  return Array.from({ length: count }, (_, index) =>
    summary({ id: `d${index}`, at: noon - index * 1000, event: `event ${index}`, ...given }),
  );
}

/** A runtime that answers the tab with what a test sets. */
export class ToldDeliveries {
  /** The newest first. */
  deliveries: Summary[] = [];
  silent: { node: string; hours: number; since: number }[] = [];
  queues: { node: string; pause: "manual" | "breaker" | null; queued: number; retrying: number }[] = [];
  /** What was paused and resumed, as the ends of the URLs. */
  readonly controlled: string[] = [];
  /** What is answered instead; `abort` for no connection at all. */
  fault: number | "abort" | undefined;
  /** The queries of the list that came. */
  readonly asked: URLSearchParams[] = [];
  /** Those that are to wait for their answer, by where their page begins. */
  readonly #heldUp = new Map<string, { asked: () => void; released: Promise<void> }>();

  async serve(page: Page): Promise<void> {
    await page.route("**/webhook-trigger/deliveries?*", async (route) => {
      const query = new URL(route.request().url()).searchParams;
      this.asked.push(query);
      if (this.fault === "abort") return route.abort();
      if (this.fault !== undefined) return route.fulfill({ status: this.fault });
      const json = this.#page(query);
      const held = this.#heldUp.get(query.get("before") ?? "");
      held?.asked();
      await held?.released;
      return route.fulfill({ json });
    });
    await page.route("**/webhook-trigger/silent", (route) => route.fulfill({ json: { nodes: this.silent } }));
    await page.route("**/webhook-trigger/queues", (route) => route.fulfill({ json: { queues: this.queues } }));
    await page.route(/webhook-trigger\/\w+\/(pause|resume)$/, (route) => {
      const [, node = "", action] = /(\w+)\/(\w+)$/.exec(route.request().url()) ?? [];
      this.controlled.push(`${node} ${action}`);
      if (this.fault !== undefined) return route.fulfill({ status: Number(this.fault) });
      this.queues = this.queues.map((queue) =>
        queue.node === node ? { ...queue, pause: action === "pause" ? "manual" : null } : queue,
      );
      return route.fulfill({ status: 204 });
    });
  }

  /** Has a page on its way until it is released. @param before where it begins */
  holdUp(before: string): { asked: Promise<void>; release: () => void } {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const asked = new Promise<void>((resolve) => this.#heldUp.set(before, { asked: resolve, released }));
    return { asked, release };
  }

  #page(query: URLSearchParams) {
    const [node, state, text] = ["node", "state", "text"].map((name) => query.get(name));
    const found = this.deliveries.filter(
      (each) =>
        (!node || each.node === node) && (!state || each.state === state) && (!text || each.event?.includes(text)),
    );
    const begin = Math.max(
      0,
      found.findIndex(({ id }) => id === query.get("before")),
    );
    const end = begin + Number(query.get("limit"));
    return { deliveries: found.slice(begin, end), next: found[end]?.id ?? null };
  }
}

/** The tab of the sidebar in an open editor. */
export class DeliveriesTab {
  readonly #editor: Editor;

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  get element(): Locator {
    return this.#editor.page.locator(".webhook-deliveries");
  }

  get list(): Locator {
    return this.element.getByRole("listbox");
  }

  get rows(): Locator {
    return this.list.getByRole("option");
  }

  get notice(): Locator {
    return this.element.locator(".webhook-deliveries-notice");
  }

  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text });
  }

  /** The row that the keys have to do with. */
  async active(): Promise<string> {
    const id = await this.list.getAttribute("aria-activedescendant");
    return id ? this.#editor.page.locator(`#${id} .webhook-deliveries-what`).innerText() : "";
  }

  /** Shows it, as to somebody who has looked at another tab before. */
  async open(): Promise<void> {
    await this.leave();
    await this.#editor.invoke("webhook-trigger:show-deliveries");
    await this.element.waitFor();
  }

  /** Shows another tab. */
  async leave(): Promise<void> {
    await this.#editor.invoke("core:show-info-tab");
    await this.element.waitFor({ state: "hidden" });
    // It notices in the next frame that nobody looks.
    await this.#editor.page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  }

  /** Goes to the top of the list, and looks elsewhere. */
  async stopReading(): Promise<void> {
    await this.#editor.page.locator(".webhook-deliveries-list").evaluate((list: HTMLElement) => {
      list.scrollTo(0, 0);
      list.blur();
    });
  }

  /** Has the editor hear what a runtime would publish when deliveries have come or have changed. */
  async publish(): Promise<void> {
    await this.#editor.page.evaluate(() => {
      const { prototype } = WebSocket;
      const own = Object.getOwnPropertyDescriptor(prototype, "send") ?? {};
      // The editor keeps its socket to itself.
      Object.defineProperty(prototype, "send", {
        ...own,
        value(this: WebSocket, data: string) {
          Object.defineProperty(prototype, "send", own);
          this.send(data);
          const packet = JSON.stringify([{ topic: "webhook-trigger/deliveries", data: { changed: true } }]);
          this.dispatchEvent(new MessageEvent("message", { data: packet }));
        },
      });
      (globalThis as unknown as { RED: { comms: { send(topic: string, data: unknown): void } } }).RED.comms.send(
        "a",
        0,
      );
    });
  }
}
