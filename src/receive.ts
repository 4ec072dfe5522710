// The story of a request, from its head to the reply.

import type { ServerResponse } from "node:http";
import { Caller } from "./caller";
import type { Endpoint } from "./endpoint";
import type { Endpoints, Found } from "./endpoints";
import { Handover } from "./handover";
import { takeIn } from "./intake";
import { Interference, Problem, problems } from "./problem";
import { contentOf } from "./request/content";
import type { Arrival } from "./request/summary";
import { turn } from "./request/turn";
import type { Answer } from "./trust/answer";
import { type Entry, isAdmission, isClaim } from "./trust/gate";
import type { Admission } from "./trust/signature/why";

/**
 * Serves a request, from its head to the reply. Never rejects.
 *
 * @param passOn called instead of a reply when no endpoint has the path; and when the request has waited for a deploy,
 *   which may have put something in front of the endpoint
 * @returns when it is served, if that takes any time
 */
export function serve(
  arrival: Arrival,
  response: ServerResponse,
  endpoints: Endpoints<Endpoint>,
  passOn: () => void,
): Promise<void> | undefined {
  return new Reception(arrival, response, endpoints).meet(passOn);
}

/** A request that has nothing against it, as far as its head tells. */
type Promising = Exclude<Entry, Problem>;

/** One request on its way. */
class Reception {
  readonly #arrival: Arrival;
  readonly #response: ServerResponse;
  readonly #endpoints: Endpoints<Endpoint>;
  readonly #caller: Caller;
  readonly #start = performance.now();

  constructor(arrival: Arrival, response: ServerResponse, endpoints: Endpoints<Endpoint>) {
    this.#arrival = arrival;
    this.#response = response;
    this.#endpoints = endpoints;
    this.#caller = new Caller(arrival, response);
  }

