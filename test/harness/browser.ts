import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Disposable, type Locator, type Page, type ViewportSize } from "playwright-core";
import type { Settings } from "../../src/auth/senders/sender";
import type { CredentialName, SavedFields } from "../../src/config/fields";
import type { NodeRed } from "./node-red";
import { root } from "./package";
import { until } from "./until";

/** The part of the editor's global that the tests use. */
declare const RED: {
  actions: { invoke(action: string): void };
  editor: { edit(node: object): void };
  settings: Record<Setting, unknown>;
  sidebar: { info: { refresh: () => void }; help: { show: (type: string, inFront?: boolean) => unknown } };
  view: { reveal: (id: string) => void };
  nodes: {
    node(id: string): Record<string, unknown> | null;
    filterNodes(filter: { type: string }): { id: string }[];
    createExportableNodeSet(nodes: object[]): object[];
    import(nodes: object[], options: { generateIds: boolean }): { nodes: { id: string; type: string }[] };
    eachLink(
      look: (link: { source: { id: string }; sourcePort: number | string; target: { id: string } }) => void,
    ): void;
  };
};

/** A field of the form, by the name of what is saved. */
export type FormField = Exclude<keyof SavedFields, "senderSettings"> | CredentialName | keyof Settings;

/** What is entered into fields: whether a box is ticked, the value of a choice, or a text. */
export type Entered = Partial<Record<FormField, string | boolean>>;

/** The sections of the form, from top to bottom. */
export const sections = [
  "callers",
  "rotation",
  "filter",
  "message",
  "reply",
  "duplicates",
  "limits",
  "guaranteed",
  "terminal",
] as const;
export type Section = (typeof sections)[number];

/** What the form gives to the sender. */
type GivenItem = "url" | "contentType" | "header" | "token" | "user" | "password" | "secret" | "verifyToken";

/** What the form may point out. */
type Note =
  | ("yours" | "seen" | "closed" | "taken" | "reach" | "duplicates" | "no-id" | "without-key" | "json")
  | ("loopback" | "forgeable" | "no-store" | "no-event" | "foreign" | "guarded" | "secret");

/** What the runtime lets the editor know of its settings. */
type Setting = `webhookTrigger${"BaseUrl" | "HasNodeAuth" | "Deliveries" | "Guaranteed" | "Roots"}`;

/** What decides how the editor looks: the window, theme and language of its user, and more CSS. */
export interface Look {
  viewport?: ViewportSize;
  colorScheme?: "light" | "dark";
  locale?: string;
  style?: string;
}

/** How long a busy machine may take for a step in the editor, in ms. */
export const patience = 120_000;

/** Nothing moves, and notifications do not take clicks. */
const still = `
  *, ::before, ::after { transition: none !important; animation: none !important; }
  #red-ui-notifications { pointer-events: none; }
`;

/** Starts the Chromium of `CHROMIUM_PATH`, else the one that Debian installs. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    timeout: patience,
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Nothing but this machine: the editor does without the catalogue of all packages that it asks for.
      "--no-proxy-server",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

/** The only page of each browser, which loads the editor faster when it has loaded it before, and its present look. */
const pages = new WeakMap<Browser, { page: Page; look?: Disposable }>();

/** Shows an address in the page of a user who has never seen the editor. */
async function openPage(browser: Browser, url: string, look: Look): Promise<Page> {
  const opened = pages.get(browser) ?? { page: await newPage(browser) };
  pages.set(browser, opened);
  const { page } = opened;
  const { viewport = { width: 1280, height: 720 }, colorScheme = "light", locale = "en-US", style = "" } = look;
  page.removeAllListeners();
  await page.unrouteAll();
  await page.mouse.move(0, 0);
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await opened.look?.dispose();
  opened.look = await page.addInitScript(prepareEditor, { colorScheme, locale, css: still + style });
  await page.goto("about:blank");
  await page.goto(url);
  return page;
}

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  context.setDefaultTimeout(patience);
  return context.newPage();
}

