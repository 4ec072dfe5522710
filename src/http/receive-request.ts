// From the head of a request to the bytes of a body whose sender is verified.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "../endpoint";
import { Interference, Problem, problems } from "../problem";
import { readBody } from "../request/body";
import { memoryBudget } from "../request/memory-budget";
import type { File } from "../request/multipart";
import type { Answer } from "../trust/answer";
import { type Claim, type Entry, isClaim } from "../trust/gate";
import type { Admission } from "../trust/signature/why";

/** A request, with what body parsers leave on it. */
export type ParsedRequest = IncomingMessage & {
  body?: unknown;
  /** body-parser's mark for a body that was read. */
  _body?: boolean;
  /** The bytes of the body as they came, where a layer in front has kept them. */
  rawBody?: unknown;
  /** Those of a parser of forms. */
  files?: unknown;
};

/** A request for an endpoint, and its response. */
export interface Exchange {
  readonly request: ParsedRequest;
  readonly response: ServerResponse;
  /** The path below Node-RED's root for nodes, as it was sent. */
  readonly path: string;
  /** The query without its question mark, as it was sent. */
  readonly search: string;
  /** The address of the sender. */
  readonly ip: string;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  /** The same as `performance.now()` tells time. */
  readonly start: number;
}

/** What a middleware in front has made of a body that it has read. */
export interface ParsedBody {
  readonly value: unknown;
  readonly files?: File[];
}

/** A request whose head and body were judged. */
export interface Received {
  readonly endpoint: Endpoint;
  /** Who has sent it; or the answer to a handshake, or why it is refused. */
  readonly verdict: Admission | Answer | Problem;
  /** The body; missing where it was not read. */
  readonly bytes?: Buffer;
  /** Whether these are the bytes as they came. */
  readonly hasBytes?: boolean;
  /** What counts in the place of the bytes. */
  readonly parsed?: ParsedBody | undefined;
}

interface Judged {
  readonly endpoint: Endpoint;
  readonly entry: Entry;
  /** When the request came, in ms since the epoch: a deploy may have held it since. */
  readonly at: number;
}

const judged = new WeakMap<IncomingMessage, Judged>();

/**
 * Judges a request by its head: by its address, and by its credential. Layers of ours that meet the same request get
 * the same answer, so that it counts once for the rate limit.
 */
export function judgeHead(exchange: Exchange, endpoint: Endpoint): Entry {
  const { request, search, ip } = exchange;
  const known = judged.get(request);
  if (known?.endpoint === endpoint) return known.entry;
  const { at } = known ?? exchange;
  const { method = "", rawHeaders } = request;
  const entry = endpoint.limits?.judge(request, ip) ?? endpoint.gate.begin({ method, rawHeaders, search }, at);
  judged.set(request, { endpoint, entry, at });
  return entry;
}

/**
 * Judges the head of a request and, if nothing is against it, reads and judges its body.
 *
 * @throws {Interference} when a layer in front has read the body and left nothing that would do
 */
export async function receive(exchange: Exchange, endpoint: Endpoint): Promise<Received> {
  const entry = judgeHead(exchange, endpoint);
  if (entry instanceof Problem || "status" in entry) return { endpoint, verdict: entry };
  const claim = isClaim(entry) ? entry : undefined;
  const { request } = exchange;
  const limit = Math.min(endpoint.limit, claim?.longest?.bytes ?? Infinity);
  const parsed = getParsedBody(request);
  const before = parsed ? getBytesOf(parsed, request, claim) : getBytesBefore(request);
  const read = before ?? (await readBody(request, limit, claim?.isUnverified ? memoryBudget : undefined));
  const bytes = Buffer.isBuffer(read) && read.length > limit ? problems.bodyTooLarge : read;
  if (bytes instanceof Problem) {
    return { endpoint, verdict: bytes === problems.bodyTooLarge ? (claim?.longest?.otherwise ?? bytes) : bytes };
  }
  const verdict = claim ? claim.verdict(bytes) : (entry as Admission);
  const isPacked = request.headers["content-encoding"] !== undefined;
  return { endpoint, verdict, bytes, hasBytes: !parsed || (Buffer.isBuffer(parsed.value) && !isPacked), parsed };
}

/** The bytes of a body that was read before, as they came: by our own layer, or by another one that has kept them. */
function getBytesBefore({ rawBody }: ParsedRequest): Buffer | undefined {
  return Buffer.isBuffer(rawBody) ? rawBody : undefined;
}

/** What our own layer has left in `body` where nothing was read. */
const empty = new WeakSet<object>();

/** Leaves in `body` what Node-RED's parsers leave there where they read nothing. */
export function leaveEmptyBody(request: ParsedRequest): void {
  if (request.body !== undefined) return;
  const body = {};
  empty.add(body);
  request.body = body;
}

/** What a middleware in front has made of a body; nothing where none has read it, or its bytes are there. */
function getParsedBody(request: ParsedRequest): ParsedBody | undefined {
  if (getBytesBefore(request) || !(request._body || request.readableDidRead)) return undefined;
  const { body: value, files } = request;
  if (value === undefined || empty.has(value as object)) throw new Interference("bodyRead");
  return Array.isArray(files) ? { value, files: files as File[] } : { value };
}

function getBytesOf({ value }: ParsedBody, { headers }: IncomingMessage, claim: Claim | undefined): Buffer {
  const isPacked = headers["content-encoding"] !== undefined;
  if (Buffer.isBuffer(value) && !(claim?.needsBytes && isPacked)) return value;
  if (claim?.needsBytes) throw new Interference("bytesGone");
  return Buffer.from(claim ? JSON.stringify(value ?? "") : "");
}

const received = new WeakMap<IncomingMessage, Received>();

/** Keeps what a layer of ours has received for the one that handles the request. */
export function keepReceived(request: IncomingMessage, outcome: Received): void {
  received.set(request, outcome);
}

/** What was received before for the same endpoint. */
export function getReceived({ request }: Exchange, endpoint: Endpoint): Received | undefined {
  const known = received.get(request);
  return known?.endpoint === endpoint ? known : undefined;
}
