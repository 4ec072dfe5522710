// A request for an endpoint: authenticate, read, verify, decode, filter, deduplicate, store, dispatch, reply.

import {
  type Authenticated,
  type HandshakeAnswer,
  isCredentialRemoved,
  type RefusedRequestFacts,
} from "../auth/authenticator";
import { findNetwork } from "../auth/limits";
import type { Source } from "../auth/senders/sender";
import { Fields, isInBody } from "../auth/request-values";
import { readSenderDelivery, readSubscriptions, type SenderDelivery } from "../auth/sender-delivery";
import type { IncomingDelivery, Webhook } from "../deliveries/delivery";
import type { KnownDuplicate } from "../deliveries/duplicates";
import type { Change, Reservation } from "../deliveries/queue";
import type { SentRequest } from "../deliveries/record";
import type { DeployGate } from "../flow/deploy-gate";
import type { Endpoint } from "../flow/endpoint";
import type { EndpointRegistry } from "../flow/endpoints";
import { FlowReply } from "../flow/flow-reply";
import { composePayload } from "../flow/message";
import type { AcceptedEvent } from "../flow/outcomes";
import { composeEarlier, composeSuccess, noteAnswer, type Reply, sendProblem, sendReply } from "../flow/reply";
import { type Content, DecodedBody } from "../request/decode";
import { readParameters } from "../request/path-patterns";
import { Interference, Problem, problems } from "../request/problem";
import { toObject } from "../request/target";
import { describeRequest, redactPath, removeCredential } from "../request/request-info";
import {
  type Exchange,
  getHead,
  handToFlow,
  receive,
  type Received,
  takeChangedBody,
  waitForFlows,
} from "./receive-request";
import { isPattern } from "../config/paths";

export interface Services {
  readonly registry: EndpointRegistry;
  readonly deployGate: DeployGate;
}

/** A verified request on its way to the flow. */
interface Accepted {
  readonly exchange: Exchange;
  readonly endpoint: Endpoint;
  readonly authenticated: Authenticated;
  readonly isTest: boolean;
  readonly delivery: IncomingDelivery;
  readonly sent: SentRequest;
  /** Missing where duplicates are not ignored, or the request has no value for the key. */
  readonly reservation: Reservation | undefined;
  readonly lacksKey: boolean;
}

/**
 * Handles a request from its head to the reply. Never rejects.
 *
 * @param known the endpoint of its path; during a deploy, the one before it
 */
export async function handleRequest(exchange: Exchange, known: Endpoint, services: Services): Promise<void> {
  let endpoint = known;
  // After a deploy, the refusal is counted for the new endpoint of the path.
  const findCurrent = () => services.registry.find(exchange.path) ?? endpoint;
  let bytes: Buffer | undefined;
  try {
    if (services.deployGate.isClosed) {
      const current = await findAfterDeploy(exchange, services);
      if (current instanceof Problem) return refuse(exchange, endpoint, current);
      endpoint = current;
    }
    const received = takeReceived(exchange, endpoint) ?? (await receive(exchange, endpoint));
    bytes = received.bytes;
    const { verdict } = received;
    if (verdict instanceof Problem) return refuse(exchange, endpoint, verdict, bytes);
    if ("status" in verdict) return answerHandshake(exchange, endpoint, verdict, bytes);
    // A credential that a guard in front has removed is missing.
    if (isCredentialRemoved(endpoint.authenticator, exchange.request))
      return refuse(exchange, endpoint, endpoint.authenticator.missing, bytes);
    if (isPreview(exchange.request)) return sendReply(exchange.request, exchange.response, noContent);
    const problem = await accept(exchange, received, verdict, services);
    if (problem) refuse(exchange, findCurrent(), problem, bytes);
  } catch (error) {
    refuse(exchange, findCurrent(), problems.unforeseen, bytes, error);
  }
}

const noContent: Reply = { status: 204, headers: {}, body: "" };

/**
 * Whether a request must have no effect: HEAD asks what GET would answer (RFC 9110 §9.3.2), and browsers fetch pages
 * ahead (Fetch, `Sec-Purpose`).
 */
function isPreview({ method, headers }: Exchange["request"]): boolean {
  if (method !== "GET") return method === "HEAD";
  return [headers["sec-purpose"], headers.purpose].some((purpose) => /^prefetch\b/i.test(String(purpose)));
}

/**
 * Whether a browser opens the address as a page: an operator looks whether it is there, which says nothing of a sender.
 * Without HTTPS, browsers send no `Sec-Fetch-Mode` (Fetch Metadata §2.2).
 */
