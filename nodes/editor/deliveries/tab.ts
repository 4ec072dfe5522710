// The tab *Webhooks* of the sidebar.

import type { Editor } from "../node-red";
import { host } from "./host";
import { Deliveries } from "./view";

declare const RED: Editor;

const id = "webhook-deliveries";
const action = "webhook-trigger:show-deliveries";
/** The topic of the runtime's push. */
const topic = "webhook-trigger/deliveries";

/** Exists while the node type is available. */
let deliveries: Deliveries | undefined;

export function addTab(): void {
  const { translate } = host();
  const shown = new Deliveries();
  deliveries = shown;
  RED.sidebar.addTab({
    id,
    label: translate("tab.label"),
    name: translate("tab.label"),
    iconClass: "fa fa-exchange",
    content: $(shown.element),
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: translate("tab.show") });
  RED.comms.subscribe(topic, shown.changed);
  RED.comms.on("connect", shown.renew);
}

export function removeTab(): void {
  if (!deliveries) return;
  RED.comms.off("connect", deliveries.renew);
  RED.comms.unsubscribe(topic, deliveries.changed);
  RED.actions.remove(action);
  RED.sidebar.removeTab(id);
  deliveries.stop();
  deliveries = undefined;
}

export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  deliveries?.visit(node);
}
