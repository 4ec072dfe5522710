import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import type { CredentialName, SavedFields, Settings } from "../../src/config/fields";
import type { StoreKind } from "../../src/config/stores";
import type { NodeRed } from "./node-red";
import { root } from "./package";
import { type Look, patience, takeTab } from "./tabs";

/** The part of the editor's global that the tests use. */
declare const RED: {
  settings: { webhookTriggerGuaranteed: StoreKind };
  actions: { invoke(action: string): void };
  editor: { edit(node: object): void };
  nodes: { node(id: string): Record<string, unknown> | null; filterNodes(filter: { type: string }): { id: string }[] };
};

/** A field of the form, by the name of what is saved. */
export type FormField = Exclude<keyof SavedFields, "senderSettings"> | CredentialName | keyof Settings;

/** The sections of the form, from top to bottom. */
export const sections = ["verification", "message", "reply", "duplicates", "limits", "guaranteed", "terminal"] as const;
export type Section = (typeof sections)[number];

/** Starts the Chromium of `CHROMIUM_PATH`, else the one that Debian installs. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
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

/** The text of a key in the catalog of a language. */
export function catalogText(key: string, values: Record<string, string> = {}, language = "en-US"): string {
  const file = join(root, "locales", language, "webhook-trigger.json");
  let found: unknown = JSON.parse(readFileSync(file, "utf8"));
  for (const part of key.split(".")) found = (found as Record<string, unknown> | undefined)?.[part];
  if (typeof found !== "string") throw new Error(`the catalog has no text for ${key}`);
  return found.replace(/__(\w+)__/g, (_, name: string) => values[name] ?? "");
}

/** Node-RED's editor in a browser window of its own, and the form of a webhook trigger in it. */
export class Editor {
  private constructor(
    readonly page: Page,
    private readonly giveBack: () => Promise<void>,
  ) {}

  static async open(browser: Browser, nodeRed: Pick<NodeRed, "admin">, look: Look = {}): Promise<Editor> {
    const { page, giveBack } = await takeTab(browser, look);
    const editor = new Editor(page, giveBack);
    await editor.page.goto(nodeRed.admin("/"));
    await editor.loaded();
    return editor;
  }

  /** Waits until it can be used. */
  async loaded(): Promise<void> {
    await this.paletteEntry("debug").waitFor();
    await this.page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
  }

  async close(): Promise<void> {
    this.page.removeAllListeners();
    await this.page.unrouteAll();
    await this.page.mouse.move(0, 0);
    await this.page.goto("about:blank");
    await this.giveBack();
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
    const closed = this.page.locator(".webhook-trigger-section:not([open]) > summary");
    await closed.evaluateAll((headings) => {
      for (const heading of headings) (heading as HTMLElement).click();
    });
  }

  /** Opens the form of a node. */
  async editAsItIs(id: string): Promise<void> {
    await this.page.waitForFunction((wanted) => RED.nodes.node(wanted) !== null, id);
    await this.page.evaluate((wanted) => RED.editor.edit(RED.nodes.node(wanted) ?? {}), id);
    // The form gets the focus when it has slid in; before, it would take it from a field that is being filled.
    await this.page.locator(".red-ui-tray :focus").waitFor();
  }

  async done(): Promise<void> {
    await this.page.locator("#node-dialog-ok").click();
    await this.input("name").waitFor({ state: "detached" });
  }

  async cancel(): Promise<void> {
    await this.page.locator("#node-dialog-cancel").click();
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
    await saved;
  }

  /** A message in the debug sidebar, by the name of the debug node that shows it and a part of its text. */
  debugMessage(node: string, text: string): Locator {
    const from = this.page.locator(".red-ui-debug-msg-name", { hasText: new RegExp(`(^|: )${node}$`) });
    return this.page.locator(".red-ui-debug-msg", { has: from, hasText: text });
  }

  /** A field of a node as the editor holds it, to be saved with the next deployment. */
  async saved(id: string, field: keyof SavedFields): Promise<unknown> {
    return this.page.evaluate(([wanted, name]) => RED.nodes.node(wanted)?.[name], [id, field] as const);
  }

  /** Whether the editor takes a node for valid: one that is not has a triangle in the flow. */
  async isValid(id: string): Promise<boolean> {
    return this.page.evaluate((wanted) => RED.nodes.node(wanted)?.valid === true, id);
  }

  /** Whether the editor takes a node for changed since it was deployed. */
  async isChanged(id: string): Promise<boolean> {
    return this.page.evaluate((wanted) => RED.nodes.node(wanted)?.changed === true, id);
  }

