// The tab *Webhooks* of the sidebar, whose content is loaded when it is first shown.

import { RED } from "../node-red";
import { host } from "./host";
import type { DeliveriesStore } from "./store";
import type * as callersView from "../form/callers";
import type * as consoleView from "../form/console";
import type * as view from "./view";

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
  Pick<typeof consoleView, "showConsole"> &
  Pick<typeof callersView, "showCallers">;

/** Exists while the node type is available. */
let tab: { readonly load: () => Promise<DeliveriesStore>; readonly remove: () => void } | undefined;

export function addTab(): void {
  const { translate } = host();
  const element = document.createElement("div");
  element.className = "webhook-deliveries";
  let mounted: Promise<DeliveriesStore> | undefined;
  const load = () => (mounted ??= mount(element));
  const observer = new ResizeObserver(() => {
    if (element.clientWidth > 0) void load();
  });
  observer.observe(element);
  const changed = () => void mounted?.then((store) => store.changed());
  const renew = () => void mounted?.then((store) => store.renew());
  RED.sidebar.addTab({
    id,
    label: translate("tab.label"),
    name: translate("tab.label"),
    iconClass: "fa fa-exchange",
    content: $(element),
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: translate("tab.show") });
  RED.comms.subscribe(topic, changed);
  RED.comms.on("connect", renew);
  const remove = () => {
    RED.comms.off("connect", renew);
    RED.comms.unsubscribe(topic, changed);
    RED.actions.remove(action);
    RED.sidebar.removeTab(id);
    observer.disconnect();
    void mounted?.then((store) => store.stop());
  };
  tab = { load, remove };
}

export function removeTab(): void {
  tab?.remove();
  tab = undefined;
}

export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  void tab?.load().then((store) => store.visit(node));
}

/** Tries until script and style sheet have come. */
async function mount(element: HTMLElement): Promise<DeliveriesStore> {
  let views: Views;
  try {
    [views] = await Promise.all([loadViews(), loadStyle()]);
  } catch {
    element.textContent = host().translate("tab.trouble.unreachable");
    await new Promise((done) => setTimeout(done, retryMs));
    return mount(element);
  }
  element.textContent = "";
  return views.mountDeliveries(host(), element);
}

let failures = 0;

/** Browsers may remember that it could not be loaded: then it is loaded by another address. */
export async function loadViews(): Promise<Views> {
  const path = failures === 0 ? script : `${script}?${failures}`;
  try {
    return (await import(new URL(path, document.baseURI).href)) as Views;
  } catch (error) {
    failures += 1;
    throw error;
  }
}

function loadStyle(): Promise<unknown> {
  const link = $("<link>", { rel: "stylesheet", href: style });
  return new Promise((resolve, reject) => {
    link.on({ load: resolve, error: reject }).appendTo("head");
  });
}
