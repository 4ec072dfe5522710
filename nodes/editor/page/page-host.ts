// A page of its own as the host of the list of deliveries.

import type { ListedNode, PageSession, PageSetup, Texts } from "../../../src/admin/page";
import { permissions } from "../../../src/config/permissions";
import type { Translate } from "../../../src/admin/summary";
import { createIcon, createText } from "../deliveries/content";
import { ApiError, type DeliveriesHost, type KnownNode } from "../deliveries/host";
import { create, setAttributes } from "../dom";
import { askForNodes, call, hasPermission } from "./session";

/** How long it says that a text is copied, in ms. */
const copiedMs = 2000;

export class PageHost implements DeliveriesHost {
  readonly language: string;
  readonly translate: Translate;
  session: PageSession | undefined;
  nodes: ReadonlyMap<string, KnownNode> = new Map();
  readonly #report: (message: string) => void;
  readonly #refused: () => void;

  /**
   * @param report shows an error
   * @param refused called when the user may not do what was asked for, or is logged in no more
   */
  constructor({ language, texts }: PageSetup, report: (message: string) => void, refused: () => void) {
    this.language = language;
    this.translate = (key, values = {}) => findText(texts, key).replace(/__(\w+)__/g, (_, name: string) => String(values[name] ?? "")); // prettier-ignore
    this.#report = report;
    this.#refused = refused;
  }

  get roots(): PageSession["roots"] {
    return this.session?.roots ?? { admin: "/", node: "/" };
  }

  get baseUrl(): string {
    return this.session?.baseUrl ?? "";
  }

  get given(): readonly string[] {
    return this.session?.given ?? [];
  }

  get keepsNothing(): boolean {
    return this.session?.keepsNothing ?? false;
  }

  readonly call = async (...asked: Parameters<DeliveriesHost["call"]>): Promise<unknown> => {
    try {
      return await call(...asked);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#refused();
      throw error;
    }
  };

  async fetchNodes(): Promise<void> {
    this.nodes = new Map((await askForNodes()).map((node) => [node.id, this.#describe(node)]));
  }

  #describe({ id, flow, ...saved }: ListedNode): KnownNode {
    // As in the workspace.
    return { id, flow, saved, label: saved.name || saved.relativePath || this.translate("paletteLabel") };
  }

  readonly mayWrite = (): boolean => hasPermission(this.session?.permissions ?? "", permissions.write);

  readonly reportError = (message: string): void => this.#report(message);

  readonly listNodes = (): KnownNode[] => [...this.nodes.values()];

  readonly findNode = (id: string): KnownNode | undefined => this.nodes.get(id);

  readonly copy = (text: string): void => void copyText(text);

  readonly prepareCopyButton = (button: HTMLElement, name: string, getText: () => string): void => {
    const label = this.translate("copy", { name });
    setAttributes(button, { "aria-label": label, title: label });
    button.append(createIcon("fa-copy"));
    const said = create("span", { role: "status" });
    button.addEventListener("click", () => {
      void copyText(getText());
      button.after(said);
      said.textContent = this.translate("copied");
      setTimeout(() => said.remove(), copiedMs);
    });
  };

  readonly showObject = (value: object, typeHint: string): HTMLElement => {
    const { type, data } = value as { type?: unknown; data?: unknown };
    if (type !== "Buffer" || !Array.isArray(data)) return createText(JSON.stringify(value, null, 2));
    const bytes = (data as number[]).map((byte) => byte.toString(16).padStart(2, "0"));
    const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) =>
      bytes.slice(16 * line, 16 * (line + 1)).join(" "),
    );
    return createText([typeHint, ...lines].join("\n"));
  };
}

/** The key where there is no text. */
function findText(texts: Texts, key: string): string {
  let found: string | Texts | undefined = texts;
  for (const part of key.split(".")) found = typeof found === "object" ? found[part] : undefined;
  return typeof found === "string" ? found : key;
}

/** The clipboard is there on HTTPS and on this computer only. */
async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  const field = create("textarea", { readonly: true, class: "webhook-deliveries-said" });
  field.value = text;
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  // The only way without HTTPS.
  (document as Pick<Document, "getElementById"> & { execCommand(command: string): boolean }).execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return undefined;
}
