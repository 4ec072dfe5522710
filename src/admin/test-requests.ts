// Test requests of the form.

import type { Express, Request } from "express";
import type { NodeAPI } from "node-red";
import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { type IncomingHttpHeaders, request as requestByHttp, type RequestOptions } from "node:http";
import { request as requestByHttps } from "node:https";
import { Server as TlsServer } from "node:tls";
import type { Authenticator } from "../auth/authenticator";
import { toReason } from "../auth/diagnosis";
import { type OutgoingRequest, presentToken, readOutgoing, setValue, toHead } from "../auth/outgoing";
import { handshakeMark, messageField, testField } from "../auth/present";
import { readSenderDelivery } from "../auth/request-values";
import { isSenderId, senders } from "../auth/senders/table";
import type { TestCredential, TestCredentials } from "../auth/test-credentials";
import { getRoots, getServer } from "../config/node-red";
import { getParent } from "../http/host-internals";
import type { WebhookConfig } from "../config/parse";
import { normalisePath } from "../config/paths";
import { isObject, tryParseJson } from "../config/values";
import type { BrokenRule } from "../config/fields";
import { fillParameters } from "../request/path-patterns";
import { findProblem, type Problem, type Reason } from "../request/problem";
import { type DeployGate, holdTimeoutMs } from "../flow/deploy-gate";
import type { FilterReason } from "../deliveries/delivery";
import { DecodedBody } from "../request/decode";
import { findWhy } from "../flow/dry-run";
import { findEvent } from "../flow/filter";
import { findOutput } from "../flow/message";
import type { DeliveryStores } from "../flow/stores";
import type { NodeHealths } from "./node-health";
import { composeTest, parseAskedTest } from "./test-parts";

/** How long a reply may take, in ms: longer than a request may be held during a deploy. */
const maxWaitMs = holdTimeoutMs + 5000;
/** How many characters of a reply are read. */
const maxAnswerBytes = 10_000;

interface TestServices {
  readonly deployGate: DeployGate;
  readonly nodes: NodeHealths;
  readonly stores: DeliveryStores;
  readonly testCredentials: TestCredentials;
}

/**
 * Sends a test request through the real endpoint and everything in front of it: signed as its sender does, if that is
 * asked for and possible. Else it has a test credential instead of the node's own, since something else may answer.
 *
 * @throws {BadRequest}
 */
export async function sendTestRequest(
  RED: NodeAPI,
  { deployGate, nodes, stores, testCredentials }: TestServices,
  asked: Request<{ id: string }>,
): Promise<TestResult> {
  const { id } = asked.params;
  const test = parseAskedTest(asked.body);
  // During a deploy nodes come and go.
  if (!(await deployGate.wait())) return { outcome: "deploying" };
  const health = nodes.get(id);
  if (health && getRoots(RED).node === false) return { outcome: "switchedOff" };
  if (health?.breach) return { outcome: "closed", ...health.breach };
  if (!health?.running) return { outcome: "notDeployed" };
  if (!health.isOpen) return { outcome: "taken" };
  const { config, authenticator, methodNotAllowed } = health.running;
  const unsigned = await composeTest(test, id, config, stores);
  if (!unsigned) return { outcome: "deliveryGone" };
  const signed = test.sign ? await authenticator.sign(unsigned, Date.now()) : undefined;
  if (signed && "kind" in signed) return { outcome: "unsignable", reasons: [toReason(signed)] };
  if (!test.send) return describePrepared(authenticator, signed);
  const testCredential = testCredentials.issue(id, signed === undefined);
  const { token } = testCredential;
  const request = signed ? setValue(signed, `header:${testField}`, token) : addToken(unsigned, config, token);
  const startedAt = performance.now();
  try {
    const replied = await send(RED, config, testCredential, asked, request);
    const milliseconds = Math.round(performance.now() - startedAt);
    const result: TestResult = {
      ...describeResult(replied, methodNotAllowed, signed !== undefined),
      signed: signed !== undefined,
      milliseconds,
      reply: describeReply(replied, authenticator),
    };
    if (result.outcome === "accepted" && config.guaranteed && stores.paused(id))
      return { ...result, outcome: "stored" };
    if (result.outcome === "filtered") {
      const head = toHead(request);
      const why = await findWhy(health.running, head, DecodedBody.of(head, request.body));
      return { ...result, ...(why && { why }) };
    }
    return result.id === undefined ? result : { ...result, ...findLeft(config, request) };
  } catch {
    return { outcome: "unreachable" };
  } finally {
    testCredential.revoke();
  }
}

