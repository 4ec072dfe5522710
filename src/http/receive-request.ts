// A request by stages, each made by one function: it has arrived, its head is judged, its body is received.

import type { Express } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthResult,
  type BodyVerdict,
  isHandshakeReply,
  type LongVerification,
  type PendingVerification,
} from "../auth/authenticator";
import { findNetwork } from "../auth/limits";
import type { RequestHead, Target } from "../request/head";
import type { DeployGate } from "../flow/deploy-gate";
import { acceptsMethod, type Endpoint } from "../flow/endpoint";
import { readBody } from "../request/body";
import { DecodedBody } from "../request/decode";
import { bodyMemory } from "../request/memory";
import type { UploadedFile } from "../request/multipart";
import { ReasonError, Problem, problems } from "../request/problem";
import { clientAddress, readMark } from "./host-internals";

/**
 * The property of a response that holds its request as it arrived. In a WeakMap, both would survive a young-generation
 * collection; `locals` belongs to the operator.
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

type OwnResponse = ServerResponse & { [ownKey]?: Arrived | undefined };

/** A request that has arrived at one of our layers. */
export interface Arrived {
  readonly request: ParsedRequest;
  readonly response: OwnResponse;
  /** Below `httpNodeRoot`, as sent. */
  readonly path: string;
  readonly head: RequestHead;
  /** The address of the sender. */
  readonly ip: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** `performance.now()` at the same time. */
  readonly startedAt: number;
  readonly shared: Shared;
}

/** What one of our layers in Express leaves for the later ones: all that changes on the way of a request. */
interface Shared {
  /** All layers get the same result, so that a request counts once. */
  judged?: Judged;
  /** The caller whose token it has, also where it is refused for another reason. */
  caller?: string | undefined;
  /** The body, if it was read in front of Node-RED's parsers. */
  received?: Received;
  /** `request.body` for middleware; missing until it is read or set, and where the flow gets it. */
  body?: SeenBody | undefined;
}

/** A value of `request.body`. */
interface SeenBody {
  readonly value: unknown;
  /** The JSON of what our layer has read; missing for a value that middleware has set. */
  readonly json?: string;
  /** Whether nothing was read. Some parsers fill the object that they find. */
  readonly isEmpty?: true;
}

/** A request whose head was checked. */
interface Judged {
  readonly endpoint: Endpoint;
  readonly result: AuthResult;
}

/** A request whose head and body were checked. */
export interface Received {
  readonly endpoint: Endpoint;
  /** Who has sent it, the reply to a handshake, or the problem. */
  readonly verdict: BodyVerdict;
  /** Missing where it was not read. */
  readonly body?: DecodedBody;
  /** Whether the bytes of the body are those that were sent. */
  readonly hasBytes?: boolean;
}

/** A body that a middleware in front has parsed. */
interface ParsedBody {
  readonly value: unknown;
  readonly files?: UploadedFile[];
}

/**
 * The first stage, which is made by our first layer that a request meets.
 *
 * @param nodes the app for HTTP nodes
 * @param target its URL, which middleware in front may have changed
 */
export function arrive(
  nodes: Express,
  request: ParsedRequest,
  response: OwnResponse,
  { path, search }: Target,
): Arrived {
  const { method = "", rawHeaders } = request;
  const earlier = response[ownKey];
  const isSame = earlier?.path === path && earlier.head.search === search && earlier.head.method === method;
  if (isSame) return earlier;
  const head = { method, rawHeaders, search };
  const arrived = earlier
    ? { ...earlier, path, head }
    : {
        request,
        response,
        path,
        head,
        ip: clientAddress(nodes, request),
        at: Date.now(),
        startedAt: performance.now(),
        shared: {},
      };
  return (response[ownKey] = arrived);
}

export function findShared(response: OwnResponse): Shared | undefined {
  return response[ownKey]?.shared;
}

/** What `request.body` is where nothing was read. */
export function seeNoBody(): SeenBody {
  return { value: {}, json: "{}", isEmpty: true };
}

/** Prepares the request that a flow may see in `msg.res`: its body as with core's `http in`, and no credential. */
export function handToFlow({ request, response }: Arrived, body: unknown): void {
  response[ownKey] = undefined;
  Object.defineProperty(request, "body", { value: body, writable: true, enumerable: true, configurable: true });
}

/** Whether requests by a method hardly have a body; something behind HTTP nodes, such as a folder, may answer them. */
export function hasNoBody(method: string): boolean {
  return /^(?:GET|HEAD|OPTIONS)$/.test(method);
}

/** The second stage: checks the address, the rate and the credential in the head. */
export function judge(arrived: Arrived, endpoint: Endpoint): Judged {
  const { request, ip, shared } = arrived;
  if (shared.judged?.endpoint === endpoint) return shared.judged;
  shared.caller = undefined;
  const result = endpoint.judgeHead
    ? endpoint.judgeHead(request, ip, () => authenticate(arrived, endpoint))
    : authenticate(arrived, endpoint);
  return (shared.judged = { endpoint, result });
}

