// How the nodes fare, for their forms in the editor.

import type { Node, NodeAPI } from "node-red";
import type { RequestHandler } from "express";
import { trustsEveryProxy } from "../../src/http/express";
import { permissions } from "./permissions";
import type { Report } from "./report";

export class Standings {
  readonly #RED: NodeAPI;
  readonly #reports = new WeakMap<Node, Report>();

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    const { httpAdmin, auth } = RED;
    const standing: RequestHandler<{ id: string }> = ({ params: { id } }, response) => {
      const report = this.#reportOf(id);
      response.set("Cache-Control", "no-store");
      if (report) response.json({ ...report.standing, trustsEveryProxy: trustsEveryProxy(RED.httpNode) });
      else response.sendStatus(404);
    };
    const secret: RequestHandler<{ id: string }> = ({ params: { id } }, response) => {
      const brought = this.#reportOf(id)?.takeSecret();
      response.set("Cache-Control", "no-store");
      if (brought === undefined) response.sendStatus(404);
      else response.json({ secret: brought });
    };
    httpAdmin.get("/webhook-trigger/:id/standing", auth.needsPermission(permissions.read), standing);
    httpAdmin.post("/webhook-trigger/:id/secret", auth.needsPermission(permissions.write), secret);
  }

  /** Remembers who reports of a node. */
  note(node: Node, report: Report): void {
    this.#reports.set(node, report);
  }

  #reportOf(id: string): Report | undefined {
    const node = this.#RED.nodes.getNode(id) as Node | null;
    return node ? this.#reports.get(node) : undefined;
  }
}
