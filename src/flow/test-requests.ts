// Test requests of the form.

import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { request as requestByHttp, type RequestOptions } from "node:http";
import { request as requestByHttps } from "node:https";
import { Server as TlsServer } from "node:tls";
import { messageField, present, testBody, testField } from "../auth/present";
import { type TestCredential, TestCredentials } from "../auth/test-credentials";
import { permissions } from "../config/host";
import { getMountPath, getParent, getRoots, getServer } from "../config/node-red";
import type { WebhookConfig } from "../config/parse";
import type { BrokenRule } from "../config/rules";
import type { DeliveryLists } from "../deliveries/lists";
import { type DeployGate, holdTimeoutMs } from "./deploy-gate";
import type { OpenResult, OpenNodes } from "./endpoints";

/** How long a reply may take, in ms: longer than a request may be held during a deploy. */
const maxWaitMs = holdTimeoutMs + 5000;
/** How many characters of a reply are read. */
const maxAnswerBytes = 10_000;

/** How the editor reached Node-RED: most likely HTTP nodes are reached in the same way. */
interface Way {
  /** The value of `Host`: a server may have an app for each name. */
  host: string | undefined;
  /** The path of the admin app, without a slash at its end. */
  mount: string;
}

/** RFC 9110 §7.2: Host = uri-host [ ":" port ], limited to DNS names and addresses (RFC 3986 §3.2.2). */
const validHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

interface Sample {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const defaultSample: Sample = { body: testBody, headers: { "Content-Type": "text/plain" } };
/** The fields needed to read the body. */
const fieldsOfBodies = ["content-type", "content-encoding"];

/**
 * Sends test requests through the real endpoint and everything in front of it. Since something else may answer, they
 * carry a test credential instead of the token.
 */
export class TestRequests {
  readonly testCredentials = new TestCredentials();
  readonly #RED: NodeAPI;
  readonly #deployGate: DeployGate;
  readonly #opened: OpenNodes;
  readonly #lists: DeliveryLists;

