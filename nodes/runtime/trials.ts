import type { RequestHandler } from "express";
import { request as requestByHttp, type RequestOptions } from "node:http";
import { request as requestByHttps } from "node:https";
import { Server as TlsServer } from "node:tls";
import type { Node, NodeAPI } from "node-red";
import type { WebhookConfig } from "../../src/config/parse";
import type { Breach } from "../../src/config/rules";
import type { Endpoints } from "../../src/endpoints";
import { present, testBody } from "../../src/trust/present";
import type { Endpoint } from "../../src/receive";
import { resultOf, type TrialResult } from "../../src/reply/trial";

/** What a node has become when its flow was started. */
export type Deployed = { config: WebhookConfig; endpoint: Endpoint } | Breach | "switchedOff";

/** What a user of the editor needs to start a flow by a test request. */
const permission = "webhook-trigger.write";
/** How long an answer may take, in ms: longer than a request may wait for a deploy. */
const longestWait = 15_000;
/** How much of an answer is read, in characters: an endpoint's own is much shorter. */
const longestAnswer = 10_000;

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
    const answer: RequestHandler<{ id: string }> = (request, response) => {
      const mount = request.originalUrl.slice(0, request.originalUrl.lastIndexOf("/webhook-trigger/"));
      void this.#of(request.params.id, mount).then((result) => {
        // A time limit in front may have answered meanwhile.
        if (!response.headersSent) response.json(result);
      });
    };
    RED.httpAdmin.post("/webhook-trigger/:id/test", RED.auth.needsPermission(permission), answer);
  }

  /** Remembers what a node has become. */
  note(node: Node, deployed: Deployed): void {
    this.#deployed.set(node, deployed);
  }

  /** @param mount where the admin app was found */
  async #of(id: string, mount: string): Promise<TrialResult> {
    // While flows are being deployed, nodes come and go.
    if (!(await this.#endpoints.settled())) return { outcome: "deploying" };
    const node = this.#RED.nodes.getNode(id) as Node | null;
    const deployed = node && this.#deployed.get(node);
    if (!deployed) return { outcome: "notDeployed" };
    if (deployed === "switchedOff") return { outcome: "switchedOff" };
    if ("rule" in deployed) return { outcome: "closed", ...deployed };
    const { config, endpoint } = deployed;
    if (this.#endpoints.find(config.path) !== endpoint) return { outcome: "taken" };
    // Behind a router it is not told where the apps are: the token might go to somebody else.
    if (mount !== this.#RED.httpAdmin.path().replace(/\/+$/, "")) return { outcome: "unreachable" };
    return this.#send(config).catch(() => ({ outcome: "unreachable" }));
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
    return new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          body += chunk;
          if (body.length > longestAnswer) response.destroy();
        });
        response.on("close", () =>
          resolve(resultOf(response.statusCode ?? 0, response.headers["www-authenticate"], body)),
        );
      });
      sent.on("error", reject);
      sent.end(testBody);
    });
  }
}

/** A server that listens everywhere is called where nobody else can listen in. */
function loopback(address: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
}
