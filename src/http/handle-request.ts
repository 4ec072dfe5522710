// A request for an endpoint: authenticate, read, verify, decode, deduplicate, store, dispatch, reply.

import type { HandshakeAnswer, RefusedRequestFacts } from "../auth/authenticator";
import type { Authenticated } from "../auth/result";
import { readSenderDelivery, type RequestHead } from "../auth/signature/fields";
import type { IncomingDelivery, Webhook } from "../deliveries/delivery";
import type { DuplicateGuard, DuplicateVerdict } from "../deliveries/duplicate-guard";
import type { KnownDuplicate, Reservation } from "../deliveries/duplicates";
import type { Change } from "../deliveries/queue";
import type { SentRequest } from "../deliveries/recorder";
import type { DeployGate } from "../flow/deploy-gate";
import type { Endpoint } from "../flow/endpoint";
import type { EndpointRegistry } from "../flow/endpoints";
import { FlowReply } from "../flow/flow-reply";
import type { AcceptedEvent } from "../flow/outcomes";
import { composeEarlier, composeSuccess, noteAnswer, type Reply, sendProblem, sendReply } from "../flow/reply";
import { memoryBudget } from "../request/body";
import { type Content, parseContentType } from "../request/decode";
import { Interference, Problem, problems } from "../request/problem";
import { describeRequest, removeCredential } from "../request/request-info";
import { type Exchange, handToFlow, receive, type Received, takeChangedBody } from "./receive-request";

export interface Services {
  readonly registry: EndpointRegistry;
  readonly deployGate: DeployGate;
}

/** A verified request on its way to the flow. */
interface Accepted {
  readonly exchange: Exchange;
  readonly endpoint: Endpoint;
  readonly received: Received;
  readonly authenticated: Authenticated;
  readonly content: Content;
  readonly id: string;
  readonly webhook: Webhook;
}

/**
 * Handles a request from its head to the reply. Never rejects.
 *
 * @param known the endpoint of its path; during a deploy, the one before it
 */
export async function handleRequest(exchange: Exchange, known: Endpoint, services: Services): Promise<void> {
  let endpoint = known;
  // After a deploy, another endpoint counts the refusal.
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
    if (endpoint.authenticator.isTakenFrom(exchange.request))
      return refuse(exchange, endpoint, endpoint.authenticator.missing, bytes);
    const problem = await accept(exchange, received, verdict, services);
    if (problem) refuse(exchange, findCurrent(), problem, bytes);
  } catch (error) {
    refuse(exchange, findCurrent(), problems.unforeseen, bytes, error);
  }
}

/** What an earlier layer has received. Also used after a deploy, when the body is gone. */
function takeReceived({ received }: Exchange, endpoint: Endpoint): Received | undefined {
  const isOfNode = received?.verdict instanceof Problem && received.endpoint.nodeId === endpoint.nodeId;
  return received?.endpoint === endpoint || isOfNode ? received : undefined;
}

/** Waits until the flows run, and finds the endpoint. */
async function findAfterDeploy(
  { path, response }: Exchange,
  { deployGate, registry }: Services,
): Promise<Endpoint | Problem> {
  if (!(await deployGate.wait(response))) return problems.deploying;
  return registry.find(path) ?? problems.gone;
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
  if (services.deployGate.isClosed && !(await waitWith(bytes, response, services.deployGate)))
    return problems.deploying;
  const parsed = received.parsed ?? takeChangedBody(exchange);
  const decoded = parseContentType({ request, parsed }, bytes, endpoint.limit);
  const content = decoded instanceof Promise ? await decoded : decoded;
  if (content instanceof Problem) return content;
  const webhook = describeWebhook(exchange, endpoint, authenticated, content);
  const accepted = { exchange, endpoint, received: { ...received, parsed }, authenticated, content, id: endpoint.newId(), webhook }; // prettier-ignore
  if (needsBytes(accepted) && !received.hasBytes) throw new Interference("bytesGone");
  const duplicate = await deduplicate(accepted);
  if (duplicate instanceof Problem) return hasGone(exchange) ? undefined : duplicate;
  if (hasGone(exchange)) {
    // The sender will try again.
    if (duplicate?.isFirst) await duplicate.release();
    return undefined;
  }
  removeCredential(request, endpoint.authenticator, endpoint.reply.by === "flow");
  if (duplicate?.isFirst === false) return replyToDuplicate(accepted, duplicate);
  let problem: Problem | undefined = problems.unforeseen;
  try {
    if (response.headersSent) throw new Interference("answered");
    const act = endpoint.reply.by === "flow" ? startForReply : endpoint.guaranteed ? store : start;
    problem = await act(accepted, duplicate, services);
  } finally {
    if (problem) void duplicate?.release();
  }
  return problem;
}

