// The admin API of deliveries and of queues, and the push that makes open editors fetch them again.

import type { RequestHandler, Response } from "express";
import type { Node, NodeAPI } from "node-red";
import { permissions } from "../config/host";
import { getServer } from "../config/node-red";
import { finished, unfinished } from "../deliveries/delivery";
import { type DeliveryLists, describeDelivery, formatPosition, parsePosition, summarize } from "../deliveries/lists";
import { type DeliveryQueue, type Query, StoreError } from "../deliveries/queue";
import type { Detail, Pause, State, SummaryPage } from "../deliveries/summary";
import type { Changed, Replays } from "../flow/replays";
import type { NodeQueues } from "../flow/stores";

const states: readonly State[] = [...unfinished, ...finished];
export const defaultPageSize = 100;
export const maxPageSize = 500;
/** RFC 9110 §15.5.10 */
const conflict = 409;
/** From one push to the next, in ms. */
const pushInterval = 250;

interface DeliveriesApiServices {
  readonly lists: DeliveryLists;
  readonly replays: Replays;
  readonly paused: (node: string) => Pause | undefined;
}

class BadRequest extends Error {}

/** Pushes nothing while no editor is open. @returns what to call whenever a delivery is new or has changed */
export function pushChanges(RED: NodeAPI): () => void {
  // Editors may have been open before this package was installed.
  const mayHaveOthers = getServer(RED)?.listening === true;
  let editors = 0;
  let timer: NodeJS.Timeout | undefined;
  RED.events.on("comms:connection-added", () => editors++);
  RED.events.on("comms:connection-removed", () => editors--);
  const push = () => {
    timer = undefined;
    RED.comms.publish("webhook-trigger/deliveries", { changed: true }, false);
  };
  return () => {
    if (editors > 0 || mayHaveOthers) timer ??= setTimeout(push, pushInterval).unref();
  };
}

export function serveDeliveries(RED: NodeAPI, { lists, replays, paused }: DeliveriesApiServices): void {
  const { httpAdmin, auth } = RED;
  const means = { translate: RED._, paused };
  const [mayRead, mayWrite] = [auth.needsPermission(permissions.read), auth.needsPermission(permissions.write)];

  const answer =
    (act: (...asked: Parameters<RequestHandler<{ id: string }>>) => Promise<unknown>): RequestHandler<{ id: string }> =>
    (request, response, next) => {
      response.set("Cache-Control", "no-store");
      act(request, response, next)
        .then((told) => (told === undefined ? response.sendStatus(404) : response.json(told)))
        .catch((error: unknown) => fail(RED, error, response));
    };

  const page = async (query: Query): Promise<SummaryPage> => {
    const { deliveries, next } = await lists.page(query);
    return {
      deliveries: deliveries.map((delivery) => summarize(delivery, means)),
      next: next ? formatPosition(next) : null,
    };
  };

  const detail = async (id: string): Promise<Detail | undefined> => {
    const found = await lists.find(id);
    return found && { ...describeDelivery(found.stored, means), ...(await replays.payloadToShow(found.stored)) };
  };

  const replay = async (id: string, changed: Changed | undefined, response: Response): Promise<unknown> => {
    const found = await lists.find(id);
    if (!found) return undefined;
    const outcome = await replays.replay(found.stored, found.list, changed);
    if (typeof outcome === "object") return outcome;
    response.status(conflict);
    return { code: outcome, message: RED._(`replay.${outcome}`) };
  };

  const root = "/webhook-trigger/deliveries";
  httpAdmin.get(root, mayRead, answer(async ({ query }) => page(parseQuery(query)))); // prettier-ignore
  httpAdmin.get(`${root}/:id`, mayRead, answer(async ({ params }) => detail(params.id))); // prettier-ignore
  httpAdmin.post(`${root}/:id/replay`, mayWrite, answer(async ({ params, body }, response) => replay(params.id, parseChanged(body), response))); // prettier-ignore
}

function fail(RED: NodeAPI, error: unknown, response: Response): void {
  if (error instanceof BadRequest) {
    response.status(400).json({ code: "badRequest", message: error.message });
  } else if (error instanceof StoreError) {
    response.status(503).json({ code: error.trouble, message: RED._(`status.store.${error.trouble}`) });
  } else {
    RED.log.error(error);
    response.status(500).json({ code: "unforeseen", message: RED._("refused.unforeseen") });
  }
}

function parseQuery(query: Readonly<Record<string, unknown>>): Query {
  const [node, state, text, page, limit] = ["node", "state", "text", "before", "limit"].map((name) => textIn(query, name)); // prettier-ignore
  const known = states.find((each) => each === state);
  if (state !== undefined && known === undefined) throw new BadRequest(`state: ${states.join(", ")}`);
  const number = limit === undefined ? defaultPageSize : Number(limit);
  if (!Number.isInteger(number) || number < 1) throw new BadRequest(`limit: 1 - ${maxPageSize}`);
  const before = page === undefined ? undefined : parsePosition(page);
  if (page !== undefined && !before) throw new BadRequest("before");
  return { node, state: known, text, before, limit: Math.min(number, maxPageSize) };
}

/** Empty counts as missing. */
function textIn(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw new BadRequest(name);
  return value;
}

function parseChanged(body: unknown): Changed | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new BadRequest("{} | { payload }");
  return "payload" in body ? { payload: body.payload } : undefined;
}

// The admin API that pauses and resumes nodes, and lists their queues.

export function serveQueueControl(RED: NodeAPI, queues: NodeQueues): void {
  const { httpAdmin, auth } = RED;
  const [mayRead, mayWrite] = [auth.needsPermission(permissions.read), auth.needsPermission(permissions.write)];

  const control =
    (act: (queue: DeliveryQueue, node: string) => Promise<void>): RequestHandler<{ id: string }> =>
    ({ params: { id } }, response) => {
      response.set("Cache-Control", "no-store");
      if (!(RED.nodes.getNode(id) as Node | null)) return void response.sendStatus(404);
      if (!queues.loads.has(id)) {
        return void response.status(conflict).json({ code: "notGuaranteed", message: RED._("queue.notGuaranteed") });
      }
      act(queues.queue, id)
        .then(() => response.sendStatus(204))
        .catch((error: unknown) => fail(RED, error, response));
    };

  httpAdmin.get("/webhook-trigger/queues", mayRead, (_request, response) => {
    // The load of a node may be older than its pause.
    const all = [...queues.loads].map(([node, load]) => ({ node, ...load, pause: queues.paused(node) ?? null }));
    response.set("Cache-Control", "no-store").json({ queues: all });
  });
  httpAdmin.post("/webhook-trigger/:id/pause", mayWrite, control((queue, node) => queue.pause(node))); // prettier-ignore
  httpAdmin.post("/webhook-trigger/:id/resume", mayWrite, control((queue, node) => queue.resume(node))); // prettier-ignore
}
