// The endpoint of a node, and the messages that it sends.

import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";

import type { Authenticator } from "../auth/authenticator";
import { createLimits, type LimitServices } from "../auth/limits";
import { isSenderId, senders } from "../auth/senders/table";
import type { WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import type { DeliveryLog } from "../deliveries/delivery-log";
import { DuplicateGuard, type Guarding, isIdLoose } from "../deliveries/duplicates";
import type { GuaranteedDelivery } from "../deliveries/recorder";
import type { Endpoint } from "./endpoint";
import { type FlowReply, wrapResponse } from "./flow-reply";
import type { Outcomes } from "./outcomes";

/** How long a duplicate waits for the first delivery where the node itself replies, in ms. */
const maxWaitMs = 10_000;

export interface EndpointParts {
  config: WebhookConfig;
  authenticator: Authenticator;
  /** How many bytes a body may have. */
  limit: number;
  outcomes: Outcomes;
  limiting: LimitServices;
  guarding: Guarding;
  guaranteed: GuaranteedDelivery | undefined;
  records: DeliveryLog | undefined;
}

export function createEndpoint(RED: NodeAPI, node: Node, parts: EndpointParts): Endpoint {
  const { config, authenticator, limit, outcomes, guaranteed, records } = parts;
  const { reply, rawBody } = config;
  return {
    nodeId: node.id,
    path: config.path,
    authenticator,
    sender: isSenderId(config.sender) ? { id: config.sender, row: senders[config.sender] } : undefined,
    limit,
    limits: createLimits(config, node.id, parts.limiting),
    duplicates: createDuplicateGuard(node.id, parts),
    guaranteed,
    records,
    reply,
    rawBody,
    newId: () => RED.util.generateId(),
    deliver: (delivery, flowReply) => node.send(createMessage(RED, node, delivery, config, flowReply)),
    outcomes,
  };
}

function createDuplicateGuard(
  endpoint: string,
  { config, authenticator, guarding }: EndpointParts,
): DuplicateGuard | undefined {
  const { duplicates, sender, reply } = config;
  if (!duplicates) return undefined;
  const isLoose = isSenderId(sender) && isIdLoose(senders[sender], authenticator.scheme);
  const patience = reply.by === "flow" ? reply.timeout : maxWaitMs;
  return new DuplicateGuard({ ...duplicates, endpoint, isIdLoose: isLoose, patience }, guarding);
}

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

export function composePayload(
  { body, isPayload, req }: Pick<IncomingDelivery, "body" | "isPayload" | "req">,
  { returnQueryParams }: Pick<WebhookConfig, "returnQueryParams">,
): unknown {
  return returnQueryParams && !isPayload ? { body, query: req.query } : body;
}
