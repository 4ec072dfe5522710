// What becomes of a reply that the flow owes: who is told, and when the flow counts as done.

import type { IncomingMessage, ServerResponse } from "node:http";
import { isWithoutContent } from "./config/handling";
import type { Owed } from "./custody";
import type { Ending } from "./deliveries/flow";
import type { Change } from "./deliveries/store";
import { gone, statusError } from "./deliveries/state";
import type { Reservation } from "./deliveries/repeats";
import type { Endpoint } from "./endpoint";
import { type Problem, problems } from "./problem";
import { notedOf } from "./reply/acceptance";
import { type Creditor, type Dropped, OwedReply, type Settlement } from "./reply/owed";
import { Recording } from "./reply/recording";

/** Whose reply it is. */
interface Debtor {
  /** The id of the message. */
  readonly id: string;
  /** When the request was met, as `performance.now()` tells time. */
  readonly start: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** @param timeout how long the reply may be owed, in ms */
export function owedBy(
  receiver: Endpoint,
  debtor: Debtor,
  timeout: number,
  reservation: Reservation | undefined,
): Owed {
  const isWanted = reservation !== undefined || receiver.records !== undefined;
  const recording = isWanted ? new Recording(reservation !== undefined) : undefined;
  const debt = new Debt(receiver, debtor, reservation, recording);
  const reply = new OwedReply(debtor.request, debtor.response, timeout, debt, recording);
  return { reply, ending: debt.ending };
}

/** For as long as a reply is owed, nothing of what has come is kept in memory for it. */
class Debt implements Creditor {
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
    const ending = endingBy(settlement, failure?.problem.status ?? response.statusCode);
    const milliseconds = performance.now() - start;
    const told = { milliseconds, ...(settlement !== gone && { status: response.statusCode }) };
    this.#end({ ...ending, told });
    // Where nothing may be lost, what the state is depends on more.
    const state = this.#receiver.custody ? {} : ({ state: ending.as === "done" ? ending.as : "failed" } as const);
    const answer = settlement === gone ? {} : this.#answer(failure);
    this.#receiver.records?.answered(id, { ...told, ...answer, ...state });
  }

  /** What its caller was told, as it is noted for whoever looks. */
  #answer(failure?: { problem: Problem }): Pick<Change, "answer"> {
    const { records, gate } = this.#receiver;
    if (!records || isWithoutContent(this.#debtor.response.statusCode)) return {};
    // After a part of the flow's answer, no problem can be told any more.
    const body = failure && !this.#recording?.hasBegun ? failure.problem.body : this.#recording?.beginning;
    return notedOf(body ?? "", gate.secrecy);
  }

  dropped(why: Dropped): void {
    this.#receiver.dropped(this.#debtor.id, why);
  }
}

/** RFC 9110 §15.6: after an answer of 500 or more, the sender sends the delivery again. */
export function endingBy(settlement: Settlement, status: number): Ending {
  if (settlement === "answered" && status < 500) return { as: "done" };
  const error = settlement === gone ? gone : statusError(status);
  return { as: "failed", error, isTold: true };
}