function isPageView({ method, headers }: Exchange["request"]): boolean {
  return method === "GET" && (headers["sec-fetch-mode"] === "navigate" || /\btext\/html\b/i.test(headers.accept ?? ""));
}

/** What an earlier layer has received. Also used after a deploy, when the body is gone. */
function takeReceived({ received }: Exchange, endpoint: Endpoint): Received | undefined {
  const isOfNode = received?.verdict instanceof Problem && received.endpoint.node.id === endpoint.node.id;
  return received?.endpoint === endpoint || isOfNode ? received : undefined;
}

/** Waits until the flows run, and finds the endpoint. */
async function findAfterDeploy(exchange: Exchange, { deployGate, registry }: Services): Promise<Endpoint | Problem> {
  if (!(await waitForFlows(exchange, deployGate))) return problems.deploying;
  return registry.find(exchange.path) ?? problems.gone;
}

/** @returns the problem that keeps the flow from starting */
async function accept(
  exchange: Exchange,
  received: Received,
  authenticated: Authenticated,
  services: Services,
): Promise<Problem | undefined> {
  const { request, response } = exchange;
  const { endpoint, bytes = Buffer.alloc(0) } = received;
  const { deployGate } = services;
  if (deployGate.isClosed && !(await waitForFlows(exchange, deployGate, received))) return problems.deploying;
  const parsed = received.parsed ?? takeChangedBody(exchange);
  const network = findNetwork(exchange.ip);
  // What was verified is what the flow gets.
  const verified = parsed === received.parsed ? received.decoded : undefined;
  const body = verified ?? new DecodedBody({ network, request, parsed }, bytes);
  const decoded = body.decode(endpoint.limit);
  const content = decoded instanceof Promise ? await decoded : decoded;
  if (content instanceof Problem) return content;
  const isTest = authenticated.isTest === true;
  // Test requests are all alike.
  const guard = isTest ? undefined : endpoint.duplicates;
  // Uploaded files that another parser has read cannot be stored.
  const hasFiles = endpoint.guaranteed !== undefined && parsed?.files !== undefined;
  const needsBytes = endpoint.config.rawBody || guard?.needsBytes === true || hasFiles;
  if (needsBytes && !received.hasBytes) throw new Interference("bytesGone");
  const head = getHead(exchange);
  const fields = new Fields(head, body);
  const told = readTold(endpoint, fields);
  if (!isTest && endpoint.sender) {
    for (const subscription of readSubscriptions(endpoint.sender.row, fields)) {
      endpoint.outcomes.emit("subscription", { node: endpoint.node.id, ...subscription });
    }
  }
  const [event] = told.events;
  const filtering = { events: told.events, head, text: () => toBodyText(content) };
  const passed = endpoint.filter
    ? endpoint.filter.judge({ ...filtering, payload: () => readPayload(exchange, endpoint, content) })
    : { event };
  if (passed instanceof Problem) return passed;
  if (!passed) return replyToFiltered(exchange, endpoint, isTest, event);
  const webhook = describeWebhook(endpoint, authenticated, { ...told, ...passed });
  const id = endpoint.newId();
  const params = readParameters(endpoint.config.path, exchange.path);
  const known = { network, head, body, id: told.key, params };
  const duplicate = guard && (await guard.judge(known, id, response));
  if (duplicate instanceof Problem) return hasGone(exchange) ? undefined : duplicate;
  if (hasGone(exchange)) {
    // The sender will try again.
    if (duplicate?.isFirst) await duplicate.release();
    return undefined;
  }
  const reservation = duplicate?.isFirst ? duplicate : undefined;
  let problem: Problem | undefined = problems.unforeseen;
  try {
    removeCredential(request, endpoint.authenticator, endpoint.config.reply.by === "flow");
    const accepted: Accepted = {
      exchange,
      endpoint,
      authenticated,
      isTest,
      delivery: makeDelivery(exchange, endpoint, content, { id, bytes, webhook }),
      sent: { content, bytes: parsed ? undefined : received.bytes, isTest },
      reservation,
      lacksKey: guard !== undefined && !duplicate,
    };
    if (duplicate?.isFirst === false) return replyToDuplicate(accepted, duplicate);
    if (response.headersSent) throw new Interference("answered");
    const act = endpoint.config.reply.by === "flow" ? startForReply : endpoint.guaranteed ? store : start;
    problem = await act(accepted, services);
  } finally {
    if (problem) void reservation?.release();
  }
  return problem;
}

/** Whether the sender has gone; it will try again. */
function hasGone({ request, response }: Exchange): boolean {
  return !request.socket.writable && !response.headersSent;
}

