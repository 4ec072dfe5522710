// Registers the node type that sends a message when something is wrong with a webhook.

import type { Node, NodeAPI, NodeDef } from "node-red";
import type { Alerts } from "../src/admin/alerts";

/** Any property may be missing in a flow that was written by hand. */
interface SavedWatch extends NodeDef {
  /** The ids of webhook triggers; `null` for all. */
  readonly scope?: unknown;
  /** Empty for all. */
  readonly events?: unknown;
}

export function registerWatch(RED: NodeAPI, alerts: Alerts): void {
  function WebhookWatch(this: Node, saved: SavedWatch): void {
    RED.nodes.createNode(this, saved);
    const scope = Array.isArray(saved.scope) ? saved.scope.map(String) : null;
    const events = Array.isArray(saved.events) ? saved.events : [];
    const unsubscribe = alerts.subscribe(scope, (alert) => {
      if (events.length === 0 || events.includes(alert.event)) this.send({ topic: alert.event, payload: { ...alert } });
    });
    this.on("close", unsubscribe);
  }

  RED.nodes.registerType("webhook-watch", WebhookWatch);
}
