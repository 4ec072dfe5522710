// The flow behind an endpoint that never loses a delivery.

import type { Node, NodeAPI } from "node-red";
import type { RetryPolicy } from "../../src/config/handling";
import { Custody, type First } from "../../src/custody";
import type { Kept } from "../../src/deliveries/delivery";
import type { Guarding } from "../../src/deliveries/duplicate-guard";
import type { Ending, Fares, Flow } from "../../src/deliveries/flow";
import type { DeployGate } from "../../src/http/deploy-gate";
import { FlowReply } from "../../src/http/flow-reply";
import { Problem } from "../../src/problem";
import type { Recorder } from "../../src/recorder";
import type { Completion } from "./completion";
import { messageOf, type Parts } from "./endpoint";
import { longestError } from "./followed";
import type { Storehouse } from "./storehouse";

/** What the flow of a node is made of. */
interface Means extends Pick<Parts, "config" | "gate" | "limit" | "report"> {
  deployGate: DeployGate;
  storehouse: Storehouse;
  recorder: Recorder;
  completion: Completion;
}

/** What a node has that never loses a delivery. */
export interface Durability {
  /** What its endpoint needs for that; nothing where it keeps no more of them, and only ends what it has kept. */
  custody?: Custody;
  guarding?: Guarding;
  /** Called when the node is closed. */
  close(): void;
}

/** Has the deliveries of a node kept, and its flow started with what is kept of them already. */
export function durabilityOf(RED: NodeAPI, node: Node, means: Means): Durability {
  const { config, storehouse, report, recorder } = means;
  const { keeper, guarding } = storehouse.kept;
  const custody = new Custody(keeper, recorder);
  const endListening = config.guaranteed ? storehouse.news.listen(report) : undefined;
  const leave = keeper.enter(node.id, new GuaranteedFlow(RED, node, means));
  const close = () => {
    leave();
    endListening?.();
  };
  return config.guaranteed ? { custody, guarding, close } : { close };
}

class GuaranteedFlow implements Flow<First> {
  readonly retry: RetryPolicy;
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #means: Means;

  constructor(RED: NodeAPI, node: Node, means: Means) {
    this.retry = means.config.retry;
    this.#RED = RED;
    this.#node = node;
    this.#means = means;
  }

  async start(kept: Kept, first: First | undefined): Promise<Ending> {
    const ending = await this.#run(kept, first);
    this.#means.report.ran(ending);
    return ending;
  }

  async #run(kept: Kept, first: First | undefined): Promise<Ending> {
    try {
      if (!first) return await this.#resend(kept);
      const ending = await this.#send(first);
      return { ...ending, told: ending.told ?? first.told?.() };
    } catch (error) {
      return { as: "failed", error: this.#redact(error instanceof Error ? error.message : typeof error) };
    }
  }

  fared(fares: Fares): void {
    this.#means.report.fared(fares);
  }

  gaveUp(id: string, attempts: number, error: string): void {
    this.#means.report.gaveUp(id, attempts, error);
  }

  redelivered(number: number): void {
    this.#means.report.redelivered(number);
  }

  async #resend(kept: Kept): Promise<Ending> {
    const { config, limit, deployGate, recorder } = this.#means;
    const { rawBody, reply } = config;
    const delivery = await recorder.restore(kept, limit, rawBody);
    if (delivery instanceof Problem) return { as: "failed", error: delivery.detail };
    // A deploy may have come meanwhile: the message is for the flow in the place of this one.
    const isRunning = !deployGate.isClosed && this.#RED.nodes.getNode(this.#node.id) === this.#node;
    if (!isRunning) return { as: "lost" };
    const { method } = kept.delivery.head;
    const owed = reply.by === "flow" ? FlowReply.detached(this.#RED.httpNode, method, reply.timeout) : undefined;
    return this.#send({ delivery, owed });
  }

  #send({ delivery, owed }: First): Promise<Ending> {
    const { config, completion } = this.#means;
    const message = messageOf(this.#RED, this.#node, delivery, config, owed);
    const ending = owed?.ending ?? completion.follow(delivery.id, this.#node, (error) => this.#redact(error));
    this.#node.send(message);
    return ending;
  }

  #redact(error: string): string {
    return this.#means.gate.redactor.redact(error).slice(0, longestError);
  }
}