const untold: SenderDelivery = { events: [], id: undefined, key: undefined };

/** In a header or parameter, a secret is removed; in the body, it is what the sender has sent. */
function readTold({ sender, authenticator }: Endpoint, fields: Fields): SenderDelivery {
  if (!sender) return untold;
  const { row } = sender;
  const { events, ...ids } = readSenderDelivery(row, fields);
  const isSafe = (text: string, sources: readonly Source[]) =>
    sources.every(isInBody) || !authenticator.redactor.contains(text);
  return {
    ...(isSafe(ids.id ?? "", row.id?.from ?? []) ? ids : untold),
    events: events.filter((event) => isSafe(event, row.events ?? [])),
  };
}

/** The value of `msg.webhook`. */
function describeWebhook(
  { sender, guaranteed }: Endpoint,
  { credential, sentAt, claims }: Authenticated,
  { event, id }: { readonly event: string | undefined; readonly id: string | undefined },
): Webhook {
  const proof = {
    credential,
    ...(sentAt !== undefined && { sentAt }),
    ...(claims && { claims }),
    ...(guaranteed && { attempt: 1 }),
  };
  if (!sender) return proof;
  return { sender: sender.id, ...(event !== undefined && { event }), ...(id !== undefined && { id }), ...proof };
}

/** The text that the flow gets, or that of the bytes. */
function toBodyText({ value, bytes }: Content): string {
  return typeof value === "string" ? value : bytes().toString();
}

/** The payload that conditions see, without the query beside it. */
function readPayload({ request, search }: Exchange, { config }: Endpoint, { value }: Content): unknown {
  const query = toObject(new URLSearchParams(search));
  const req = { method: request.method ?? "", url: `?${search}`, query };
  return composePayload({ body: value, req }, { ...config, returnQueryParams: false });
}

/** Starts the flow and replies. */
async function start(accepted: Accepted, services: Services): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, isTest, reservation } = accepted;
  const record = endpoint.records?.record(delivery, sent);
  const problem = await dispatch(delivery, endpoint, services);
  if (problem) return problem;
  const success = composeSuccess(endpoint, isTest, { status: "accepted", id: delivery.id });
  void reservation?.settle();
  reportAccepted(accepted);
  const replied = tryReply(accepted, success);
  if (record) endpoint.records?.came(record, { ...replied, ...noteAnswer(success.body), state: "succeeded" });
  return undefined;
}

/** Starts a flow that replies. With guaranteed delivery, the delivery is stored first. */
async function startForReply(accepted: Accepted, services: Services): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, reservation } = accepted;
  const { guaranteed, records } = endpoint;
  const problem = await guaranteed?.storeStarted(delivery, sent, reservation?.candidate);
  if (problem) return problem;
  const flowReply = oweReply(accepted);
  if (guaranteed) void flowReply.ending.then((result) => guaranteed.end(delivery.id, result));
  else records?.came(records.record(delivery, sent), { state: "running" });
  reportAccepted(accepted);
  const failure = await dispatch(delivery, endpoint, services, flowReply);
  if (failure) flowReply.fail(failure);
  return undefined;
}

/** Stores the delivery and replies; the queue starts the flow. */
async function store(accepted: Accepted): Promise<Problem | undefined> {
  const { endpoint, delivery, sent, isTest, reservation } = accepted;
  const { guaranteed, records } = endpoint;
  const success = composeSuccess(endpoint, isTest, { status: "accepted", id: delivery.id });
  const answer = records?.keepsAnswers ? noteAnswer(success.body) : {};
  const problem = await guaranteed?.store(delivery, sent, answer, reservation?.candidate);
  if (problem) return problem;
  await reservation?.settle();
  reportAccepted(accepted);
  records?.answered(delivery.id, tryReply(accepted, success));
  return undefined;
}

/**
 * Sends the message. One turn later it has reached the next nodes; after a deploy in between, Node-RED may have
 * dropped it, and it is sent again.
 */
