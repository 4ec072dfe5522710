import type { Node, NodeAPI } from "node-red";
import { EventEmitter } from "node:events";
import { mock } from "node:test";

import { Observers } from "../../src/admin/observers";
import type { Authenticator, RefusedRequestFacts } from "../../src/auth/authenticator";
import { digest } from "../../src/auth/digest";
import { createTokenAuthenticator } from "../../src/auth/token";
import type { Caller } from "../../src/config/callers";
import type { DeliveryRecorder } from "../../src/deliveries/recorder";
import type { Load, SharedUses } from "../../src/deliveries/queue";
import type { Endpoint } from "../../src/flow/endpoint";
import { type Problem, problems } from "../../src/request/problem";
import { token } from "./flow";
import { parseMetrics } from "./prometheus";
import { turns } from "./turns";

const tokenGate = createTokenAuthenticator({ method: "header", name: "Authorization", first: token, callers: [] });

/** A request that was refused. */
export const refusedRequest: RefusedRequestFacts = {
  head: { method: "POST", rawHeaders: [], search: "" },
  at: 0,
  ip: "192.0.2.1",
};

/** A node, unless a test wants it otherwise. */
const usual = {
  ...{ id: "node", path: "/hook", isGuaranteed: false, breaker: 0, isGuarded: false },
  /** Its list of deliveries. */
  recorder: undefined as Pick<DeliveryRecorder, "addRefused"> | undefined,
  /** Their names; a token that is not made of the name comes after a colon. */
  callers: [] as readonly string[],
  sharedUses: undefined as SharedUses | undefined,
};

function parseCaller(text: string): Caller {
  const [name = "", token = name] = text.split(":");
  return { name, digest: digest(token).toString("hex") };
}

type Handler = (request: unknown, response: unknown, next: (error: unknown) => void) => void;

/** Nodes without endpoints: what is told of them, by what they are told to have become of their requests. */
export class Observed {
  /** What each status was, the last one last, and each line of the log. */
  readonly statuses: { fill: string; shape: string; text: string }[] = [];
  readonly log: string[] = [];
  readonly observers: Observers;
  #exists = true;
  readonly #events = new EventEmitter();
  readonly #routes = new Map<string, Handler>();
  #close: (() => void) | undefined;

  /** @param userDir missing: nothing is kept */
  constructor(userDir?: string) {
    // In front of the last one are permissions.
    const add = (path: string, ...handlers: Handler[]) =>
      handlers.forEach((handler) => this.#routes.set(path, handler));
    const line = (level: string) => (text: string) => this.log.push(`${level} ${text}`);
    this.observers = new Observers({
      _: (key: string, values: object = {}) => [key, ...Object.values(values).map(String)].join(" "),
      events: this.#events,
      nodes: { getNode: () => (this.#exists ? {} : null) },
      httpAdmin: { get: add, post: add },
      httpNode: { get: () => () => false },
      auth: { needsPermission: () => undefined },
      settings: { userDir },
      log: { info: line("info"), warn: line("warn"), error: line("error") },
    } as unknown as NodeAPI);
  }

  get outcomes(): Observers["outcomes"] {
    return this.observers.outcomes;
  }

  /** Deploys a node, maybe again. */
  deploy(wanted: Partial<typeof usual> = {}, hours = 0): void {
    this.#close?.();
    const line = (level: string) => (text: string) => this.log.push(`${level} ${text}`);
    const all = { ...usual, ...wanted };
    const { id, path, isGuaranteed: guaranteed, breaker, isGuarded, recorder, sharedUses } = all;
    const node = {
      id,
      name: "",
      status: (status: Observed["statuses"][number]) => this.statuses.push(status),
      ...{ log: line("log"), warn: line("warn"), error: line("error"), metric: () => false },
    } as unknown as Node;
    const access = { method: "header", callers: all.callers.map(parseCaller) };
    const alerting = { alertWhenSilent: hours, alertPerCaller: all.callers.length > 0 };
    const config = { path, guaranteed, reply: { by: "now" }, access, pace: { breaker }, ...alerting };
    const running = { node, config, authenticator: tokenGate, recorder } as unknown as Endpoint;
    this.observers.nodes.reset(node.id).running = running;
    this.observers.uses.open(id, running.config, sharedUses);
    this.observers.open(running, isGuarded);
    this.#close = () => this.observers.close(running);
    this.#events.emit("flows:started");
  }

  /** Flows without the node run for a moment. */
  delete(): void {
    this.#close?.();
    this.#close = undefined;
    this.#exists = false;
    this.#events.emit("flows:started");
    this.#exists = true;
  }

  accept(id = "1", event: "accepted" | "duplicate" = "accepted", at = Date.now()): void {
    this.outcomes.emit(event, {
      node: "node",
      id,
      authenticated: { credential: "first" },
      ip: "192.0.2.1",
      lacksKey: false,
      at,
    });
  }

  call(caller: string): void {
    this.outcomes.emit("called", { node: "node", caller });
  }

  refuse(
    problem: Problem = problems.tokenInvalid,
    cause?: unknown,
    authenticator: Authenticator = tokenGate,
    request = refusedRequest,
    node = "node",
  ): void {
    this.outcomes.emit("refused", { node, authenticator, problem, request, cause });
  }

  filter(): void {
    this.outcomes.emit("filtered", { node: "node", event: undefined });
  }

  handshake(isVerified: boolean): void {
    const event = { node: "node", secret: undefined, request: refusedRequest, status: 200 };
    this.outcomes.emit("handshake", { ...event, isVerified });
  }

  fail(id: string, attempt = 1, isLast = false): void {
    this.outcomes.emit("attempt:failed", { node: "node", id, attempt, error: "it broke", isLast });
  }

  succeed(id: string): void {
    this.outcomes.emit("attempt:succeeded", { node: "node", id, attempt: 1 });
  }

  load(load: Partial<Load>): void {
    const none = { running: 0, queued: 0, retrying: 0, failed: 0, pause: undefined };
    this.outcomes.emit("load", { node: "node", load: { ...none, ...load } });
  }

  /** The status, once what has come is shown, and the time has passed that it takes to be shown anew. */
  async status(): Promise<{ fill: string; shape: string; text: string } | undefined> {
    await settle();
    mock.timers.tick(500);
    await settle();
    return this.statuses.at(-1);
  }

  /** What a route of the admin API answers: a status where that is all. */
  async ask(path: string, id = "node", query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const response = {
        set: () => response,
        status: () => response,
        json: resolve,
        sendStatus: resolve,
        end: resolve,
      };
      this.#routes.get(`/webhook-trigger/${path}`)?.(
        { params: { id }, query, headers: { "content-type": "application/json" } },
        response,
        reject,
      );
    });
  }

  /** The values of a metric by its labels, that of the node aside. */
  async metric(name: string): Promise<Record<string, number>> {
    const families = parseMetrics(String(await this.ask("metrics")));
    const { samples = [] } = families.get(`webhook_trigger_${name}`) ?? {};
    return Object.fromEntries(
      samples.map(({ name: part, labels, value }) => {
        const { node: _node, ...others } = labels;
        const suffix = part.slice(`webhook_trigger_${name}`.length);
        return [[suffix, ...Object.values(others)].filter(Boolean).join(" "), value];
      }),
    );
  }
}

/** Has what promises lead to done. */
export async function settle(): Promise<void> {
  await turns(5);
}
