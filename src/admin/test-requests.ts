// Test requests of the form.

import type { Express, Request } from "express";
import type { NodeAPI } from "node-red";
import { randomBytes } from "node:crypto";
import { type IncomingHttpHeaders, request as requestByHttp, type RequestOptions } from "node:http";
import { request as requestByHttps } from "node:https";
import { Server as TlsServer } from "node:tls";
import { joinQueries, makeTestRequest, messageField, present, testField, testQuery } from "../auth/present";
import type { Sender } from "../auth/senders/sender";
import { isSenderId, senders } from "../auth/senders/table";
import type { TestCredential, TestCredentials } from "../auth/test-credentials";
import { getRoots, getServer } from "../config/node-red";
import { getParent } from "../http/host-internals";
import type { WebhookConfig } from "../config/parse";
import { normalisePath } from "../config/paths";
import { isObject, tryParseJson } from "../config/values";
import type { BrokenRule } from "../config/fields";
import { fillParameters } from "../request/path-patterns";
import { findProblem } from "../request/problem";
import { findDelivery } from "../deliveries/lists";
import { type DeployGate, holdTimeoutMs } from "../flow/deploy-gate";
import { findOutput } from "../flow/message";
import type { DeliveryStores } from "../flow/stores";
import type { NodeHealths } from "./node-health";

/** How long a reply may take, in ms: longer than a request may be held during a deploy. */
const maxWaitMs = holdTimeoutMs + 5000;
/** How many characters of a reply are read. */
const maxAnswerBytes = 10_000;

/** The body of a test request with the fields needed to read it, and the query of one by GET. */
interface TestSample {
  readonly body: string | Buffer;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly event: string | undefined;
}

interface TestServices {
  readonly deployGate: DeployGate;
  readonly nodes: NodeHealths;
  readonly stores: DeliveryStores;
  readonly testCredentials: TestCredentials;
}

/**
 * Sends a test request through the real endpoint and everything in front of it. Since something else may answer, it
 * carries a test credential instead of the token.
 *
 * @param asked names a delivery if its body is to be sent instead of the default one
 */
export async function sendTestRequest(
  RED: NodeAPI,
  { deployGate, nodes, stores, testCredentials }: TestServices,
  asked: Request<{ id: string }>,
): Promise<TestResult> {
  const { id } = asked.params;
  const { delivery } = (asked.body ?? {}) as { delivery?: unknown };
  // During a deploy nodes come and go.
  if (!(await deployGate.wait())) return { outcome: "deploying" };
  const health = nodes.get(id);
  if (health && getRoots(RED).node === false) return { outcome: "switchedOff" };
  if (health?.breach) return { outcome: "closed", ...health.breach };
  if (!health?.running) return { outcome: "notDeployed" };
  if (!health.isOpen) return { outcome: "taken" };
  const { config } = health.running;
  const usual = {
    ...makeTestRequest(isSenderId(config.sender) ? senders[config.sender] : {}, config.events),
    query: testQuery,
    event: config.events[0],
  };
  const sample = delivery === undefined ? usual : await findSample(stores, id, delivery, config);
  if (!sample) return { outcome: "deliveryGone" };
  const testCredential = testCredentials.issue(id);
  try {
    const result = await send(RED, config, testCredential, asked, sample);
    if (result.outcome === "accepted" && config.guaranteed && stores.paused(id))
      return { ...result, outcome: "stored" };
    return result.id === undefined ? result : { ...result, ...findLeft(config, sample) };
  } catch {
    return { outcome: "unreachable" };
  } finally {
    testCredential.revoke();
  }
}

/** Where the message has left the node; nothing where there is one output for all. */
function findLeft(
  { events, outputPerEvent }: WebhookConfig,
  { event }: TestSample,
): Pick<TestResult, "output" | "event"> {
  const output = findOutput(events, event);
  return outputPerEvent ? { output: output + 1, event: events[output] } : {};
}

