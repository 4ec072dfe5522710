/** Requests as real senders send them (`test/data/field`), and whether what came of one is right. */
import { createHmac, createPrivateKey, sign } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import should from "should";
import type { Summary } from "../../src/admin/summary";
import type { RawReply } from "../harness/http";
import type { Received } from "../harness/node-red";
import { root } from "../harness/package";

export interface FieldCase {
  /** The kind and a number; also the path of its node, followed by an index where there are several. */
  id: string;
  title: string;
  /** The saved fields that are not the defaults. */
  nodes: Record<string, unknown>[];
  requests: FieldRequest[];
  /** The requests are alternatives. */
  enough?: "one request";
}

/** In its texts `{ts}` is the time in seconds, `{ms}` in milliseconds, and the name of a signature that signature. */
export interface FieldRequest {
  /** Which of the nodes it goes to; the first one unless it says so. */
  node?: number;
  method?: string;
  target?: string;
  /** A name and a value each, besides `Host`, `Connection` and, with a body, its length. */
  headers: string[];
  body?: Bytes | string;
  /** How long ago it was signed. */
  secondsAgo?: number;
  signatures?: Signature[];
  /** Each of these is right. */
  expect: Outcome[];
}

interface Bytes {
  $base64: string;
}

interface Signature {
  name: string;
  algorithm: "HMAC-SHA1" | "HMAC-SHA256" | "HMAC-SHA512" | "ECDSA-P256-SHA256";
  key: Partial<Record<"utf8" | "hex" | "base64" | "pkcs8", string>>;
  /** What is signed; `{body}` is the body. */
  text: string;
  encoding: "hex" | "base64";
}

interface Outcome {
  /** A number, or several, or digits of which some are an x. */
  status: number | string;
  flow: boolean;
  /** Members by their paths. */
  message?: Record<string, unknown>;
  /** All files, by the members that matter. */
  files?: Record<string, unknown>[];
  /** Base64 of bytes that are in the payload or the files. */
  kept?: string[];
  reply?: { headers: Record<string, string>; body?: string };
  /** What the list of deliveries says of it, and what is shown nowhere. */
  operator?: { reason: string; hides?: string[] };
  /** A pattern that a page matches, or each of its lines that has `row` in it. */
  docs?: { file: string; row?: string; says: string };
}

/** What came of a request. */
export interface Seen {
  reply: RawReply;
  /** All messages that it led to. */
  messages: Received[];
  /** The delivery of it in the list. */
  listed: Summary | undefined;
  /** All that users are shown. */
  shown: string;
}

export type Values = Record<string, string>;

export const fieldCases = readCases(join(root, "test", "data", "field"));

function readCases(folder: string): FieldCase[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as FieldCase[]);
}

/** The id and the path of a node of a case. */
export function idOf({ id, nodes }: FieldCase, index = 0): string {
  return nodes.length === 1 ? id : `${id}-${index}`;
}

export function pathOf(fieldCase: FieldCase, index = 0): string {
  const { relativePath } = fieldCase.nodes[index] ?? {};
  return typeof relativePath === "string" ? relativePath : `/${idOf(fieldCase, index)}`;
}

/**
 * Signs a request.
 *
 * @param target the target of the request
 * @returns its bytes, and the values that stand in it
 */
export function compose(request: FieldRequest, target: string): { bytes: Buffer; values: Values } {
  const at = Date.now() - 1000 * (request.secondsAgo ?? 0);
  const values: Values = { ts: String(Math.floor(at / 1000)), ms: String(at) };
  const { signatures = [], body: sent = "", method = "POST" } = request;
  // A body that holds its signature is not what is signed.
  const unsigned = bytesOf(sent, values);
  for (const each of signatures) values[each.name] = signText(each, unsigned, values);
  const body = bytesOf(sent, values);
  const isChunked = request.headers.some((field) => /^transfer-encoding:/i.test(field));
  const length = request.body === undefined || isChunked ? [] : [`Content-Length: ${body.length}`];
  const fields = request.headers.map((field) => fill(field, values));
  const lines = [`${method} ${target} HTTP/1.1`, "Host: hooks.example.com", "Connection: close", ...fields, ...length];
  return { bytes: Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]), values };
}

function bytesOf(body: Bytes | string, values: Values): Buffer {
  return typeof body === "string" ? Buffer.from(fill(body, values)) : Buffer.from(body.$base64, "base64");
}

