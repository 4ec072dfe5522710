// From the head of a request to a verified body.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthResult, BodyVerdict, LongVerification, PendingVerification } from "../auth/authenticator";
import { findNetwork } from "../auth/limits";
import type { RequestHead } from "../request/header-fields";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint } from "../flow/endpoint";
import { readBody } from "../request/body";
import { DecodedBody } from "../request/decode";
import { bodyMemory } from "../request/memory";
import type { UploadedFile } from "../request/multipart";
import { Interference, Problem, problems } from "../request/problem";
import type { Target } from "../request/target";
import { readMark } from "./host-internals";

/**
 * The property of a response that holds its exchange. In a WeakMap, both would survive a young-generation collection;
 * `locals` belongs to the operator.
 */
const ownKey = Symbol("webhook-trigger");

/** A request with the properties that body parsers add. */
export type ParsedRequest = IncomingMessage & {
  body?: unknown;
  [readMark]?: boolean;
  /** The bytes of the body as sent, where a layer in front has kept them. */
  rawBody?: unknown;
  /** Of a parser of multipart forms. */
  files?: unknown;
};

type OwnResponse = ServerResponse & { [ownKey]?: Exchange | undefined };

/** A request for an endpoint, its response, and its progress. */
export interface Exchange {
  readonly request: ParsedRequest;
  readonly response: OwnResponse;
  /** Below `httpNodeRoot`, as sent. */
  path: string;
  /** Without its question mark, as sent. */
  search: string;
  /** The address of the sender. */
  readonly ip: string;
  readonly at: number;
  /** `performance.now()` at the same time. */
  readonly start: number;
  /** The result for its head. */
  judged?: { readonly endpoint: Endpoint; readonly result: AuthResult };
  /** The body, if it was read before the request is handled. */
  received?: Received;
  /** Whether it is where Node-RED's body parsers have been. */
  isBehindParsers?: boolean;
  /** The value of `request.body` there, where nothing was read. */
  emptyBody?: object;
  /** The value of `request.body`; with its JSON, if that was read. */
  body?: { readonly value: unknown; readonly json?: string } | undefined;
}

/**
 * Created by our first layer that a request meets.
 *
 * @param target its URL, which middleware in front may have changed
 */
export function toExchange(
  request: ParsedRequest,
  response: OwnResponse,
  { path, search }: Target,
  getAddress: (request: IncomingMessage) => string,
): Exchange {
  const known = findExchange(response);
  if (known) return Object.assign(known, { path, search });
  const exchange = {
    request,
    response,
    path,
    search,
    ip: getAddress(request),
    at: Date.now(),
    start: performance.now(),
  };
  return (response[ownKey] = exchange);
}

export function findExchange(response: OwnResponse): Exchange | undefined {
  return response[ownKey];
}

/** Prepares the request that a flow may see in `msg.res`: its body as with core's `http in`, and no credential. */
export function handToFlow({ request, response }: Exchange, body: unknown): void {
  response[ownKey] = undefined;
  Object.defineProperty(request, "body", { value: body, writable: true, enumerable: true, configurable: true });
}

/** A body that a middleware in front has parsed. */
interface ParsedBody {
  readonly value: unknown;
  readonly files?: UploadedFile[];
}

/** A request whose head and body were checked. */
export interface Received {
  readonly endpoint: Endpoint;
  /** Who has sent it, the reply to a handshake, or the problem. */
  readonly verdict: BodyVerdict;
  /** Missing where the body was not read. */
  readonly bytes?: Buffer;
  /** Whether these are the bytes as sent. */
  readonly hasBytes?: boolean;
  /** Replaces the bytes. */
  readonly parsed?: ParsedBody | undefined;
  /** The body as it was decoded to be verified. */
  readonly decoded?: DecodedBody | undefined;
}

/** Whether requests by a method hardly have a body; something behind HTTP nodes, such as a folder, may answer them. */
export function hasNoBody(method: string): boolean {
  return /^(?:GET|HEAD|OPTIONS)$/.test(method);
}

export function getHead({ request, search }: Exchange): RequestHead {
  const { method = "", rawHeaders } = request;
  return { method, rawHeaders, search };
}

/**
 * Checks the head of a request: address, rate and credential. All layers get the same result, so that a request counts
 * once.
 */
export function judgeHead(exchange: Exchange, endpoint: Endpoint): AuthResult {
  const { request, ip, judged } = exchange;
  if (judged?.endpoint === endpoint) return judged.result;
  const result = endpoint.limits?.judge(request, ip) ?? authenticate(exchange, endpoint);
  exchange.judged = { endpoint, result };
  return result;
}

/** Handshakes come by methods of their own. */
function authenticate(exchange: Exchange, endpoint: Endpoint): AuthResult {
  const result = endpoint.authenticator.begin(getHead(exchange), exchange.at, exchange.ip);
  const isAnswer = !(result instanceof Problem) && "status" in result;
  return isAnswer || acceptsMethod(endpoint.config, exchange.request.method) ? result : endpoint.methodNotAllowed;
}