/** Handshakes come by methods of their own. */
function authenticate({ head, at, ip, shared }: Arrived, endpoint: Endpoint): AuthResult {
  const result = endpoint.authenticator.checkHead(head, at, ip);
  if ("credential" in result) shared.caller = result.caller;
  return isHandshakeReply(result) || acceptsMethod(endpoint.config, head.method) ? result : endpoint.methodNotAllowed;
}

/** Whether a request is a handshake by a method that starts no flow. */
export function isHandshake(arrived: Arrived, endpoint: Endpoint): boolean {
  const { result } = judge(arrived, endpoint);
  return isHandshakeReply(result) && !result.isFallback;
}

/**
 * The third stage: if the head has passed, reads and verifies the body.
 *
 * @throws {ReasonError} when middleware in front has consumed a body that must be verified
 */
export async function receive(arrived: Arrived, { endpoint, result }: Judged): Promise<Received> {
  const byHead = "authenticate" in result ? await result.authenticate() : result;
  if (byHead instanceof Problem || isHandshakeReply(byHead)) return { endpoint, verdict: byHead };
  const pending = "credential" in byHead ? undefined : byHead;
  const maxBytes = Math.min(endpoint.maxBodyBytes, pending?.maxBody?.bytes ?? Infinity);
  const front = takeFromFront(arrived, pending);
  const network = () => findNetwork(arrived.ip);
  const lease = pending?.isUnverified ? bodyMemory.unverified.lease(network()) : undefined;
  const read = front?.bytes ?? (await readBody(arrived.request, maxBytes, lease));
  const bytes = Buffer.isBuffer(read) && read.length > maxBytes ? problems.bodyTooLarge : read;
  if (bytes === problems.bodyTooLarge) return { endpoint, verdict: pending?.maxBody?.otherwise ?? bytes };
  if (bytes instanceof Problem) return { endpoint, verdict: bytes };
  const { hasBytes = true, parsed } = front ?? {};
  const described = { network, request: arrived.request, parsed, isSigned: pending?.needsBytes ?? false };
  const body = new DecodedBody(described, bytes);
  if ("credential" in byHead) return { endpoint, verdict: byHead, body, hasBytes };
  const verdict = "verifyLater" in byHead ? await verifyLater(network(), byHead, body) : byHead.verify(body);
  return { endpoint, verdict, body, hasBytes };
}

/** The bytes of bodies that wait to be verified are counted. */
async function verifyLater(network: string, pending: LongVerification, body: DecodedBody): Promise<BodyVerdict> {
  const verdict = await bodyMemory.unverified.hold(network, body.bytes.length, () => pending.verifyLater(body));
  return verdict ?? problems.memoryFull;
}

/**
 * Waits until the flows run. A body that was read already is counted, and waits packed: unpacked, it may be a thousand
 * times larger.
 *
 * @returns `false` where that took too long, or there is no room
 */
export async function waitForFlows(
  { response, ip, shared }: Arrived,
  deployGate: DeployGate,
  { body, verdict }: Partial<Received> = shared.received ?? {},
): Promise<boolean> {
  const network = findNetwork(ip);
  const isVerified = "credential" in (verdict ?? shared.judged?.result ?? {});
  const wait = () => deployGate.wait(response, isVerified ? undefined : network);
  if (!deployGate.isClosed || !body) return wait();
  const budget = verdict instanceof Problem ? bodyMemory.unverified : bodyMemory.verified;
  return (await budget.hold(network, body.bytes.length, wait)) ?? false;
}

/** The body, where a layer in front has read it: the bytes as sent, or a parsed value. */
function takeFromFront(
  { request, shared }: Arrived,
  pending: PendingVerification | LongVerification | undefined,
): { bytes: Buffer; hasBytes: boolean; parsed?: ParsedBody } | undefined {
  const { rawBody, body: value, files, headers } = request;
  // After a deploy, another endpoint gets what was read for the one before.
  const own = shared.received?.body?.bytes ?? rawBody;
  if (Buffer.isBuffer(own)) return { bytes: own, hasBytes: true };
  if (!request[readMark] && !request.readableDidRead) return undefined;
  const isEmpty = value === undefined || (shared.body?.isEmpty === true && JSON.stringify(value) === shared.body.json);
  if (isEmpty && !Array.isArray(files)) throw new ReasonError("bodyRead");
  const parsed = Array.isArray(files) ? { value, files: files as UploadedFile[] } : { value };
  const hasBytes = Buffer.isBuffer(value) && headers["content-encoding"] === undefined;
  if (pending?.needsBytes && !hasBytes) throw new ReasonError("bytesGone");
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(pending ? JSON.stringify(value ?? "") : "");
  return { bytes, hasBytes, parsed };
}

/**
 * The body, if a middleware has changed it after our layer read it. Asked once: a parsed body may take many times its
 * memory.
 */
export function takeChangedBody({ shared }: Arrived): ParsedBody | undefined {
  const { body, received } = shared;
  if (!received?.body || !body) return undefined;
  shared.body = undefined;
  return JSON.stringify(body.value) === body.json ? undefined : { value: body.value };
}
