// A request for an endpoint: authenticate, read, verify, decode, filter, find the duplicate, record, start the flow, reply.

import {
  type Authenticated,
  type HandshakeReply,
  isHandshakeReply,
  type RefusedRequestFacts,
} from "../auth/authenticator";
import { findNetwork } from "../auth/limits";
import { handshakeMark, messageField } from "../auth/present";
import type { Source } from "../auth/senders/sender";
import { isStillValid } from "../auth/still-valid";
import {
  isMemberOfBody,
  readSenderDelivery,
  readSubscriptions,
  RequestValues,
  type SenderDelivery,
} from "../auth/request-values";
import type { FilterReason, IncomingDelivery, Webhook } from "../deliveries/delivery";
import type { DuplicateGuard, DuplicateDelivery } from "../deliveries/duplicates";
import type { Change, Reservation } from "../deliveries/queue";
import type { SentRequest } from "../deliveries/record";
import type { DeployGate } from "../flow/deploy-gate";
import type { Endpoint, EndpointRegistry } from "../flow/endpoint";
import { filterRequest } from "../flow/filter";
import { FlowReply } from "../flow/flow-reply";
import type { GuaranteedFlow } from "../flow/guaranteed";
import { describeBody } from "../flow/message";
import type { AcceptedEvent } from "../flow/outcomes";
import { composeEarlier, composeSuccess, noteReply, type Reply, sendProblem, sendReply } from "../flow/reply";
import { DecodedBody } from "../request/decode";
import { readParameters } from "../request/path-patterns";
import { ReasonError, Problem, problems } from "../request/problem";
import { describeRequest, isCredentialRemoved, removeCredential, type RequestInfo } from "../request/request-info";
import {
  type Arrived,
  handToFlow,
  judge,
  receive,
  type Received,
  takeChangedBody,
  waitForFlows,
} from "./receive-request";

export interface Services {
  readonly registry: EndpointRegistry;
  readonly deployGate: DeployGate;
}

/** A request whose body was verified and decoded. */
interface Decoded {
  readonly arrived: Arrived;
  readonly endpoint: Endpoint;
  readonly authenticated: Authenticated;
  readonly body: DecodedBody;
  readonly sent: SentRequest;
}

/** A request that the flow is to get, or has got before. */
interface Accepted extends Pick<Decoded, "arrived" | "endpoint" | "authenticated" | "sent"> {
  readonly delivery: IncomingDelivery;
  /** Missing where duplicates are not ignored, or the request has no value for the key. */
  readonly reservation: Reservation | undefined;
  readonly lacksKey: boolean;
}

/**
 * Handles a request from its head to the reply. Never rejects.
 *
 * @param found the endpoint of its path; during a deploy, the one before it
 */
export async function handleRequest(arrived: Arrived, found: Endpoint, services: Services): Promise<void> {
  let endpoint = found;
  let body: Buffer | undefined;
  let isVerified = false;
  // After a deploy, the refusal is counted for the new endpoint of the path.
  const findCurrent = () => services.registry.find(arrived.path) ?? endpoint;
  try {
    if (services.deployGate.isClosed) {
      const current = await findAfterDeploy(arrived, services);
      if (current instanceof Problem) return refuse(arrived, endpoint, current);
      endpoint = current;
    }
    const received = takeReceived(arrived, endpoint) ?? (await receive(arrived, judge(arrived, endpoint)));
    const { verdict } = received;
    body = received.body?.bytes;
    if (verdict instanceof Problem) return refuse(arrived, endpoint, verdict, body);
    if (isHandshakeReply(verdict)) return replyToHandshake(arrived, endpoint, verdict, body);
    // A credential that a guard in front has removed is missing.
    const { authenticator } = endpoint;
    if (isCredentialRemoved(authenticator, arrived.request)) {
      arrived.shared.caller = undefined;
      return refuse(arrived, endpoint, authenticator.missing, body);
    }
    if (isPreview(arrived)) {
      hideCredential(arrived, endpoint);
      return sendReply(arrived.request, arrived.response, noContent);
    }
    isVerified = true;
    const isSignedTest = authenticator.isSignedTest(arrived.head);
    const authenticated: Authenticated = isSignedTest ? { ...verdict, isTest: true } : verdict;
    const problem = await accept(arrived, received, authenticated, services);
    if (!problem) return;
    hideCredential(arrived, endpoint);
    refuse(arrived, findCurrent(), problem, body);
  } catch (cause) {
    if (isVerified) hideCredential(arrived, endpoint);
    refuse(arrived, findCurrent(), problems.unforeseen, body, cause);
  }
}

