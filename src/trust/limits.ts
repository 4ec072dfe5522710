// From where requests may come, and how many.

import type { IncomingMessage } from "node:http";
import type { Handling } from "../config/handling";
import { type Problem, problems } from "../problem";
import { AllowedAddresses } from "./addresses";
import { MemoryRateCounter, type RateCounter, RateLimit } from "./rates";
import type { StandIns } from "./stand-ins";

/** What the limits of all endpoints have in common. */
export class Limiting {
  readonly counter: RateCounter;
  readonly standIns: StandIns;
  /**
   * What became of requests that were counted: they are judged again after a deploy, and where somebody in front looks
   * for their body.
   */
  readonly judged = new WeakMap<object, Problem | "within">();

  constructor(standIns: StandIns, counter: RateCounter = new MemoryRateCounter()) {
    this.standIns = standIns;
    this.counter = counter;
  }
}

type Wanted = Pick<Handling, "allowFrom" | "rateLimit">;

/** The limits of one endpoint: of a request that is beyond them, nothing but where it comes from is looked at. */
export class Limits {
  readonly #addresses: AllowedAddresses;
  readonly #rate: RateLimit;
  readonly #common: Limiting;

  /**
   * @param endpoint whose limits they are, over all deploys
   * @returns nothing where anybody may send as much as they like
   */
  static of(wanted: Wanted, endpoint: string, common: Limiting): Limits | undefined {
    return wanted.allowFrom.length === 0 && wanted.rateLimit === 0 ? undefined : new Limits(wanted, endpoint, common);
  }

  private constructor({ allowFrom, rateLimit }: Wanted, endpoint: string, common: Limiting) {
    this.#addresses = new AllowedAddresses(allowFrom);
    this.#rate = new RateLimit(rateLimit, endpoint, common.counter);
    this.#common = common;
  }

  /**
   * Tells why a request is refused, if it is beyond the limits. The editor's test requests come from this computer, which
   * need not be among the senders; they are not limited.
   *
   * @param ip the address of its sender
   */
  judge(request: IncomingMessage, ip: string): Problem | undefined {
    if (this.#common.standIns.isFromUs(request.socket)) return undefined;
    if (!this.#addresses.allow(ip)) return problems.addressNotAllowed;
    const { judged } = this.#common;
    let verdict = judged.get(request);
    if (!verdict) judged.set(request, (verdict = this.#rate.take(ip) ?? "within"));
    return verdict === "within" ? undefined : verdict;
  }
}