  /** Decides by the head alone: a stranger cannot make us read or unpack anything, nor wait in a caller's place. */
  meet(passOn: () => void): Promise<void> | undefined {
    const found = this.#find();
    if (!found) {
      passOn();
      return undefined;
    }
    if (this.#caller.isGone) return undefined;
    if (found === "deploying") this.#caller.wait();

    const known = found === "deploying" ? this.#endpoints.lastKnown(this.#arrival.path) : found;
    const entry = known ? this.#begin(known) : problems.tokenMissing;
    const admitted = known && !(entry instanceof Problem) ? this.#admit(known, entry, found, passOn) : undefined;
    const mayWait = found === "deploying" && !(entry instanceof Problem && entry.name === problems.rateExceeded.name);
    const served = admitted ?? (mayWait ? this.#meetLater(known, passOn) : undefined);
    if (!served && entry instanceof Problem) this.#refuse(entry, known);
    // Whatever has failed, and be it what the request was passed on to: nothing gets past an endpoint.
    return served?.catch((error: unknown) => this.#refuse(problems.unforeseen, known, error));
  }

  /** What is being deployed may bring what lets the request in: only then is it known whose it is. */
  async #meetLater(known: Endpoint | undefined, passOn: () => void): Promise<void> {
    const caller = this.#arrival.request.socket;
    if (await this.#endpoints.settled({ caller, bytes: 0 }, "stranger")) passOn();
    else this.#refuse(problems.deploying, known);
  }

  /** Goes on with a promising request: when its turn on the connection has come, and the flows run. */
  async #admit(known: Endpoint, entry: Promising, found: Found<Endpoint>, passOn: () => void): Promise<void> {
    const { request } = this.#arrival;
    let current: Entry = entry;
    try {
      const earlier = turn(request, this.#response);
      if (earlier) await earlier;
      if (earlier && this.#caller.isGone) return;

      const endpoint = earlier ? this.#find() : found;
      if (!endpoint) return passOn();
      if (endpoint === "deploying") {
        // Of its body, no more is in memory than has come by itself.
        const outcome = await this.#deployed(request.readableLength, isAdmission(entry) ? "guest" : "claimant");
        return outcome instanceof Problem ? this.#refuse(outcome, known) : passOn();
      }
      if (this.#response.headersSent) throw new Interference("answered");
      if (endpoint !== known) current = this.#recheck(endpoint);
      const refusal = current instanceof Problem ? current : await this.#receive(endpoint, current);
      if (refusal) this.#refuse(refusal, known);
    } finally {
      if (!(current instanceof Problem) && isClaim(current)) current.drop();
    }
  }

  /**
   * Reads the body and, when all of it is here and proves what it has to, goes on with it.
   *
   * @returns why the request is refused; nothing when it is served
   */
  async #receive(endpoint: Endpoint, entry: Promising): Promise<Problem | undefined> {
    if (!isAdmission(entry) && !isClaim(entry)) return this.#caller.answer(entry, endpoint);
    const claim = isClaim(entry) ? entry : undefined;
    const bytes = await takeIn(this.#arrival, endpoint.limit, claim, this.#caller.letSend);
    // Whoever has answered meanwhile has had the rest of the body thrown away.
    if (this.#response.headersSent) throw new Interference("answered");
    if (bytes instanceof Problem) return bytes;
    this.#caller.bytes = bytes;
    return this.#conclude(bytes, isClaim(entry) ? entry.verdict(bytes) : entry, endpoint);
  }

  /** Hands over what may come in. While flows are being deployed it waits as it was sent. */
  async #conclude(
    bytes: Buffer,
    first: Admission | Answer | Problem,
    endpoint: Endpoint,
  ): Promise<Problem | undefined> {
    let [verdict, receiver] = [first, endpoint];
    for (;;) {
      if (verdict instanceof Problem) return verdict;
      if (!isAdmission(verdict)) return this.#caller.answer(verdict, receiver);
      const found = this.#find();
      const next = found === "deploying" ? await this.#deployed(bytes.length, "guest") : found;
      if (!next) return problems.gone;
      if (next instanceof Problem) return next;
      if (next === receiver) {
        const outcome = await this.#handOver(bytes, verdict, receiver);
        if (outcome !== "deploying") return outcome;
      } else {
        receiver = next;
        verdict = this.#judgeAgain(receiver, bytes);
      }
    }
  }

  /** Hands over what may come in. A deploy may have come while its body was taken apart, or while it waited. */
  async #handOver(bytes: Buffer, admission: Admission, receiver: Endpoint): Promise<Problem | undefined | "deploying"> {
    const [arrival, response, start] = [this.#arrival, this.#response, this.#start];
    const opened = contentOf(arrival, bytes, receiver.limit);
    const content = opened instanceof Promise ? await opened : opened;
    if (content instanceof Problem) return content;
    const admitted = { arrival, head: this.#caller.head, response, admission, bytes, start };
    const handover = new Handover(admitted, content, receiver);
    const judged = handover.judge();
    const verdict = judged && (await judged);
    if (verdict instanceof Problem) return this.#caller.isGone ? undefined : verdict;
    // No other work may come between finding and delivering.
    const isElsewhere = this.#find() !== receiver;
    if (!isElsewhere && !this.#caller.isGone) return handover.conclude(verdict);
    if (verdict?.isFirst) await verdict.release();
    return isElsewhere ? "deploying" : undefined;
  }

  #find(): Found<Endpoint> {
    return this.#endpoints.find(this.#arrival.path);
  }

  /** Waits until the flows run again, and answers who has the path then. */
  async #deployed(bytes: number, as: "guest" | "claimant"): Promise<Endpoint | Problem | undefined> {
    const caller = this.#arrival.request.socket;
    for (;;) {
      if (!(await this.#endpoints.settled({ caller, bytes }, as))) return problems.deploying;
      const found = this.#find();
      if (found !== "deploying") return found;
    }
  }

  #begin(endpoint: Endpoint): Entry {
    const { request, ip, admitted } = this.#arrival;
    const limited = endpoint.limits?.judge(request, ip);
    if (limited) return limited;
    if (endpoint.gate.isTakenFrom(request)) return endpoint.gate.missing;
    if (endpoint === admitted?.endpoint) return admitted.how as Admission;
    return endpoint.gate.begin(this.#caller.head, this.#caller.at);
  }

  /** Who has the path after a deploy may want another proof, or something in front that the request has not passed. */
  #recheck(receiver: Endpoint): Entry {
    const { mayGoTo } = this.#arrival;
    return !mayGoTo || mayGoTo(receiver) ? this.#begin(receiver) : problems.deploying;
  }

  #judgeAgain(receiver: Endpoint, bytes: Buffer): Admission | Answer | Problem {
    const entry = this.#recheck(receiver);
    if (entry instanceof Problem || !isClaim(entry)) return entry;
    try {
      return entry.update(bytes) ?? entry.verdict(bytes);
    } finally {
      entry.drop();
    }
  }

  #refuse(problem: Problem, endpoint: Endpoint | undefined, cause?: unknown): void {
    // After a deploy it is another that counts.
    const holder = this.#find();
    this.#caller.refuse(problem, typeof holder === "object" ? holder : endpoint, cause);
  }
}