/** Runs in the page before the editor does. */
function prepareEditor({ colorScheme, locale, css }: { colorScheme: string; locale: string; css: string }): void {
  // A page without an address has no storage.
  if (location.protocol !== "http:") return;
  localStorage.clear();
  sessionStorage.clear();
  localStorage.setItem("editor-language", locale);
  // Node-RED 5 keeps its own choice of theme, whatever the browser's user likes.
  localStorage.setItem("view-dark-theme", colorScheme);
  addEventListener("DOMContentLoaded", () => {
    // Whatever Markdown it shows, the editor loads 3.5 MB for diagrams in it.
    jQuery.ajaxPrefilter("script", ({ url = "" }, _, request) => {
      if (url.includes("mermaid")) request.abort();
    });
    document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  });
  Object.assign(globalThis, {
    // The form slides in and out by timers of these lengths, in ms.
    setTimeout: new Proxy(setTimeout, {
      apply(begin, _, [run, ms = 0, ...values]: Parameters<typeof setTimeout>) {
        return begin(run, [150, 200, 250].includes(ms) ? 0 : ms, ...values);
      },
    }),
    // Tests say what the runtime pushes.
    WebSocket: new Proxy(WebSocket, {
      construct(Comms, values: ConstructorParameters<typeof WebSocket>) {
        const comms = new Comms(...values);
        Object.assign(globalThis, { comms });
        return comms;
      },
    }),
  });
}

/** The text of a key in the catalog of a language; in English where that has none, as Node-RED shows it. */
export function catalogText(key: string, values: Record<string, string> = {}, language = "en-US"): string {
  const file = join(root, "locales", language, "webhook-trigger.json");
  let found: unknown = JSON.parse(readFileSync(file, "utf8"));
  for (const part of key.split(".")) found = (found as Record<string, unknown> | undefined)?.[part];
  if (found === undefined && language !== "en-US") return catalogText(key, values);
  if (typeof found !== "string") throw new Error(`the catalog has no text for ${key}`);
  return found.replace(/__(\w+)__/g, (_, name: string) => values[name] ?? "");
}

/** Why a request was refused, with the status of the reply. */
export function refusalText(problem: string, status: number, language = "en-US"): string {
  const refused = catalogText(`refused.${problem}`, {}, language);
  return catalogText("refusal", { refused, status: String(status) }, language);
}

/** Node-RED's editor, and the form of a webhook trigger in it. */
export class Editor {
  private constructor(readonly page: Page) {}

  /** Opens the editor in the browser's only page: one that was open there is closed. */
  static async open(browser: Browser, nodeRed: Pick<NodeRed, "admin">, look: Look = {}): Promise<Editor> {
    const editor = new Editor(await openPage(browser, nodeRed.admin("/"), look));
    await editor.loaded();
    return editor;
  }

  /** Waits until it can be used. */
  async loaded(): Promise<void> {
    await this.paletteEntry("debug").waitFor();
    await this.page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
  }

  /** Has the sidebars not follow what is edited: with its properties and its help, a form takes a third longer. */
  async keepSidebars(): Promise<void> {
    await this.page.evaluate(() => {
      const { info, help } = RED.sidebar;
      const { show } = help;
      info.refresh = () => undefined;
      help.show = (type, inFront) => inFront !== false && show(type, inFront);
    });
  }