  /** Installs a package by the palette manager's upload, and waits until the editor has its node. */
  async install(tarball: string, type: string): Promise<void> {
    await this.page.locator("#red-ui-header-button-sidemenu").click();
    await this.page.getByText("Manage palette", { exact: true }).click();
    await this.page.locator("#red-ui-palette-editor-tabs").getByText("Install", { exact: true }).click();
    const chosen = this.page.waitForEvent("filechooser");
    await this.page.locator(".red-ui-palette-editor-upload-button").click();
    await (await chosen).setFiles(tarball);
    const installed = this.page.waitForResponse(
      (response) => response.request().method() === "POST" && new URL(response.url()).pathname.endsWith("/nodes"),
      { timeout: patience },
    );
    await this.page.locator(".red-ui-palette-editor-upload-buttons").getByText("Upload", { exact: true }).click();
    const response = await installed;
    if (!response.ok()) throw new Error(`installing answered ${response.status()}: ${await response.text()}`);
    await this.page.locator("#node-dialog-ok").click();
    // While the palette manager slides away, a shade lies over the editor.
    await this.page.locator("#red-ui-editor-shade").waitFor({ state: "hidden" });
    await this.paletteEntry(type).waitFor();
  }

  /** Does what a key or a menu of the editor does. */
  async invoke(action: string): Promise<void> {
    await this.page.evaluate((wanted) => RED.actions.invoke(wanted), action);
  }

  input(field: FormField): Locator {
    return this.page.locator(field === "scheme" ? "#node-input-scheme-text" : `#node-input-${field}`);
  }

  /** What the form says under a field; empty when all is well. */
  message(field: FormField): Locator {
    return this.page.locator(`#webhook-trigger-message-${field}`);
  }

  get url(): Locator {
    return this.given("url");
  }

  /** What the form gives to the sender. */
  given(item: "url" | "header" | "token" | "secret" | "verifyToken"): Locator {
    return this.page.locator(`#webhook-trigger-given-${item}`);
  }

  /** Copies what the form gives to the sender, and answers with it. */
  async copyGiven(item: "url" | "header" | "token" | "secret" | "verifyToken"): Promise<string> {
    await this.page.locator(`#webhook-trigger-given-${item}-copy`).click();
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** The heading of a section of the form. */
  heading(section: Section): Locator {
    return this.page.locator(`#webhook-trigger-heading-${section}`);
  }

  /** What the heading says of its section. */
  state(section: Section): Locator {
    return this.page.locator(`#webhook-trigger-state-${section}`);
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
    return this.page.locator(`#webhook-trigger-hint-${field}`);
  }

  /** Something that the form points out. */
  note(
    name:
      | ("yours" | "seen" | "closed" | "taken" | "reach")
      | ("duplicates" | "no-id" | "without-key" | "json" | "loopback" | "forgeable")
      | ("no-store" | "guaranteed-duplicates"),
  ): Locator {
    return this.page.locator(`#webhook-trigger-note-${name}`);
  }

  get warning(): Locator {
    return this.page.locator("#webhook-trigger-warning");
  }

  /** The button that shows the other node of the warning. */
  get rival(): Locator {
    return this.page.locator("#webhook-trigger-rival");
  }

  /** The line for a terminal. */
  get command(): Locator {
    return this.page.locator("#webhook-trigger-command");
  }

  /** What the message will look like. */
  get picture(): Locator {
    return this.page.locator("#webhook-trigger-picture");
  }

  /** Sends a test request and answers with what came of it. */
  async sendTest(): Promise<string> {
    const answered = this.page.waitForResponse((response) => response.url().endsWith("/test"));
    await this.page.locator("#webhook-trigger-send").click();
    await answered;
    await this.page.locator('#webhook-trigger-send[aria-disabled="false"]').waitFor();
    return this.page.locator("#webhook-trigger-result").innerText();
  }

  tokenButton(action: "make" | "show"): Locator {
    return this.page.locator(`#webhook-trigger-token-${action}`);
  }
}

/** Has the editor know that deliveries can be kept there, as the runtime tells it by a setting. */
export async function setKeeping({ page }: Editor, keeping: StoreKind): Promise<void> {
  await page.evaluate((value) => {
    RED.settings.webhookTriggerGuaranteed = value;
  }, keeping);
}

/** The place of something that is visible, in px from the edges of the window. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error(`${String(locator)} is not visible`);
  return box;
}