const noContent: Reply = { status: 204, headers: {}, body: "" };

/**
 * Whether a request must have no effect: HEAD asks what GET would answer (RFC 9110 §9.3.2), and browsers fetch pages
 * ahead (Fetch, `Sec-Purpose`).
 */
function isPreview({ head: { method }, request: { headers } }: Arrived): boolean {
  if (method !== "GET") return method === "HEAD";
  return [headers["sec-purpose"], headers.purpose].some((purpose) => /^prefetch\b/i.test(String(purpose)));
}

/** What an earlier layer has received. Also used after a deploy, when the body is gone. */
function takeReceived({ shared: { received } }: Arrived, endpoint: Endpoint): Received | undefined {
  const isOfNode = received?.verdict instanceof Problem && received.endpoint.node.id === endpoint.node.id;
  return received?.endpoint === endpoint || isOfNode ? received : undefined;
}

/** Waits until the flows run, and finds the endpoint. */
async function findAfterDeploy(arrived: Arrived, { deployGate, registry }: Services): Promise<Endpoint | Problem> {
  if (!(await waitForFlows(arrived, deployGate))) return problems.deploying;
  return registry.find(arrived.path) ?? problems.gone;
}

/**
 * Decodes a request whose sender is authenticated, and delivers it, unless the filter keeps it out.
 *
 * @returns the problem that keeps the flow from starting
 */
async function accept(
  arrived: Arrived,
  received: Received,
  authenticated: Authenticated,
  services: Services,
): Promise<Problem | undefined> {
  const { endpoint } = received;
  const { deployGate } = services;
  if (deployGate.isClosed && !(await waitForFlows(arrived, deployGate, received))) return problems.deploying;
  // While the body was on its way, a deploy may have removed its caller.
  const current = findAdmitting(endpoint, authenticated, services);
  if (current instanceof Problem) return current;
  const { caller, isTest } = authenticated;
  if (caller !== undefined && !isTest) endpoint.outcomes.emit("called", { node: endpoint.node.id, caller });
  const body = takeBody(arrived, received);
  // Most are not packed, and need no wait.
  const content = body.content ?? (await body.decode(endpoint.maxBodyBytes));
  if (content instanceof Problem) return content;
  const sent = { content, bytes: body.parsed ? undefined : body.bytes, isTest: isTest === true };
  const decoded: Decoded = { arrived, endpoint, authenticated, body, sent };
  if (!received.hasBytes && needsBytes(decoded)) throw new ReasonError("bytesGone");
  reportSubscriptions(decoded);
  const told = readTold(decoded);
  const passed = filter(decoded, told.events);
  if ("why" in passed) return replyToFiltered(decoded, told, passed.why);
  const delivery = describeDelivery(decoded, passed.event, told.id);
  const { duplicates } = endpoint;
  // Test requests are all alike.
  const found = duplicates && !isTest ? await findDuplicate(decoded, duplicates, delivery.id, told.key) : undefined;
  if (found instanceof Problem) return hasGone(arrived) ? undefined : found;
  const reservation = found?.isFirst ? found : undefined;
  const lacksKey = duplicates !== undefined && !isTest && !found;
  const accepted = { arrived, endpoint, authenticated, sent, delivery, reservation, lacksKey };
  return await deliver(accepted, found?.isFirst === false ? found : undefined, services);
}