  paletteEntry(type: string): Locator {
    return this.page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`);
  }

  /** Drags a node from the palette into the flow and answers with its id. */
  async drop(type: string, x: number, y: number): Promise<string> {
    const known = await this.page.evaluate(
      (wanted) => RED.nodes.filterNodes({ type: wanted }).map(({ id }) => id),
      type,
    );
    await this.paletteEntry(type).scrollIntoViewIfNeeded();
    const chart = await boxOf(this.page.locator("#red-ui-workspace-chart"));
    const entry = await boxOf(this.paletteEntry(type));
    await this.page.mouse.move(entry.x + entry.width / 2, entry.y + entry.height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(chart.x + x, chart.y + y, { steps: 10 });
    await this.page.mouse.up();
    const dropped = await this.page.waitForFunction(
      ([wanted, earlier]) => RED.nodes.filterNodes({ type: wanted }).find(({ id }) => !earlier.includes(id))?.id,
      [type, known] as const,
    );
    return (await dropped.jsonValue()) ?? "";
  }

  /** The status under a node, by its text. */
  status(id: string, text: string): Locator {
    return this.page.locator(`[id="${id}"] .red-ui-flow-node-status-label`, { hasText: text });
  }

  /** Draws a wire from the output of one node to the input of another. */
  async wire(source: string, target: string): Promise<void> {
    await this.page
      .locator(`[id="${source}"] .red-ui-flow-port-output .red-ui-flow-port`)
      .dragTo(this.page.locator(`[id="${target}"] .red-ui-flow-port-input .red-ui-flow-port`));
  }

  /** Opens the form of a node, with all of its sections: most tests have to do with a field, and not with where it stands. */
  async edit(id: string): Promise<void> {
    await this.editAsItIs(id);
    // What is loaded then moves all that is below it.
    await this.page.waitForFunction(() => {
      const closed = document.querySelectorAll<HTMLElement>(".webhook-trigger-section:not([open]) > summary");
      for (const heading of closed) heading.click();
      const callers = document.querySelector("#webhook-trigger-section-callers");
      return !callers?.checkVisibility() || !callers.querySelector("#webhook-trigger-callers > :only-child:empty");
    });
  }

  /** Opens the form of a node. */
  async editAsItIs(id: string): Promise<void> {
    await this.page.waitForFunction((wanted) => {
      const node = RED.nodes.node(wanted);
      if (node) RED.editor.edit(node);
      return node !== null;
    }, id);
    // The form gets the focus when it has slid in; before, it would take it from a field that is being filled.
    await this.page.waitForFunction(() => document.activeElement?.closest(".red-ui-tray"));
  }

  async done(): Promise<void> {
    await this.page.locator("#node-dialog-ok").click();
    await this.input("name").waitFor({ state: "detached" });
  }

  async cancel(): Promise<void> {
    await this.page.locator("#node-dialog-cancel").dispatchEvent("click");
    await this.input("name").waitFor({ state: "detached" });
  }

  /** Cancels what a test may have left open. */
  async leave(): Promise<void> {
    if (await this.input("name").isVisible()) await this.cancel();
  }

  async deploy(): Promise<void> {
    const saved = this.page.waitForResponse(
      (response) => response.request().method() === "POST" && new URL(response.url()).pathname.endsWith("/flows"),
    );
    await this.page.locator("#red-ui-header-button-deploy").click();
    // Where nodes are invalid, it asks before, by a notification.
    const confirm = this.page.locator("#red-ui-deploy-dialog-confirm-deploy-deploy");
    if ((await confirm.count()) > 0) await confirm.dispatchEvent("click");
    await saved;
  }

  /**
   * Notes from now on what the editor notifies its user of, for some seconds each.
   *
   * @returns what waits until a text is among it
   */
  async noteNotifications(): Promise<(text: string) => Promise<void>> {
    const notified = await noteTexts(this.page.locator("#red-ui-notifications"));
    return (text) => until(async () => (await notified()).some((each) => each.includes(text)), `"${text}"`);
  }

  /** A message in the debug sidebar, by the name of the debug node that shows it and a part of its text. */
  debugMessage(node: string, text: string): Locator {
    const from = this.page.locator(".red-ui-debug-msg-name", { hasText: new RegExp(`(^|: )${node}$`) });
    return this.page.locator(".red-ui-debug-msg", { has: from, hasText: text });
  }

  /** A property of a node as the editor holds it: a field, to be saved with the next deployment, or a mark of its own. */
  async saved(id: string, property: string): Promise<unknown> {
    return this.page.evaluate(([wanted, name]) => RED.nodes.node(wanted)?.[name], [id, property] as const);
  }

  /** The same of several properties. */
  async savedFields(id: string, properties: readonly string[]): Promise<Record<string, unknown>> {
    return this.page.evaluate(
      ([wanted, names]) => {
        const node = RED.nodes.node(wanted);
        return Object.fromEntries(names.map((name) => [name, node?.[name]]));
      },
      [id, properties] as const,
    );
  }

  /** Whether the editor takes a node for valid: one that is not has a triangle in the flow. */
  async isValid(id: string): Promise<boolean> {
    return (await this.saved(id, "valid")) === true;
  }

  /** Whether the editor takes a node for changed since it was deployed. */
  async isChanged(id: string): Promise<boolean> {
    return (await this.saved(id, "changed")) === true;
  }

  /** The outputs of a node that have wires, with the nodes at their ends, in order. */
  async wires(id: string): Promise<[output: number, target: string][]> {
    return this.page.evaluate((wanted) => {
      const found: [number, string][] = [];
      RED.nodes.eachLink(({ source, sourcePort, target }) => {
        if (source.id === wanted) found.push([Number(sourcePort), target.id]);
      });
      return found.sort(([one], [other]) => one - other);
    }, id);
  }

  /** Copies nodes and pastes them into the same flow. */
  async copy(ids: readonly string[]): Promise<{ id: string; type: string }[]> {
    return this.page.evaluate((wanted) => {
      const nodes = RED.nodes.createExportableNodeSet(wanted.map((id) => RED.nodes.node(id) ?? {}));
      const { nodes: copies } = RED.nodes.import(nodes, { generateIds: true });
      return copies.map(({ id, type }) => ({ id, type }));
    }, ids);
  }

  /** The labels of a node's outputs. */
  async outputLabels(id: string, count: number): Promise<string[]> {
    return this.page.evaluate(
      ([wanted, length]) => {
        const node = RED.nodes.node(wanted);
        const { outputLabels } = node?._def as { outputLabels: (this: unknown, index: number) => string };
        return Array.from({ length }, (_, index) => outputLabels.call(node, index));
      },
      [id, count] as const,
    );
  }

  setting(name: Setting): Promise<unknown> {
    return this.page.evaluate((wanted) => RED.settings[wanted], name);
  }

  /** Gives a setting another value, which forms have that are opened from now on. */
  async set(name: Setting, value: unknown): Promise<void> {
    await this.page.evaluate(
      ([changed, to]) => {
        RED.settings[changed] = to;
      },
      [name, value] as const,
    );
  }

  /** The next node that the editor shows in the flow. */
  revealed(): Promise<string> {
    return this.page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const { view } = RED;
          const { reveal } = view;
          view.reveal = (id) => {
            view.reveal = reveal;
            resolve(id);
          };
        }),
    );
  }

  /** Does what a key or a menu of the editor does. */
  async invoke(action: string): Promise<void> {
    await this.page.evaluate((wanted) => RED.actions.invoke(wanted), action);
  }

  input(field: FormField): Locator {
    if (field === "methods") return this.part("methods");
    return this.page.locator(field === "scheme" ? "#node-input-scheme-text" : `#node-input-${field}`);
  }

