// Which visits there are of a message.

import type { Node, NodeMessage } from "node-red";
import type { Visit } from "./followed";

/** Visits by the message itself: a node may change its id, or take it away, before it is done. */
export class Visits {
  readonly #visits = new WeakMap<NodeMessage, Visit[]>();

  /** The one at a node; where that has taken the place of another, the one that was on its way to the other. */
  find(msg: NodeMessage, node: Node, fits: (visit: Visit) => boolean): Visit | undefined {
    const visits = this.#visits.get(msg);
    const visit = visits?.find((each) => each.node === node && fits(each));
    if (visit) return visit;
    const carried = visits?.find((each) => each.id === node.id && each.stage === "routed" && fits(each));
    return carried && Object.assign(carried, { node });
  }

  /** @returns the visit */
  add(msg: NodeMessage, visit: Visit): Visit {
    const visits = this.#visits.get(msg);
    if (!visits) this.#visits.set(msg, [visit]);
    else if (!visits.includes(visit)) visits.push(visit);
    return visit;
  }

  delete(msg: NodeMessage, visit: Visit): void {
    const visits = this.#visits.get(msg);
    const index = visits?.indexOf(visit) ?? -1;
    if (index !== -1) visits?.splice(index, 1);
    if (visits?.length === 0) this.#visits.delete(msg);
  }
}