async function dispatch(
  delivery: IncomingDelivery,
  endpoint: Endpoint,
  { deployGate, registry }: Services,
  reply?: FlowReply,
): Promise<Problem | undefined> {
  for (;;) {
    if (deployGate.isClosed && !(await deployGate.wait())) return problems.deploying;
    const current = registry.find(endpoint.config.path);
    if (current?.node.id !== endpoint.node.id) return current ? problems.deploying : problems.gone;
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

/** Replies to a duplicate as to the first delivery. */
function replyToDuplicate(accepted: Accepted, { id, answer }: KnownDuplicate): undefined {
  const { endpoint, delivery, sent, isTest } = accepted;
  const { records } = endpoint;
  const reply = answer ? composeEarlier(answer) : composeSuccess(endpoint, isTest, { status: "duplicate", id });
  const replied = tryReply(accepted, reply, id);
  endpoint.outcomes.emit("duplicate", { ...toEvent(accepted), id });
  const noted = noteAnswer(reply.body, endpoint.authenticator.redactor);
  records?.came(records.record(delivery, sent), { ...replied, ...noted, state: "duplicate", duplicateOf: id });
}

/** Replies as to an accepted request. Nothing is stored. */
function replyToFiltered(
  { request, response }: Exchange,
  endpoint: Endpoint,
  isTest: boolean,
  event: string | undefined,
): undefined {
  sendReply(request, response, composeSuccess(endpoint, isTest, { status: "filtered" }));
  const isSecret = endpoint.authenticator.redactor.contains(event ?? "");
  endpoint.outcomes.emit("filtered", { node: endpoint.node.id, event: isSecret ? undefined : event });
}

/** Replies when it is too late to refuse: where a middleware in front makes that fail, the connection is closed. */
function tryReply(
  { exchange, endpoint, delivery }: Accepted,
  reply: Reply,
  id = delivery.id,
): Pick<Change, "status" | "milliseconds"> {
  const { request, response, start: began } = exchange;
  try {
    sendReply(request, response, reply);
    const milliseconds = performance.now() - began;
    endpoint.outcomes.emit("replied", { node: endpoint.node.id, id, milliseconds, contentLength: reply.body.length });
    return { status: response.statusCode, milliseconds };
  } catch (error) {
    request.socket.destroy();
    emitRefused(endpoint, problems.unforeseen, undefined, error);
    return { milliseconds: performance.now() - began };
  }
}

function oweReply({ exchange, endpoint, delivery, isTest, reservation }: Accepted): FlowReply {
  const { request, response, start: began } = exchange;
  const timeoutMs = endpoint.config.reply.by === "flow" ? endpoint.config.reply.timeout : 0;
  handToFlow(exchange, delivery.body);
  const owed = { id: delivery.id, request, response, start: began, isTest };
  return new FlowReply(owed, endpoint, timeoutMs, reservation);
}

function makeDelivery(
  { request, path, ip }: Exchange,
  endpoint: Endpoint,
  content: Content,
  { id, bytes, webhook }: { id: string; bytes: Buffer; webhook: Webhook },
): IncomingDelivery {
  const req = describeRequest(request, redactPath(path, endpoint.authenticator.redactor), ip);
  if (isPattern(endpoint.config.path)) req.params = readParameters(endpoint.config.path, req.path) ?? {};
  if (content.files) req.files = content.files;
  return { id, body: content.value, req, webhook, ...(endpoint.config.rawBody && { rawBody: bytes }) };
}

function reportAccepted(accepted: Accepted): void {
  accepted.endpoint.outcomes.emit("accepted", toEvent(accepted));
}

function toEvent({ endpoint, exchange, authenticated, delivery, lacksKey }: Accepted): AcceptedEvent {
  return { node: endpoint.node.id, id: delivery.id, authenticated, ip: exchange.ip, lacksKey, at: Date.now() };
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
function answerHandshake(
  exchange: Exchange,
  endpoint: Endpoint,
  answer: HandshakeAnswer,
  bytes: Buffer | undefined,
): void {
  const refused = describeRefused(exchange, bytes);
  sendReply(exchange.request, exchange.response, answer);
  const { show: secret, isVerified = false, status } = answer;
  if (status >= 400) return emitRefused(endpoint, problems.handshakeRefused, refused);
  endpoint.outcomes.emit("handshake", { node: endpoint.node.id, secret, isVerified, request: refused, status });
}

/** @param cause the error behind an unforeseen problem */
export function refuse(
  exchange: Exchange,
  endpoint: Endpoint,
  problem: Problem,
  bytes?: Buffer,
  cause?: unknown,
): void {
  const { request, response } = exchange;
  const refused = describeRefused(exchange, bytes);
  const isEmpty = endpoint.sender?.row.emptyReply?.to === "all";
  const failure = sendProblem(request, response, problem, isEmpty);
  const error = cause ?? failure;
  if (error === undefined && problem === endpoint.methodNotAllowed && isPageView(request)) return;
  emitRefused(endpoint, error === undefined ? problem : problems.unforeseen, refused, error);
}

function describeRefused(exchange: Exchange, body: Buffer | undefined): RefusedRequestFacts {
  return { head: getHead(exchange), body, at: exchange.at, ip: exchange.ip };
}