/** The body as middleware in front has left it. */
function takeBody(arrived: Arrived, { body }: Received): DecodedBody {
  const { request } = arrived;
  const parsed = takeChangedBody(arrived);
  if (body && !parsed) return body;
  return new DecodedBody({ request, parsed }, body?.bytes ?? Buffer.alloc(0));
}

/** Whether a value that another parser has left is not enough. */
function needsBytes({ endpoint: { config, guaranteed, duplicates }, body, sent }: Decoded): boolean {
  // Uploaded files that another parser has read cannot be stored.
  const hasFiles = guaranteed !== undefined && body.parsed?.files !== undefined;
  return config.rawBody || hasFiles || (!sent.isTest && duplicates?.needsBytes === true);
}

/**
 * The channels of Google's APIs, which may have any token: Calendar, Drive and others
 * (https://developers.google.com/workspace/drive/api/guides/push). A renewed one is another channel for the same resource.
 */
const googleChannels = { ids: "header:X-Goog-Resource-ID", expiries: "header:X-Goog-Channel-Expiration" } as const;

function reportSubscriptions({ arrived, endpoint, body, sent }: Decoded): void {
  const { sender, outcomes, node } = endpoint;
  const isOfGoogle = arrived.request.headers["x-goog-channel-expiration"] !== undefined;
  const subscriptions = sender?.row.subscriptions ?? (isOfGoogle ? googleChannels : undefined);
  if (!subscriptions || sent.isTest) return;
  for (const subscription of readSubscriptions(subscriptions, new RequestValues(arrived.head, body))) {
    outcomes.emit("subscription", { node: node.id, ...subscription });
  }
}

const untold: SenderDelivery = { events: [], id: undefined, key: undefined };

/** In a header or parameter, a secret is removed; in the body, it is what the sender has sent. */
function readTold({ arrived, endpoint, body }: Decoded): SenderDelivery {
  const { sender, authenticator } = endpoint;
  if (!sender) return untold;
  const { row } = sender;
  const { events, ...ids } = readSenderDelivery(row, new RequestValues(arrived.head, body));
  const isSafe = (text: string, sources: readonly Source[]) =>
    sources.every(isMemberOfBody) || !authenticator.redactor.contains(text);
  return {
    ...(isSafe(ids.id ?? "", row.id?.from ?? []) ? ids : untold),
    events: events.filter((event) => isSafe(event, row.events ?? [])),
  };
}

/** @returns the event that starts the flow, if the request does */
function filter(
  { arrived, endpoint, sent: { content } }: Decoded,
  events: readonly string[],
): ReturnType<typeof filterRequest> {
  const { config, authenticator } = endpoint;
  if (config.events.length + config.conditions.length === 0) return { event: events[0] };
  const { head } = arrived;
  return filterRequest(config, { events, head, ...describeBody(content, head, config) }, authenticator.redactor);
}

/** @returns nothing where the request has no key */
function findDuplicate(
  { arrived, endpoint, authenticated: { caller }, body }: Decoded,
  duplicates: DuplicateGuard,
  id: string,
  key: string | undefined,
): ReturnType<DuplicateGuard["judge"]> {
  const { ip, head, path, response } = arrived;
  const params = endpoint.hasParameters ? readParameters(endpoint.config.path, path) : undefined;
  return duplicates.judge({ network: findNetwork(ip), head, body, id: key, params, caller }, id, response);
}

/** Whether the sender has gone; it will try again. */
function hasGone({ request, response }: Arrived): boolean {
  return !request.socket.writable && !response.headersSent;
}

/**
 * Starts the flow, or replies as to the first delivery. Where the flow does not start, the reserved key is free again.
 *
 * @param first the delivery that came before with the same key
 */
