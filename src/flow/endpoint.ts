// An endpoint, as requests and observers see it.

import type { Node, NodeAPI } from "node-red";
import type { Authenticator } from "../auth/authenticator";
import { createLimits, type Limits, type LimitServices } from "../auth/limits";
import type { Sender } from "../auth/senders/sender";
import { isSenderId, type SenderId, senders } from "../auth/senders/table";
import { isPattern } from "../config/paths";
import type { WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import type { DeliveryLog } from "../deliveries/delivery-log";
import { DuplicateGuard, isIdLoose } from "../deliveries/duplicates";
import type { Duplicates } from "../deliveries/queue";
import type { FlowReply, OwedReplies } from "./flow-reply";
import { type Problem, refuseOtherMethods } from "../request/problem";
import type { GuaranteedFlow } from "./guaranteed";
import { Filter } from "./filter";
import { createMessage, sendMessage } from "./message";
import type { Outcomes } from "./outcomes";

/** How long a duplicate waits for the first delivery where the node itself replies, in ms. */
const maxWaitMs = 10_000;

/** A path of a node that is open for requests, or waits to be, and the flow behind it; from one deploy to the next. */
export interface Endpoint {
  readonly node: Node;
  readonly config: WebhookConfig;
  /** Whether its path has parameters. */
  readonly hasParameters: boolean;
  readonly authenticator: Authenticator;
  /** The refusal (405) of methods that do not start the flow. */
  readonly methodNotAllowed: Problem;
  readonly sender: { readonly id: SenderId; readonly row: Sender } | undefined;
  /** How many bytes a body may have, before and after decoding. */
  readonly maxBodyBytes: number;
  /** Allowed addresses and rate; missing: no limits. */
  readonly limits: Limits | undefined;
  /** Missing: every verified request starts the flow. */
  readonly filter: Filter | undefined;
  /** Ignores duplicates; missing: they start the flow. */
  readonly duplicates: DuplicateGuard | undefined;
  /** Guaranteed delivery; missing where it is off. */
  readonly guaranteed: GuaranteedFlow | undefined;
  /** The list of deliveries; missing where it is off. */
  readonly records: DeliveryLog | undefined;
  newId(): string;
  /**
   * Starts the flow.
   *
   * @param reply where the flow replies
   */
  deliver(delivery: IncomingDelivery, reply?: FlowReply): void;
  readonly outcomes: Outcomes;
  /** The replies of flows that have been started. */
  readonly owed: OwedReplies;
}

type EndpointParts = Pick<
  Endpoint,
  "config" | "authenticator" | "maxBodyBytes" | "guaranteed" | "records" | "outcomes" | "owed"
> & {
  readonly limiting: LimitServices;
  readonly duplicates: Duplicates;
};

export function createEndpoint(RED: NodeAPI, node: Node, parts: EndpointParts): Endpoint {
  const { config, authenticator, maxBodyBytes, guaranteed, records, outcomes, owed } = parts;
  const { reply, access } = config;
  const bodyDigest = access.method === "jwt" ? access.bodyDigest : undefined;
  const sender = isSenderId(config.sender) ? { id: config.sender, row: senders[config.sender] } : undefined;
  const how = config.duplicates && {
    ...config.duplicates,
    endpoint: node.id,
    isIdLoose: sender !== undefined && isIdLoose(sender.row, authenticator.scheme, bodyDigest),
    patience: reply.by === "flow" ? reply.timeout : maxWaitMs,
  };
  return {
    ...{ node, config, authenticator, sender, maxBodyBytes, guaranteed, records, outcomes, owed },
    hasParameters: isPattern(config.path),
    methodNotAllowed: refuseOtherMethods(config.methods),
    limits: createLimits(config, node.id, parts.limiting),
    filter: config.events.length + config.conditions.length > 0 ? new Filter(config) : undefined,
    duplicates: how && new DuplicateGuard(how, parts.duplicates),
    newId: () => RED.util.generateId(),
    deliver: (delivery, flowReply) => sendMessage(node, createMessage(RED, node, delivery, config, flowReply), config),
  };
}

/** Whether a handshake may come by a method, besides those that start the flow. */
export function mayGreetBy({ authenticator }: Pick<Endpoint, "authenticator">, method: string): boolean {
  return authenticator.methods.includes(method);
}

/** Whether requests by a method may start the flow. HEAD is accepted with GET, but starts no flow. */
export function acceptsMethod({ methods }: Pick<WebhookConfig, "methods">, method = ""): boolean {
  return methods.includes(method === "HEAD" ? "GET" : method);
}
