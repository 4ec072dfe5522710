// Makes a stored delivery of a request, and a message of a stored delivery.

import type { Redactor } from "../auth/redactor";
import { type Content, parseContentType } from "../request/decode";
import { Problem } from "../request/problem";
import type { RequestInfo } from "../request/request-info";
import { toObject } from "../request/target";
import type { Delivery, IncomingDelivery, StoredDelivery } from "./delivery";

/** The request, besides its message. */
export interface SentRequest {
  readonly content: Content;
  /** As sent; missing where middleware in front has parsed it, and its value counts. */
  readonly bytes: Buffer | undefined;
  readonly isTest: boolean;
}

export type RequestOutcome = Pick<Delivery, "state" | "status" | "milliseconds" | "answer" | "duplicateOf">;

const codings = "content-encoding";
const type = "content-type";
/** Credentials for guards in front, such as `httpNodeAuth` (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). */
const neverKept = ["authorization", "proxy-authorization", "cookie"];

/** Makes a redacted delivery of a request, at its first start of the flow. @param node its id */
export function recordDelivery(
  node: string,
  redactor: Redactor,
  { id, req, webhook }: IncomingDelivery,
  sent: SentRequest,
  outcome: RequestOutcome,
): StoredDelivery {
  const at = Date.now();
  const { body, isUnpacked } = recordBody(sent, req.headers[codings] !== undefined, redactor);
  const { method, path, url, ip, params } = req;
  const headers = { ...req.headers };
  for (const name of neverKept) if (headers[name] !== undefined) Reflect.deleteProperty(headers, name);
  if (isUnpacked) Reflect.deleteProperty(headers, codings);
  const head = { method, path, search: url.slice(path.length + 1), headers, ip, ...(params && { params }) };
  const size = sent.bytes?.length ?? body.length;
  const delivery = { ...outcome, id, node, at, head, webhook, size, attempt: 1 };
  const isJson = sent.bytes === undefined && !Buffer.isBuffer(sent.content.value);
  const more = { ...(isJson && { isJson }), ...(sent.isTest && { isTest: true }) };
  return { delivery: { ...delivery, ...more }, body, attempts: [{ at }] };
}

/** Makes a message of a stored delivery. @param limit bytes of the decoded body */
export async function restoreDelivery(
  { delivery, body }: StoredDelivery,
  limit: number,
  rawBody: boolean,
): Promise<IncomingDelivery | Problem> {
  const { id, head, webhook, attempt, isJson, isPayload } = delivery;
  const { method, path, search, headers, ip, params } = head;
  const parsed = isJson ? { value: JSON.parse(body.toString()) as unknown } : undefined;
  const request = { headers: { [type]: asString(headers[type]), [codings]: asString(headers[codings]) } };
  const content = await parseContentType({ request, parsed }, body, limit);
  if (content instanceof Problem) return content;
  const req: RequestInfo = {
    method,
    url: search === "" ? path : `${path}?${search}`,
    path,
    query: toObject(new URLSearchParams(search)),
    headers: { ...headers },
    ip,
    ...(params && { params }),
    ...(content.files && { files: content.files }),
  };
  return {
    id,
    body: content.value,
    ...(rawBody && { rawBody: body }),
    ...(isPayload && { isPayload }),
    req,
    // A delivery may be older than the node's present sender.
    webhook: { credential: "first", ...webhook, attempt },
  };
}

/** Makes a new delivery of a stored one. @param changed an edited payload; missing: the original one */
export function repeatDelivery(
  { delivery, body }: StoredDelivery,
  id: string,
  changed: { payload: unknown } | undefined,
  redactor: Redactor,
): StoredDelivery {
  const { node, head, size, isJson, isPayload } = delivery;
  const at = Date.now();
  const webhook = { credential: "first" as const, ...delivery.webhook, replay: true as const };
  const own = { state: "running" as const, attempt: 1, id, node, at, head, webhook, replayOf: delivery.id };
  const written = changed && redactor.redactBytes(Buffer.from(JSON.stringify(changed.payload)));
  const how = written
    ? { size: written.length, isJson: true, isPayload: true }
    : { size, ...(isJson && { isJson }), ...(isPayload && { isPayload }) };
  return { delivery: { ...own, ...how }, body: written ?? body, attempts: [{ at }] };
}

/** As sent, redacted. A packed body is searched unpacked, and stored unpacked where it has a secret in it. */
function recordBody(
  { content, bytes }: SentRequest,
  isPacked: boolean,
  redactor: Redactor,
): Pick<StoredDelivery, "body"> & { isUnpacked?: boolean } {
  if (bytes === undefined) return { body: redactor.redactBytes(content.bytes()) };
  if (!isPacked) return { body: redactor.redactBytes(bytes) };
  const unpacked = content.bytes();
  const body = redactor.redactBytes(unpacked);
  return body === unpacked ? { body: bytes } : { body, isUnpacked: true };
}

function asString(field: string | string[] | undefined): string | undefined {
  return field === undefined ? undefined : String(field);
}
