// The flow behind an endpoint, as those know it who look after its deliveries.

import type { RetryPolicy } from "../config/handling";
import type { Kept } from "./delivery";
import type { Change } from "./store";

/** What the sender was told, which is not known yet when the flow is started. */
export type Told = Pick<Change, "status" | "milliseconds">;

/** Why the flow has failed. */
export interface Failed {
  readonly error: string;
  /** Whether the sender knows, and so sends the delivery again by itself. */
  readonly isTold?: boolean;
  readonly told?: Told | undefined;
}

/** How a flow came to its end with a message. */
export type Ending = { readonly told?: Told | undefined } & (
  | { readonly as: "succeeded" }
  | ({ readonly as: "failed" } & Failed)
  /** A deploy has ended a node that still had it. */
  | { readonly as: "lost" }
);

/** How the deliveries of an endpoint fare. */
export interface Fares {
  /** Those that the flow has, in this process. */
  running: number;
  /** Those that it is to be started with again, as far as this process has them in memory. */
  waiting: number;
  /** Those that it has failed with for good. */
  failed: number;
}

/** The flow behind an endpoint, for as long as its node runs. */
export interface Flow<First> {
  readonly retry: RetryPolicy;
  /**
   * Starts the flow. Never rejects.
   *
   * @param first what came with the request; missing when there is no more of it than what was kept
   */
  start(kept: Kept, first: First | undefined): Promise<Ending>;
  fared(fares: Fares): void;
  /**
   * It has failed with a delivery for good.
   *
   * @param attempts how many it had
   * @param error the last one; or `interrupted`
   */
  gaveUp(id: string, attempts: number, error: string): void;
  /** It is started with deliveries that it had not finished, or that another instance had. */
  redelivered(number: number): void;
}

/** A start of the flow that the store knows of. */
export interface Start<First> {
  readonly kept: Kept;
  readonly first?: First | undefined;
}
