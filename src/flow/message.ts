// The messages that a node sends.

import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";
import type { WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import { type FlowReply, wrapResponse } from "./flow-reply";

export function createMessage(
  RED: NodeAPI,
  node: Node,
  delivery: IncomingDelivery,
  config: WebhookConfig,
  flowReply: FlowReply | undefined,
): NodeMessageInFlow {
  const { id, rawBody, req, webhook } = delivery;
  const { event } = webhook;
  const warn = (method: string) => node.warn(RED._("node-red:httpin.errors.deprecated-call", { method }));
  return {
    _msgid: id,
    ...(event !== undefined && { topic: event }),
    payload: composePayload(delivery, config),
    ...(rawBody && { rawBody }),
    req,
    ...(flowReply && { res: wrapResponse(flowReply.response, warn) }),
    webhook,
  };
}

/**
 * Requests by GET have no body of their own: their payload is the query. Where the sender signs, it is the body, which
 * the signature covers.
 */
export function composePayload(
  { body, isPayload, req }: Pick<IncomingDelivery, "body" | "isPayload" | "req">,
  { returnQueryParams, access }: Pick<WebhookConfig, "returnQueryParams" | "access">,
): unknown {
  if (isPayload) return body;
  if (returnQueryParams) return { body, query: req.query };
  return req.method === "GET" && access.method !== "signature" ? req.query : body;
}
