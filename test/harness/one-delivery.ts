// Deliveries as the runtime tells of them, and an editor whose sidebar shows one.

import type { Locator, Request } from "playwright-core";
import type { Detail } from "../../src/deliveries/summary";
import type { Editor } from "./browser";

/** When they came: always the same, so that a picture of them is. */
export const at = Date.UTC(2026, 0, 5, 12, 53, 7);

/** One that its flow is done with. */
export const done: Detail = {
  id: "0f3c1b2a",
  node: "plain",
  at,
  state: "succeeded",
  status: 200,
  reason: null,
  fix: null,
  method: "POST",
  path: "/plain",
  ip: "203.0.113.9",
  sender: "github",
  event: "push",
  words: null,
  senderId: "72d3162e-cc78-11e3",
  size: 62,
  milliseconds: 12,
  attempt: 1,
  maxAttempts: null,
  nextAt: null,
  pause: null,
  replayOf: null,
  duplicateOf: null,
  isTest: false,
  cause: null,
  headers: {
    authorization: "••••••••",
    "content-type": "application/json",
    "content-length": "62",
    host: "127.0.0.1:1880",
    "x-github-event": "push",
    "x-tag": ["it's", "two"],
  },
  query: { page: "2" },
  body: { encoding: "utf8", data: '{"order":{"id":17,"lines":["a","b"]},"note":"it\'s late"}', truncated: false },
  isJson: false,
  payload: { order: { id: 17, lines: ["a", "b"] }, note: "it's late" },
  answer: { status: 200, milliseconds: 12, body: '{"id":"0f3c1b2a"}' },
  attempts: [{ at: at + 2, ended: at + 14 }],
};

/** One that was refused: nothing of its body is kept. */
export const refused: Detail = {
  ...done,
  id: "refused1",
  state: "refused",
  status: 401,
  sender: null,
  event: null,
  senderId: null,
  cause: { problem: "tokenInvalid", reasons: [{ key: "tokenLength", values: { length: 39, expected: 40 } }], looksLike: null, error: null },
  reason: "a reason in another language",
  fix: "a fix in another language",
  body: { encoding: "utf8", data: "", truncated: true },
  payload: undefined,
  answer: { status: 401, milliseconds: 1, body: null },
  attempts: [],
}; // prettier-ignore

/** What was asked for a replay: the id of the delivery, and the body of the request. */
export type Asked = readonly [id: string, body: unknown];

/** The runtime's half, as the editor sees it. */
export class TellingRuntime {
  readonly asked: Asked[] = [];
  /** The ids of those that were looked at, each time. */
  readonly looked: string[] = [];
  /** What a replay is answered with, by the id of the delivery; else it succeeds. */
  readonly failing = new Map<string, number>();
  /** How many replays were on their way at once at most. */
  most = 0;
  #open = 0;
  #lists = 0;
  #deliveries: readonly Detail[] = [];
  readonly #editor: Editor;

  private constructor(editor: Editor) {
    this.#editor = editor;
  }

  static async standInFor(editor: Editor): Promise<TellingRuntime> {
    const runtime = new TellingRuntime(editor);
    const { page } = editor;
    await page.route("**/webhook-trigger/silent", (route) => route.fulfill({ json: { nodes: [] } }));
    await page.route(/\/webhook-trigger\/deliveries\?/, (route) =>
      route.fulfill({ json: { deliveries: runtime.#deliveries, next: null } }),
    );
    await page.route(/\/webhook-trigger\/deliveries\/[^/]+$/, (route) => {
      const found = runtime.#deliveries.find(({ id }) => route.request().url().endsWith(`/${id}`));
      if (found) runtime.looked.push(found.id);
      return found ? route.fulfill({ json: found }) : route.fulfill({ status: 404 });
    });
    await page.route(/\/webhook-trigger\/deliveries\/[^/]+\/replay$/, async (route) => {
      const [id, status] = await runtime.#note(route.request());
      await (status === undefined
        ? route.fulfill({ json: { id: `${id}-again` } })
        : route.fulfill({ status, json: { code: "notOpen" } }));
    });
    return runtime;
  }

  /** Has the sidebar list these. */
  async list(...deliveries: Detail[]): Promise<Locator> {
    this.#deliveries = deliveries;
    const { page } = this.#editor;
    const back = page.locator(".webhook-deliveries-opened > button");
    if (await back.isVisible()) await back.click();
    await this.#editor.invoke("webhook-trigger:show-deliveries");
    const rows = page.locator(".webhook-deliveries-row");
    // Another filter asks for the list at once.
    this.#lists += 1;
    const listed = page.waitForResponse((response) => response.url().includes(`text=list-${this.#lists}`));
    await page.locator(".webhook-deliveries-filters input[type=search]").fill(`list-${this.#lists}`);
    await listed;
    return rows;
  }

  /** Has become of them what is told from now on. */
  become(...deliveries: Detail[]): void {
    this.#deliveries = deliveries;
  }

  /** Opens one in the sidebar. */
  async open(delivery: Detail): Promise<Locator> {
    const rows = await this.list(delivery);
    await rows.first().locator(".webhook-deliveries-what").click();
    const shown = this.#editor.page.locator(".webhook-delivery");
    await shown.locator("details").first().waitFor();
    return shown;
  }

  async #note(request: Request): Promise<[id: string, status: number | undefined]> {
    const id = new URL(request.url()).pathname.split("/").at(-2) ?? "";
    this.asked.push([id, request.postDataJSON()]);
    this.#open += 1;
    this.most = Math.max(this.most, this.#open);
    // Long enough for others to come meanwhile.
    await this.#editor.page.waitForTimeout(20);
    this.#open -= 1;
    return [id, this.failing.get(id)];
  }
}