async function deliver(
  accepted: Accepted,
  first: DuplicateDelivery | undefined,
  services: Services,
): Promise<Problem | undefined> {
  const { arrived, endpoint, authenticated, reservation } = accepted;
  const { deployGate } = services;
  let hasStarted = false;
  try {
    // The sender will try again.
    if (hasGone(arrived)) return undefined;
    hideCredential(arrived, endpoint);
    if (first) return replyToDuplicate(accepted, first);
    if (arrived.response.headersSent) throw new ReasonError("answered");
    // It may have waited while it was unpacked, or as a duplicate.
    if (deployGate.isClosed && !(await deployGate.wait(arrived.response))) return problems.deploying;
    const current = findAdmitting(endpoint, authenticated, services);
    if (current instanceof Problem) return current;
    const problem = await startFlow(accepted, services);
    hasStarted = problem === undefined;
    return problem;
  } finally {
    if (!hasStarted) void reservation?.release();
  }
}

/** Removes the credential where others may see it: the flow, and access logs in front, which write the URL with the reply. */
function hideCredential({ request }: Arrived, { config, authenticator }: Endpoint): void {
  if (config.reply.by === "flow" || authenticator.parameter !== undefined) removeCredential(request, authenticator);
}

/** What the flow gets, without the credential. */
function describeDelivery(decoded: Decoded, event: string | undefined, senderId: string | undefined): IncomingDelivery {
  const { endpoint, body, sent } = decoded;
  const req = describeSent(decoded);
  if (sent.content.files) req.files = sent.content.files;
  const webhook = describeWebhook(decoded, event, senderId);
  const rawBody = endpoint.config.rawBody && { rawBody: body.bytes };
  return { id: endpoint.newId(), body: sent.content.value, req, webhook, ...rawBody };
}

/** The request, without its credential and files. */
function describeSent({ arrived: { request, path, ip }, endpoint }: Decoded): RequestInfo {
  const req = describeRequest(request, endpoint.authenticator, path, ip);
  if (endpoint.hasParameters) req.params = readParameters(endpoint.config.path, req.path) ?? {};
  return req;
}

/** The value of `msg.webhook`. */
function describeWebhook(
  { endpoint: { sender, guaranteed }, authenticated: { credential, caller, sentAt, claims } }: Decoded,
  event: string | undefined,
  id: string | undefined,
): Webhook {
  const proof = {
    credential,
    ...(caller !== undefined && { caller }),
    ...(sentAt !== undefined && { sentAt }),
    ...(claims && { claims }),
    ...(guaranteed && { attempt: 1 }),
  };
  if (!sender) return proof;
  return { sender: sender.id, ...(event !== undefined && { event }), ...(id !== undefined && { id }), ...proof };
}

/** Starts the flow, or has the queue start it, and replies, or has the flow reply. */
function startFlow(accepted: Accepted, services: Services): Promise<Problem | undefined> {
  const { config, guaranteed } = accepted.endpoint;
  if (config.reply.by === "flow") return startForReply(accepted, config.reply.timeoutMs, services);
  return guaranteed ? store(accepted, guaranteed) : start(accepted, services);
}

/** Starts the flow and replies. */
async function start(accepted: Accepted, services: Services): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, reservation } = accepted;
  const record = endpoint.recorder?.record(delivery, sent);
  const problem = await dispatch(delivery, endpoint, services);
  if (problem) return problem;
  const success = composeSuccess(endpoint, sent.isTest, { status: "accepted", id: delivery.id });
  void reservation?.settle();
  endpoint.outcomes.emit("accepted", toEvent(accepted));
  const replied = tryReply(accepted, success);
  if (record) endpoint.recorder?.add(record, { ...replied, ...noteReply(success.body), state: "succeeded" });
  return undefined;
}

/** Starts a flow that replies. With guaranteed delivery, the delivery is stored first. */
async function startForReply(accepted: Accepted, timeoutMs: number, services: Services): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, reservation } = accepted;
  const { guaranteed, recorder } = endpoint;
  const problem = await guaranteed?.storeRunning(delivery, sent, timeoutMs, reservation?.candidate);
  if (problem) return problem;
  const flowReply = oweReply(accepted, timeoutMs);
  if (guaranteed) void flowReply.ending.then((result) => guaranteed.end(delivery.id, result));
  else recorder?.add(recorder.record(delivery, sent), { state: "running" });
  endpoint.outcomes.emit("accepted", toEvent(accepted));
  const failure = await dispatch(delivery, endpoint, services, flowReply);
  if (failure) flowReply.fail(failure);
  return undefined;
}

