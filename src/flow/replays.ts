// Replays: starts a flow again with a stored delivery.

import type { NodeAPI } from "node-red";
import { redactQuery } from "../auth/redactor";
import type { StoredDelivery } from "../deliveries/delivery";
import { maxShownBytes } from "../deliveries/lists";
import type { AttemptResult, Change, DeliveryList } from "../deliveries/queue";
import { isReplayable, lateAnswer, type Obstacle } from "../deliveries/summary";
import { Problem } from "../request/problem";
import type { DeployGate } from "./deploy-gate";
import type { OpenNode } from "./endpoint";
import type { OpenNodes } from "./endpoints";
import { FlowReply } from "./flow-reply";
import { createMessage, composePayload } from "./message";

/** A payload that the user has edited. */
export interface Changed {
  readonly payload: unknown;
}

export class Replays {
  readonly #RED: NodeAPI;
  readonly #opened: OpenNodes;
  readonly #deployGate: DeployGate;
  readonly #limit: number;

  constructor(RED: NodeAPI, opened: OpenNodes, deployGate: DeployGate, limit: number) {
    this.#RED = RED;
    this.#opened = opened;
    this.#deployGate = deployGate;
    this.#limit = limit;
  }

  /**
   * Starts the flow of the node that received the delivery.
   *
   * @param list that contains the delivery
   * @param changed an edited payload; missing: the original one
   * @returns the id of the new delivery
   */
  async replay(
    stored: StoredDelivery,
    list: DeliveryList,
    changed: Changed | undefined,
  ): Promise<{ id: string } | Obstacle> {
    const { delivery } = stored;
    if (!isReplayable(delivery.state)) return "notAccepted";
    if (!changed && lacksBody(stored)) return "bodyMissing";
    const open = this.#opened.serving(delivery.node);
    if (!open) return "notOpen";
    const again = open.recorder.replay(stored, this.#RED.util.generateId(), changed);
    const outcome = await this.#start(open, again);
    if (outcome) return outcome;
    // The replay takes its place.
    if (delivery.state === "failed") await list.update(delivery.id, { state: "succeeded" }).catch(() => undefined);
    return { id: again.delivery.id };
  }

  /**
   * The payload that the flow would get, to be edited.
   *
   * @returns nothing where it is no JSON, or too long
   */
  async payloadToShow(stored: StoredDelivery): Promise<Changed | undefined> {
    if (!isReplayable(stored.delivery.state) || lacksBody(stored) || stored.body.length > maxShownBytes)
      return undefined;
    const open = this.#opened.serving(stored.delivery.node);
    const restored = await open?.recorder.restore(stored, maxShownBytes, false).catch(() => undefined);
    if (!open || !restored || restored instanceof Problem || Buffer.isBuffer(restored.body)) return undefined;
    const req = { ...restored.req, query: redactQuery(restored.req.query) };
    const payload = composePayload({ ...restored, req }, open.config);
    // Decoding may reveal a secret that its bytes did not show.
    return open.recorder.redactor.contains(JSON.stringify(payload)) ? undefined : { payload };
  }

  async #start({ node, config, endpoint, recorder }: OpenNode, stored: StoredDelivery): Promise<Obstacle | undefined> {
    // A redacted number makes it invalid JSON.
    const restored = await recorder.restore(stored, this.#limit, config.rawBody).catch(() => undefined);
    if (!restored || restored instanceof Problem) return "unreadable";
    if (this.#deployGate.isClosed || this.#RED.nodes.getNode(node.id) !== node) return "notOpen";
    const { guaranteed, records } = endpoint;
    if (guaranteed) return (await guaranteed.enqueue(stored)) && "notKept";
    const { method } = stored.delivery.head;
    const owed =
      config.reply.by === "flow" ? FlowReply.detached(this.#RED.httpNode, method, config.reply.timeout) : undefined;
    const { attempt: _, ...webhook } = restored.webhook;
    records?.replayed(stored, owed === undefined ? "succeeded" : "running");
    node.send(createMessage(this.#RED, node, { ...restored, webhook }, config, owed));
    void owed?.ending.then((result) => records?.answered(stored.delivery.id, toChange(result)));
    return undefined;
  }
}

/** The result of a replay whose flow replies. */
function toChange(result: AttemptResult): Change {
  if (result.as !== "failed") return { state: "succeeded" };
  // A late flow may have reported an error before, which says more.
  return { state: "failed", ...(result.error !== lateAnswer && { error: result.error }) };
}

function lacksBody({ delivery, body }: StoredDelivery): boolean {
  return body.length === 0 && delivery.size > 0;
}
