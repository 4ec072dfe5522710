// The tab "Webhooks" of the sidebar: each request as it comes.

import type { Editor } from "../host";
import { filterEvent } from "./actions";
import { everything } from "./api";
import { Deliveries } from "./deliveries";
import { text } from "./texts";

declare const RED: Editor;

const id = "webhook-deliveries";
const action = "webhook-trigger:show-deliveries";
/** Where the runtime says that deliveries have come or have changed. */
const topic = "webhook-trigger/deliveries";

/** There is one, as long as the type is there to be used. */
let deliveries: Deliveries | undefined;

/** Nothing is loaded while nobody looks. */
const observer = new ResizeObserver(([entry]) => {
  if (entry) deliveries?.look(entry.contentRect.width > 0 && !document.hidden);
});

export function addTab(): void {
  const shown = new Deliveries();
  deliveries = shown;
  const [label, content] = [text("tab.label"), shown.element];
  RED.sidebar.addTab({
    id,
    label,
    name: label,
    iconClass: "fa fa-exchange",
    content,
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: text("tab.show") });
  RED.comms.subscribe(topic, listen);
  RED.comms.on("connect", reconnect);
  $(document).on(filterEvent, filterTo);
  document.addEventListener("visibilitychange", look);
  for (const element of shown.element) observer.observe(element);
}

export function removeTab(): void {
  document.removeEventListener("visibilitychange", look);
  observer.disconnect();
  RED.comms.off("connect", reconnect);
  $(document).off(filterEvent, filterTo);
  RED.comms.unsubscribe(topic, listen);
  RED.actions.remove(action);
  RED.sidebar.removeTab(id);
  deliveries?.look(false);
  deliveries = undefined;
}

/** Shows what came to a node. */
export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  deliveries?.filter({ ...everything, node });
}

function filterTo(_event: unknown, node: string): void {
  showDeliveriesOf(node);
}

function look(): void {
  deliveries?.look(!document.hidden && deliveries.element.width() !== 0 && deliveries.element.is(":visible"));
}

function listen(): void {
  deliveries?.changed();
}

function reconnect(): void {
  deliveries?.renew();
}
