// What becomes of a reply that the flow owes: who is told, and when the flow counts as done.

import type { ServerResponse } from "node:http";
import type { Ending } from "./deliveries/flow";
import { statusError } from "./deliveries/state";
import type { Reservation } from "./deliveries/repeats";
import type { Endpoint } from "./endpoint";
import { type Problem, problems } from "./problem";
import type { Creditor, Dropped, Settlement } from "./reply/owed";
import type { Recording } from "./reply/recording";

/** Whose reply it is. */
interface Debtor {
  /** The id of the message. */
  readonly id: string;
  /** When the request was met, as `performance.now()` tells time. */
  readonly start: number;
  readonly response: ServerResponse;
}

/** For as long as a reply is owed, nothing of what has come is kept in memory for it. */
export class Debt implements Creditor {
  /** What its reply says of the flow: whatever it is, the sender knows. */
  readonly ending: Promise<Ending>;
  readonly #receiver: Endpoint;
  readonly #debtor: Debtor;
  readonly #reservation: Reservation | undefined;
  readonly #recording: Recording | undefined;
  #end: (ending: Ending) => void = () => undefined;

  constructor(
    receiver: Endpoint,
    debtor: Debtor,
    reservation: Reservation | undefined,
    recording: Recording | undefined,
  ) {
    this.#receiver = receiver;
    this.#debtor = debtor;
    this.#reservation = reservation;
    this.#recording = recording;
    this.ending = new Promise((resolve) => (this.#end = resolve));
  }

  settled(settlement: Settlement, failure?: { problem: Problem; cause: unknown }): void {
    const { id, start, response } = this.#debtor;
    if (settlement === "answered") {
      void this.#reservation?.settle(this.#recording?.answer);
      const contentLength = Number(response.getHeader("Content-Length") ?? 0);
      this.#receiver.replied({ id, milliseconds: performance.now() - start, contentLength });
    } else {
      void this.#reservation?.release();
      if (failure?.problem === problems.flowLate) this.#receiver.unanswered();
      else if (failure) this.#receiver.refused(failure.problem, undefined, failure.cause);
    }
    const ending = endingBy(settlement, response.statusCode);
    this.#end(ending);
    const told = settlement === "gone" ? {} : { status: response.statusCode };
    // Where nothing may be lost, what the state is depends on more.
    const state = this.#receiver.custody ? {} : ({ state: ending.as === "done" ? ending.as : "failed" } as const);
    this.#receiver.records?.answered(id, { ...told, ...state, milliseconds: performance.now() - start });
  }

  dropped(why: Dropped): void {
    this.#receiver.dropped(this.#debtor.id, why);
  }
}

/** RFC 9110 §15.6: after an answer of 500 or more, the sender sends the delivery again. */
export function endingBy(settlement: Settlement, status: number): Ending {
  if (settlement === "answered" && status < 500) return { as: "done" };
  const error = settlement === "gone" ? settlement : statusError(status);
  return { as: "failed", error, isTold: true };
}
