// The story of a request, from its head to the reply.

import type { ServerResponse } from "node:http";
import { authenticate } from "./trust/token";
import { decodeContent, readBody, within } from "./request/body";
import { decodeBody, decodeParsed } from "./request/decode";
import { turn } from "./request/turn";
import type { Endpoint } from "./endpoint";
import type { Endpoints, Found } from "./endpoints";
import { type Arrival, summarise } from "./request/summary";
import { Interference, Problem, problems } from "./problem";
import { abandon, prepareAcceptance, refuse } from "./reply/reply";

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

/** One request on its way. */
class Reception {
  readonly #arrival: Arrival;
  readonly #response: ServerResponse;
  readonly #endpoints: Endpoints<Endpoint>;
  readonly #start = performance.now();
  /** Whether the caller has not been told to send its body, and may be waiting for that. */
  #expectsContinue: boolean;

  constructor(arrival: Arrival, response: ServerResponse, endpoints: Endpoints<Endpoint>) {
    this.#arrival = arrival;
    this.#response = response;
    this.#endpoints = endpoints;
    this.#expectsContinue = arrival.continue !== undefined;
  }

  /** Decides by the head alone: a stranger cannot make us read or unpack anything, nor wait in a caller's place. */
  meet(passOn: () => void): Promise<void> | undefined {
    const found = this.#find();
    if (!found) {
      passOn();
      return undefined;
    }
    if (this.#isInVain) return undefined;

    const known = found === "deploying" ? this.#endpoints.lastKnown(this.#arrival.path) : found;
    const refusal = known ? this.#authenticate(known) : problems.tokenMissing;
    const admitted = known && !refusal ? this.#admit(known, found, passOn) : undefined;
    const served = admitted ?? (found === "deploying" ? this.#meetLater(known, passOn) : undefined);
    if (!served && refusal) this.#refuse(refusal, known);
    // Whatever has failed, and be it what the request was passed on to: nothing gets past an endpoint.
    return served?.catch((error: unknown) => this.#refuse(problems.unforeseen, known, error));
  }

  /** What is being deployed may bring the token that the request has: only then is it known whose it is. */
  async #meetLater(known: Endpoint | undefined, passOn: () => void): Promise<void> {
    const caller = this.#arrival.request.socket;
    if (await this.#endpoints.settled({ caller, bytes: 0 }, true)) passOn();
    else this.#refuse(problems.deploying, known);
  }

  /** Lets a request in whose token fits: when its turn on the connection has come, and the flows run. */
  async #admit(known: Endpoint, found: Found<Endpoint>, passOn: () => void): Promise<void> {
    const { request } = this.#arrival;
    const earlier = turn(request, this.#response);
    if (earlier) await earlier;
    if (earlier && this.#isInVain) return;

    const endpoint = earlier ? this.#find() : found;
    if (!endpoint) return passOn();
    if (endpoint === "deploying") {
      // Of its body, no more is in memory than has come by itself.
      const outcome = await this.#deployed(request.readableLength);
      return outcome instanceof Problem ? this.#refuse(outcome, known) : passOn();
    }
    if (this.#response.headersSent) throw new Interference("answered");
    const refusal = await this.#receive(endpoint, known);
    if (refusal) this.#refuse(refusal, known);
  }

  /**
   * Reads the body and, when all of it is here, hands it over. While flows are being deployed it waits as it was sent.
   *
   * @param trusted the endpoint whose token the request is known to have
   * @returns why the request is refused; nothing when it has started the flow
   */
  async #receive(endpoint: Endpoint, trusted: Endpoint): Promise<Problem | undefined> {
    const { request } = this.#arrival;
    const refusal = endpoint === trusted ? undefined : this.#recheck(endpoint);
    if (refusal) return refusal;
    const bytes = await this.#read(endpoint.limit);
    // Whoever has answered meanwhile has had the rest of the body thrown away.
    if (this.#response.headersSent) throw new Interference("answered");
    if (bytes instanceof Problem) return bytes;

    for (;;) {
      const found = this.#find();
      const receiver = found === "deploying" ? await this.#deployed(bytes.length) : found;
      if (!receiver) return problems.gone;
      if (receiver instanceof Problem) return receiver;
      const laterRefusal = receiver === endpoint ? undefined : this.#recheck(receiver);
      if (laterRefusal) return laterRefusal;

      const isPlain = this.#arrival.parsed ?? request.headers["content-encoding"] === undefined;
      const outcome = isPlain ? this.#deliver(bytes, receiver) : await this.#unpack(bytes, receiver);
      if (outcome !== "deploying") return outcome;
    }
  }

  /** Undoes the content codings of a body, which may take many times its memory, and hands it over at once. */
  async #unpack(bytes: Buffer, receiver: Endpoint): Promise<Problem | undefined | "deploying"> {
    const coding = this.#arrival.request.headers["content-encoding"] ?? "";
    const content = await decodeContent(bytes, coding, receiver.limit);
    if (content instanceof Problem) return content;
    // A deploy may have come meanwhile. No other work may come between finding and delivering.
    return this.#find() === receiver ? this.#deliver(content, receiver) : "deploying";
  }

  #deliver(content: Buffer, receiver: Endpoint): Problem | undefined {
    const { request, parsed } = this.#arrival;
    if (this.#isInVain) return undefined;
    const type = request.headers["content-type"];
    const body = parsed ? decodeParsed(parsed.value, type) : decodeBody(content, type);
    if (body instanceof Problem) return body;

    const id = receiver.newId();
    const req = summarise(this.#arrival, receiver.credentials);
    const reply = prepareAcceptance(request, this.#response, id);
    try {
      receiver.deliver(id, body, req);
      reply.send();
    } catch (error) {
      // There may be a message, so to refuse the request would be as wrong as to accept it.
      abandon(request);
      receiver.refused(problems.unforeseen, error);
      return undefined;
    }
    receiver.accepted({ id, milliseconds: performance.now() - this.#start, contentLength: reply.contentLength });
    return undefined;
  }

  #read(limit: number): Promise<Buffer | Problem> | Buffer | Problem {
    const { request, parsed, received } = this.#arrival;
    if (received) return received;
    if (parsed) return within(limit, Buffer.isBuffer(parsed.value) ? parsed.value : Buffer.alloc(0));
    return readBody(request, limit, () => {
      if (this.#expectsContinue) this.#arrival.continue?.();
      this.#expectsContinue = false;
    });
  }

  /**
   * Whether nobody would hear the answer. RFC 9112 §9.6: what follows on a connection that is being closed is not served;
   * and whoever has gone will try again. Something else may have answered, which is for the operator to know.
   */
  get #isInVain(): boolean {
    return !this.#arrival.request.socket.writable && !this.#response.headersSent;
  }

  #find(): Found<Endpoint> {
    return this.#endpoints.find(this.#arrival.path);
  }

  /** Waits until the flows run again, and answers who has the path then. */
  async #deployed(bytes: number): Promise<Endpoint | Problem | undefined> {
    const caller = this.#arrival.request.socket;
    for (;;) {
      if (!(await this.#endpoints.settled({ caller, bytes }))) return problems.deploying;
      const found = this.#find();
      if (found !== "deploying") return found;
    }
  }

  /** Who has the path after a deploy may want another token, or something in front that the request has not passed. */
  #recheck(receiver: Endpoint): Problem | undefined {
    const { mayGoTo } = this.#arrival;
    return !mayGoTo || mayGoTo(receiver) ? this.#authenticate(receiver) : problems.deploying;
  }

  #authenticate(endpoint: Endpoint): Problem | undefined {
    const { request, search, admittedBy } = this.#arrival;
    if (endpoint.credentials.areTakenFrom(request.headers)) return problems.tokenMissing;
    return endpoint === admittedBy ? undefined : authenticate(endpoint.credentials, request.rawHeaders, search);
  }

  #refuse(problem: Problem, endpoint: Endpoint | undefined, cause?: unknown): void {
    // RFC 9110 §10.1.1: the caller may or may not send its body.
    const told = refuse(this.#arrival.request, this.#response, problem, this.#expectsContinue);
    // After a deploy it is another that counts.
    const holder = this.#find();
    (typeof holder === "object" ? holder : endpoint)?.refused(told.problem, cause ?? told.cause);
  }
}
