// The admin API by which nodes are paused and resumed, and by which the editor knows what waits for them.

import type { RequestHandler } from "express";
import type { Node, NodeAPI } from "node-red";
import { type DeliveryQueue, type Load, type Pause, StoreError } from "../../src/deliveries/queue";
import { permissions } from "../../src/admin/permissions";

/** The queues of nodes with guaranteed delivery. */
export interface Queues {
  /** Of the open nodes, what waits for them. */
  readonly loads: ReadonlyMap<string, Load>;
  readonly queue: DeliveryQueue;
  /** Why a node starts no flow; nothing where it does. */
  paused(node: string): Pause | undefined;
}

/** RFC 9110 §15.5.10: what is asked does not fit the state of what it is asked of. */
const conflict = 409;

export function serveQueueControl(RED: NodeAPI, queues: Queues): void {
  const { httpAdmin, auth } = RED;
  const [mayRead, mayWrite] = [auth.needsPermission(permissions.read), auth.needsPermission(permissions.write)];

  const control =
    (act: (queue: DeliveryQueue, node: string) => Promise<void>): RequestHandler<{ id: string }> =>
    ({ params: { id } }, response) => {
      response.set("Cache-Control", "no-store");
      if (!(RED.nodes.getNode(id) as Node | null)) return void response.sendStatus(404);
      if (!queues.loads.has(id)) {
        return void response.status(conflict).json({ code: "notGuaranteed", message: RED._("queue.notGuaranteed") });
      }
      act(queues.queue, id)
        .then(() => response.sendStatus(204))
        .catch((error: unknown) => {
          const trouble = error instanceof StoreError ? error.trouble : "broken";
          response.status(503).json({ code: trouble, message: RED._(`status.store.${trouble}`) });
        });
    };

  httpAdmin.get("/webhook-trigger/queues", mayRead, (_request, response) => {
    // A load is told a little later than its node is paused.
    const all = [...queues.loads].map(([node, load]) => ({ node, ...load, pause: queues.paused(node) ?? null }));
    response.set("Cache-Control", "no-store").json({ queues: all });
  });
  httpAdmin.post("/webhook-trigger/:id/pause", mayWrite, control((queue, node) => queue.pause(node))); // prettier-ignore
  httpAdmin.post("/webhook-trigger/:id/resume", mayWrite, control((queue, node) => queue.resume(node))); // prettier-ignore
}
