// What observes requests and flows: status, log, metrics and alerts.

import type { RequestHandler } from "express";
import type { Node, NodeAPI } from "node-red";
import { permissions } from "../config/host";
import type { Breach } from "../config/rules";
import type { RunningNode } from "../flow/endpoint";
import { Outcomes } from "../flow/outcomes";
import { trustsEveryProxy } from "../http/express";
import { Inactivity, type StoredDeliveries } from "./inactivity";
import { Metrics } from "./metrics";
import { NodeHealths, type NodeReport } from "./node-health";
import { NodeLog } from "./node-log";
import { NodeStatuses } from "./node-status";

/** The inactivity alert of a node. */
interface Expectation {
  /** 0: no alert. */
  readonly hours: number;
  /** Where its deliveries are stored; missing where they end with the process. */
  readonly store: StoredDeliveries | undefined;
}

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
    const standing: RequestHandler<{ id: string }> = ({ params: { id } }, response, next) => {
      response.set("Cache-Control", "no-store");
      this.#describe(id)
        .then((told) =>
          told ? response.json({ ...told, trustsEveryProxy: trustsEveryProxy(httpNode) }) : response.sendStatus(404),
        )
        .catch(next);
    };
    const secret: RequestHandler<{ id: string }> = ({ params: { id } }, response) => {
      const brought = this.#nodes.get(id)?.takeSecret();
      response.set("Cache-Control", "no-store");
      if (brought === undefined) response.sendStatus(404);
      else response.json({ secret: brought });
    };
    httpAdmin.get("/webhook-trigger/:id/standing", auth.needsPermission(permissions.read), standing);
    httpAdmin.post("/webhook-trigger/:id/secret", auth.needsPermission(permissions.write), secret);
  }

  async #describe(id: string): Promise<NodeReport | undefined> {
    const health = this.#nodes.get(id);
    if (!health?.running) return undefined;
    const counts = (await this.#metrics.read(new Set([id]))).get(id);
    if (!counts) return undefined;
    const { handshake: handshakes, duplicate: duplicates, ...others } = counts;
    return { ...others, handshakes, duplicates, ...health.report };
  }

  /** A node is being deployed. */
  begin({ id }: Node): void {
    this.#nodes.begin(id);
  }

  showBreach(node: Node, { rule, value }: Breach): void {
    const text = this.#RED._(`rules.${rule}`, { value });
    node.status({ fill: "red", shape: "ring", text });
    node.error(text);
  }

  showSwitchedOff(node: Node): void {
    const text = this.#RED._("status.switchedOff");
    node.status({ fill: "red", shape: "ring", text });
    node.warn(text);
  }

  run(running: RunningNode): void {
    const health = this.#nodes.get(running.node.id);
    if (health) health.running = running;
  }

  showBlocked({ node, path }: RunningNode): void {
    const text = this.#RED._("status.waiting", { path });
    node.status({ fill: "yellow", shape: "ring", text });
    node.warn(text);
  }

  open({ node: { id } }: RunningNode, { hours, store }: Expectation): void {
    const health = this.#nodes.get(id);
    if (health) health.isOpen = true;
    this.#inactivity.begin(id, hours, store);
    this.#statuses.renew(id);
  }

  close({ node: { id } }: RunningNode): void {
    const health = this.#nodes.get(id);
    if (health) health.isOpen = false;
    this.#inactivity.end(id);
  }
}
