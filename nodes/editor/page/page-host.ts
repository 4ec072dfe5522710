// A page of its own as the host of the list of deliveries.

import type { ListedNode, PageSession, PageSetup, Texts } from "../../../src/admin/page";
import { permissions } from "../../../src/config/permissions";
import { formatPlace, type Place } from "../../../src/admin/place";
import type { Translate } from "../../../src/admin/summary";
import { type DeliveriesHost, isApiError, type KnownNode } from "../deliveries/host";
import { states } from "../deliveries/texts";
import { askForNodes, call, hasPermission } from "./session";

export class PageHost implements DeliveriesHost {
  readonly language: string;
  readonly translate: Translate;
  readonly isPage = true;
  /** The list is shown when it has come. */
  settings: PageSession = {
    user: null,
    permissions: "",
    roots: { admin: "/", node: "/" },
    baseUrl: "",
    given: [],
    keepsNothing: false,
  };
  nodes: ReadonlyMap<string, KnownNode> = new Map();

  /**
   * @param reportError shows an error
   * @param refused called when the user may not do what was asked for: where all may look, that alone shows that a login has ended
   */
  constructor(
    { language, texts }: PageSetup,
    readonly reportError: (message: string) => void,
    readonly refused: () => void,
  ) {
    this.language = language;
    this.translate = (key, values = {}) => findText(texts, key).replace(/__(\w+)__/g, (_, name: string) => String(values[name] ?? "")); // prettier-ignore
  }

  readonly call: DeliveriesHost["call"] = async (...asked) => {
    try {
      return await call(...asked);
    } catch (error) {
      if (isApiError(error) && error.status === 401) this.refused();
      throw error;
    }
  };

  async fetchNodes(): Promise<void> {
    this.nodes = new Map((await askForNodes()).map((node) => [node.id, this.#describe(node)]));
  }

  #describe({ id, flow, ...saved }: ListedNode): KnownNode {
    return { id, flow, saved, label: saved.name || saved.relativePath || this.translate("paletteLabel") };
  }

  readonly mayWrite = (): boolean => hasPermission(this.settings.permissions, permissions.write);

  readonly listNodes = (): KnownNode[] => [...this.nodes.values()];

  readonly findNode = (id: string): KnownNode | undefined => this.nodes.get(id);

  readonly copy = copyText;

  /** So that Back leads to where the user was. */
  readonly moved = (place: Place): void => {
    const found = formatPlace(place);
    if (found === formatPlace(readPlace())) return;
    history.pushState(null, "", location.pathname + location.search + (found && `#${found}`));
  };
}

/** What the address of the page names. */
export function readPlace(): Place {
  const addressed = location.hash.slice(1);
  const query = new URLSearchParams(addressed);
  const read = (name: string) => query.get(name) ?? "";
  const state = states.find((each) => each === read("state")) ?? "";
  if (addressed === "" || addressed.startsWith("?")) return { node: read("node"), state, text: read("text"), error: read("error") }; // prettier-ignore
  try {
    return { delivery: decodeURIComponent(addressed) };
  } catch {
    // No delivery has such an id, which the list says.
    return { delivery: addressed };
  }
}

/** The key where there is no text. */
function findText(texts: Texts, key: string): string {
  let found: string | Texts | undefined = texts;
  for (const part of key.split(".")) found = typeof found === "object" ? found[part] : undefined;
  return typeof found === "string" ? found : key;
}

/** The only way that needs neither HTTPS nor a permission of the frame around the page. */
function copyText(text: string): void {
  const field = document.createElement("textarea");
  field.className = "webhook-deliveries-said";
  field.value = text;
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  (document as Pick<Document, "getElementById"> & { execCommand(command: string): boolean }).execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
}