/** Whether a request is a handshake by a method that starts no flow. */
export function isHandshake(exchange: Exchange, endpoint: Endpoint): boolean {
  const headResult = judgeHead(exchange, endpoint);
  return !(headResult instanceof Problem) && "status" in headResult && !headResult.isFallback;
}

/**
 * Checks the head of a request and, if it passes, reads and verifies its body.
 *
 * @throws {Interference} when middleware in front has consumed a body that must be verified
 */
export async function receive(exchange: Exchange, endpoint: Endpoint): Promise<Received> {
  const judged = judgeHead(exchange, endpoint);
  const headResult = "authenticate" in judged ? await judged.authenticate() : judged;
  if (headResult instanceof Problem || "status" in headResult) return { endpoint, verdict: headResult };
  const pending = "credential" in headResult ? undefined : headResult;
  const limit = Math.min(endpoint.limit, pending?.limit?.bytes ?? Infinity);
  const front = takeFromFront(exchange, pending);
  const lease = pending?.isUnverified ? bodyMemory.unverified.lease(findNetwork(exchange.ip)) : undefined;
  const read = front?.bytes ?? (await readBody(exchange.request, limit, lease));
  const bytes = Buffer.isBuffer(read) && read.length > limit ? problems.bodyTooLarge : read;
  if (bytes === problems.bodyTooLarge) return { endpoint, verdict: pending?.limit?.otherwise ?? bytes };
  if (bytes instanceof Problem) return { endpoint, verdict: bytes };
  const { hasBytes = true, parsed } = front ?? {};
  if ("credential" in headResult) return { endpoint, verdict: headResult, bytes, hasBytes, parsed };
  const network = findNetwork(exchange.ip);
  const isSigned = headResult.needsBytes;
  const decoded = new DecodedBody({ network, request: exchange.request, parsed, isSigned }, bytes);
  const verdict =
    "verifyLater" in headResult ? await verifyLater(exchange, headResult, decoded) : headResult.verify(bytes, decoded);
  return { endpoint, verdict, bytes, hasBytes, parsed, decoded };
}

/** The bytes of bodies that wait to be verified are counted. */
async function verifyLater({ ip }: Exchange, pending: LongVerification, decoded: DecodedBody): Promise<BodyVerdict> {
  const { unverified } = bodyMemory;
  const { bytes } = decoded;
  const verdict = await unverified.hold(findNetwork(ip), bytes.length, () => pending.verifyLater(bytes, decoded));
  return verdict ?? problems.memoryFull;
}

/**
 * Waits until the flows run. A body that was read already is counted, and waits packed: unpacked, it may be a thousand
 * times larger.
 *
 * @returns `false` where that took too long, or there is no room
 */
export async function waitForFlows(
  { response, ip, received: known, judged }: Exchange,
  deployGate: DeployGate,
  { bytes, verdict }: Partial<Received> = known ?? {},
): Promise<boolean> {
  const network = findNetwork(ip);
  const isVerified = "credential" in (verdict ?? judged?.result ?? {});
  const wait = () => deployGate.wait(response, isVerified ? undefined : network);
  if (!deployGate.isClosed || !bytes) return wait();
  const budget = verdict instanceof Problem ? bodyMemory.unverified : bodyMemory.verified;
  return (await budget.hold(network, bytes.length, wait)) ?? false;
}

/** The body, where a layer in front has read it: the bytes as sent, or a parsed value. */
function takeFromFront(
  exchange: Exchange,
  pending: PendingVerification | LongVerification | undefined,
): { bytes: Buffer; hasBytes: boolean; parsed?: ParsedBody } | undefined {
  const { request } = exchange;
  const { rawBody, body: value, files, headers } = request;
  // Read after `request.body`, whose getter may set it.
  const { emptyBody } = exchange;
  // After a deploy, another endpoint gets what was read for the one before.
  const own = exchange.received?.bytes ?? rawBody;
  if (Buffer.isBuffer(own)) return { bytes: own, hasBytes: true };
  if (!request[readMark] && !request.readableDidRead) return undefined;
  // Some parsers fill the object that they find.
  const isEmpty = value === undefined || (value === emptyBody && Object.keys(emptyBody).length === 0);
  if (isEmpty && !Array.isArray(files)) throw new Interference("bodyRead");
  const parsed = Array.isArray(files) ? { value, files: files as UploadedFile[] } : { value };
  const hasBytes = Buffer.isBuffer(value) && headers["content-encoding"] === undefined;
  if (pending?.needsBytes && !hasBytes) throw new Interference("bytesGone");
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(pending ? JSON.stringify(value ?? "") : "");
  return { bytes, hasBytes, parsed };
}

/**
 * The body, if a middleware has changed it after our layer read it. Asked once: a parsed body may take many times its
 * memory.
 */
export function takeChangedBody(exchange: Exchange): ParsedBody | undefined {
  const { body, received } = exchange;
  exchange.body = undefined;
  const isChanged = received?.bytes !== undefined && body !== undefined && JSON.stringify(body.value) !== body.json;
  return isChanged ? { value: body.value } : undefined;
}
