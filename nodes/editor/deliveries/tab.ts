// The tab *Webhooks* of the sidebar, whose content is loaded when it is first shown.

import type { Editor } from "../node-red";
import { host } from "./host";
import type { DeliveriesStore } from "./store";
import type * as callersView from "../form/callers";
import type * as consoleView from "../form/console";
import type * as view from "./view";

declare const RED: Editor;

const id = "webhook-deliveries";
const action = "webhook-trigger:show-deliveries";
/** The topic of the runtime's push. */
const topic = "webhook-trigger/deliveries";
/** What is loaded: script and style sheet, with those of the page outside the editor. */
const [script, style] = ["webhook-trigger/page.js", "webhook-trigger/deliveries.css"];
/** The time from one try to load it to the next, in ms. */
const retryMs = 5000;

/** What the script exports. */
export type Views = Pick<typeof view, "mountDeliveries"> &
  Pick<typeof consoleView, "mountConsole"> &
  Pick<typeof callersView, "showCallers">;

class Tab {
  readonly element = document.createElement("div");
  readonly #observer = new ResizeObserver(() => {
    if (this.element.clientWidth > 0) void this.#load();
  });
  #store: Promise<DeliveriesStore> | undefined;

  constructor() {
    this.element.className = "webhook-deliveries";
    this.#observer.observe(this.element);
  }

  readonly changed = (): void => void this.#store?.then((store) => store.changed());

  readonly renew = (): void => void this.#store?.then((store) => store.renew());

  visit(node: string): void {
    void this.#load().then((store) => store.visit(node));
  }

  remove(): void {
    this.#observer.disconnect();
    void this.#store?.then((store) => store.stop());
  }

  #load(): Promise<DeliveriesStore> {
    return (this.#store ??= this.#mount(0));
  }

  /** Tries until script and style sheet have come. */
  async #mount(tries: number): Promise<DeliveriesStore> {
    let loaded: Views;
    try {
      [loaded] = await Promise.all([loadViews(tries), loadStyle()]);
    } catch {
      this.element.textContent = host().translate("tab.trouble.unreachable");
      await new Promise((done) => setTimeout(done, retryMs));
      return this.#mount(tries + 1);
    }
    this.element.textContent = "";
    return loaded.mountDeliveries(host(), this.element);
  }
}

/** @param tries how often it could not be loaded, which browsers may remember */
export function loadViews(tries: number): Promise<Views> {
  return import(new URL(tries === 0 ? script : `${script}?${tries}`, document.baseURI).href) as Promise<Views>;
}

function loadStyle(): Promise<unknown> {
  const link = $("<link>", { rel: "stylesheet", href: style });
  return new Promise((resolve, reject) => {
    link.on({ load: resolve, error: reject }).appendTo("head");
  });
}

/** Exists while the node type is available. */
let tab: Tab | undefined;

export function addTab(): void {
  const { translate } = host();
  const added = new Tab();
  tab = added;
  RED.sidebar.addTab({
    id,
    label: translate("tab.label"),
    name: translate("tab.label"),
    iconClass: "fa fa-exchange",
    content: $(added.element),
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: translate("tab.show") });
  RED.comms.subscribe(topic, added.changed);
  RED.comms.on("connect", added.renew);
}

export function removeTab(): void {
  if (!tab) return;
  RED.comms.off("connect", tab.renew);
  RED.comms.unsubscribe(topic, tab.changed);
  RED.actions.remove(action);
  RED.sidebar.removeTab(id);
  tab.remove();
  tab = undefined;
}

export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  tab?.visit(node);
}
