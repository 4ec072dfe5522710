// Registers the node type that sends a message when something is wrong with a webhook.

import type { Node, NodeAPI, NodeDef } from "node-red";
import type { Alerts } from "../src/admin/alerts";
import type { SavedWatch } from "../src/config/watch";

/** @param alerts those of the webhook triggers of this process */
export function registerWatch(RED: NodeAPI, alerts: Alerts): void {
  function WebhookWatch(this: Node, saved: NodeDef & SavedWatch): void {
    RED.nodes.createNode(this, saved);
    this.on("close", alerts.watch(this, saved));
  }

  RED.nodes.registerType("webhook-watch", WebhookWatch);
}
