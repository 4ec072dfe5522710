// Replays: starts a flow again with a stored delivery.

import type { NodeAPI } from "node-red";
import { setImmediate as nextTurn } from "node:timers/promises";
import { redactQuery } from "../auth/redactor";
import type { StoredDelivery } from "../deliveries/delivery";
import { findDelivery, listPage } from "../deliveries/lists";
import { maxShownBytes } from "../deliveries/states";
import type { AttemptResult, Change, DeliveryList, Position } from "../deliveries/queue";
import { lacksBody, repeatDelivery, restoreDelivery } from "../deliveries/record";
import type { FailureGroup } from "../deliveries/failures";
import { isReplayable, lateReply, type ReplayReason, startsFlow } from "../deliveries/states";
import { Problem } from "../request/problem";
import type { DeployGate } from "./deploy-gate";
import type { Endpoint, EndpointRegistry } from "./endpoint";
import { FlowReply, toChange } from "./flow-reply";
import { composePayload } from "./message";

/** A payload that the user has edited. */
export interface Changed {
  readonly payload: unknown;
}

/** How many deliveries of a group one call replays, and how long it begins new ones, in ms. */
const maxGroupReplays = 100;
const maxGroupMs = 1000;

/** How far a replay of a group has come. */
interface GroupProgress {
  replayed: number;
  /** Those that were not replayed, by the reason. */
  readonly left: Map<ReplayReason, number>;
  /** Where it goes on; missing at the end. */
  next: Position | undefined;
}

export class Replays {
  readonly #RED: NodeAPI;
  readonly #registry: EndpointRegistry;
  readonly #deployGate: DeployGate;

  /** The replays of groups: two at once would start a flow twice with the same delivery. */
  #groups: Promise<unknown> = Promise.resolve();

  constructor(RED: NodeAPI, registry: EndpointRegistry, deployGate: DeployGate) {
    this.#RED = RED;
    this.#registry = registry;
    this.#deployGate = deployGate;
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
  ): Promise<{ id: string } | ReplayReason> {
    const { delivery } = stored;
    if (!isReplayable(delivery.state)) return startsFlow(delivery.state) ? "unfinished" : "notAccepted";
    if (!changed && lacksBody(stored)) return "bodyMissing";
    const endpoint = this.#registry.findOfNode(delivery.node);
    if (!endpoint) return "notOpen";
    const again = repeatDelivery(stored, endpoint.newId(), changed, endpoint.authenticator.redactor);
    const outcome = await this.#start(endpoint, again);
    if (outcome) return outcome;
    const { id } = again.delivery;
    // The replay takes its place.
    if (delivery.state === "failed") await list.update(delivery.id, { state: "succeeded", replayedBy: id }).catch(() => undefined); // prettier-ignore
    return { id };
  }

  /**
   * Replays deliveries of a group, the oldest first, as many as one call may.
   *
   * @param group those that came until `last`: what fails after that is not replayed again
   * @param after where an earlier call has ended
   * @throws {StoreError} if it has replayed nothing
   */
  async replayGroup(
    lists: readonly DeliveryList[],
    group: Omit<FailureGroup, "count">,
    after: Position,
  ): Promise<GroupProgress> {
    const progress: GroupProgress = { replayed: 0, left: new Map(), next: after };
    const replaying = this.#groups.then(async () => this.#replaySome(lists, group, progress));
    this.#groups = replaying.catch(() => undefined);
    const isDone = await replaying.catch((error: unknown) => {
      if (progress.replayed === 0) throw error;
      return false;
    });
    return isDone ? { ...progress, next: undefined } : progress;
  }

  /** @returns whether nothing is left, or the rest would not be replayed, either */
  async #replaySome(
    lists: readonly DeliveryList[],
    { node, error, last }: Omit<FailureGroup, "count">,
    progress: GroupProgress,
  ): Promise<boolean> {
    const query = { node, state: "failed", error, after: progress.next, limit: maxGroupReplays } as const;
    const { deliveries, next } = await listPage(lists, query);
    // Without the search, which may take as long: each call gets on.
    const end = performance.now() + maxGroupMs;
    for (const { at, id } of deliveries) {
      if (performance.now() >= end) return false;
      if (at > last) return true;
      progress.next = { at, id };
      const found = await findDelivery(lists, id);
      // Somebody may have replayed it meanwhile.
      if (found?.stored.delivery.state !== "failed") continue;
      const outcome = await this.replay(found.stored, found.list, undefined);
      if (typeof outcome === "object") progress.replayed++;
      else progress.left.set(outcome, (progress.left.get(outcome) ?? 0) + 1);
      if (outcome === "notOpen" || outcome === "notKept") return true;
      // Flows and requests have their turn.
      await nextTurn();
    }
    return next === undefined;
  }

  /**
   * The payload that the flow would get, to be edited.
   *
   * @returns nothing where it is no JSON, too long, or has a secret in it: shown, it would be replaced by its mark
   */
  async payloadToShow(stored: StoredDelivery): Promise<Changed | undefined> {
    const endpoint = this.#registry.findOfNode(stored.delivery.node);
    if (!endpoint || !isReplayable(stored.delivery.state)) return undefined;
    if (lacksBody(stored) || stored.body.length > maxShownBytes || stored.delivery.hidden) return undefined;
    const restored = await restoreDelivery(stored, maxShownBytes, false).catch(() => undefined);
    if (!restored || restored instanceof Problem || Buffer.isBuffer(restored.body)) return undefined;
    const req = { ...restored.req, query: redactQuery(restored.req.query) };
    const payload = composePayload({ ...restored, req }, endpoint.config);
    // Decoding may reveal a secret that its bytes did not show.
    return endpoint.authenticator.redactor.contains(JSON.stringify(payload)) ? undefined : { payload };
  }

  async #start(endpoint: Endpoint, stored: StoredDelivery): Promise<ReplayReason | undefined> {
    const { node, config, maxBodyBytes, guaranteed, recorder } = endpoint;
    // The flow may change the bytes that it gets.
    const own = { ...stored, body: Buffer.from(stored.body) };
    const restored = await restoreDelivery(own, maxBodyBytes, config.rawBody).catch(() => undefined);
    if (!restored || restored instanceof Problem) return "unreadable";
    if (this.#deployGate.isClosed || this.#RED.nodes.getNode(node.id) !== node) return "notOpen";
    if (guaranteed) return (await guaranteed.enqueue(stored)) && "notKept";
    const { method } = stored.delivery.head;
    const owed = FlowReply.detached(this.#RED.httpNode, method, config.reply);
    const { attempt: _, ...webhook } = restored.webhook;
    recorder?.addReplay(stored, owed === undefined ? "succeeded" : "running");
    endpoint.deliver({ ...restored, webhook }, owed);
    if (owed) endpoint.owed.add(owed);
    void owed?.ending.then((result) => recorder?.update(stored.delivery.id, toReplayChange(result)));
    return undefined;
  }
}

/** The result of a replay whose flow replies. */
function toReplayChange(result: AttemptResult): Change {
  // A late flow may have reported an error before, which says more.
  const hasError = result.as === "failed" && result.error !== lateReply;
  return { ...toChange(result), ...(hasError && { error: result.error }) };
}
