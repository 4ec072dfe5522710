// The keys of deliveries, in a server that several instances share.

import { randomUUID } from "node:crypto";
import {
  type Candidate,
  type FirstAnswer,
  type Found,
  longestAnswer,
  type Duplicates,
  type Reservation,
} from "../duplicates";
import { outcomeOf, Outcomes } from "./outcomes";
import { release, reserve, settle } from "./duplicate-scripts";
import type { Server } from "./server";
import { mayBeDone } from "./troubles";

/**
 * Reservations of an instance that is no more are free again. Of keys that are settled there are as many as in memory,
 * and answers as long; those who wait at another instance are not told a body that is too long to be kept.
 */
export class SharedDuplicates implements Duplicates {
  readonly #server: Server;
  readonly #outcomes: Outcomes;

  constructor(server: Server) {
    this.#server = server;
    this.#outcomes = new Outcomes(server);
  }

  async reserve(candidate: Candidate): Promise<Found> {
    const place = `${candidate.endpoint} ${candidate.key}`;
    const token = randomUUID();
    const found = await this.#reserved(place, candidate.id, token);
    if (!found) return new SharedReservation(candidate, place, token, this.#server, this.#outcomes);
    const [id, holder, told] = found;
    const outcome = told ? outcomeOf(told) : this.#outcomes.wait(place, holder.toString());
    return { isFirst: false, id: id.toString(), outcome };
  }

  async #reserved(place: string, id: string, token: string): Promise<(typeof reserve)["gives"]> {
    try {
      return await this.#server.ask(reserve, [place, id, token]);
    } catch (error) {
      // Who was told so sends it again, and needs the key.
      if (mayBeDone(error)) void this.#server.surely(release, [place, token]);
      throw error;
    }
  }

  /** Nobody learns anything any more. */
  close(): void {
    this.#outcomes.close();
  }
}

class SharedReservation implements Reservation {
  readonly isFirst = true;
  readonly #candidate: Candidate;
  readonly #place: string;
  readonly #token: string;
  readonly #server: Server;
  readonly #outcomes: Outcomes;
  #isOver = false;

  constructor(candidate: Candidate, place: string, token: string, server: Server, outcomes: Outcomes) {
    this.#candidate = candidate;
    this.#place = place;
    this.#token = token;
    this.#server = server;
    this.#outcomes = outcomes;
    outcomes.hold(token);
  }

  /** Never rejected: what the server does not take now, it is told when it is back. */
  async settle(answer?: FirstAnswer): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const keptFor = answer && answer.status >= 500 ? 0 : Math.ceil(this.#candidate.keptFor);
    const body = answer?.body && answer.body.length <= longestAnswer ? [answer.body] : [];
    const told = answer ? [answer.status, JSON.stringify(answer.fields), ...body] : [];
    const telling = this.#server.surely(settle, [this.#place, this.#token, keptFor, ...told]);
    this.#outcomes.tell(this.#token, { answer });
    await telling;
  }

  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const telling = this.#server.surely(release, [this.#place, this.#token]);
    this.#outcomes.tell(this.#token, "released");
    await telling;
  }
}
