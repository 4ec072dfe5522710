import express from "express";
import type { Node } from "node-red";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Authenticator } from "../../src/auth/authenticator";
import { type SenderId, senders } from "../../src/auth/senders/table";
import { createTokenAuthenticator } from "../../src/auth/token";
import type { Caller } from "../../src/config/callers";
import type { ReplyByFlow, ReplyNow, TokenAccess, WebhookConfig } from "../../src/config/parse";
import type { DuplicateGuard } from "../../src/deliveries/duplicates";
import { DeployGate } from "../../src/flow/deploy-gate";
import { type Endpoint, EndpointRegistry } from "../../src/flow/endpoint";
import { type FlowReply, OwedReplies } from "../../src/flow/flow-reply";
import { Outcomes } from "../../src/flow/outcomes";
import { handleRequest } from "../../src/http/handle-request";
import { arrive } from "../../src/http/receive-request";
import { type Problem, problems } from "../../src/request/problem";
import { parseTarget } from "../../src/request/head";
import { token } from "./flow";

/** A flow answers by Express's responses. */
const app = express();

/** A server with an endpoint at `/hook`, without Node-RED. */
export class Reception {
  readonly #registry = new EndpointRegistry();
  readonly #deployGate = new DeployGate();
  readonly #outcomes = new Outcomes();
  /** The payloads of all messages. */
  readonly payloads: unknown[] = [];
  /** The problems of refused requests, with their causes. */
  readonly refusals: { problem: Problem; cause: unknown }[] = [];
  duplicates: DuplicateGuard | undefined;
  reply: ReplyNow | ReplyByFlow = { by: "now", status: 200, body: "", type: "" };
  /** The replies that flows owed, in the order of their messages. */
  readonly owed: FlowReply[] = [];
  readonly #server: Server;
  #ids = 0;
  #unregister: (() => void) | undefined;

  static async open(): Promise<Reception> {
    const reception = new Reception();
    reception.deploy();
    reception.#server.listen(0, "127.0.0.1");
    await once(reception.#server, "listening");
    return reception;
  }

  private constructor() {
    this.#outcomes.on("unanswered", () => this.refusals.push({ problem: problems.flowLate, cause: undefined }));
    this.#outcomes.on("refused", ({ problem, cause }) => this.refusals.push({ problem, cause }));
    this.#server = createServer((request, response) => this.#meet(request, response));
  }

  #meet(request: IncomingMessage, response: ServerResponse): void {
    Object.assign(Object.setPrototypeOf(request, app.request) as object, { res: response, query: {} });
    Object.assign(Object.setPrototypeOf(response, app.response) as object, { req: request, locals: {} });
    const { path, search } = parseTarget(request.url ?? "");
    const endpoint = this.#registry.find(path);
    if (!endpoint) return void response.writeHead(404).end();
    const arrived = arrive(app, request, response, { path, search });
    void handleRequest(arrived, endpoint, { registry: this.#registry, deployGate: this.#deployGate });
  }

  /** The flows are being deployed. */
  hold(): void {
    this.#registry.suspend();
    this.#deployGate.close();
  }

  /** The flows run again. */
  resume(): void {
    this.#registry.resume();
    this.#deployGate.open();
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Puts an endpoint with a token, and maybe with callers, in the place of the present one. */
  deploy(wanted = token, maxBodyBytes = 5 * 1024 * 1024, callers: readonly Caller[] = []): void {
    const access: TokenAccess = { method: "header", name: "Authorization", first: wanted, callers };
    this.open(createTokenAuthenticator(access), undefined, maxBodyBytes, access);
  }

  /** Puts an endpoint in the place of the present one. */
  open(authenticator: Authenticator, sender?: SenderId, maxBodyBytes = 5 * 1024 * 1024, access?: TokenAccess): void {
    this.#unregister?.();
    this.#ids = 0;
    const endpoint: Endpoint = {
      node: { id: "hook" } as unknown as Node,
      config: {
        path: "/hook",
        methods: ["POST"],
        events: [],
        conditions: [],
        reply: this.reply,
        rawBody: false,
        guaranteed: false,
        ...(access && { access }),
      } as Partial<WebhookConfig> as WebhookConfig,
      authenticator,
      methodNotAllowed: problems.methodNotAllowed,
      hasParameters: false,
      sender: sender && { id: sender, row: senders[sender] },
      maxBodyBytes,
      judgeHead: undefined,
      duplicates: this.duplicates,
      guaranteed: undefined,
      owed: new OwedReplies(),
      recorder: undefined,
      newId: () => `${++this.#ids}`,
      deliver: ({ body }, owed) => {
        this.payloads.push(body);
        if (owed) this.owed.push(owed);
      },
      outcomes: this.#outcomes,
    };
    const ignore = () => undefined;
    this.#unregister = this.#registry.register({ endpoint, onActive: ignore, onBlocked: ignore });
  }

  /** Waits for so many requests and their bodies. */
  async met(count: number): Promise<void> {
    for (let met = 0; met < count; met++) await once(this.#server, "request");
    await new Promise(setImmediate);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A request for `/hook`, as it goes over the wire. */
export function hookRequest(body: string | Uint8Array, ...fields: string[]): Buffer {
  const head = ["POST /hook HTTP/1.1", "Host: x", ...fields, `Content-Length: ${body.length}`, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}