/** Held requests stay packed: unpacked, a body may be a thousand times larger. */
async function waitWith(bytes: Buffer, response: Exchange["response"], deployGate: DeployGate): Promise<boolean> {
  if (!memoryBudget.take(bytes.length)) return false;
  try {
    return await deployGate.wait(response);
  } finally {
    memoryBudget.release(bytes.length);
  }
}

/** Whether the sender has gone; it will try again. */
function hasGone({ request, response }: Exchange): boolean {
  return !request.socket.writable && !response.headersSent;
}

/** The value of `msg.webhook`. */
function describeWebhook(
  { request, search }: Exchange,
  { sender, authenticator, guaranteed }: Endpoint,
  { credential, sentAt }: Authenticated,
  { bytes }: Content,
): Webhook {
  const proof = { credential, ...(sentAt !== undefined && { sentAt }), ...(guaranteed && { attempt: 1 }) };
  if (!sender) return proof;
  const told = Object.entries<string>({ ...readSenderDelivery(sender.row, toRequestHead(request, search), bytes) });
  // An id with a secret in it cannot be used: redacted, all of them would be the same.
  const safe = told.filter(([, text]) => !authenticator.redactor.contains(text));
  return { sender: sender.id, ...(Object.fromEntries(safe) as Pick<Webhook, "event" | "id">), ...proof };
}

function toRequestHead({ method = "", rawHeaders }: Exchange["request"], search: string): RequestHead {
  return { method, rawHeaders, search };
}

/** Test requests are all alike. */
function getDuplicateGuard({ authenticated, endpoint }: Accepted): DuplicateGuard | undefined {
  return authenticated.isTest ? undefined : endpoint.duplicates;
}

/** Whether it needs the bytes of the body as sent. */
function needsBytes(accepted: Accepted): boolean {
  const { endpoint, received } = accepted;
  // Uploaded files that another parser has read cannot be stored.
  const hasFiles = endpoint.guaranteed !== undefined && received.parsed?.files !== undefined;
  return endpoint.rawBody || getDuplicateGuard(accepted)?.needsBytes === true || hasFiles;
}

/** Nothing where duplicates are not ignored. */
async function deduplicate(accepted: Accepted): Promise<DuplicateVerdict | undefined> {
  const guard = getDuplicateGuard(accepted);
  if (!guard) return undefined;
  const { exchange, received, content, webhook, id } = accepted;
  const { request, search, response } = exchange;
  const delivery = { head: toRequestHead(request, search), bytes: received.bytes ?? Buffer.alloc(0), content: content.bytes, id: webhook.id }; // prettier-ignore
  return guard.judge(delivery, id, response);
}

/** Starts the flow and replies. */
async function start(
  accepted: Accepted,
  reservation: Reservation | undefined,
  services: Services,
): Promise<Problem | undefined> {
  const { endpoint, id } = accepted;
  const delivery = makeDelivery(accepted);
  const problem = await dispatch(delivery, endpoint, services);
  if (problem) return problem;
  const success = composeSuccess(endpoint, isTest(accepted), { status: "accepted", id });
  void reservation?.settle();
  reportAccepted(accepted, reservation);
  const told = tryReply(accepted, success, id);
  endpoint.records?.came(delivery, describeSent(accepted), {
    ...told,
    ...noteAnswer(success.body),
    state: "succeeded",
  });
  return undefined;
}

/** Starts a flow that replies. With guaranteed delivery, the delivery is stored first. */
async function startForReply(
  accepted: Accepted,
  reservation: Reservation | undefined,
  services: Services,
): Promise<Problem | undefined> {
  const { endpoint, id } = accepted;
  const { guaranteed, records } = endpoint;
  const delivery = makeDelivery(accepted);
  const problem = await guaranteed?.storeStarted(delivery, describeSent(accepted));
  if (problem) return problem;
  const flowReply = oweReply(accepted, reservation);
  if (guaranteed) void flowReply.ending.then((result) => guaranteed.end(id, result));
  else records?.came(delivery, describeSent(accepted), { state: "running" });
  reportAccepted(accepted, reservation);
  const failure = await dispatch(delivery, endpoint, services, flowReply);
  if (failure) flowReply.fail(failure);
  return undefined;
}