  /** Which of these fields can be seen. */
  async visible<Field extends FormField>(...fields: Field[]): Promise<Field[]> {
    const inputs = this.page.locator("[id^=node-input-]:visible");
    const ids = await inputs.evaluateAll((all) => all.map(({ id }) => id));
    return fields.filter((field) => ids.includes(`node-input-${field}`));
  }

  /** Fills in, chooses or ticks fields, one after the other. */
  async enter(values: Entered): Promise<void> {
    for (const [field, value] of Object.entries(values)) {
      const input = this.input(field as FormField);
      if (field === "sender") await this.chooseSender(String(value));
      else if (typeof value === "boolean") await input.setChecked(value);
      else if (await input.evaluate((element) => element instanceof HTMLSelectElement)) await input.selectOption(value);
      else await input.fill(value);
    }
  }

  /** Gives fields values at once, where it is not the point how a user does that: they need not be in sight. */
  async fillIn(values: Entered): Promise<void> {
    for (const [field, given] of Object.entries(values)) {
      await this.input(field as FormField).evaluate((element, value) => {
        const control = element as HTMLInputElement;
        if (typeof value === "boolean") control.checked = value;
        else control.value = value;
        const type = control.matches("input:not([type=checkbox]), textarea") ? "input" : "change";
        control.dispatchEvent(new Event(type, { bubbles: true }));
      }, given);
    }
  }

