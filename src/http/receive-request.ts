// From the head of a request to the bytes of a body whose sender is verified.

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type HandshakeAnswer,
  type PendingVerification,
  type AuthResult,
  isPendingVerification,
} from "../auth/authenticator";
import type { Authenticated } from "../auth/result";
import type { Endpoint } from "../flow/endpoint";
import { memoryBudget, readBody } from "../request/body";
import type { File } from "../request/multipart";
import { Interference, Problem, problems } from "../request/problem";
import type { Target } from "../request/target";

/**
 * Under which a response keeps its exchange. In a WeakMap, both would outlive the next small garbage collections; the
 * `locals` of the response are the operator's.
 */
const ownKey = Symbol("webhook-trigger");

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

type OwnResponse = ServerResponse & { [ownKey]?: Exchange | undefined };

/** A request for an endpoint, its response, and how far it has come. */
export interface Exchange {
  readonly request: ParsedRequest;
  readonly response: OwnResponse;
  /** The path below Node-RED's root for nodes, as it was sent. */
  path: string;
  /** The query without its question mark, as it was sent. */
  search: string;
  /** The address of the sender. */
  readonly ip: string;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  /** The same as `performance.now()` tells time. */
  readonly start: number;
  /** How its head was judged. */
  judged?: { readonly endpoint: Endpoint; readonly entry: AuthResult };
  /** What was received of it before it is handled. */
  received?: Received;
  /** What `request.body` has where nothing was read. */
  emptyBody?: object;
  /** What `request.body` has; as JSON, too, where it is what was read. */
  body?: { readonly value: unknown; readonly json?: string } | undefined;
}

/**
 * The exchange of a request, which is made by the first layer of ours that meets it.
 *
 * @param target where it goes; a middleware in front may have changed that
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

/** The exchange of a request that a layer of ours has met. */
export function findExchange(response: OwnResponse): Exchange | undefined {
  return response[ownKey];
}

/**
 * Makes of a request what a flow may have by `msg.res`: the content is its body, as with core's `http in`, and what is
 * known of its sender is gone.
 */
export function handToFlow({ request, response }: Exchange, body: unknown): void {
  response[ownKey] = undefined;
  Object.defineProperty(request, "body", { value: body, writable: true, enumerable: true, configurable: true });
}

/** What a middleware in front has made of a body that it has read. */
interface ParsedBody {
  readonly value: unknown;
  readonly files?: File[];
}

/** A request whose head and body were judged. */
export interface Received {
  readonly endpoint: Endpoint;
  /** Who has sent it; or the answer to a handshake, or why it is refused. */
  readonly verdict: Authenticated | HandshakeAnswer | Problem;
  /** The body; missing where it was not read. */
  readonly bytes?: Buffer;
  /** Whether these are the bytes as they came. */
  readonly hasBytes?: boolean;
  /** What counts in the place of the bytes. */
  readonly parsed?: ParsedBody | undefined;
}

/**
 * Judges a request by its head: by its address, and by its credential. Layers of ours that meet the same request get
 * the same answer, so that it counts once for the rate limit.
 */
export function judgeHead(exchange: Exchange, endpoint: Endpoint): AuthResult {
  const { request, search, ip, at, judged } = exchange;
  if (judged?.endpoint === endpoint) return judged.entry;
  const { method = "", rawHeaders } = request;
  const entry = endpoint.limits?.judge(request, ip) ?? endpoint.authenticator.begin({ method, rawHeaders, search }, at);
  exchange.judged = { endpoint, entry };
  return entry;
}

/** Whether an endpoint has an answer of its own to a request by another method than POST. */
export function isHandshake(exchange: Exchange, endpoint: Endpoint): boolean {
  const entry = judgeHead(exchange, endpoint);
  return !(entry instanceof Problem) && "status" in entry && !entry.isFallback;
}

/**
 * Judges the head of a request and, if nothing is against it, reads and judges its body.
 *
 * @throws {Interference} when a layer in front has read the body and left nothing that would do
 */
export async function receive(exchange: Exchange, endpoint: Endpoint): Promise<Received> {
  const entry = judgeHead(exchange, endpoint);
  if (entry instanceof Problem || "status" in entry) return { endpoint, verdict: entry };
  const claim = isPendingVerification(entry) ? entry : undefined;
  const { request } = exchange;
  const limit = Math.min(endpoint.limit, claim?.limit?.bytes ?? Infinity);
  const parsed = getParsedBody(exchange);
  const before = parsed ? getBytes(parsed, request, claim) : getBytesBefore(request);
  const read = before ?? (await readBody(request, limit, claim?.isUnverified ? memoryBudget : undefined));
  const bytes = Buffer.isBuffer(read) && read.length > limit ? problems.bodyTooLarge : read;
  if (bytes instanceof Problem) {
    return { endpoint, verdict: bytes === problems.bodyTooLarge ? (claim?.limit?.otherwise ?? bytes) : bytes };
  }
  const verdict = claim ? claim.verdict(bytes) : (entry as Authenticated);
  const isPacked = request.headers["content-encoding"] !== undefined;
  return { endpoint, verdict, bytes, hasBytes: !parsed || (Buffer.isBuffer(parsed.value) && !isPacked), parsed };
}

/** The bytes of a body that was read before, as they came: by our own layer, or by another one that has kept them. */
function getBytesBefore({ rawBody }: ParsedRequest): Buffer | undefined {
  return Buffer.isBuffer(rawBody) ? rawBody : undefined;
}

/** What a middleware in front has made of a body; nothing where none has read it, or its bytes are there. */
function getParsedBody(exchange: Exchange): ParsedBody | undefined {
  const { request } = exchange;
  if (getBytesBefore(request) || !(request._body || request.readableDidRead)) return undefined;
  const { body: value, files } = request;
  const { emptyBody } = exchange;
  // Some parsers fill what they find.
  const isLeftEmpty = value === undefined || (value === emptyBody && Object.keys(emptyBody).length === 0);
  if (isLeftEmpty && !Array.isArray(files)) throw new Interference("bodyRead");
  return Array.isArray(files) ? { value, files: files as File[] } : { value };
}

function getBytes({ value }: ParsedBody, { headers }: IncomingMessage, claim: PendingVerification | undefined): Buffer {
  const isPacked = headers["content-encoding"] !== undefined;
  if (Buffer.isBuffer(value) && !(claim?.needsBytes && isPacked)) return value;
  if (claim?.needsBytes) throw new Interference("bytesGone");
  return Buffer.from(claim ? JSON.stringify(value ?? "") : "");
}

/**
 * What a middleware has made of the body that our own layer has read; nothing where it has left it as it was. It is asked
 * once: parsed, a body may take many times its memory.
 */
export function takeChangedBody(exchange: Exchange): ParsedBody | undefined {
  const { body, received } = exchange;
  exchange.body = undefined;
  const isChanged = received?.bytes !== undefined && body !== undefined && JSON.stringify(body.value) !== body.json;
  return isChanged ? { value: body.value } : undefined;
}