/** Stores the delivery and replies; the queue starts the flow. */
async function store(accepted: Accepted, reservation: Reservation | undefined): Promise<Problem | undefined> {
  const { endpoint, id } = accepted;
  const { guaranteed, records } = endpoint;
  const success = composeSuccess(endpoint, isTest(accepted), { status: "accepted", id });
  const answer = records?.keepsAnswers ? noteAnswer(success.body) : {};
  const problem = await guaranteed?.store(makeDelivery(accepted), describeSent(accepted), answer);
  if (problem) return problem;
  // After a power cut, a duplicate finds the key in the store.
  await reservation?.settle();
  reportAccepted(accepted, reservation);
  records?.answered(id, tryReply(accepted, success, id));
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
  let current: Endpoint | undefined = endpoint;
  for (;;) {
    if (deployGate.isClosed && !(await deployGate.wait())) return problems.deploying;
    if (current !== registry.find(endpoint.path)) current = registry.find(endpoint.path);
    if (current?.nodeId !== endpoint.nodeId) return current ? problems.deploying : problems.gone;
    const { deploys } = deployGate;
    current.deliver(delivery, reply);
    await new Promise(setImmediate);
    if (deployGate.deploys === deploys) return undefined;
  }
}

/** Replies to a duplicate as to the first delivery. */
function replyToDuplicate(accepted: Accepted, { id, answer }: KnownDuplicate): undefined {
  const { endpoint } = accepted;
  const reply = answer
    ? composeEarlier(answer)
    : composeSuccess(endpoint, isTest(accepted), { status: "duplicate", id });
  const told = tryReply(accepted, reply, id);
  endpoint.outcomes.emit("duplicate", { ...toEvent(accepted), id });
  const noted = noteAnswer(reply.body, endpoint.authenticator.redactor);
  const outcome = { ...told, ...noted, state: "duplicate", duplicateOf: id } as const;
  endpoint.records?.came(makeDelivery(accepted), describeSent(accepted), outcome);
}

/** Replies when it is too late to refuse: where a middleware in front makes that fail, the connection is closed. */
function tryReply({ exchange, endpoint }: Accepted, reply: Reply, id: string): Pick<Change, "status" | "milliseconds"> {
  const { request, response, start: began } = exchange;
  const milliseconds = () => performance.now() - began;
  try {
    sendReply(request, response, reply);
    const told = { status: response.statusCode, milliseconds: milliseconds() };
    endpoint.outcomes.emit("replied", { node: endpoint.nodeId, id, milliseconds: told.milliseconds, contentLength: reply.body.length }); // prettier-ignore
    return told;
  } catch (error) {
    request.socket.destroy();
    emitRefused(endpoint, problems.unforeseen, undefined, error);
    return { milliseconds: milliseconds() };
  }
}

function oweReply(
  { exchange, endpoint, authenticated, content, id }: Accepted,
  reservation: Reservation | undefined,
): FlowReply {
  const { request, response, start: began } = exchange;
  const timeoutMs = endpoint.reply.by === "flow" ? endpoint.reply.timeout : 0;
  handToFlow(exchange, content.value);
  return new FlowReply({ id, request, response, start: began, isTest: authenticated.isTest === true }, endpoint, timeoutMs, reservation); // prettier-ignore
}

function makeDelivery({ exchange, endpoint, received, content, id, webhook }: Accepted): IncomingDelivery {
  const { request, path, ip } = exchange;
  const req = describeRequest(request, path, ip);
  if (content.files) req.files = content.files;
  const rawBody = endpoint.rawBody ? received.bytes : undefined;
  return { id, body: content.value, req, webhook, ...(rawBody && { rawBody }) };
}

function describeSent({ received, content, authenticated }: Accepted): SentRequest {
  const bytes = received.parsed ? undefined : received.bytes;
  return { content, bytes, isTest: authenticated.isTest ?? false };
}

function isTest({ authenticated }: Accepted): boolean {
  return authenticated.isTest === true;
}

function reportAccepted(accepted: Accepted, reservation: Reservation | undefined): void {
  const lacksKey = getDuplicateGuard(accepted) !== undefined && !reservation;
  accepted.endpoint.outcomes.emit("accepted", toEvent(accepted, lacksKey));
}

function toEvent({ endpoint, exchange, authenticated, id }: Accepted, lacksKey = false): AcceptedEvent {
  return { node: endpoint.nodeId, id, authenticated, ip: exchange.ip, lacksKey, at: Date.now() };
}

function emitRefused(
  { outcomes, nodeId: node, authenticator }: Endpoint,
  problem: Problem,
  request: RefusedRequestFacts | undefined,
  cause?: unknown,
): void {
  outcomes.emit("refused", { node, authenticator, problem, request, cause });
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
  const { show: secret, status } = answer;
  if (status >= 400) return emitRefused(endpoint, problems.handshakeRefused, refused);
  endpoint.outcomes.emit("handshake", { node: endpoint.nodeId, secret, request: refused, status });
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
  const error = cause ?? sendProblem(request, response, problem, isEmpty);
  if (cause !== undefined) sendProblem(request, response, problem, isEmpty);
  emitRefused(endpoint, error === undefined ? problem : problems.unforeseen, refused, error);
}

function describeRefused({ request, search, at, ip }: Exchange, body: Buffer | undefined): RefusedRequestFacts {
  return { head: toRequestHead(request, search), body, at, ip };
}
