// What the form uses of Node-RED's editor.

/**
 * The part of Node-RED's editor that the form uses. `@types/node-red` describes an older editor, whose validators
 * could not return a message.
 */
import type { Keeping } from "../../src/config/keeping";
import type { Roots } from "../../src/config/roots";

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
  url?: unknown;
  method?: unknown;
  _(key: string, values?: Record<string, string>): string;
}

/** Finds a text in the language of the editor; answers with the key where there is none. */
export type Translate = (key: string, values?: Record<string, string>) => string;

/** How an object is shown that can be unfolded. */
export interface ObjectView {
  /** Where the object stands, for what is remembered of each value. */
  path: string;
  rootPath: string;
}

/** `true`, or what is wrong with a value. */
type Verdict = true | string;

/** Node-RED shows what a validator returns only if it declares both parameters. */
export type Validator<Saved> = (this: EditorNode & Saved, value: unknown, options: unknown) => Verdict;

/** The definition of a node type in the editor. */
export interface EditorNodeDefinition<Saved> {
  category: string;
  color: string;
  inputs: 0 | 1;
  outputs: number;
  icon: string;
  defaults: { [Field in keyof Saved]: { value: Saved[Field]; validate?: Validator<Saved> } };
  credentials: Record<string, { type: "password"; validate?: Validator<Saved> }>;
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
  };
  actions: { invoke(action: string): void };
  clipboard: { copyText(text: string, element: JQuery, message: string): boolean };
  popover: { tooltip(element: JQuery, text: string | (() => string)): void };
  settings: {
    /** From the runtime half of the webhook trigger. */
    webhookTriggerRoots: Roots;
    webhookTriggerBaseUrl: string;
    webhookTriggerDurable: Keeping;
  };
}
