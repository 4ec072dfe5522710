// The end of the story: what may come in becomes a message, and its caller gets a reply.

import type { Admitted, Hand } from "./admitted";
import type { Custody, Owed } from "./custody";
import { owedBy } from "./debt";
import type { Kept, Webhook } from "./deliveries/delivery";
import type { Told } from "./deliveries/flow";
import type { RepeatGuard, Verdict } from "./deliveries/guard";
import type { Repetition, Reservation } from "./deliveries/repeats";
import type { Delivery, Endpoint } from "./endpoint";
import { Interference, Problem, problems } from "./problem";
import { Acceptance, notedOf, type Said, saidBefore } from "./reply/acceptance";
import type { Sent } from "./recorder";
import { abandon, prepareReply } from "./reply/reply";
import { messageField } from "./reply/trial";
import { type Content, hasBytes } from "./request/content";
import { summarise } from "./request/summary";
import { webhookOf } from "./webhook";

/** A request that is about to start the flow of an endpoint. */
export class Handover {
  readonly #admitted: Admitted;
  readonly #content: Content;
  readonly #receiver: Endpoint;
  readonly #id: string;
  readonly #webhook: Webhook;
  /** What the caller is told, where the flow is not to answer. */
  #said: Said | undefined;
  /** What the caller was told, and after how long. */
  #told: Told | undefined;

  /** @throws {Interference} when the bytes of the body are needed, and somebody else has read them */
  constructor(admitted: Admitted, content: Content, receiver: Endpoint) {
    this.#admitted = admitted;
    this.#content = content;
    this.#receiver = receiver;
    this.#id = receiver.newId();
    const known = webhookOf(admitted, content, receiver);
    this.#webhook = receiver.custody ? { ...known, attempt: 1 } : known;
    // The files of a form that something else has read are no part of what can be kept.
    const hasTheirFiles = receiver.custody !== undefined && admitted.arrival.parsed?.files !== undefined;
    const needsBytes = receiver.rawBody || this.#guard?.needsBytes === true || hasTheirFiles;
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
   * Starts the flow, and has the caller told, by this node or by the flow; or tells the caller of a repeat. Where nothing
   * may be lost, it is kept before.
   *
   * @returns where it has to be kept, when it is, or why it is not
   * @throws what a layer makes it throw, when there is no message
   */
  conclude(verdict: Reservation | Repetition | undefined): Promise<Problem | undefined> | undefined {
    const { custody } = this.#receiver;
    if (verdict?.isFirst === false) this.#repeat(verdict);
    else if (custody) return this.#keep(custody, verdict);
    else this.#startNow(verdict);
    return undefined;
  }

  #startNow(reservation: Reservation | undefined): void {
    const delivery = this.#message();
    const { records, reply } = this.#receiver;
    const on = (owed?: Owed) => {
      // The flow may answer before it is let go on with.
      if (owed) records?.came(delivery, this.#sent, { state: "running" });
      this.#receiver.deliver(delivery, owed?.reply);
    };
    this.#start(reservation, { on });
    if (reply.by === "now")
      records?.came(delivery, this.#sent, { ...this.#told, ...notedOf(this.#first.body), state: "done" });
  }

  async #keep(custody: Custody, reservation: Reservation | undefined): Promise<Problem | undefined> {
    const { delivery, kept } = await this.#keptBy(custody).catch((error: unknown) => {
      void reservation?.release();
      throw error;
    });
    if (kept instanceof Problem) {
      void reservation?.release();
      return kept;
    }
    const on = (owed?: Owed) => custody.begin(kept, { delivery, owed, told: () => this.#told });
    // Where the flow is to reply, its answer is what repeats are told.
    if (!reservation || this.#receiver.reply.by === "flow") {
      this.#start(reservation, { on, back: () => custody.withdraw(kept) });
      return undefined;
    }
    // A repeat that comes after a power cut finds its key; so whatever a layer does to the reply, the flow has to start.
    await reservation.settle();
    this.#start(undefined, { on, back: on, hasKey: true });
    return undefined;
  }

  async #keptBy(custody: Custody): Promise<{ delivery: Delivery; kept: Kept | Problem }> {
    if (this.#admitted.response.headersSent) throw new Interference("answered");
    const delivery = this.#message();
    const { reply, records } = this.#receiver;
    const told = reply.by === "now" && records?.keepsAnswers ? notedOf(this.#first.body) : {};
    return { delivery, kept: await custody.keep(delivery, this.#sent, told) };
  }

  #start(reservation: Reservation | undefined, hand: Hand): void {
    const { arrival, admission } = this.#admitted;
    const begin = this.#prepare(reservation, hand);
    try {
      begin();
    } catch (error) {
      // There may be a message, so to refuse the request would be as wrong as to accept it.
      abandon(arrival.request);
      void reservation?.release();
      return this.#receiver.refused(problems.unforeseen, undefined, error);
    }
    const lacksKey = this.#guard !== undefined && !reservation && hand.hasKey !== true;
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
    const noted = notedOf(said.body, this.#receiver.gate.secrecy);
    this.#receiver.records?.came(this.#message(), this.#sent, { ...this.#told, ...noted, state: "duplicate" });
  }

  #prepare(reservation: Reservation | undefined, hand: Hand): () => void {
    try {
      const { reply } = this.#receiver;
      return reply.by === "flow"
        ? this.#prepareOwing(reply.timeout, reservation, hand)
        : this.#prepareReply(reservation, hand);
    } catch (error) {
      void reservation?.release();
      hand.back?.();
      throw error;
    }
  }

  #prepareReply(reservation: Reservation | undefined, hand: Hand): () => void {
    const { arrival, response } = this.#admitted;
    const reply = prepareReply(arrival.request, response, this.#first);
    return () => {
      hand.on();
      void reservation?.settle();
      reply.send();
      this.#replied(this.#id, reply.contentLength);
    };
  }

  #prepareOwing(timeout: number, reservation: Reservation | undefined, hand: Hand): () => void {
    const { arrival, response, admission, start } = this.#admitted;
    if (response.headersSent) throw new Interference("answered");
    if (admission.isTrial) response.setHeader(messageField, this.#id);
    const debtor = { id: this.#id, start, request: arrival.request, response };
    return () => hand.on(owedBy(this.#receiver, debtor, timeout, reservation));
  }

  #message(): Delivery {
    const { arrival, bytes } = this.#admitted;
    const { value, files } = this.#content;
    const req = summarise(arrival, this.#receiver.gate);
    if (files) req.files = files;
    const delivery: Delivery = { id: this.#id, body: value, req, webhook: this.#webhook };
    if (this.#receiver.rawBody) delivery.rawBody = bytes;
    return delivery;
  }

  #replied(id: string, contentLength: number): void {
    const { start, response } = this.#admitted;
    const milliseconds = performance.now() - start;
    this.#told = { status: response.statusCode, milliseconds };
    this.#receiver.replied({ id, milliseconds, contentLength });
  }

  get #sent(): Sent {
    const { arrival, bytes, admission } = this.#admitted;
    const isTrial = admission.isTrial ?? false;
    return { content: this.#content, bytes: arrival.parsed ? undefined : bytes, isTrial };
  }

  get #first(): Said {
    return (this.#said ??= this.#acceptance.first(this.#id));
  }

  get #acceptance(): Acceptance {
    const { reply, sender } = this.#receiver;
    if (this.#admitted.admission.isTrial || reply.by === "flow") return Acceptance.ofTrials;
    return new Acceptance(reply, sender?.row.emptyReply?.status);
  }
}
