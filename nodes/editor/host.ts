// What the form and the tab use of Node-RED's editor.

/**
 * The part of Node-RED's editor that the form uses. `@types/node-red` describes an older editor, whose validators
 * could not return a message.
 */

import type { Roots } from "../../src/config/host";
import type { StoreKind } from "../../src/config/stores";
import type { Translate } from "../../src/deliveries/summary";

/** A node in the editor, as far as the form looks at one. */
export interface EditorNode {
  id: string;
  type: string;
  /** The id of the flow that the node is on. */
  z: string;
  /** Set when the node is disabled. */
  d?: boolean;
  /** Whether something of it is not deployed. */
  changed?: boolean;
  /** Where its middle is on the canvas, in px of its own scale. */
  x: number;
  y: number;
  name?: string;
  /** Only on nodes of the types that have one. */
  relativePath?: unknown;
  returnQueryParams?: unknown;
  url?: unknown;
  method?: unknown;
  readonly _: Translate;
}

/** A tab of the sidebar. */
interface SidebarTab {
  id: string;
  /** What stands on it. */
  label: string;
  /** What it is called in menus. */
  name: string;
  iconClass: string;
  content: JQuery;
  /** Whether it can be used while a form is open. */
  enableOnEdit: boolean;
  /** Whether Node-RED 4.1 has a button of its own for it. */
  pinned: boolean;
  /** The action that shows it. */
  action: string;
}

/** How an object is shown that can be unfolded. */
interface ObjectView {
  /** Where the object stands, for what is remembered of each value. */
  path: string;
  rootPath: string;
}

/** `true`, or what is wrong with a value. */
type ValidationResult = true | string;

/** Node-RED shows what a validator returns only if it declares both parameters. */
export type Validator<Saved> = (this: EditorNode & Saved, value: unknown, options: unknown) => ValidationResult;

/** The definition of a node type in the editor. */
interface EditorNodeDefinition<Saved> {
  category: string;
  color: string;
  inputs: 0 | 1;
  outputs: number;
  icon: string;
  defaults: { [Field in keyof Saved]: { value: Saved[Field]; validate?: Validator<Saved> } };
  credentials: Record<string, { type: "password"; validate?: Validator<Saved> }>;
  /** Called when the type is there to be used, its texts with it. */
  onpaletteadd(): void;
  onpaletteremove(): void;
  paletteLabel(this: EditorNode): string;
  outputLabels(this: EditorNode & Saved): string;
  label(this: EditorNode & Saved): string;
  labelStyle(this: EditorNode & Saved): string;
  oneditprepare(this: EditorNode & Saved): void;
  oneditresize(this: EditorNode & Saved): void;
  oneditsave(this: EditorNode & Saved): void;
}

/** The editor's global. */
export interface Editor {
  nodes: {
    registerType<Saved>(type: string, definition: EditorNodeDefinition<Saved>): void;
    filterNodes(filter: { type: string }): EditorNode[];
    node(id: string): EditorNode | null;
    getType(type: string): { readonly _: Translate };
    workspace(id: string): { label: string; disabled?: boolean } | undefined;
    subflow(id: string): { name: string } | null | undefined;
    /** Whether anything in the editor is not deployed. */
    dirty(): boolean;
  };
  view: {
    reveal(id: string): void;
    /** How many px of the window one of the canvas is. */
    scale(): number;
  };
  utils: {
    /** Shows a value as the debug sidebar does. */
    createObjectElement(value: unknown, options: ObjectView): JQuery;
    getNodeLabel(node: EditorNode, otherwise: string): string;
  };
  actions: {
    add(action: string, handler: () => void, options: { label: string }): void;
    remove(action: string): void;
    invoke(action: string): void;
  };
  sidebar: {
    addTab(tab: SidebarTab): void;
    removeTab(id: string): void;
    show(id: string): void;
  };
  /** What the runtime publishes to editors. */
  comms: {
    subscribe(topic: string, listener: (topic: string, message: unknown) => void): void;
    unsubscribe(topic: string, listener: (topic: string, message: unknown) => void): void;
    on(event: "connect", listener: () => void): void;
    off(event: "connect", listener: () => void): void;
  };
  /** Who uses the editor: may do all where it has no accounts. */
  user: { hasPermission(permission: string): boolean };
  /** The language that the editor speaks, by its BCP 47 tag. */
  i18n: { lang(): string };
  clipboard: { copyText(text: string, element: JQuery, message: string): boolean };
  popover: { tooltip(element: JQuery, text: string | (() => string)): void };
  settings: {
    /** From the runtime half of the webhook trigger. */
    webhookTriggerRoots: Roots;
    webhookTriggerBaseUrl: string;
    webhookTriggerGuaranteed: StoreKind;
    /** As the settings file has it. */
    webhookTriggerDeliveries?: { readonly keep?: unknown };
    /** What this browser remembers. */
    getLocal(key: string): string | null;
    setLocal(key: string, value: string): void;
  };
}

// Where the form sends those who want to read more.

const folder = "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/";

/** @param page its file and, behind a #, the place in it */
export function docsUrl(page: string): string {
  return folder + page;
}

// Buttons that copy.

declare const RED: Editor;

/** Makes a button copy a text, and say what it copies when it is pointed at. */
export function prepareCopyButton(node: Pick<EditorNode, "_">, button: JQuery, name: string, text: () => string): void {
  button.attr("aria-label", node._("copy", { name }));
  button.on("click", () => RED.clipboard.copyText(text(), button, node._("copied")));
  RED.popover.tooltip(button, () => button.attr("aria-label") ?? "");
}

// Times, as the user of the editor writes them.

/** The time, and the day as well where that is not today. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  if (date.toDateString() === new Date().toDateString()) return date.toLocaleTimeString(undefined, time);
  return date.toLocaleString(undefined, { ...time, day: "numeric", month: "short" });
}

/** A time span in one unit that is large enough, such as "85 minutes". @param seconds how long it is */
export function formatDuration(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  // Two of a unit at least: 85 minutes say more than one hour.
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? units[3];
  return Math.round(seconds / length).toLocaleString(RED.i18n.lang(), { style: "unit", unit, unitDisplay: "long" });
}

// Lines for a shell.

/**
 * Quotes an argument for a shell. Double quotes do for the shells of all systems, unless a character means something
 * within them; single quotes take all but themselves as it stands, but only where the shell is a POSIX one.
 */
export function quoted(argument: string): string {
  return /["$%`!\\]/.test(argument) ? quotedAsItIs(argument) : `"${argument}"`;
}

/** Quotes an argument for a POSIX shell so that anything may be put into it, but a single quote. */
export function quotedAsItIs(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
