// What is read of a body before its endpoint is reached, for those who stand in front and look for it.

import type { Request, RequestHandler } from "express";
import { Readable } from "node:stream";
import type { Endpoint } from "../../src/endpoint";
import { Problem, problems } from "../../src/problem";
import { decodeContent, readBody } from "../../src/request/body";
import { type Body, decodeBody } from "../../src/request/decode";
import type { Arrival } from "../../src/request/summary";

/** A body that was read ahead, because its request carries what lets it in. */
interface ReadAhead {
  readonly endpoint: Endpoint;
  /** The query that the request had then. */
  readonly search: string;
  readonly bytes: Buffer;
  /** What a form was for those who stand in front, as JSON; missing for all else. */
  form?: string;
}

const ahead = Symbol("readAhead");
const nothing = Symbol("nothing");

/** A request with body-parser's mark for one whose body is taken care of. */
export type Parsed = Request & {
  _body?: boolean;
  /** The mark of `http in` nodes that take bodies as they came. */
  skipRawBodyParser?: boolean;
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
 * @param search the query of the request
 * @param parseForm Node-RED's own parser of forms
 * @param settled waits with so many bytes until the flows run, and tells whether they do
 */
export async function readAhead(
  request: Parsed,
  endpoint: Endpoint,
  search: string,
  parseForm: RequestHandler,
  settled: (bytes: number) => Promise<boolean>,
): Promise<Problem | undefined> {
  const { limit } = endpoint;
  const bytes = await readBody(request, limit);
  if (bytes instanceof Problem) return bytes;
  // Flows may be stopped by now: what waits waits as it was sent, which unpacked may take many times its memory.
  if (!(await settled(bytes.length))) return problems.deploying;
  const coding = request.headers["content-encoding"];
  const content = coding === undefined ? bytes : await decodeContent(bytes, coding, limit);
  const read: ReadAhead = (request[ahead] = { endpoint, search, bytes });
  request._body = true;
  if (content instanceof Problem) return content;
  const value = decodeBody(content, request.headers["content-type"]);
  if (value instanceof Problem) return value;
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
type Before = Pick<Arrival, "admittedBy" | "received" | "parsed">;

const untouched: Before = {};

/** What was: whose token it has, the bytes of its body, or what somebody's parser made of them. */
export function readBefore(request: Parsed, search: string): Before {
  const read = request[ahead];
  if (read) {
    const { endpoint, bytes, form } = read;
    const admittedBy = read.search === search ? endpoint : undefined;
    // What others have made of it is what the flow gets; of a form that is as it was, what the endpoint makes of it.
    const isAsItWas = form !== undefined && form === JSON.stringify(request.body);
    return isAsItWas ? { admittedBy, received: bytes } : { admittedBy, parsed: { value: request.body as unknown } };
  }
  if (!request.readableDidRead && !request._body) return untouched;
  const value: unknown = request.body === request[nothing] ? undefined : request.body;
  if (request.skipRawBodyParser && Buffer.isBuffer(value)) return { received: value };
  return value === undefined ? untouched : { parsed: { value } };
}

function isForm({ headers }: Request): boolean {
  return /x-www-form-urlencoded/i.test(headers["content-type"] ?? "");
}
