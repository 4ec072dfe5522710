// The endpoint of a node: what a delivery becomes in the flow, and who is told how requests fare.

import type { Node, NodeAPI, NodeMessageInFlow } from "node-red";
import type { WebhookConfig } from "../../src/config/parse";
import type { Delivery, Endpoint } from "../../src/endpoint";
import type { Gate } from "../../src/trust/gate";
import { isSenderId, senders } from "../../src/trust/senders/table";
import type { Deploys } from "./deploys";
import type { Lot, Report } from "./report";

/** What an endpoint is made of, beside the node. */
export interface Parts {
  config: WebhookConfig;
  gate: Gate;
  /** The most bytes that a body may have. */
  limit: number;
  deploys: Deploys;
  report: Report;
}

export function endpointOf(RED: NodeAPI, node: Node, { config, gate, limit, deploys, report }: Parts): Endpoint {
  const { sender, returnQueryParams } = config;
  return {
    gate,
    sender: isSenderId(sender) ? { id: sender, row: senders[sender] } : undefined,
    limit,
    newId: () => RED.util.generateId(),
    deliver: (delivery) => deploys.send(node, messageOf(delivery, returnQueryParams)),
    accepted: (acceptance) => report.accepted(acceptance),
    greeted: (secret) => report.greeted(secret),
    refused: (problem, request, cause) => report.refused(problem, request, cause, gate),
  };
}

function messageOf({ id, body, req, webhook }: Delivery, returnQueryParams: boolean): NodeMessageInFlow {
  const payload = returnQueryParams ? { body, query: req.query } : body;
  const { event } = webhook;
  return { _msgid: id, ...(event !== undefined && { topic: event }), payload, req, webhook };
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
