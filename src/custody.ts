// The deliveries of an endpoint that never loses one.

import type { Kept } from "./deliveries/delivery";
import type { Keeper } from "./deliveries/keeper";
import type { Told } from "./deliveries/flow";
import { StoreError } from "./deliveries/store";
import type { Delivery } from "./endpoint";
import { type Problem, problems } from "./problem";
import type { FlowReply } from "./http/flow-reply";
import type { Outcome, Recorder, Sent } from "./recorder";

/** What comes with a request, besides what is kept of it. */
export interface First {
  readonly delivery: Delivery;
  /** Where the flow is to reply. */
  readonly owed?: FlowReply | undefined;
  /** What its sender was told, as soon as it was. */
  told?(): Told | undefined;
}

export class Custody {
  readonly #keeper: Keeper<First>;
  readonly #recorder: Recorder;

  constructor(keeper: Keeper<First>, recorder: Recorder) {
    this.#keeper = keeper;
    this.#recorder = recorder;
  }

  /**
   * Keeps a delivery safely. Then `begin` is due, or `withdraw`.
   *
   * @param told what its sender is told then
   * @returns what is kept; or why that is not possible, and its sender has to keep it
   */
  async keep(delivery: Delivery, sent: Sent, told: Pick<Outcome, "answer">): Promise<Kept | Problem> {
    return this.keepAgain(this.#recorder.record(delivery, sent, { state: "running", ...told }));
  }

  /** The same for what was kept before, and is to be a delivery of its own now. */
  async keepAgain(kept: Kept): Promise<Kept | Problem> {
    try {
      await this.#keeper.keep(kept);
      return kept;
    } catch (error) {
      if (error instanceof StoreError) return problems.storeTroubled;
      throw error;
    }
  }

  /** Has the flow started: now, or when the flows run. */
  begin(kept: Kept, first: First): void {
    this.#keeper.begin(kept, first);
  }

  /** What the flow has failed with for good was dealt with by somebody else. */
  recount(node: string): void {
    this.#keeper.recount(node);
  }

  /** The flow is not to be started after all. */
  withdraw(kept: Kept): void {
    this.#keeper.withdraw(kept);
  }
}
