// What a test request is made of: the usual body, a sample, a stored delivery, or what a user has written.

import type { OutgoingRequest } from "../auth/outgoing";
import { makeTestRequest, testQuery } from "../auth/present";
import { redactHeaders, redactQuery } from "../auth/redactor";
import { isEncoded, type Sender } from "../auth/senders/sender";
import { isSenderId, senders } from "../auth/senders/table";
import { flowMethods } from "../config/fields";
import type { WebhookConfig } from "../config/parse";
import { isFieldName, isObject } from "../config/values";
import { findDelivery } from "../deliveries/lists";
import { redactStored } from "../deliveries/record";
import type { DeliveryStores } from "../flow/stores";
import { toObject } from "../request/head";
import { composeAgain } from "./resend";
import { BadRequest } from "./routes";
import { readSamples } from "./samples";

/** What a request of the editor asks for. */
export interface AskedTest {
  /** The id of a delivery of the node. */
  readonly delivery?: unknown;
  /** The name of a sample of the node's sender. */
  readonly sample?: string;
  readonly own?: OutgoingRequest;
  /** Whether it is signed as the sender does. The usual one is not: where it is not asked for, no credential leaves. */
  readonly sign: boolean;
  /** Whether it is sent; else it is only signed. */
  readonly send: boolean;
}

/** Whether the request, and the flow's reply, tell what needs the permission to read. */
export function usesDelivery(body: unknown): boolean {
  return isObject(body) && body.delivery !== undefined;
}

/** They tell where a request goes and how long it is, which is not the user's. */
const forbiddenFields = ["host", "content-length", "transfer-encoding", "connection"];

/** @throws {BadRequest} */
export function parseAskedTest(body: unknown): AskedTest {
  const { delivery, sample, sign, send = true, ...parts } = isObject(body) ? body : {};
  const isOwn = Object.keys(parts).length > 0;
  if ([delivery, sample].filter((each) => each !== undefined).length + Number(isOwn) > 1) {
    throw new BadRequest("Give delivery, sample, or the parts of a request");
  }
  if (sample !== undefined && typeof sample !== "string") throw new BadRequest("sample");
  for (const [name, value] of Object.entries({ sign, send })) {
    if (value !== undefined && typeof value !== "boolean") throw new BadRequest(`${name}: true, false`);
  }
  const isUsual = delivery === undefined && sample === undefined && !isOwn;
  return {
    delivery,
    ...(sample !== undefined && { sample }),
    ...(isOwn && { own: parseOwn(parts) }),
    sign: sign === undefined ? !isUsual : sign === true,
    send: send === true,
  };
}

function parseOwn({ method, query = "", headers = {}, body = "", encoding = "utf8" }: Record<string, unknown>) {
  if (!flowMethods.some((each) => each === method)) throw new BadRequest(`method: ${flowMethods.join(", ")}`);
  // RFC 3986 §3.4, and what browsers send besides.
  if (typeof query !== "string" || !/^[!-"$-~]*$/.test(query)) throw new BadRequest("query");
  if (encoding !== "utf8" && encoding !== "base64") throw new BadRequest("encoding: utf8, base64");
  if (typeof body !== "string" || (encoding === "base64" && !isEncoded(body, "base64"))) throw new BadRequest("body");
  if (method === "GET" && body !== "") throw new BadRequest("body: GET has none");
  return { method: String(method), search: query, headers: parseFields(headers), body: Buffer.from(body, encoding) };
}

function parseFields(headers: unknown): Record<string, string> {
  if (!isObject(headers)) throw new BadRequest("headers");
  const names = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (!isFieldName(name) || forbiddenFields.includes(key) || names.has(key)) throw new BadRequest("headers: names");
    // RFC 9110 §5.5, as Node.js sends it.
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new BadRequest("headers: values");
    names.add(key);
  }
  return headers as Record<string, string>;
}

/**
 * @returns nothing where the delivery is gone, or another node's
 * @throws {BadRequest} where the sender has no such sample
 */
export async function composeTest(
  { delivery, sample, own, send }: AskedTest,
  node: string,
  config: WebhookConfig,
  stores: DeliveryStores,
): Promise<OutgoingRequest | undefined> {
  if (own) return own;
  if (delivery !== undefined) return composeFromDelivery(stores, node, delivery, { config, send });
  if (sample === undefined) return composeUsual(config);
  const found = (await readSamples(config.sender))?.find(({ name }) => name === sample);
  if (!found) throw new BadRequest("sample");
  const { method, query: search, headers, body } = found;
  return { method, search, headers, body: Buffer.from(body) };
}

function composeUsual({ sender, events, methods: [method = ""] }: WebhookConfig): OutgoingRequest {
  if (method === "GET") return { method, search: testQuery, headers: {}, body: Buffer.alloc(0) };
  const { body, headers } = makeTestRequest(isSenderId(sender) ? senders[sender] : {}, events);
  return { method, search: "", headers, body: Buffer.from(body) };
}

/** Only of the same node. */
async function composeFromDelivery(
  { lists }: DeliveryStores,
  node: string,
  id: unknown,
  { config, send }: { readonly config: WebhookConfig } & Pick<AskedTest, "send">,
): Promise<OutgoingRequest | undefined> {
  const found = typeof id === "string" ? await findDelivery(lists, id).catch(() => undefined) : undefined;
  if (found?.stored.delivery.node !== node) return undefined;
  const { delivery, body } = await redactStored(found.stored);
  const { head, isJson = false } = delivery;
  const query = redactQuery(toObject(new URLSearchParams(head.search)));
  const again = composeAgain({ ...head, headers: redactHeaders(head.headers), query, isJson }, config.methods);
  // An event may be in a field whose name is like that of a credential, such as X-Event-Key: it is sent, not shown.
  const names = send ? listFilterFields(config) : [];
  const filtered = Object.entries(head.headers).filter(([name]) => names.includes(name) && !(name in again.headers));
  const headers = { ...again.headers, ...Object.fromEntries(filtered.map(([name, value]) => [name, String(value)])) };
  return { ...again, headers, body: again.method === "GET" ? Buffer.alloc(0) : body };
}

/** The names of the header fields that the filter looks at. */
function listFilterFields({ sender, conditions }: WebhookConfig): string[] {
  const { events = [] }: Pick<Sender, "events"> = isSenderId(sender) ? senders[sender] : {};
  const places = [...events, ...conditions.map(({ place }) => place)];
  return places.flatMap((place) => {
    if (place.startsWith("ce:")) return ["content-type", place.replace("ce:", "ce-")];
    return place.startsWith("header:") ? place.slice("header:".length).toLowerCase() : [];
  });
}
