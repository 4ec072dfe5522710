// The end of the story: what may come in becomes a message, and its caller gets a reply.

import type { ServerResponse } from "node:http";
import type { Webhook } from "./deliveries/delivery";
import type { RepeatGuard, Verdict } from "./deliveries/guard";
import type { Repetition, Reservation } from "./deliveries/repeats";
import type { Delivery, Endpoint } from "./endpoint";
import { Interference, problems } from "./problem";
import { Acceptance, saidBefore } from "./reply/acceptance";
import { type Creditor, OwedReply } from "./reply/owed";
import { Recording } from "./reply/recording";
import { abandon, prepareReply } from "./reply/reply";
import { messageField } from "./reply/trial";
import type { Content } from "./request/content";
import { type Arrival, summarise } from "./request/summary";
import { deliveryOf } from "./trust/delivery";
import type { Head } from "./trust/signature/fields";
import type { Admission } from "./trust/signature/why";

/** A request that has been let in, and all of its body. */
export interface Admitted {
  readonly arrival: Arrival;
  readonly head: Head;
  readonly response: ServerResponse;
  readonly admission: Admission;
  /** As it came; of no interest where a parser in front has read it. */
  readonly bytes: Buffer;
  /** When it was met, as `performance.now()` tells time. */
  readonly start: number;
}

/** A request that is about to start the flow of an endpoint. */
export class Handover {
  readonly #admitted: Admitted;
  readonly #content: Content;
  readonly #receiver: Endpoint;
  readonly #id: string;
  readonly #webhook: Webhook;

  /** @throws {Interference} when the bytes of the body are needed, and somebody else has read them */
  constructor(admitted: Admitted, content: Content, receiver: Endpoint) {
    this.#admitted = admitted;
    this.#content = content;
    this.#receiver = receiver;
    this.#id = receiver.newId();
    this.#webhook = describe(admitted, content, receiver);
    const needsBytes = receiver.rawBody || this.#guard?.needsBytes === true;
    if (needsBytes && !hasBytes(admitted.arrival)) throw new Interference("bytesGone");
  }

  /** Whether the request is a repeat of another; nothing where that is not asked. */
  judge(): Promise<Verdict | undefined> | undefined {
    const { head, bytes, response } = this.#admitted;
    return this.#guard?.judge({ head, bytes, content: this.#content.bytes, id: this.#webhook.id }, this.#id, response);
  }

  /** The editor's test request is the same each time. */
  get #guard(): RepeatGuard | undefined {
    return this.#admitted.admission.isTrial ? undefined : this.#receiver.repeats;
  }

  /**
   * Starts the flow, and has the caller told, by this node or by the flow; or tells the caller of a repeat.
   *
   * @throws what a layer makes it throw, when there is no message
   */
  conclude(verdict: Reservation | Repetition | undefined): undefined {
    if (verdict?.isFirst === false) this.#repeat(verdict);
    else this.#start(verdict);
  }

  #start(reservation: Reservation | undefined): void {
    const { arrival, admission } = this.#admitted;
    const begin = this.#prepare(reservation);
    try {
      begin();
    } catch (error) {
      // There may be a message, so to refuse the request would be as wrong as to accept it.
      abandon(arrival.request);
      void reservation?.release();
      return this.#receiver.refused(problems.unforeseen, undefined, error);
    }
    const lacksKey = this.#guard !== undefined && !reservation;
    this.#receiver.accepted({ id: this.#id, admission, ip: arrival.ip, lacksKey });
  }

  /** Tells the caller what was told before. */
  #repeat({ id, answer }: Repetition): void {
    const { arrival, response, admission } = this.#admitted;
    const said = answer ? saidBefore(answer) : this.#acceptance.repeated(id);
    const reply = prepareReply(arrival.request, response, said);
    reply.send();
    this.#receiver.repeated({ id, admission, ip: arrival.ip });
    this.#replied(id, reply.contentLength);
  }

  #prepare(reservation: Reservation | undefined): () => void {
    try {
      const { reply } = this.#receiver;
      return reply.by === "flow" ? this.#prepareOwing(reply.timeout, reservation) : this.#prepareReply(reservation);
    } catch (error) {
      void reservation?.release();
      throw error;
    }
  }

  #prepareReply(reservation: Reservation | undefined): () => void {
    const { arrival, response } = this.#admitted;
    const reply = prepareReply(arrival.request, response, this.#acceptance.first(this.#id));
    return () => {
      this.#deliver();
      void reservation?.settle();
      reply.send();
      this.#replied(this.#id, reply.contentLength);
    };
  }

  #prepareOwing(timeout: number, reservation: Reservation | undefined): () => void {
    const { arrival, response, admission, start } = this.#admitted;
    if (response.headersSent) throw new Interference("answered");
    if (admission.isTrial) response.setHeader(messageField, this.#id);
    const recording = reservation && new Recording();
    const creditor = creditorOf(this.#receiver, { id: this.#id, start }, response, reservation, recording);
    return () => this.#deliver(new OwedReply(arrival.request, response, timeout, creditor, recording));
  }

  #deliver(owed?: OwedReply): void {
    const { arrival, bytes } = this.#admitted;
    const { value, files } = this.#content;
    const req = summarise(arrival, this.#receiver.gate);
    if (files) req.files = files;
    const delivery: Delivery = { id: this.#id, body: value, req, webhook: this.#webhook };
    if (this.#receiver.rawBody) delivery.rawBody = bytes;
    this.#receiver.deliver(delivery, owed);
  }

  #replied(id: string, contentLength: number): void {
    this.#receiver.replied({ id, milliseconds: performance.now() - this.#admitted.start, contentLength });
  }

  get #acceptance(): Acceptance {
    const { reply, sender } = this.#receiver;
    if (this.#admitted.admission.isTrial || reply.by === "flow") return Acceptance.ofTrials;
    return new Acceptance(reply, sender?.row.emptyReply?.status);
  }
}

/** Who hears what becomes of a reply that is owed. For so long, nothing of what has come is kept in memory. */
function creditorOf(
  receiver: Endpoint,
  { id, start }: { id: string; start: number },
  response: ServerResponse,
  reservation: Reservation | undefined,
  recording: Recording | undefined,
): Creditor {
  return {
    settled(settlement, failure) {
      if (settlement === "answered") {
        void reservation?.settle(recording?.answer);
        const contentLength = Number(response.getHeader("Content-Length") ?? 0);
        receiver.replied({ id, milliseconds: performance.now() - start, contentLength });
      } else {
        void reservation?.release();
        if (failure?.problem === problems.flowLate) receiver.unanswered();
        else if (failure) receiver.refused(failure.problem, undefined, failure.cause);
      }
    },
    dropped: (why) => receiver.dropped(id, why),
  };
}

/** Whether the bytes of a body are here as they were sent. */
function hasBytes({ request, parsed, received }: Arrival): boolean {
  if (!parsed || received) return true;
  return Buffer.isBuffer(parsed.value) && request.headers["content-encoding"] === undefined;
}

/** What is known of who sent it. */
function describe({ head, admission }: Admitted, { bytes }: Content, { sender, gate }: Endpoint): Webhook {
  const { credential, sentAt } = admission;
  const proof = sentAt === undefined ? { credential } : { credential, sentAt };
  if (!sender) return proof;
  const told = Object.entries<string>({ ...deliveryOf(sender.row, head, bytes) }).filter(
    ([, text]) => !gate.secrecy.tells(text),
  );
  return { sender: sender.id, ...Object.fromEntries(told), ...proof };
}
