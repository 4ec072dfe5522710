// What observes requests and flows: status, log, metrics and alerts.

import type { RequestHandler } from "express";
import type { Node, NodeAPI } from "node-red";
import { permissions } from "../config/host";
import type { Breach } from "../config/rules";
import type { Endpoint } from "../flow/endpoint";
import { Outcomes } from "../flow/outcomes";
import { trustsEveryProxy } from "../http/express";
import { Inactivity, type StoredDeliveries } from "./inactivity";
import { Metrics, noCounts } from "./metrics";
import { NodeHealths, type NodeReport } from "./node-health";
import { NodeLog } from "./node-log";
import { NodeStatuses } from "./node-status";

export class Observers {
  readonly outcomes = new Outcomes();
  readonly #RED: NodeAPI;
  readonly #nodes: NodeHealths;
  readonly #metrics: Metrics;
  readonly #inactivity: Inactivity;
  readonly #statuses: NodeStatuses;

  constructor(RED: NodeAPI) {
    const { outcomes } = this;
    this.#RED = RED;
    this.#nodes = new NodeHealths(RED, outcomes);
    this.#metrics = new Metrics(RED, outcomes, this.#nodes);
    this.#inactivity = new Inactivity(RED, outcomes, this.#nodes);
    new NodeLog(RED._, outcomes, this.#nodes);
    this.#statuses = new NodeStatuses(RED, outcomes, this.#nodes, this.#metrics, this.#inactivity);
    this.#serveForm();
  }

  #serveForm(): void {
    const { httpAdmin, auth, httpNode } = this.#RED;
    const report: RequestHandler<{ id: string }> = ({ params: { id } }, response, next) => {
      response.set("Cache-Control", "no-store");
      const health = this.#nodes.get(id);
      if (!health?.running) return void response.sendStatus(404);
      this.#metrics
        .read(new Set([id]))
        .then((counts) => {
          const { handshake: handshakes, duplicate: duplicates, ...others } = counts.get(id) ?? noCounts;
          const told: NodeReport = { ...others, handshakes, duplicates, ...health.report };
          response.json({ ...told, trustsEveryProxy: trustsEveryProxy(httpNode) });
        })
        .catch(next);
    };
    const secret: RequestHandler<{ id: string }> = ({ params: { id } }, response) => {
      const health = this.#nodes.get(id);
      const brought = health?.secret;
      response.set("Cache-Control", "no-store");
      if (!health || brought === undefined) return void response.sendStatus(404);
      // It is shown once.
      health.secret = undefined;
      response.json({ secret: brought });
    };
    httpAdmin.get("/webhook-trigger/:id/lastRequest", auth.needsPermission(permissions.read), report);
    httpAdmin.post("/webhook-trigger/:id/secret", auth.needsPermission(permissions.write), secret);
  }

  /** A node is being deployed. */
  begin({ id }: Node): void {
    this.#nodes.begin(id);
  }

  showBreach(node: Node, { rule, value }: Breach): void {
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

  run(running: Endpoint): void {
    Object.assign(this.#nodes.get(running.node.id) ?? {}, { running });
  }

  /** @param store where its deliveries are stored; missing where they end with the process */
  open({ node: { id }, config }: Endpoint, store: StoredDeliveries | undefined): void {
    Object.assign(this.#nodes.get(id) ?? {}, { isOpen: true });
    this.#inactivity.begin(id, config.alertWhenSilent, store);
    this.#statuses.renew(id);
  }

  close({ node: { id } }: Endpoint): void {
    Object.assign(this.#nodes.get(id) ?? {}, { isOpen: false });
    this.#inactivity.end(id);
  }
}
