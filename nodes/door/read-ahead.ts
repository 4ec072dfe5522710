// What is read of a body before its endpoint is reached, for those who stand in front and look for it.

import type { Request, RequestHandler } from "express";
import { Readable } from "node:stream";
import type { Endpoint } from "../../src/endpoint";
import { Problem, problems } from "../../src/problem";
import { decodeContent, readBody } from "../../src/request/body";
import { type Body, decodeBody } from "../../src/request/decode";
import { readClaimed } from "../../src/intake";
import type { File } from "../../src/request/multipart";
import type { Arrival } from "../../src/request/summary";
import { type Claim, isAdmission } from "../../src/trust/gate";
import type { Admission } from "../../src/trust/signature/why";

/** A body that was read ahead, because its request carries what lets it in. */
interface ReadAhead {
  readonly endpoint: Endpoint;
  /** Missing where it starts no flow, and is to be answered by the endpoint. */
  readonly how: Admission | undefined;
  /** The query that the request had then. */
  readonly search: string;
  readonly bytes: Buffer;
  /** What a form was for those who stand in front, as JSON; missing for all else. */
  form?: string;
}

/** Why a body was not read, or nobody is to see it. */
export interface Unread {
  problem: Problem;
  bytes?: Buffer;
}

const ahead = Symbol("readAhead");
const nothing = Symbol("nothing");

/** A request with body-parser's mark for one whose body is taken care of. */
export type Parsed = Request & {
  _body?: boolean;
  /** The mark of `http in` nodes that take bodies as they came. */
  skipRawBodyParser?: boolean;
  files?: File[];
  [ahead]?: ReadAhead;
  /** What stands in `body` where nothing was read. */
  [nothing]?: object;
};

/** Leaves in `body` what the parsers leave where they read nothing. */
export function leaveNothing(request: Parsed): void {
  if (request.body === undefined) request.body = request[nothing] = {};
}

/** Whether the parsers may take a body of this type; whatever else they leave alone. */
export function isParsable(request: Request): boolean {
  return isForm(request) || /json/i.test(request.headers["content-type"] ?? "");
}

/**
 * Reads a body, and leaves in `body` what the parsers would have left.
 *
 * @param entry how it may come in, as far as its head tells
 * @param search the query of the request
 * @param parseForm Node-RED's own parser of forms
 * @param settled waits with so many bytes until the flows run, and tells whether they do
 */
export async function readAhead(
  request: Parsed,
  endpoint: Endpoint,
  entry: Admission | Claim,
  search: string,
  parseForm: RequestHandler,
  settled: (bytes: number) => Promise<boolean>,
): Promise<Unread | undefined> {
  const { limit } = endpoint;
  const bytes = isAdmission(entry) ? await readBody(request, limit) : await readClaimed(request, limit, entry);
  if (bytes instanceof Problem) return { problem: bytes };
  const verdict = isAdmission(entry) ? entry : entry.verdict(bytes);
  // Nobody counts any more what memory such a body takes: it is not kept.
  if (verdict instanceof Problem) return { problem: verdict, bytes };
  if (!isAdmission(verdict)) return keepFor(endpoint, request, search, bytes);
  // Flows may be stopped by now: what waits waits as it was sent, which unpacked may take many times its memory.
  if (!(await settled(bytes.length))) return { problem: problems.deploying };
  const coding = request.headers["content-encoding"];
  const content = coding === undefined ? bytes : await decodeContent(bytes, coding, limit);
  const read: ReadAhead = (request[ahead] = { endpoint, how: verdict, search, bytes });
  request._body = true;
  if (content instanceof Problem) return { problem: content };
  const value = decodeBody(content, request.headers["content-type"]);
  if (value instanceof Problem) return { problem: value };
  const form = isForm(request) ? await parsedForm(request, content, parseForm) : undefined;
  request.body = form === undefined ? value : alsoAs(form, value, content);
  if (form !== undefined) read.form = JSON.stringify(request.body);
  return undefined;
}

/**
 * What those who look into a form are to find: what the parser makes of it, and all that the flow would get. Of one name
 * each may have another value, as of `role[a]=b&role=c` or `role=a]=b`: then it is that of the flow.
 */
function alsoAs(form: unknown, value: Body, content: Buffer): unknown {
  if (typeof value !== "object" || value === null) return form;
  const isJson = !(decodeBody(content, "application/json") instanceof Problem);
  if (isJson || Array.isArray(value) || Buffer.isBuffer(value)) return value;
  return { ...(form as object), ...value };
}

/** Keeps the body of a handshake for its endpoint: it is for nobody in front to see. */
function keepFor(endpoint: Endpoint, request: Parsed, search: string, bytes: Buffer): undefined {
  request[ahead] = { endpoint, how: undefined, search, bytes };
  request._body = true;
  return undefined;
}

/** What the parser of forms makes of one: it knows of objects in objects, and who looks for them is to find them. */
async function parsedForm({ method, headers }: Parsed, content: Buffer, parse: RequestHandler): Promise<unknown> {
  const form = {
    method,
    headers: { ...headers, "content-encoding": undefined, "content-length": `${content.length}` },
  };
  const copy = Object.assign(Readable.from([content]), form) as unknown as Parsed;
  // What it cannot read is left to what the endpoint makes of it.
  const error = await new Promise((resolve) => void parse(copy, {} as never, resolve));
  return error === undefined && copy._body ? (copy.body as unknown) : undefined;
}

/** What of a request was found out, and read of its body, before its endpoint was reached. */
type Before = Pick<Arrival, "admitted" | "received" | "parsed">;

const untouched: Before = {};

/** What was: whose token it has, the bytes of its body, or what somebody's parser made of them. */
export function readBefore(request: Parsed, search: string): Before {
  const read = request[ahead];
  if (read) {
    const { endpoint, how, bytes: received, form } = read;
    if (!how) return { received };
    const admitted = read.search === search ? { endpoint, how } : undefined;
    // What others have made of it is what the flow gets; of a form that is as it was, what the endpoint makes of it.
    const isAsItWas = form !== undefined && form === JSON.stringify(request.body);
    return { admitted, received, ...(!isAsItWas && { parsed: { value: request.body as unknown } }) };
  }
  if (!request.readableDidRead && !request._body) return untouched;
  const value: unknown = request.body === request[nothing] ? undefined : request.body;
  if (request.skipRawBodyParser && Buffer.isBuffer(value)) return { received: value };
  if (value === undefined) return untouched;
  // What a parser of forms with files has found beside their fields.
  return { parsed: Array.isArray(request.files) ? { value, files: request.files } : { value } };
}

function isForm({ headers }: Request): boolean {
  return /x-www-form-urlencoded/i.test(headers["content-type"] ?? "");
}
