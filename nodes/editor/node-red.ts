// The parts of Node-RED's editor that form and tab use: `@types/node-red` describes an older one, whose validators
// could not return a message.

import type { SavedFields } from "../../src/config/fields";
import type { Roots } from "../../src/config/paths";
import type { StoreKind } from "../../src/config/stores";
import type { Translate } from "../../src/admin/summary";

/** A node in the editor. */
export interface EditorNode {
  id: string;
  type: string;
  /** The id of its flow, and its place there in px. */
  z: string;
  x: number;
  y: number;
  /** Disabled. */
  d?: boolean;
  name?: string;
  /** Since it was edited: what was entered, and `has_NAME` for what is saved. */
  readonly credentials?: Readonly<Record<string, unknown>>;
  /** Of nodes that have one. */
  relativePath?: unknown;
  returnQueryParams?: unknown;
  url?: unknown;
  method?: unknown;
  readonly _: Translate;
}

/** Returns what is wrong. Node-RED marks the field of a single text, of a list none. */
export type Validator<Saved> = (this: EditorNode & Saved, value: unknown, options: unknown) => true | string[];

export interface EditorNodeDefinition<Saved> {
  category: string;
  color: string;
  inputs: 0 | 1;
  outputs: number;
  icon: string;
  defaults: { [Field in keyof Saved]: { value: Saved[Field]; validate?: Validator<Saved>; type?: string } };
  credentials?: Record<string, { type: "password" | "text" }>;
  /** The node type and its texts are available. */
  onpaletteadd?(): void;
  onpaletteremove?(): void;
  paletteLabel(this: EditorNode): string;
  outputLabels(this: EditorNode & Saved, index: number): string;
  label(this: EditorNode & Saved): string;
  labelStyle(this: EditorNode & Saved): string;
  oneditprepare(this: EditorNode & Saved): void;
  oneditresize?(this: EditorNode & Saved): void;
  oneditsave(this: EditorNode & Saved): void;
  oneditcancel?(this: EditorNode & Saved): void;
}

export interface Editor {
  notify(message: string, type: "error"): void;
  nodes: {
    registerType<Saved>(type: string, definition: EditorNodeDefinition<Saved>): void;
    filterNodes(filter: { type: string } | { z: string }): EditorNode[];
    node(id: string): EditorNode | null;
    getType(type: string): { readonly _: Translate };
    workspace(id: string): { label: string; disabled?: boolean } | undefined;
    subflow(id: string): { name: string } | null | undefined;
    /** Adds it to its flow. */
    add(node: EditorNode): EditorNode;
    /** Whether anything is not deployed; or says so. */
    dirty(isDirty?: boolean): boolean;
  };
  view: {
    reveal(id: string): void;
    /** With the defaults of its type, in the shown flow, to which it has yet to be added. */
    createNode(type: string): { node: EditorNode; historyEvent: object };
    select(selection: { nodes: EditorNode[] }): void;
    redraw(hasOthers: boolean): void;
    scale(): number;
    /** One of `RED.state`. */
    state(): number;
  };
  state: { readonly DEFAULT: number };
  workspaces: {
    /** The id of the shown flow; 0 where there is none. */
    active(): string | 0;
    isLocked(): boolean | undefined;
  };
  /** What can be undone. */
  history: { push(event: object): void };
  editor: {
    edit(node: EditorNode): void;
    /** The code editor that the user has chosen. */
    createEditor(options: { element: HTMLElement; mode: string; value: string }): {
      getValue(): string;
      getSession(): { on(event: "change", listener: () => void): void };
      destroy(): void;
      /** Of Monaco. */
      updateOptions?(options: { ariaLabel: string }): void;
    };
    /** Opens the code editor above the form. */
    editJSON(options: { value: string; complete: (value: string) => void }): void;
    validateNode(node: EditorNode): void;
  };
  utils: {
    /** As in the debug sidebar. The path identifies the object, to remember what is open. */
    createObjectElement(value: unknown, options: { path: string; rootPath: string; typeHint?: string }): JQuery;
    getNodeLabel(node: EditorNode, otherwise: string): string;
  };
  actions: {
    add(action: string, handler: () => void, options: { label: string }): void;
    remove(action: string): void;
    invoke(action: string): void;
  };
  sidebar: {
    addTab(tab: {
      id: string;
      label: string;
      /** In menus. */
      name: string;
      iconClass: string;
      content: JQuery;
      /** While a form is open. */
      enableOnEdit: boolean;
      /** With a button of its own on Node-RED 4.1. */
      pinned: boolean;
      action: string;
    }): void;
    removeTab(id: string): void;
    show(id: string): void;
  };
  /** The runtime's push. */
  comms: {
    subscribe(topic: string, listener: (topic: string, message: unknown) => void): void;
    unsubscribe(topic: string, listener: (topic: string, message: unknown) => void): void;
    on(event: "connect", listener: () => void): void;
    off(event: "connect", listener: () => void): void;
  };
  /** Without accounts everything is allowed. */
  user: { hasPermission(permission: string): boolean };
  /** BCP 47. */
  i18n: { lang(): string };
  clipboard: { copyText(text: string, element?: JQuery, message?: string): boolean };
  popover: { tooltip(element: JQuery, text: string | (() => string)): void };
  settings: {
    // Of the webhook trigger.
    /** The editor itself sees `httpNodeRoot: false` as `/`. */
    webhookTriggerRoots: Roots;
    webhookTriggerBaseUrl: string;
    webhookTriggerHasNodeAuth: boolean;
    /** Where the runtime can store deliveries. */
    webhookTriggerGuaranteed: StoreKind;
    /** Our settings that are given, a line each. */
    webhookTriggerGiven: readonly string[];
    /** The operator's defaults of new nodes. */
    nodeDefaults?: { readonly "webhook-trigger"?: Partial<SavedFields> };
    /** As in the settings file. */
    webhookTriggerDeliveries?: { readonly keep?: unknown };
  };
}

/** Missing on a page outside the editor. */
export const { RED } = globalThis as unknown as { readonly RED: Editor };

/** @param page its file in the documentation, with an anchor */
export function docsUrl(page: string): string {
  return `https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/${page}`;
}

/** Node-RED's tray would scroll sideways where it is narrower than the form was at first, or than 500 px. */
export function fitTray(): void {
  $(".webhook-trigger-form").css("width", "auto").closest(".red-ui-tray-body").css("min-width", 0);
}

/** A screen reader announces a status whenever it is set, even to the same text. */
export function updateText(element: JQuery, text: string): void {
  if (element.text() !== text) element.text(text);
}

/** In one unit, such as "85 minutes". */
export function formatDuration(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  // At least two of a unit: 85 minutes say more than one hour.
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? units[3];
  return Math.round(seconds / length).toLocaleString(RED.i18n.lang(), { style: "unit", unit, unitDisplay: "long" });
}