  private async chooseSender(id: string): Promise<void> {
    await this.part("search").click();
    await this.page.locator(`#webhook-trigger-senders [data-value="${id}"]`).click();
  }

  /** Chooses the sender that the list shows with this name. */
  async chooseNamedSender(name: string): Promise<void> {
    await this.part("search").click();
    await this.part("senders").getByRole("option", { name, exact: true }).click();
  }

  /** What the form says under a field; empty when all is well. */
  message(field: FormField): Locator {
    return this.part(`message-${field}`);
  }

  given(item: GivenItem): Locator {
    return this.part(`given-${item}`);
  }

  /** Copies what the form gives to the sender, and answers with it. */
  async copyGiven(item: GivenItem): Promise<string> {
    await this.part(`given-${item}-copy`).click();
    return this.clipboard();
  }

  clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** The id of the element that has the focus. */
  focus(): Promise<string> {
    return this.page.evaluate(() => document.activeElement?.id ?? "");
  }

  /** Goes to an element by the Tab key. */
  async tabTo(id: string): Promise<void> {
    for (let steps = 0; (await this.focus()) !== id; steps++) {
      if (steps === 40) throw new Error(`the Tab key does not lead to ${id}`);
      await this.page.keyboard.press("Tab");
    }
  }

  /** What the heading says of its section. */
  state(section: Section): Locator {
    return this.part(`state-${section}`);
  }

  /** Which sections are open. */
  async openSections(): Promise<Section[]> {
    const found: Section[] = [];
    for (const section of sections) {
      if (await this.page.locator(`#webhook-trigger-section-${section}[open]`).isVisible()) found.push(section);
    }
    return found;
  }

  /** What the form says to do about a field. */
  hint(field: FormField): Locator {
    return this.part(`hint-${field}`);
  }

  /** Something that the form points out. */
  note(name: Note): Locator {
    return this.part(`note-${name}`);
  }

  /** Another part of the form, by its id. */
  part(name: string): Locator {
    return this.page.locator(`#webhook-trigger-${name}`);
  }

  /** Sends a test request and answers with what came of it. */
  async sendTest(): Promise<string> {
    const answered = this.page.waitForResponse((response) => response.url().endsWith("/test"));
    await this.part("send").click();
    await answered;
    await this.page.locator('#webhook-trigger-send[aria-disabled="false"]').waitFor();
    return this.part("result").innerText();
  }

  tokenButton(action: "make" | "show"): Locator {
    return this.part(`token-${action}`);
  }

  async makeToken(): Promise<string> {
    await this.tokenButton("make").click();
    return this.input("token").inputValue();
  }
}

/**
 * Notes from now on what comes into an element, which may soon be gone again.
 *
 * @returns what lists the texts
 */
export async function noteTexts(locator: Locator): Promise<() => Promise<string[]>> {
  const noted = await locator.evaluateHandle((element) => {
    const texts: string[] = [];
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) for (const { textContent } of addedNodes) texts.push(textContent ?? "");
    }).observe(element, { childList: true });
    return texts;
  });
  return () => noted.jsonValue();
}

/** The place of something that is visible, in px from the edges of the window. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error(`${String(locator)} is not visible`);
  return box;
}
