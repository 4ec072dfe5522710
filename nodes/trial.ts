import type { RequestHandler } from "express";
import { request as requestByHttp, type RequestOptions } from "node:http";
import { request as requestByHttps } from "node:https";
import { text } from "node:stream/consumers";
import { Server as TlsServer } from "node:tls";
import type { Node, NodeAPI } from "node-red";
import type { Breach, WebhookConfig } from "../src/config";
import type { Endpoints } from "../src/endpoints";
import { present, testBody } from "../src/present";
import type { Endpoint } from "../src/receive";
import { resultOf, type TrialResult } from "../src/trial";

/** What a node has become when its flow was started. */
export type Deployed = { config: WebhookConfig; endpoint: Endpoint } | Breach | "switchedOff";

/** What a user of the editor needs to start a flow by a test request. */
const permission = "webhook-trigger.write";
/** How long an answer may take, in ms: longer than a request may wait for a deploy. */
const longestWait = 15_000;

/**
 * Sends test requests for the form in the editor, through the real endpoint and whatever stands in front of it.
 * They carry the token that the runtime has stored, so that the browser need not know it.
 */
export class Trials {
  readonly #RED: NodeAPI;
  readonly #endpoints: Endpoints<Endpoint>;
  readonly #deployed = new WeakMap<Node, Deployed>();

  constructor(RED: NodeAPI, endpoints: Endpoints<Endpoint>) {
    this.#RED = RED;
    this.#endpoints = endpoints;
    const answer: RequestHandler<{ id: string }> = (request, response, next) => {
      this.#of(request.params.id).then((result) => response.json(result), next);
    };
    RED.httpAdmin.post("/webhook-trigger/:id/test", RED.auth.needsPermission(permission), answer);
  }

  /** Remembers what a node has become. */
  note(node: Node, deployed: Deployed): void {
    this.#deployed.set(node, deployed);
  }

  async #of(id: string): Promise<TrialResult> {
    // While flows are being deployed, nodes come and go.
    await this.#endpoints.settled();
    const node = this.#RED.nodes.getNode(id) as Node | null;
    const deployed = node && this.#deployed.get(node);
    if (!deployed) return { outcome: "notDeployed" };
    if (deployed === "switchedOff") return { outcome: "switchedOff" };
    if ("rule" in deployed) return { outcome: "closed", ...deployed };
    const { config, endpoint } = deployed;
    if (this.#endpoints.find(config.path) !== endpoint) return { outcome: "taken" };
    return this.#send(config);
  }

  async #send({ path, placement, token }: WebhookConfig): Promise<TrialResult> {
    const server = this.#RED.server as NodeAPI["server"] | null | undefined;
    const address = server?.address();
    if (!server || !address) return { outcome: "unreachable" };

    const { headers, search } = present(placement, token);
    const options: RequestOptions & { rejectUnauthorized: boolean } = {
      ...(typeof address === "string"
        ? { socketPath: address }
        : { host: loopback(address.address), port: address.port }),
      method: "POST",
      path: this.#RED.httpNode.path().replace(/\/+$/, "") + path + search,
      headers: { "Content-Type": "text/plain", ...headers },
      agent: false,
      signal: AbortSignal.timeout(longestWait),
      // This very process answers: its certificate is for the name that others call it by.
      rejectUnauthorized: false,
    };
    const request = server instanceof TlsServer ? requestByHttps : requestByHttp;
    return new Promise((resolve) => {
      const sent = request(options, (response) => {
        text(response).then(
          (body) => resolve(resultOf(response.statusCode ?? 0, response.headers["www-authenticate"], body)),
          () => resolve({ outcome: "unreachable" }),
        );
      });
      sent.on("error", () => resolve({ outcome: "unreachable" }));
      sent.end(testBody);
    });
  }
}

/** A server that listens everywhere is called where nobody else can listen in. */
function loopback(address: string): string {
  return address === "::" || address === "0.0.0.0" ? "127.0.0.1" : address;
}