function fill(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

function signText({ algorithm, key, text, encoding }: Signature, body: Buffer, values: Values): string {
  // One character for each byte, so that any body fits into the text.
  const bytes = Buffer.from(fill(text, values))
    .toString("latin1")
    .replaceAll("{body}", () => body.toString("latin1"));
  const content = Buffer.from(bytes, "latin1");
  if (key.pkcs8 !== undefined) {
    const privateKey = createPrivateKey({ key: Buffer.from(key.pkcs8, "base64"), format: "der", type: "pkcs8" });
    return sign("sha256", content, privateKey).toString(encoding);
  }
  const [given] = Object.entries(key);
  if (!given) throw new Error("There is no key");
  const [form, value] = given as ["utf8" | "hex" | "base64", string];
  const hash = algorithm.slice("HMAC-".length).toLowerCase();
  return createHmac(hash, Buffer.from(value, form)).update(content).digest(encoding);
}

/** @throws what is wrong, for each of the outcomes that would have been right */
export function judge(expected: readonly Outcome[], seen: Seen, values: Values): void {
  const wrong = expected.map((outcome) => {
    try {
      compare(outcome, seen, values);
      return undefined;
    } catch (error) {
      return String(error);
    }
  });
  if (wrong.includes(undefined)) return;
  const { reply, messages, listed } = seen;
  const said = [`${reply.status} ${reply.body.slice(0, 300)}`, listed?.reason, listed?.fix].filter(Boolean);
  const flows = messages.map(({ topic, payload }) => JSON.stringify({ topic, payload }).slice(0, 500));
  throw new Error(["none of the right outcomes:", ...said, ...flows, ...wrong].join("\n  "));
}

function compare(outcome: Outcome, { reply, messages, listed, shown }: Seen, values: Values): void {
  const { status, flow, message = {}, files, kept = [], reply: replied, operator, docs, ...rest } = outcome;
  should(rest).eql({}, "an expectation that is not known");
  should(String(reply.status)).match(new RegExp(`^(?:${String(status).replaceAll("x", "\\d")})$`));
  should(messages.length > 0).equal(flow, "whether it starts the flow");
  for (const each of messages) {
    for (const [path, value] of Object.entries(message)) compareMember(each, path, revive(value, values));
    if (files) compareFiles(each, files);
    for (const bytes of kept) should(keeps([each.payload, each.req.files], bytes)).equal(true, `${bytes} is kept`);
  }
  for (const [name, pattern] of Object.entries(replied?.headers ?? {})) {
    should(new RegExp(`^${name}: (.*)\r$`, "im").exec(reply.head)?.[1]).match(new RegExp(pattern));
  }
  if (replied?.body !== undefined) should(reply.body).equal(fill(replied.body, values));
  if (operator) {
    should(`${listed?.reason ?? ""}\n${listed?.fix ?? ""}`).match(new RegExp(operator.reason, "i"));
    for (const secret of operator.hides ?? []) should(shown).not.containEql(secret);
  }
  if (docs)
    should(new RegExp(docs.says, "i").test(linesOf(docs.file, docs.row))).equal(true, `${docs.file} does not say so`);
}

/** The value that an expectation stands for. */
function revive(value: unknown, values: Values): unknown {
  if (typeof value === "string") return fill(value, values);
  if (Array.isArray(value)) return value.map((each) => revive(each, values));
  if (typeof value !== "object" || value === null) return value;
  if ("$base64" in value) return Buffer.from(String(value.$base64), "base64");
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each, values)]));
}

function compareMember(message: Received, path: string, expected: unknown): void {
  const found = path.split(".").reduce<unknown>((value, name) => (value as Values | undefined)?.[name], message);
  const part = (expected as { $contains?: string } | null)?.$contains;
  if (part === undefined) should(found).eql(expected, `${path} is ${JSON.stringify(found)}`);
  else should(found).containEql(part);
}

function compareFiles(message: Received, expected: Record<string, unknown>[]): void {
  const files = (message.req.files ?? []) as Record<string, unknown>[];
  const parts = files.map((file, index) =>
    Object.fromEntries(Object.keys(expected[index] ?? {}).map((name) => [name, file[name]])),
  );
  should(parts).eql(revive(expected, {}));
}

/** Whether bytes are in a value: as bytes, as text, or as the value of their JSON. */
function keeps(value: unknown, base64: string): boolean {
  const bytes = Buffer.from(base64, "base64");
  if (value instanceof Uint8Array) return Buffer.from(value).includes(bytes);
  if (typeof value === "string") return Buffer.from(value).includes(bytes);
  if (typeof value !== "object" || value === null) return false;
  return isJsonOf(value, bytes.toString()) || Object.values(value).some((each) => keeps(each, base64));
}

function isJsonOf(value: object, text: string): boolean {
  try {
    return isDeepStrictEqual(value, JSON.parse(text));
  } catch {
    return false;
  }
}

function linesOf(file: string, row: string | undefined): string {
  const page = readFileSync(join(root, file), "utf8");
  if (row === undefined) return page;
  return page
    .split("\n")
    .filter((line) => line.toLowerCase().includes(row))
    .join("\n");
}
