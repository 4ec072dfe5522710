// The flow of a node with guaranteed delivery.

import type { Node, NodeAPI } from "node-red";
import type { Authenticator } from "../auth/authenticator";
import { readRanges, redacted } from "../auth/redactor";
import type { Pace, WebhookConfig } from "../config/parse";
import { type Delivery, type IncomingDelivery, isPacked, type StoredDelivery } from "../deliveries/delivery";
import { breakerIntervalMs } from "../deliveries/attempt";
import { type AttemptResult, type Candidate, type Consumer, type DeliveryQueue, StoreError } from "../deliveries/queue";
import { type RecordedRequest, recordRequest, restoreDelivery, type SentRequest } from "../deliveries/record";
import { Problem, problems } from "../request/problem";
import type { Completion } from "./completion";
import type { DeployGate } from "./deploy-gate";
import { FlowReply, type OwedReplies } from "./flow-reply";
import { sendMessage } from "./message";
import type { Outcomes } from "./outcomes";

interface GuaranteedServices {
  readonly config: WebhookConfig;
  readonly authenticator: Authenticator;
  /** How many bytes a body may have. */
  readonly maxBodyBytes: number;
  readonly outcomes: Outcomes;
  readonly queue: DeliveryQueue;
  readonly deployGate: DeployGate;
  readonly completion: Completion;
  readonly owed: OwedReplies;
}

/** Stores deliveries before the reply, and starts the flow with them. Methods that store return a problem where that fails. */
export class GuaranteedFlow implements Consumer {
  readonly pace: Pace;
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #services: GuaranteedServices;
  #triedAt = -Infinity;

  constructor(RED: NodeAPI, node: Node, services: GuaranteedServices) {
    this.pace = services.config.pace;
    this.#RED = RED;
    this.#node = node;
    this.#services = services;
  }

  /** Stores a delivery; the queue starts its flow. */
  async store(
    delivery: IncomingDelivery,
    sent: SentRequest,
    answer: { answer?: string },
    key: Candidate | undefined,
  ): Promise<Problem | undefined> {
    const { delivery: recorded, body } = this.#record(delivery, sent);
    return this.enqueue({ delivery: { ...recorded, ...answer }, body }, key);
  }

  /** Stores a delivery whose flow the caller starts, since the sender waits so long for its reply; `end` follows. */
  async storeRunning(
    delivery: IncomingDelivery,
    sent: SentRequest,
    timeoutMs: number,
    key: Candidate | undefined,
  ): Promise<Problem | undefined> {
    const { queue } = this.#services;
    const pause = queue.paused(this.#node.id);
    if (pause === "manual" || (pause === "breaker" && !this.#mayTry())) return problems.paused;
    const { delivery: recorded, body } = this.#record(delivery, sent);
    const running = { ...recorded, state: "running" as const, maxAttempts: this.pace.attempts };
    return this.#add(() => queue.addRunning(running, body, timeoutMs, key));
  }

  /**
   * Follows a delivery whose flow is about to be started, and is to reply.
   *
   * @returns what to call once it was started: the reply is interrupted with the flow
   */
  follow(id: string): (reply: FlowReply) => void {
    // The reply says how it ended.
    const following = this.#follow(id, () => "");
    return (reply) => void following.then(({ as }) => as === "interrupted" && reply.interrupt());
  }

  end(id: string, result: AttemptResult): void {
    this.#services.queue.end(id, result).catch(() => undefined);
  }

  /** Also of a replay. */
  async enqueue({ delivery, body }: RecordedRequest, key?: Candidate): Promise<Problem | undefined> {
    return this.#add(() => this.#services.queue.add({ ...delivery, state: "queued", attempt: 0 }, body, key));
  }

  async start(stored: StoredDelivery): Promise<AttemptResult> {
    try {
      return await this.#run(stored);
    } catch (error) {
      return { as: "failed", error: this.#redact(error instanceof Error ? error.message : typeof error, stored) };
    }
  }

  ended({ id, webhook, state, attempt }: Delivery, result: AttemptResult): void {
    const { outcomes } = this.#services;
    const ended = { node: this.#node.id, id, caller: webhook?.caller, attempt };
    if (result.as !== "failed") return void outcomes.emit(`attempt:${result.as}`, ended);
    const { error, isSenderTold = false } = result;
    const isLast = state === "failed";
    outcomes.emit("attempt:failed", { ...ended, error, isLast, isGivenUp: isLast && !isSenderTold });
  }

  async #run(stored: StoredDelivery): Promise<AttemptResult> {
    const { config, maxBodyBytes, deployGate, owed } = this.#services;
    const { id, head } = stored.delivery;
    const delivery = await restoreDelivery(stored, maxBodyBytes, config.rawBody);
    if (delivery instanceof Problem) return { as: "failed", error: delivery.detail };
    // After a deploy in between, the message is for the node that came in place of this one.
    const isRunning = !deployGate.isClosed && this.#RED.nodes.getNode(this.#node.id) === this.#node;
    if (!isRunning) return { as: "interrupted" };
    const reply = FlowReply.detached(this.#RED.httpNode, head.method, config.reply);
    const send = () => sendMessage(this.#RED, this.#node, delivery, config, reply);
    if (!reply) {
      const following = this.#follow(id, (error) => this.#redact(error, stored));
      send();
      return following;
    }
    const interruptWithFlow = this.follow(id);
    send();
    interruptWithFlow(reply);
    owed.add(reply);
    return reply.ending;
  }

  async #follow(id: string, redact: (error: string) => string): Promise<AttemptResult> {
    const { completion, config } = this.#services;
    const { attemptTimeoutMs: timeoutMs, httpErrorsFail } = config;
    return completion.follow(id, { redact, timeoutMs, httpErrorsFail });
  }

  #record(delivery: IncomingDelivery, sent: SentRequest): RecordedRequest {
    return recordRequest(this.#node.id, this.#services.authenticator.redactor, delivery, sent, true);
  }

  /** With an open circuit breaker, one request per minute may start the flow. */
  #mayTry(): boolean {
    const now = performance.now();
    if (now - this.#triedAt < breakerIntervalMs) return false;
    this.#triedAt = now;
    return true;
  }

  async #add(act: () => Promise<void>): Promise<Problem | undefined> {
    try {
      await act();
      return undefined;
    } catch (error) {
      if (error instanceof StoreError) return problems.storeTroubled;
      throw error;
    }
  }

  /** The secrets of the node may be others than when the delivery came. */
  #redact(error: string, { delivery, body }: StoredDelivery): string {
    const earlier = isPacked(delivery) ? [] : readRanges(body, delivery.hidden ?? []);
    const left = this.#services.authenticator.redactor.redact(error);
    return earlier.reduce((rest, secret) => rest.replaceAll(secret, redacted), left);
  }
}