/** Only of the same node. */
async function findSample(
  { lists }: DeliveryStores,
  node: string,
  id: unknown,
  config: WebhookConfig,
): Promise<TestSample | undefined> {
  const found = typeof id === "string" ? await findDelivery(lists, id).catch(() => undefined) : undefined;
  if (found?.stored.delivery.node !== node) return undefined;
  const { delivery, body } = found.stored;
  const names = [...listFilterFields(config), ...(delivery.isJson ? [] : ["content-type", "content-encoding"])];
  const fields = Object.entries(delivery.head.headers).filter(([name]) => names.includes(name));
  const headers = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  if (delivery.isJson) headers["content-type"] = "application/json";
  return { body, query: delivery.head.search, headers, event: delivery.webhook?.event };
}

/** The names of the header fields that the filter looks at. */
function listFilterFields({ sender, conditions }: WebhookConfig): string[] {
  const { events = [] }: Pick<Sender, "events"> = isSenderId(sender) ? senders[sender] : {};
  const places = [...events, ...conditions.map(({ place }) => place)];
  return places.flatMap((place) => {
    if (place.startsWith("ce:")) return ["content-type", place.replace("ce:", "ce-")];
    return place.startsWith("header:") ? place.slice("header:".length).toLowerCase() : [];
  });
}

/** @param asked the request of the editor: HTTP nodes are most likely reached in the same way */
async function send(
  RED: NodeAPI,
  { path, methods, access, reply }: WebhookConfig,
  testCredential: TestCredential,
  asked: Request,
  { body, headers: ofBody, query }: TestSample,
): Promise<TestResult> {
  const server = getServer(RED);
  const address = server?.address();
  if (!server || !address) return { outcome: "unreachable" };
  const { token } = testCredential;
  const { headers, search } =
    access.method === "header" || access.method === "query"
      ? present(access, token)
      : { headers: { [testField]: token }, search: "" };
  const [method = ""] = methods;
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
      (method === "GET" ? joinQueries(search, query) : search),
    headers: { ...(method !== "GET" && ofBody), ...(host !== undefined && { Host: host }), ...headers },
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
      response.on("close", () => resolve(describeResult(response.statusCode ?? 0, response.headers, text)));
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
  const mount = askedUrl.slice(0, askedUrl.lastIndexOf("/webhook-trigger/"));
  const roots = getRoots(RED);
  // Routes of nodes are in an app inside the admin app.
  const admin = findRoot(getParent(httpAdmin) ?? httpAdmin, roots.admin);
  const prefix = mount.endsWith(admin) ? mount.slice(0, mount.length - admin.length) : "";
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
  /** The flow was started. */
  | "accepted"
  /** The node is paused: the delivery is stored, and starts the flow later. */
  | "stored"
  /** The flow was started, and has answered. */
  | "answered"
  /** The flow did not reply in time (504). */
  | "unanswered"
  /** The node is not deployed. */
  | "notDeployed"
  /** HTTP nodes are switched off. */
  | "switchedOff"
  /** The node's configuration breaks a rule. */
  | "closed"
  /** The delivery is gone, or is another node's. */
  | "deliveryGone"
  /** Another node has the path. */
  | "taken"
  /** The node takes other requests only. */
  | "filtered"
  /** The endpoint refused the request. */
  | "refused"
  /** `httpNodeAuth` refused the request. */
  | "blocked"
  /** The endpoint refused the test credential. */
  | "tokenRefused"
  /** The flows did not start in time. */
  | "deploying"
  /** Nothing answers at the path. */
  | "notFound"
  /** Something else answered. */
  | "otherwise"
  /** No reply. */
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
  /** The rule that keeps the endpoint closed, and its value. */
  rule?: BrokenRule;
  value?: string;
}

function describeResult(status: number, headers: IncomingHttpHeaders, body: string): TestResult {
  const problem = findProblem(body);
  const given = headers[messageField.toLowerCase()];
  if (typeof given === "string") return { outcome: problem ? "unanswered" : "answered", status, id: given };
  // The test credential was right when it left.
  if (problem?.status === 401) return { outcome: "tokenRefused", status };
  if (problem) return { outcome: "refused", status, problem: problem.name };
  const parsed = status === 200 ? tryParseJson(body) : undefined;
  // Something else may have replied.
  const ours = isObject(parsed) ? parsed : {};
  if (ours.status === "filtered") return { outcome: "filtered", status };
  if (ours.status === "accepted" && typeof ours.id === "string") return { outcome: "accepted", status, id: ours.id };
  if (status === 401) return { outcome: "blocked", status };
  return { outcome: status === 404 ? "notFound" : "otherwise", status };
}
