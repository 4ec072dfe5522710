// What became of the requests of a node, for its status and its form.

import type { Acceptance } from "../../src/endpoint";
import type { RefusedRequest, Standing } from "../../src/admin/standing";
import { isLoopback } from "../../src/trust/limits";
import type { Admission, Credential } from "../../src/trust/signature/why";
import type { Counts } from "./counts";

export class Tally {
  readonly #counts: Counts;
  accepted = 0;
  refused = 0;
  handshakes = 0;
  duplicates = 0;
  withoutKey = 0;
  unanswered = 0;
  /** When a request last came that was let in by the one and the other, in ms since the epoch. */
  readonly used: Partial<Record<Credential, number>> = {};
  #last: Standing["last"];
  #lastRefused: RefusedRequest | undefined;
  #credential: Credential | undefined;
  /** What the sender has brought, until somebody fetches it. */
  #secret: string | undefined;
  /** Whether requests came from this computer itself, and from others. */
  #seen = { here: false, elsewhere: false };

  /** @param counts what is counted over deploys */
  constructor(counts: Counts) {
    this.#counts = counts;
  }

  /** @returns when it was, in ms since the epoch */
  accept({ admission, ip, lacksKey }: Acceptance): number {
    this.accepted++;
    this.#counts.accepted++;
    if (lacksKey) this.withoutKey++;
    const at = this.#use(admission, ip);
    this.#last = { at, outcome: "accepted" };
    return at;
  }

  /** @returns when it was, in ms since the epoch */
  repeat({ admission, ip }: Acceptance): number {
    this.duplicates++;
    this.#counts.repeated++;
    const at = this.#use(admission, ip);
    this.#last = { at, outcome: "repeated" };
    return at;
  }

  /** The flow has not answered one that was accepted. */
  missAnswer(): void {
    this.unanswered++;
    this.#counts.unanswered++;
    this.#last = { at: Date.now(), outcome: "unanswered" };
  }

  /** @returns when it was, in ms since the epoch */
  #use({ credential, isTrial }: Admission, ip: string): number {
    const at = Date.now();
    if (!isTrial) {
      this.used[(this.#credential = credential)] = this.#counts.acceptedAt = at;
      this.#see(ip);
    }
    return at;
  }

  #see(ip: string): void {
    this.#seen[isLoopback(ip) ? "here" : "elsewhere"] = true;
  }

  greet(secret: string | undefined): void {
    this.handshakes++;
    this.#counts.handshakes++;
    // Whoever comes later may be a stranger, and must not put another in its place.
    this.#secret ??= secret;
    this.#last = { at: Date.now(), outcome: "handshake" };
  }

  /**
   * @param problem by its name
   * @param ip where it came from, if that is known
   */
  refuse(problem: string, ip: string | undefined): void {
    this.#counts.refuse(problem);
    if (ip !== undefined) this.#see(ip);
    this.refused++;
    this.#last = { at: Date.now(), outcome: "refused" };
  }

  /** Keeps why the last one was refused. */
  explain(refused: RefusedRequest): void {
    this.#lastRefused = refused;
  }

  get hasSecret(): boolean {
    return this.#secret !== undefined;
  }

  /** Hands out what the sender has brought: once. */
  takeSecret(): string | undefined {
    const secret = this.#secret;
    this.#secret = undefined;
    return secret;
  }

  /** @param hasTwo whether there are two secrets or tokens */
  standing(hasTwo: boolean): Standing {
    const { accepted, refused, handshakes, duplicates, withoutKey, unanswered, hasSecret } = this;
    return {
      ...{ accepted, refused, handshakes, duplicates, withoutKey, unanswered, hasSecret },
      hasOnlyLoopback: this.#seen.here && !this.#seen.elsewhere,
      ...(this.#last && { last: this.#last }),
      ...(this.#lastRefused && { lastRefused: this.#lastRefused }),
      ...(hasTwo && this.#credential && { credential: this.#credential }),
    };
  }
}