/** Stores the delivery and replies; the queue starts the flow. */
async function store(accepted: Accepted, guaranteed: GuaranteedFlow): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, reservation } = accepted;
  const { recorder } = endpoint;
  const success = composeSuccess(endpoint, sent.isTest, { status: "accepted", id: delivery.id });
  const answer = recorder?.keepsReplies ? noteReply(success.body) : {};
  const problem = await guaranteed.store(delivery, sent, answer, reservation?.candidate);
  if (problem) return problem;
  await reservation?.settle();
  endpoint.outcomes.emit("accepted", toEvent(accepted));
  recorder?.update(delivery.id, tryReply(accepted, success));
  return undefined;
}

/**
 * Sends the message. One turn later it has reached the next nodes; after a deploy in between, Node-RED may have
 * dropped it, and it is sent again.
 */
async function dispatch(
  delivery: IncomingDelivery,
  endpoint: Endpoint,
  services: Services,
  reply?: FlowReply,
): Promise<Problem | undefined> {
  const { deployGate } = services;
  for (;;) {
    if (deployGate.isClosed && !(await deployGate.wait())) return problems.deploying;
    const current = findCurrent(endpoint, services);
    if (current instanceof Problem) return current;
    const { deploys } = deployGate;
    const interruptWithFlow = reply && current.guaranteed?.follow(delivery.id);
    current.deliver(delivery, reply);
    await new Promise(setImmediate);
    if (deployGate.deploys !== deploys) continue;
    if (reply) current.owed.add(reply);
    if (reply) interruptWithFlow?.(reply);
    return undefined;
  }
}

/** The endpoint of a node as it was deployed last. */
function findCurrent({ node, config: { path } }: Endpoint, { registry }: Services): Endpoint | Problem {
  const current = registry.find(path);
  if (current?.node.id === node.id) return current;
  // The sender may try again, at its new path.
  return current || registry.findOfNode(node.id) ? problems.deploying : problems.gone;
}

/** The same, unless what a request was authenticated by is not valid there. */
function findAdmitting(
  endpoint: Endpoint,
  used: Pick<Authenticated, "credential" | "caller">,
  services: Services,
): Endpoint | Problem {
  const current = findCurrent(endpoint, services);
  if (current instanceof Problem) return current;
  const { access } = endpoint.config;
  const { access: now } = current.config;
  if (access === now || isStillValid(access, now, used)) return current;
  // The sender will try again, with its new credential.
  if (used.caller === undefined) return problems.deploying;
  return now.method === "basic" ? problems.passwordInvalid : problems.tokenInvalid;
}

/** Replies to a duplicate as to the first delivery. */
function replyToDuplicate(accepted: Accepted, { id, reply: earlier }: DuplicateDelivery): undefined {
  const { endpoint, delivery, sent } = accepted;
  const { recorder } = endpoint;
  const reply = earlier ? composeEarlier(earlier) : composeSuccess(endpoint, sent.isTest, { status: "duplicate", id });
  const replied = tryReply(accepted, reply, id);
  endpoint.outcomes.emit("duplicate", { ...toEvent(accepted), id });
  const noted = noteReply(reply.body, endpoint.authenticator.redactor);
  recorder?.add(recorder.record(delivery, sent), { ...replied, ...noted, state: "duplicate", duplicateOf: id });
}

/** Replies as to an accepted request. Of these requests, only the last ones are kept. */
function replyToFiltered(decoded: Decoded, { events: [event], id }: SenderDelivery, why: FilterReason): undefined {
  const { arrived, endpoint, sent } = decoded;
  const { request, response, startedAt } = arrived;
  const reply = composeSuccess(endpoint, sent.isTest, { status: "filtered" });
  const message = { req: describeSent(decoded), webhook: describeWebhook(decoded, event, id) };
  hideCredential(arrived, endpoint);
  sendReply(request, response, reply);
  const replied = { status: response.statusCode, milliseconds: performance.now() - startedAt };
  endpoint.recorder?.addFiltered(message, sent, { ...replied, ...noteReply(reply.body), why });
  const isSecret = endpoint.authenticator.redactor.contains(event ?? "");
  endpoint.outcomes.emit("filtered", { node: endpoint.node.id, event: isSecret ? undefined : event });
}