  constructor(RED: NodeAPI, deployGate: DeployGate, opened: OpenNodes, lists: DeliveryLists) {
    this.#RED = RED;
    this.#deployGate = deployGate;
    this.#opened = opened;
    this.#lists = lists;
    const answer: RequestHandler<{ id: string }> = (request, response) => {
      const { delivery } = (request.body ?? {}) as { delivery?: unknown };
      const mount = request.originalUrl.slice(0, request.originalUrl.lastIndexOf("/webhook-trigger/"));
      const { host = "" } = request.headers;
      const way = { host: validHost.test(host) ? host : undefined, mount };
      void this.#of(request.params.id, way, delivery).then((result) => {
        // A time limit in front may have replied.
        if (!response.headersSent) response.json(result);
      });
    };
    RED.httpAdmin.post("/webhook-trigger/:id/test", RED.auth.needsPermission(permissions.write), answer);
  }

  /** @param delivery the id of a delivery whose body is sent; missing: the default body */
  async #of(id: string, way: Way, delivery: unknown): Promise<TestResult> {
    // During a deploy nodes come and go.
    if (!(await this.#deployGate.wait())) return { outcome: "deploying" };
    const opened = this.#opened.of(id);
    if (!opened) return { outcome: "notDeployed" };
    if (opened === "switchedOff") return { outcome: "switchedOff" };
    if ("rule" in opened) return { outcome: "closed", ...opened };
    const { config } = opened;
    if (!this.#opened.serving(id)) return { outcome: "taken" };
    const sample = delivery === undefined ? defaultSample : await this.#sampleOf(opened, delivery);
    if (!sample) return { outcome: "deliveryGone" };
    const testCredential = this.testCredentials.issue(id);
    try {
      return await this.#send(config, testCredential, way, sample);
    } catch {
      return { outcome: "unreachable" };
    } finally {
      testCredential.revoke();
    }
  }

  /** Only of the same node. */
  async #sampleOf({ node }: Extract<OpenResult, { node: unknown }>, id: unknown): Promise<Sample | undefined> {
    const found = typeof id === "string" ? await this.#lists.find(id).catch(() => undefined) : undefined;
    if (found?.stored.delivery.node !== node.id) return undefined;
    const { delivery, body } = found.stored;
    const { head, isJson } = delivery;
    const fields = fieldsOfBodies.flatMap((name) => (name in head.headers ? [[name, String(head.headers[name])]] : []));
    const known = Object.fromEntries(fields) as Record<string, string>;
    return { body, headers: isJson ? { "content-type": "application/json" } : known };
  }

  async #send(
    { path, access, reply }: WebhookConfig,
    testCredential: TestCredential,
    way: Way,
    { body, headers: ofBody }: Sample,
  ): Promise<TestResult> {
    const server = getServer(this.#RED);
    const address = server?.address();
    if (!server || !address) return { outcome: "unreachable" };

    const { token } = testCredential;
    const { headers, search } =
      access.method === "signature" ? { headers: { [testField]: token }, search: "" } : present(access, token);
    const options: RequestOptions & { rejectUnauthorized: boolean } = {
      ...(typeof address === "string"
        ? { socketPath: address }
        : { host: loopback(address.address), port: address.port }),
      method: "POST",
      path: this.#nodeRoot(way.mount) + path + search,
      headers: { ...ofBody, ...(way.host && { Host: way.host }), ...headers },
      agent: false,
      signal: AbortSignal.timeout(maxWaitMs + (reply.by === "flow" ? reply.timeout : 0)),
      // The certificate is for the public name of this process.
      rejectUnauthorized: false,
    };
    return fetchResult(server instanceof TlsServer ? requestByHttps : requestByHttp, options, testCredential, body);
  }

  /** The path of the app for HTTP nodes. A router in front may remove a prefix, which only the editor knows. */
  #nodeRoot(mount: string): string {
    const roots = getRoots(this.#RED);
    // Routes of nodes are in an app inside the admin app.
    const admin = getMountPath(getParent(this.#RED.httpAdmin) ?? this.#RED.httpAdmin, roots.admin);
    const prefix = mount.endsWith(admin) ? mount.slice(0, mount.length - admin.length) : "";
    return (prefix.startsWith("/") ? prefix : "") + getMountPath(this.#RED.httpNode, roots.node);
  }
}

async function fetchResult(
  request: typeof requestByHttp,
  options: RequestOptions,
  testCredential: TestCredential,
  sentBody: string | Buffer,
): Promise<TestResult> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
        if (body.length > maxAnswerBytes) response.destroy();
      });
      response.on("close", () => resolve(describeResult(response.statusCode ?? 0, response.headers, body)));
    });
    sent.on("socket", (socket) => {
      socket.once("connect", () => socket.localPort !== undefined && testCredential.leaveBy(socket.localPort));
    });
    sent.on("error", reject);
    sent.end(sentBody);
  });
}

/** A server that listens on all addresses is called on the loopback address. */
function loopback(address: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
}

/** The result of a test request, by the key of its text under `trial` in the message catalog. */
export type TestOutcome =
  /** The flow was started. */
  | "accepted"
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
  /** `httpNodeAuth` refused the request. */
  | "blocked"
  /** The endpoint refused the credential. */
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
  /** The rule that keeps the endpoint closed, and its value. */
  rule?: BrokenRule;
  value?: string;
}

function describeResult(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
): TestResult {
  const given = headers[messageField.toLowerCase()];
  if (typeof given === "string") return { outcome: isOurs(headers) ? "unanswered" : "answered", status, id: given };
  const id = status === 200 ? acceptedId(body) : undefined;
  if (id !== undefined) return { outcome: "accepted", status, id };
  return { outcome: classifyStatus(status, headers["www-authenticate"] ?? ""), status };
}

/** Whether it is a problem, such as that the flow was late. */
function isOurs({ "content-type": type }: Readonly<Record<string, unknown>>): boolean {
  return type === "application/problem+json";
}

/** The beginning of the challenges in `src/request/problem.ts`. */
const ourChallenge = /^(?:Bearer|Signature) realm="webhook"/;

function classifyStatus(status: number, challenge: string | string[]): TestOutcome {
  // RFC 9110 §11.6.1: the challenge shows who refused.
  if (status === 401) return ourChallenge.test(String(challenge)) ? "tokenRefused" : "blocked";
  if (status === 404) return "notFound";
  if (status === 503) return "deploying";
  return "otherwise";
}

/** The id in an endpoint's reply; nothing when something else replied. */
function acceptedId(body: string): string | undefined {
  try {
    const { status, id } = JSON.parse(body) as { status?: unknown; id?: unknown };
    return status === "accepted" && typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
