// What observes requests and flows: status, log, metrics and alerts.

import type { Node, NodeAPI } from "node-red";
import type { Breach } from "../config/fields";
import type { Endpoint } from "../flow/endpoint";
import { Outcomes } from "../flow/outcomes";
import { trustsEveryProxy } from "../http/host-internals";
import { Alerts } from "./alerts";
import { reportExpiries } from "./expiry";
import { Inactivity } from "./inactivity";
import { serveMetrics } from "./metrics";
import { NodeHealths, type NodeReport } from "./node-health";
import { NodeLog } from "./node-log";
import { NodeStatuses } from "./node-status";
import { reportStore } from "./store-health";
import { addRoute, notFound } from "./routes";
import { serveTraffic } from "./traffic";
import { Uses } from "./uses";

export class Observers {
  readonly outcomes = new Outcomes();
  readonly #RED: NodeAPI;
  readonly nodes: NodeHealths;
  readonly alerts: Alerts;
  readonly uses: Uses;
  readonly #inactivity: Inactivity;
  readonly #statuses: NodeStatuses;

  constructor(RED: NodeAPI) {
    const { outcomes } = this;
    this.#RED = RED;
    this.nodes = new NodeHealths(RED, outcomes);
    serveMetrics(RED, this.nodes);
    serveTraffic(RED, outcomes, this.nodes);
    this.uses = new Uses(RED, outcomes);
    this.#inactivity = new Inactivity(RED, outcomes, this.nodes, this.uses);
    reportExpiries(outcomes);
    this.alerts = new Alerts(RED, outcomes, this.nodes);
    new NodeLog(RED._, outcomes, this.nodes);
    reportStore(RED, outcomes);
    this.#statuses = new NodeStatuses(RED, outcomes, this.nodes, this.#inactivity);
    this.#serveForm();
  }

  #serveForm(): void {
    addRoute(this.#RED, "get", ":id/lastRequest", ({ params: { id } }) => {
      const health = this.nodes.get(id);
      if (!health?.running) return notFound;
      const body: NodeReport = { ...health.report, trustsEveryProxy: trustsEveryProxy(this.#RED.httpNode) };
      return { body };
    });
    addRoute(this.#RED, "post", ":id/secret", ({ params: { id } }) => {
      const health = this.nodes.get(id);
      const secret = health?.secret;
      if (!health || secret === undefined) return notFound;
      // It is shown once.
      health.secret = undefined;
      return { body: { secret } };
    });
  }

  showBreach(node: Node, breach: Breach): void {
    const { rule, value } = breach;
    Object.assign(this.nodes.get(node.id) ?? {}, { breach });
    this.#showClosed(node, "error", "red", this.#RED._(`rules.${rule}`, { value }));
  }

  showSwitchedOff(node: Node): void {
    this.#showClosed(node, "warn", "red", this.#RED._("status.switchedOff"));
  }

  showBlocked({ node, config: { path } }: Endpoint): void {
    this.#showClosed(node, "warn", "yellow", this.#RED._("status.waiting", { path }));
  }

  #showClosed(node: Node, level: "warn" | "error", fill: "red" | "yellow", text: string): void {
    node.status({ fill, shape: "ring", text });
    node[level](text);
  }

  /** @param isGuarded whether `httpNodeAuth` refuses its requests */
  open({ node: { id }, config }: Endpoint, isGuarded: boolean): void {
    Object.assign(this.nodes.get(id) ?? {}, { isOpen: true, isGuarded });
    this.#inactivity.start(id, config);
    this.#statuses.renew(id);
  }

  close({ node: { id } }: Endpoint): void {
    Object.assign(this.nodes.get(id) ?? {}, { isOpen: false });
    this.#inactivity.stop(id);
  }
}
