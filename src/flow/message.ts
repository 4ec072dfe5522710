// The messages that a node sends.

import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";
import { coversBody, type Sender, signsQuery } from "../auth/senders/sender";
import { isSenderId, senders } from "../auth/senders/table";
import { parseScheme } from "../auth/signature/scheme";
import type { WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import { parseJson } from "../request/json";
import { Problem } from "../request/problem";
import type { RequestInfo } from "../request/request-info";
import type { Content } from "../request/decode";
import { parseTarget, type RequestHead, toObject } from "../request/head";
import { type FilterBody, findEvent } from "./filter";
import { type FlowReply, wrapResponse } from "./flow-reply";

/** @param flowReply where the flow replies */
export function sendMessage(
  RED: NodeAPI,
  node: Node,
  delivery: IncomingDelivery,
  config: WebhookConfig,
  flowReply: FlowReply | undefined,
): void {
  const { id, rawBody, req, webhook } = delivery;
  const { event, attempt } = webhook;
  const warn = (method: string) => node.warn(RED._("node-red:httpin.errors.deprecated-call", { method }));
  const message: NodeMessageInFlow = {
    _msgid: id,
    ...(event !== undefined && { topic: event }),
    payload: composePayload(delivery, config),
    ...(rawBody && { rawBody }),
    req,
    ...(flowReply && { res: wrapResponse(flowReply.response, warn) }),
    webhook: attempt === undefined ? webhook : { ...webhook, lastAttempt: attempt >= config.pace.attempts },
  };
  const { events, outputPerEvent } = config;
  if (!outputPerEvent) return node.send(message);
  const output = findOutput(events, event);
  node.send(Object.assign(Array<null | NodeMessageInFlow>(events.length).fill(null), { [output]: message }));
}

/**
 * The index of an event's output. A delivery may be older than the list of events. Where its event is not on it any
 * more, the message leaves by the first output: it was accepted, and is not lost.
 */
export function findOutput(events: readonly string[], event: string | undefined): number {
  return Math.max(0, findEvent(events, event));
}

interface RequestWithQuery {
  readonly req: Pick<RequestInfo, "method" | "url" | "query">;
}

type PayloadConfig = Pick<WebhookConfig, "returnQueryParams" | "access" | "sender">;

/**
 * A request by GET hardly has a body: its payload is the query. Where the sender signs, the payload is what the signature
 * covers.
 */
export function composePayload(
  { body: decoded, isPayload, req }: Pick<IncomingDelivery, "body" | "isPayload"> & RequestWithQuery,
  { returnQueryParams, access, sender }: PayloadConfig,
): unknown {
  if (isPayload) return decoded;
  const body = isSenderId(sender) ? unwrapPayload(decoded, senders[sender]) : decoded;
  if (returnQueryParams) return { body, query: req.query };
  if (req.method !== "GET") return body;
  const trusted = findTrusted({ access, sender }, req.url);
  return trusted.query && (body === "" || !trusted.body) ? req.query : body;
}

/** What conditions see of a decoded body. */
export function describeBody(
  { value, bytes }: Pick<Content, "value" | "bytes">,
  { method, search }: Pick<RequestHead, "method" | "search">,
  config: PayloadConfig,
  isPayload = false,
): FilterBody {
  return {
    text: () => (typeof value === "string" ? value : bytes().toString()),
    payload: () => {
      const req = { method, url: `?${search}`, query: toObject(new URLSearchParams(search)) };
      return composePayload({ body: value, isPayload, req }, { ...config, returnQueryParams: false });
    },
  };
}

/**
 * Which of the two may be the payload. With a token, nothing is signed, and both may.
 *
 * @param url the request's, below the node's root
 */
function findTrusted(
  { access, sender }: Pick<PayloadConfig, "access" | "sender">,
  url: string,
): { query: boolean; body: boolean } {
  if (access.method !== "signature") return { query: true, body: true };
  const { scheme: written, settings } = access;
  const isKnown = isSenderId(sender) && sender !== "custom";
  const scheme = isKnown ? senders[sender].scheme : parseScheme(written, settings.publicUrl);
  if ("rule" in scheme || scheme.alg === "token") return { query: false, body: true };
  // A signature over the URL as it was given covers no other query.
  const { search } = parseTarget(settings.publicUrl ?? "");
  const isAsGiven = scheme.content.includes("url") && search !== "" && search === parseTarget(url).search;
  return { query: isAsGiven || signsQuery(scheme), body: coversBody(scheme) };
}

/** JSON where it is, else the text. Amazon SNS labels its JSON as text. */
function unwrapPayload(body: unknown, { payload }: Sender): unknown {
  if (payload === undefined) return body;
  const whole = typeof body === "string" ? parseJson(body) : body;
  if (typeof whole !== "object" || whole === null || !Object.hasOwn(whole, payload)) return body;
  const inner = (whole as Record<string, unknown>)[payload];
  if (typeof inner !== "string") return body;
  const value = parseJson(inner);
  return value instanceof Problem ? inner : value;
}
