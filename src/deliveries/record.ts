// Makes a stored delivery of a request, and a message of a stored delivery.

import { constants } from "node:buffer";
import { type ByteRange, redactJson, redactRanges, type Redactor } from "../auth/redactor";
import { decodeContent } from "../request/body";
import { type Content, DecodedBody } from "../request/decode";
import { parseJson } from "../request/json";
import { Problem } from "../request/problem";
import type { RequestInfo } from "../request/request-info";
import { toObject } from "../request/head";
import { type Delivery, type IncomingDelivery, isPacked, type StoredDelivery, type StoredHead, textValues, type Webhook } from "./delivery"; // prettier-ignore

/** The request, besides its message. */
export interface SentRequest {
  readonly content: Content;
  /** As sent; missing where middleware in front has parsed it, and its value counts. */
  readonly bytes: Buffer | undefined;
  readonly isTest: boolean;
}

export type RequestOutcome = Pick<Delivery, "state" | "status" | "milliseconds" | "answer" | "duplicateOf">;

/** A request that was accepted, before it is known what becomes of it. */
export interface RecordedRequest {
  readonly delivery: Omit<Delivery, "state">;
  readonly body: Buffer;
}

const codings = "content-encoding";
const type = "content-type";
/** Credentials for guards in front, such as `httpNodeAuth` (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). */
const neverKept = ["authorization", "proxy-authorization", "cookie"];

/**
 * Records a request before its flow is started: nothing of it is shared with the message, which the flow may change,
 * but the bytes of the body.
 *
 * @param node its id
 * @param keepsBody whether its body will be kept
 */
export function recordRequest(
  node: string,
  redactor: Redactor,
  { id, req, webhook }: Pick<IncomingDelivery, "id" | "req" | "webhook">,
  sent: SentRequest,
  keepsBody: boolean,
): RecordedRequest {
  const at = Date.now();
  const { method, path, url, ip } = req;
  const headers = copyFields(req.headers);
  for (const name of neverKept) if (headers[name] !== undefined) Reflect.deleteProperty(headers, name);
  // A parser in front has unpacked the body.
  if (!sent.bytes && headers[codings] !== undefined) Reflect.deleteProperty(headers, codings);
  const head = { method, path, search: url.slice(path.length + 1), headers, ip, ...copyParameters(req) };
  const body = sent.bytes ?? sent.content.bytes();
  const hidden = keepsBody ? redactor.findIn(headers[codings] === undefined ? body : sent.content.bytes()) : [];
  const hiddenValues = textValues.filter((name) => redactor.contains(webhook[name] ?? ""));
  const delivery = {
    ...{ id, node, at, head, webhook: copyWebhook(webhook), size: body.length, attempt: 1 },
    ...(sent.content.isParsed && { isJson: true }),
    ...(sent.isTest && { isTest: true }),
    ...(hidden.length > 0 && { hidden }),
    ...(hiddenValues.length > 0 && { hiddenValues }),
  };
  return { delivery, body };
}

/** Middleware may have added what is no text. */
function copyFields(fields: StoredHead["headers"]): Record<string, string | string[]> {
  const copy: Record<string, unknown> = { ...fields };
  for (const name in copy) {
    const value = copy[name];
    if (typeof value !== "string") copy[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return copy as Record<string, string | string[]>;
}

function copyParameters({ params }: Pick<StoredHead, "params">): Pick<StoredHead, "params"> {
  return params ? { params: { ...params } } : {};
}

function copyWebhook(webhook: Webhook): Webhook {
  const { claims } = webhook;
  return claims ? { ...webhook, claims: structuredClone(claims) } : { ...webhook };
}

/**
 * Makes a message of a stored delivery, which shares nothing with it but the bytes of the body.
 *
 * @param limit bytes of the decoded body
 */
export async function restoreDelivery(
  { delivery, body }: Pick<StoredDelivery, "delivery" | "body">,
  limit: number,
  rawBody: boolean,
): Promise<IncomingDelivery | Problem> {
  const { id, head, webhook, attempt, isPayload } = delivery;
  const { method, path, search, headers, ip } = head;
  const content = await restoreBody({ delivery, body }).decode(limit);
  if (content instanceof Problem) return content;
  const req: RequestInfo = {
    method,
    url: search === "" ? path : `${path}?${search}`,
    path,
    query: toObject(new URLSearchParams(search)),
    headers: copyFields(headers),
    ip,
    ...copyParameters(head),
    ...(content.files && { files: content.files }),
  };
  return {
    id,
    body: content.value,
    ...(rawBody && { rawBody: body }),
    ...(isPayload && { isPayload }),
    req,
    // A delivery may be older than the node's present sender.
    webhook: copyWebhook({ credential: "first", ...webhook, attempt }),
  };
}

/** The body of a stored delivery, to be decoded. */
export function restoreBody({
  delivery: { head, isJson },
  body,
}: Pick<StoredDelivery, "delivery" | "body">): DecodedBody {
  const { headers } = head;
  const parsed = isJson ? { value: JSON.parse(body.toString()) as unknown } : undefined;
  const request = { headers: { [type]: asString(headers[type]), [codings]: asString(headers[codings]) } };
  return new DecodedBody({ request, parsed }, body);
}

/** Whether the body was not kept. */
export function lacksBody({ delivery, body }: StoredDelivery): boolean {
  return body.length === 0 && delivery.size > 0;
}

/** Makes a new delivery of a stored one. @param changed an edited payload; missing: the original one */
export function repeatDelivery(
  { delivery, body }: StoredDelivery,
  id: string,
  changed: { payload: unknown } | undefined,
  redactor: Redactor,
): StoredDelivery {
  const { node, head, size, isJson, isPayload, hidden, hiddenValues } = delivery;
  const at = Date.now();
  const webhook = { credential: "first" as const, ...delivery.webhook, replay: true as const };
  const own = { state: "running" as const, attempt: 1, id, node, at, head, webhook, replayOf: delivery.id };
  const written = changed && Buffer.from(JSON.stringify(changed.payload));
  const secret = written ? redactor.findIn(written) : (hidden ?? []);
  const how = written
    ? { size: written.length, isJson: true, isPayload: true }
    : { size, ...(isJson && { isJson }), ...(isPayload && { isPayload }) };
  const shown = { ...(secret.length > 0 && { hidden: secret }), ...(hiddenValues && { hiddenValues }) };
  return { delivery: { ...own, ...how, ...shown }, body: written ?? body, attempts: [{ at }] };
}

function asString(field: string | string[] | undefined): string | undefined {
  return field === undefined ? undefined : String(field);
}

/** A delivery as it is shown, without the secrets in its body; one that is packed and has some is unpacked. */
export async function redactStored({ delivery, body, attempts }: StoredDelivery): Promise<StoredDelivery> {
  const { hidden, head } = delivery;
  if (!hidden || body.length === 0) return { delivery, body, attempts };
  const { [codings]: coding, ...headers } = head.headers;
  if (!isPacked(delivery)) return { delivery, body: redactBytes(body, hidden), attempts };
  // It was unpacked before, within the limit of its node.
  const bytes = await decodeContent(body, String(coding), constants.MAX_LENGTH, undefined);
  const shown = bytes instanceof Problem ? Buffer.alloc(0) : redactBytes(bytes, hidden);
  return { delivery: { ...delivery, head: { ...head, headers } }, body: shown, attempts };
}

function redactBytes(bytes: Buffer, hidden: readonly ByteRange[]): Buffer {
  const isJson = !(parseJson(bytes.toString()) instanceof Problem);
  return isJson ? redactJson(bytes, hidden) : redactRanges(bytes, hidden);
}
