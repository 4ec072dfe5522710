// Endpoints, as requests and observers see them, and their paths.

import type { Node, NodeAPI } from "node-red";
import type { Authenticator } from "../auth/authenticator";
import { createLimits, type JudgeHead, type LimitServices } from "../auth/limits";
import type { Sender } from "../auth/senders/sender";
import { isSenderId, type SenderId, senders } from "../auth/senders/table";
import { isPattern } from "../config/paths";
import type { WebhookConfig } from "../config/parse";
import type { IncomingDelivery } from "../deliveries/delivery";
import type { DeliveryRecorder } from "../deliveries/recorder";
import { DuplicateGuard, isIdLoose } from "../deliveries/duplicates";
import type { Duplicates } from "../deliveries/queue";
import type { FlowReply, OwedReplies } from "./flow-reply";
import { getPathKey, getPatternKey, preparePatterns } from "../request/path-patterns";
import { type Problem, refuseOtherMethods } from "../request/problem";
import type { GuaranteedFlow } from "./guaranteed";
import { sendMessage } from "./message";
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
  readonly judgeHead: JudgeHead | undefined;
  /** Ignores duplicates; missing: they start the flow. */
  readonly duplicates: DuplicateGuard | undefined;
  /** Guaranteed delivery; missing where it is off. */
  readonly guaranteed: GuaranteedFlow | undefined;
  /** The list of deliveries; missing where it is off. */
  readonly recorder: DeliveryRecorder | undefined;
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
  "config" | "authenticator" | "maxBodyBytes" | "guaranteed" | "recorder" | "outcomes" | "owed"
> & {
  readonly limiting: LimitServices;
  readonly duplicates: Duplicates;
};

export function createEndpoint(RED: NodeAPI, node: Node, parts: EndpointParts): Endpoint {
  const { config, authenticator, maxBodyBytes, guaranteed, recorder, outcomes, owed } = parts;
  const { reply, access } = config;
  const bodyDigest = access.method === "jwt" ? access.bodyDigest : undefined;
  const sender = isSenderId(config.sender) ? { id: config.sender, row: senders[config.sender] } : undefined;
  const how = config.duplicates && {
    ...config.duplicates,
    endpoint: node.id,
    isIdLoose: sender !== undefined && isIdLoose(sender.row, authenticator.scheme, bodyDigest),
    patienceMs: reply.by === "flow" ? reply.timeoutMs : maxWaitMs,
  };
  return {
    ...{ node, config, authenticator, sender, maxBodyBytes, guaranteed, recorder, outcomes, owed },
    hasParameters: isPattern(config.path),
    methodNotAllowed: refuseOtherMethods(config.methods),
    judgeHead: createLimits(config, node.id, parts.limiting),
    duplicates: how && new DuplicateGuard(how, parts.duplicates),
    newId: () => RED.util.generateId(),
    deliver: (delivery, flowReply) => sendMessage(RED, node, delivery, config, flowReply),
  };
}

/** Whether a handshake may come by a method, besides those that start the flow. */
export function mayGreetBy({ authenticator }: Pick<Endpoint, "authenticator">, method: string): boolean {
  return authenticator.handshakeMethods.includes(method);
}

/** Whether requests by a method may start the flow. HEAD is accepted with GET, but starts no flow. */
export function acceptsMethod({ methods }: Pick<WebhookConfig, "methods">, method = ""): boolean {
  return methods.includes(method === "HEAD" ? "GET" : method);
}

/** An endpoint that has its path, or waits for it. */
interface Registration {
  readonly endpoint: Endpoint;
  /** The endpoint has the path, now that the flows run. */
  onActive(): void;
  /** Another endpoint has the path, now that the flows run. */
  onBlocked(): void;
}

interface Registered {
  /** During a deploy, the registration before it. */
  registration: Registration;
  isPresent: boolean;
  told?: "onActive" | "onBlocked" | undefined;
}

/**
 * Paths and their endpoints: the first to register has the path, later ones wait in order. During a deploy nothing
 * changes, so that a node that comes back keeps its place.
 */
export class EndpointRegistry {
  readonly #queues = new Map<string, Registered[]>();
  /** Missing until the next look-up where they have changed. */
  #findPattern: ReturnType<typeof preparePatterns> | undefined;
  readonly #isAdminPath: (path: string) => boolean;
  #isSuspended = false;

  /** @param isAdminPath whether a path is Node-RED's own, which no pattern matches */
  constructor(isAdminPath: (path: string) => boolean = () => false) {
    this.#isAdminPath = isAdminPath;
  }

  /** Finds the endpoint of a path; during a deploy, the one before it. */
  find(path: string): Endpoint | undefined {
    // Most senders write the path as it is configured.
    const queue = this.#queues.get(path) ?? this.#queues.get(getPathKey(path)) ?? this.#findByPattern(path);
    return queue?.[0]?.registration.endpoint;
  }

  #findByPattern(path: string): Registered[] | undefined {
    this.#findPattern ??= preparePatterns([...this.#queues.keys()].filter(isPattern));
    const key = this.#findPattern(path);
    return key === undefined || this.#isAdminPath(path) ? undefined : this.#queues.get(key);
  }

  get endpoints(): Endpoint[] {
    return [...this.#queues.values()].flatMap(([first]) => (first ? [first.registration.endpoint] : []));
  }

  /** Finds the endpoint of a node, if it has its path. */
  findOfNode(id: string): Endpoint | undefined {
    return this.endpoints.find(({ node }) => node.id === id);
  }

  suspend(): void {
    this.#isSuspended = true;
  }

  /** Nodes that did not come back lose their places. */
  resume(): void {
    this.#isSuspended = false;
    for (const [key, queue] of this.#queues) {
      const isComplete = queue.every(({ isPresent }) => isPresent);
      this.#settle(key, isComplete ? queue : queue.filter(({ isPresent }) => isPresent));
    }
  }

  /** Registers an endpoint for its path. @returns the function that gives the path up */
  register(registration: Registration): () => void {
    const { node, config } = registration.endpoint;
    const key = getPatternKey(config.path);
    const queue = this.#queues.get(key) ?? [];
    let place = queue.find(({ registration: { endpoint }, isPresent }) => endpoint.node.id === node.id && !isPresent);
    if (place) Object.assign(place, { registration, isPresent: true, told: undefined });
    else queue.push((place = { registration, isPresent: true }));
    this.#settle(key, queue);
    return () => this.#release(key, place, registration);
  }

  #release(key: string, place: Registered, registration: Registration): void {
    const queue = this.#queues.get(key);
    if (!queue || place.registration !== registration || !place.isPresent) return;
    place.isPresent = false;
    if (!this.#isSuspended) this.#settle(key, queue.filter((each) => each !== place)); // prettier-ignore
  }

  /** Stores a queue; while the flows run, reports who has the path. */
  #settle(key: string, queue: Registered[]): void {
    if (queue.length > 0) this.#queues.set(key, queue);
    else this.#queues.delete(key);
    if (isPattern(key)) this.#findPattern = undefined;
    if (this.#isSuspended) return;
    for (const place of queue) {
      const event = place === queue[0] ? "onActive" : "onBlocked";
      if (place.told === event) continue;
      place.told = event;
      place.registration[event]();
    }
  }
}