/** Where the message has left the node; nothing where there is one output for all. */
function findLeft(
  { sender, events, outputPerEvent }: WebhookConfig,
  request: OutgoingRequest,
): Pick<TestResult, "output" | "event"> {
  if (!outputPerEvent) return {};
  const told = readSenderDelivery(isSenderId(sender) ? senders[sender] : {}, readOutgoing(request)).events;
  const output = findOutput(
    events,
    told.find((event) => findEvent(events, event) !== -1),
  );
  return { output: output + 1, event: events[output] };
}

/** With the test credential in the place of the token, or in a header field of its own. */
function addToken(request: OutgoingRequest, { access }: WebhookConfig, token: string): OutgoingRequest {
  if (access.method === "header" || access.method === "query") return presentToken(request, access, token);
  return setValue(request, `header:${testField}`, token);
}

/** A reply as it came. */
interface Replied {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Its beginning. */
  readonly text: string;
  readonly isCut: boolean;
}

/** @param asked the request of the editor: HTTP nodes are most likely reached in the same way */
async function send(
  RED: NodeAPI,
  { path, reply }: WebhookConfig,
  testCredential: TestCredential,
  asked: Request,
  { method, search, headers, body }: OutgoingRequest,
): Promise<Replied> {
  const server = getServer(RED);
  const address = server?.address();
  if (!server || !address) throw new Error("no server");
  // A server may have an app for each name.
  const { host } = asked.headers;
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    ...(typeof address === "string"
      ? { socketPath: address }
      : { host: loopback(address.address), port: address.port }),
    method,
    path:
      getNodeRoot(RED, asked.originalUrl) +
      // No other node has a path with these values.
      fillParameters(path, () => `test-${randomBytes(4).toString("hex")}`) +
      (search === "" ? "" : `?${search}`),
    headers: {
      ...headers,
      ...(host !== undefined && { Host: host }),
      // Node.js leaves it out with DELETE.
      ...(method !== "GET" && { "Content-Length": body.length }),
    },
    agent: false,
    signal: AbortSignal.timeout(maxWaitMs + (reply.by === "flow" ? reply.timeoutMs : 0)),
    // The certificate is for the public name of this process.
    rejectUnauthorized: false,
  };
  return new Promise((resolve, reject) => {
    const sent = (server instanceof TlsServer ? requestByHttps : requestByHttp)(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.length > maxAnswerBytes) response.destroy();
      });
      response.on("close", () => {
        const isCut = text.length > maxAnswerBytes;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, isCut });
      });
    });
    sent.on("socket", (socket) => {
      socket.once("connect", () => socket.localPort !== undefined && testCredential.leaveBy(socket.localPort));
    });
    sent.on("error", reject);
    sent.end(method === "GET" ? undefined : body);
  });
}

