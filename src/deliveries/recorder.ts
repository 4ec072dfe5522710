// What is kept of a request that came in, and what a message is made of again.

import type { Redactor } from "../auth/redactor";
import { type Content, parseContentType } from "../request/decode";
import { Problem } from "../request/problem";
import type { RequestInfo } from "../request/request-info";
import { toObject } from "../request/target";
import type { Delivery, IncomingDelivery, Kept, StoredDelivery, Webhook } from "./delivery";
import type { AttemptResult } from "./queue";

/** What came, besides what the message has of it. */
export interface SentRequest {
  readonly content: Content;
  /** As it was sent; nothing where a parser in front has made something of it, which then is what counts. */
  readonly bytes: Buffer | undefined;
  /** Whether the editor has sent it, to try the endpoint. */
  readonly isTest: boolean;
}

/** What became of it so far. */
export type RequestOutcome = Pick<Delivery, "state" | "status" | "milliseconds" | "answer">;

const codings = "content-encoding";
const type = "content-type";
/** So a delivery begins that the flow is started with for the first time. */
const begun = { state: "running", attempt: 1 } as const;
/** Credentials for what stands in front, such as the password of `httpNodeAuth` (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). */
const neverKept = ["authorization", "proxy-authorization", "cookie"];

/** Describes the deliveries of one endpoint, redacted. */
export class Recorder {
  readonly redactor: Redactor;
  readonly #node: string;

  constructor(node: string, redactor: Redactor) {
    this.#node = node;
    this.redactor = redactor;
  }

  /** What any delivery begins with. */
  base(id: string): Pick<Delivery, "id" | "node"> {
    return { id, node: this.#node };
  }

  /** As it is kept when the flow is started with it for the first time. */
  record({ id, req, webhook }: IncomingDelivery, sent: SentRequest, outcome: RequestOutcome): Kept {
    const at = Date.now();
    const { body, isUnpacked } = this.#bodyOf(sent, req.headers[codings] !== undefined);
    const { method, path, url, ip } = req;
    const headers = { ...req.headers };
    for (const name of neverKept) if (headers[name] !== undefined) Reflect.deleteProperty(headers, name);
    if (isUnpacked) Reflect.deleteProperty(headers, codings);
    const head = { method, path, search: url.slice(path.length + 1), headers, ip };
    const size = sent.bytes?.length ?? body.length;
    const delivery = { ...outcome, id, node: this.#node, at, head, webhook: withoutAttempt(webhook), size, attempt: 1 };
    const isJson = sent.bytes === undefined && !Buffer.isBuffer(sent.content.value);
    // Of most there is no more to say.
    if (!isJson && !sent.isTest) return { delivery, body, attempts: [{ at }] };
    const more = { ...(isJson && { isJson }), ...(sent.isTest && { isTest: true }) };
    return { delivery: { ...delivery, ...more }, body, attempts: [{ at }] };
  }

  /**
   * What a message is made of once more.
   *
   * @param limit the most bytes that its body may have without its content codings
   * @param rawBody whether messages have the bytes of the body as they were sent
   */
  async restore({ delivery: kept, body }: Kept, limit: number, rawBody: boolean): Promise<IncomingDelivery | Problem> {
    const delivery = await remade(kept, body, limit);
    return rawBody && !(delivery instanceof Problem) ? { ...delivery, rawBody: body } : delivery;
  }

  /**
   * What was kept as a delivery of its own, which the flow is about to be started with.
   *
   * @param id of its message
   * @param changed what is to be its payload; nothing for the one that it had
   */
  replay({ delivery, body }: Kept, id: string, changed: { payload: unknown } | undefined): Kept {
    const { node, head, size, isJson, isPayload } = delivery;
    const at = Date.now();
    const webhook = { credential: "first" as const, ...delivery.webhook, replay: true as const };
    const own = { ...begun, id, node, at, head, webhook, replayOf: delivery.id };
    const attempts = [{ at }];
    if (!changed)
      return { delivery: { ...own, size, ...(isJson && { isJson }), ...(isPayload && { isPayload }) }, body, attempts };
    const written = Buffer.from(JSON.stringify(changed.payload));
    const how = { size: written.length, isJson: true, isPayload: true };
    return { delivery: { ...own, ...how }, body: this.redactor.redactBytes(written), attempts };
  }

  /** As it was sent, redacted. What is packed is looked through, too, and kept unpacked where it has a secret in it. */
  #bodyOf({ content, bytes }: SentRequest, isPacked: boolean): Pick<Kept, "body"> & { isUnpacked?: boolean } {
    if (bytes === undefined) return { body: this.redactor.redactBytes(content.bytes()) };
    if (!isPacked) return { body: this.redactor.redactBytes(bytes) };
    const unpacked = content.bytes();
    const body = this.redactor.redactBytes(unpacked);
    return body === unpacked ? { body: bytes } : { body, isUnpacked: true };
  }
}

/** @param bytes its body */
async function remade(kept: Delivery, bytes: Buffer, limit: number): Promise<IncomingDelivery | Problem> {
  const { id, head, webhook, attempt, isJson = false, isPayload = false } = kept;
  const parsed = isJson ? { value: JSON.parse(bytes.toString()) as unknown } : undefined;
  const request = { headers: { [type]: asString(head.headers[type]), [codings]: asString(head.headers[codings]) } };
  const content = await parseContentType({ request, parsed }, bytes, limit);
  if (content instanceof Problem) return content;
  const { method, path, search, headers, ip } = head;
  const req: RequestInfo = {
    method,
    url: search === "" ? path : `${path}?${search}`,
    path,
    query: search === "" ? {} : toObject(new URLSearchParams(search)),
    headers: { ...headers },
    ip,
    ...(content.files && { files: content.files }),
  };
  // What is kept outlives a change of who sends.
  const known = { credential: "first" as const, ...webhook, attempt };
  return { id, body: content.value, ...(isPayload && { isPayload }), req, webhook: known };
}

/** It counts for each start anew. */
function withoutAttempt(webhook: Webhook): Webhook {
  if (webhook.attempt === undefined) return webhook;
  const { attempt: _, ...rest } = webhook;
  return rest;
}

function asString(field: string | string[] | undefined): string | undefined {
  return field === undefined ? undefined : String(field);
}

/** How deliveries are stored before their sender is answered. Each is told of a problem, where that is not possible. */
export interface GuaranteedDelivery {
  /**
   * Stores a delivery safely: the flow is started with it as soon as the node's pace allows.
   *
   * @param answer what its sender is told then
   */
  store(delivery: IncomingDelivery, sent: SentRequest, answer: { answer?: string }): Promise<Problem | undefined>;
  /** The same for one with which the caller starts the flow at once, as its sender waits for the flow's reply: `end` is due then. */
  storeStarted(delivery: IncomingDelivery, sent: SentRequest): Promise<Problem | undefined>;
  end(id: string, result: AttemptResult): void;
  /** Stores a delivery anew, as a delivery of its own. */
  replay(stored: StoredDelivery): Promise<Problem | undefined>;
}