/** Replies when it is too late to refuse: where a middleware in front makes that fail, the connection is closed. */
function tryReply(
  { arrived, endpoint, delivery }: Accepted,
  reply: Reply,
  id = delivery.id,
): Pick<Change, "status" | "milliseconds"> {
  const { request, response, startedAt } = arrived;
  try {
    sendReply(request, response, reply);
    const milliseconds = performance.now() - startedAt;
    endpoint.outcomes.emit("replied", { node: endpoint.node.id, id, milliseconds, contentLength: reply.body.length });
    return { status: response.statusCode, milliseconds };
  } catch (error) {
    request.socket.destroy();
    emitRefused(endpoint, problems.unforeseen, undefined, error);
    return { milliseconds: performance.now() - startedAt };
  }
}

function oweReply({ arrived, endpoint, delivery, sent, reservation }: Accepted, timeoutMs: number): FlowReply {
  const { request, response, startedAt } = arrived;
  const { id, body, webhook } = delivery;
  handToFlow(arrived, body);
  const owed = { id, caller: webhook.caller, request, response, startedAt, isTest: sent.isTest };
  return new FlowReply(owed, endpoint, timeoutMs, reservation);
}

function toEvent({ endpoint, arrived, authenticated, delivery, lacksKey }: Accepted): AcceptedEvent {
  return { node: endpoint.node.id, id: delivery.id, authenticated, ip: arrived.ip, lacksKey, at: Date.now() };
}

function emitRefused(
  { outcomes, node, authenticator }: Endpoint,
  problem: Problem,
  request: RefusedRequestFacts | undefined,
  cause?: unknown,
): void {
  outcomes.emit("refused", { node: node.id, authenticator, problem, request, cause });
}

/** Replies to a handshake, which starts no flow. */
function replyToHandshake(arrived: Arrived, endpoint: Endpoint, reply: HandshakeReply, body: Buffer | undefined): void {
  const refused = describeRefused(arrived, body);
  if (endpoint.authenticator.isSignedTest(arrived.head)) arrived.response.setHeader(messageField, handshakeMark);
  sendReply(arrived.request, arrived.response, reply);
  const { show: secret, isVerified = false, status } = reply;
  if (status >= 400) return emitRefused(endpoint, problems.handshakeRefused, refused);
  endpoint.outcomes.emit("handshake", { node: endpoint.node.id, secret, isVerified, request: refused, status });
}

/**
 * @param body as far as it was read
 * @param cause the error behind an unforeseen problem
 */
export function refuse(arrived: Arrived, endpoint: Endpoint, problem: Problem, body?: Buffer, cause?: unknown): void {
  const { request, response } = arrived;
  const refused = describeRefused(arrived, body);
  const isEmpty = endpoint.sender?.row.emptyReply?.to === "all";
  const failure = sendProblem(request, response, problem, isEmpty);
  const error = cause ?? failure;
  if (error === undefined && problem === endpoint.methodNotAllowed && isPageView(request)) return;
  emitRefused(endpoint, error === undefined ? problem : problems.unforeseen, refused, error);
}

/**
 * Whether a browser opens the address as a page: an operator looks whether it is there, which says nothing of a sender.
 * Without HTTPS, browsers send no `Sec-Fetch-Mode` (Fetch Metadata §2.2).
 */
function isPageView({ method, headers }: Arrived["request"]): boolean {
  return method === "GET" && (headers["sec-fetch-mode"] === "navigate" || /\btext\/html\b/i.test(headers.accept ?? ""));
}

function describeRefused({ head, at, ip, shared }: Arrived, body: Buffer | undefined): RefusedRequestFacts {
  return { head, body, at, ip, caller: shared.caller };
}