/** The path of the app for HTTP nodes. A router in front may remove a prefix, which only the editor knows. */
function getNodeRoot(RED: NodeAPI, askedUrl: string): string {
  const { httpAdmin, httpNode } = RED;
  const [path = ""] = askedUrl.split(/[?#]/, 1);
  // Express matches paths in any letter case.
  const mount = path.replace(/\/webhook-trigger\/[^/]+\/test\/?$/i, "");
  const roots = getRoots(RED);
  // Routes of nodes are in an app inside the admin app.
  const admin = findRoot(getParent(httpAdmin) ?? httpAdmin, roots.admin);
  const prefix = mount.toLowerCase().endsWith(admin.toLowerCase()) ? mount.slice(0, mount.length - admin.length) : "";
  return (prefix.startsWith("/") ? prefix : "") + findRoot(httpNode, roots.node);
}

/**
 * Where an app was mounted, without a slash at its end. Express sets the parent of an app in an app, but not of one in a
 * router; there it is most likely at its root in the settings.
 */
function findRoot(app: Express, root: string | false): string {
  return normalisePath(getParent(app) ? app.path() : root || "/");
}

/** A server that listens on all addresses is called on the loopback address. */
function loopback(address: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
}

/** The result of a test request, by the key of its text under `testRequest` in the message catalog. */
type TestOutcome =
  /** The flow was started, and has replied, or has not in time (504) where it is to reply. */
  | "accepted"
  | "answered"
  | "unanswered"
  /** The node is paused: the delivery is stored, and starts the flow later. */
  | "stored"
  /** The endpoint takes other requests only, took it for a handshake, which starts no flow, or refused it. */
  | "filtered"
  | "handshake"
  | "refused"
  /** HTTP nodes are switched off, the configuration breaks a rule, or another node has the path. */
  | "notDeployed"
  | "switchedOff"
  | "closed"
  | "taken"
  /** The flows did not start in time. */
  | "deploying"
  /** The delivery is gone, or is another node's. */
  | "deliveryGone"
  /** It lacks what the sender signs. */
  | "unsignable"
  /** It is signed, and was not to be sent. */
  | "prepared"
  /** `httpNodeAuth` refused the request. */
  | "blocked"
  /** The endpoint refused the test credential. */
  | "tokenRefused"
  /** Nothing answers at the path; something else did; no reply came. */
  | "notFound"
  | "otherwise"
  | "unreachable";

export interface TestResult {
  outcome: TestOutcome;
  status?: number;
  /** The id of the message, if the flow was started. */
  id?: string;
  /** With an output for each event: the number of the one that the message has left by, and its event. */
  output?: number;
  event?: string | undefined;
  /** The name of the problem that the endpoint replied with. */
  problem?: string;
  /** Why the filter has stopped it. */
  why?: FilterReason;
  /** The rule that keeps the endpoint closed, and its value. */
  rule?: BrokenRule;
  value?: string;
  /** Whether it was signed as the sender does; missing where it was not sent. */
  signed?: boolean;
  /** From the request to the end of the reply; missing where there was none. */
  milliseconds?: number;
  reply?: TestReply;
  /** What it lacks: keys under `whyNot` in the message catalog. */
  reasons?: readonly Reason[];
  /** The request as the sender would send it now. */
  request?: PreparedRequest;
}

/** A reply to a test request, without the node's secrets. */
interface TestReply {
  /** Its content type; `null` where it has none. */
  readonly type: string | null;
  readonly body: string;
  readonly truncated: boolean;
}

/** A signed request, for other programs. */
export interface PreparedRequest extends Pick<OutgoingRequest, "method" | "headers"> {
  readonly query: string;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** For how long its signature is, in seconds; `null` for good. */
  readonly validFor: number | null;
}

/** Not what has the secret itself in it. */
function describePrepared(authenticator: Authenticator, signed: OutgoingRequest | undefined): TestResult {
  const { validFor } = authenticator;
  if (!signed || validFor === undefined) return { outcome: "prepared", signed: false };
  const { method, search: query, headers, body } = signed;
  const encoding = isUtf8(body) ? "utf8" : "base64";
  const request = { method, query, headers, body: body.toString(encoding), encoding, validFor } as const;
  return { outcome: "prepared", signed: true, request };
}

function describeReply({ headers, text, isCut }: Replied, { redactor }: Authenticator): TestReply {
  return {
    type: headers["content-type"] ?? null,
    body: redactor.redact(text).slice(0, maxAnswerBytes),
    truncated: isCut,
  };
}

/** @param isSigned whether the endpoint has not refused a test credential */
function describeResult(
  { status, headers, text: body }: Replied,
  methodNotAllowed: Problem,
  isSigned: boolean,
): TestResult {
  const problem = body === methodNotAllowed.body ? methodNotAllowed : findProblem(body);
  const given = headers[messageField.toLowerCase()];
  if (given === handshakeMark) return { outcome: "handshake", status };
  if (typeof given === "string") return { outcome: problem ? "unanswered" : "answered", status, id: given };
  // The test credential was right when it left.
  if (problem?.isOfCredential && !isSigned) return { outcome: "tokenRefused", status };
  if (problem) return { outcome: "refused", status, problem: problem.name };
  const parsed = status === 200 ? tryParseJson(body) : undefined;
  // Something else may have replied.
  const ours = isObject(parsed) ? parsed : {};
  if (ours.status === "filtered") return { outcome: "filtered", status };
  if (ours.status === "accepted" && typeof ours.id === "string") return { outcome: "accepted", status, id: ours.id };
  if (status === 401) return { outcome: "blocked", status };
  return { outcome: status === 404 ? "notFound" : "otherwise", status };
}
