// The endpoint of a node: what a delivery becomes in the flow, and who is told how requests fare.

import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";
import type { WebhookConfig } from "../../src/config/parse";
import type { Custody } from "../../src/custody";
import { type Guarding, DuplicateGuard } from "../../src/deliveries/duplicate-guard";
import { isIdLoose } from "../../src/deliveries/duplicate-key";
import type { Delivery, Endpoint } from "../../src/endpoint";
import type { Records } from "../../src/records";
import { type FlowReply, wrapResponse } from "../../src/http/flow-reply";
import type { Gate } from "../../src/trust/gate";
import { createLimits, type LimitServices } from "../../src/trust/limits";
import { isSenderId, senders } from "../../src/trust/senders/table";
import { Inquiry } from "./explained";
import type { Report } from "./report";
import type { Lot } from "./status";
import type { Traffic } from "./traffic";

/** How long a repeat waits at most where this node answers, in ms: what it waits for takes no time. */
const longestWait = 10_000;

/** What an endpoint is made of, beside the node. */
export interface Parts {
  config: WebhookConfig;
  gate: Gate;
  /** The most bytes that a body may have. */
  limit: number;
  report: Report;
  limiting: LimitServices;
  guarding: Guarding;
  /** What keeps its deliveries, where none may be lost. */
  custody: Custody | undefined;
  /** Where what became of its requests is noted. */
  records: Records | undefined;
  traffic: Traffic;
}

export function endpointOf(RED: NodeAPI, node: Node, parts: Parts): Endpoint {
  const { config, gate, limit, report, custody, records, traffic } = parts;
  const { reply, rawBody } = config;
  return {
    nodeId: node.id,
    path: config.path,
    gate,
    sender: isSenderId(config.sender) ? { id: config.sender, row: senders[config.sender] } : undefined,
    limit,
    limits: createLimits(config, node.id, parts.limiting),
    duplicates: guardOf(node.id, parts),
    custody,
    records,
    reply,
    rawBody,
    newId: () => RED.util.generateId(),
    deliver: (delivery, flowReply) => node.send(messageOf(RED, node, delivery, config, flowReply)),
    accepted: (acceptance) => {
      report.accepted(acceptance);
      traffic.add(node.id, "accepted");
    },
    replied: (replied) => report.replied(replied),
    unanswered: () => report.unanswered(),
    repeated: (acceptance) => {
      report.repeated(acceptance);
      traffic.add(node.id, "accepted");
    },
    shadowed: (by) => report.shadowed(config.path, by),
    greeted: (secret, request, status) => {
      report.greeted(secret);
      traffic.add(node.id, "accepted");
      records?.greeted(request, status);
    },
    refused: refusing(RED, node, parts),
  };
}

function refusing(RED: NodeAPI, node: Node, { gate, report, records, traffic }: Parts): Endpoint["refused"] {
  return (problem, request, cause) => {
    const refusal = { problem, request, cause };
    const inquiry = new Inquiry(refusal, gate, RED._);
    report.refused(refusal, inquiry);
    // What has gone wrong with an answer was accepted before.
    if (request) traffic.add(node.id, "refused");
    records?.refused(problem, request, () => inquiry.forNotes);
  };
}

function guardOf(endpoint: string, { config, gate, guarding }: Parts): DuplicateGuard | undefined {
  const { duplicates, sender, reply } = config;
  if (!duplicates) return undefined;
  const isLoose = isSenderId(sender) && isIdLoose(senders[sender], gate.scheme);
  const patience = reply.by === "flow" ? reply.timeout : longestWait;
  return new DuplicateGuard({ ...duplicates, endpoint, isIdLoose: isLoose, patience }, guarding);
}

export function messageOf(
  RED: NodeAPI,
  node: Node,
  delivery: Delivery,
  config: WebhookConfig,
  flowReply: FlowReply | undefined,
): NodeMessageInFlow {
  const { id, rawBody, req, webhook } = delivery;
  const { event } = webhook;
  const warn = (method: string) => node.warn(RED._("node-red:httpin.errors.deprecated-call", { method }));
  return {
    _msgid: id,
    ...(event !== undefined && { topic: event }),
    payload: payloadOf(delivery, config),
    ...(rawBody && { rawBody }),
    req,
    ...(flowReply && { res: wrapResponse(flowReply.response, warn) }),
    webhook,
  };
}

export function payloadOf(
  { body, isPayload, req }: Pick<Delivery, "body" | "isPayload" | "req">,
  { returnQueryParams }: Pick<WebhookConfig, "returnQueryParams">,
): unknown {
  return returnQueryParams && !isPayload ? { body, query: req.query } : body;
}

/** What else there is to tell of an endpoint. */
export function lotOf({ sender, access }: WebhookConfig): Lot {
  const isSigned = access.method === "signature";
  return {
    sender: isSenderId(sender) ? sender : undefined,
    hasTwo: (isSigned ? access.secondSecret : access.secondToken) !== "",
    isArmed: isSigned && access.secret === "",
  };
}
