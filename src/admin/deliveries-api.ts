// The admin API of deliveries and of queues, and the push that makes open editors fetch them again.

import type { Request, RequestHandler } from "express";
import type { Node, NodeAPI } from "node-red";
import { permissions } from "../config/host";
import { getServer } from "../config/node-red";
import { finished, unfinished } from "../deliveries/delivery";
import { describeDelivery, formatPosition, parsePosition, summarize } from "../deliveries/lists";
import { type DeliveryQueue, type Query, StoreError } from "../deliveries/queue";
import type { Detail, State, SummaryPage } from "../deliveries/summary";
import type { Changed, Replays } from "../flow/replays";
import type { DeliveryStores } from "../flow/stores";

const states: readonly State[] = [...unfinished, ...finished];
export const defaultPageSize = 100;
export const maxPageSize = 500;
/** RFC 9110 §15.5.10 */
const conflict = 409;
/** From one push to the next, in ms. */
const pushInterval = 250;

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

/** What a route answers; without a body its status only. */
interface Answer {
  readonly status?: number;
  readonly body?: object;
}

const notFound: Answer = { status: 404 };

type Stores = Pick<DeliveryStores, "lists" | "loads" | "queue" | "paused">;

/** Serves the deliveries, and pauses and resumes nodes. */
export function serveDeliveries(RED: NodeAPI, stores: Stores, replays: Replays): void {
  const { httpAdmin, auth } = RED;
  const { lists } = stores;
  const means = { translate: RED._, paused: (node: string) => stores.paused(node) };
  const [mayRead, mayWrite] = [auth.needsPermission(permissions.read), auth.needsPermission(permissions.write)];

  const answer =
    (act: (request: Request<{ id: string }>) => Promise<Answer>): RequestHandler<{ id: string }> =>
    (request, response) => {
      response.set("Cache-Control", "no-store");
      act(request)
        .catch((error: unknown) => describeFailure(RED, error))
        .then(({ status = 200, body }) => (body ? response.status(status).json(body) : response.sendStatus(status)))
        .catch((error: unknown) => RED.log.error(error));
    };

  const control = (act: (queue: DeliveryQueue, node: string) => Promise<void>) =>
    answer(async ({ params: { id } }) => {
      if (!(RED.nodes.getNode(id) as Node | null)) return notFound;
      if (!stores.loads.has(id)) {
        return { status: conflict, body: { code: "notGuaranteed", message: RED._("queue.notGuaranteed") } };
      }
      await act(stores.queue, id);
      return { status: 204 };
    });

  const root = "/webhook-trigger/deliveries";
  const page = answer(async ({ query }) => {
    const { deliveries, next } = await lists.page(parseQuery(query));
    const body: SummaryPage = {
      deliveries: deliveries.map((delivery) => summarize(delivery, means)),
      next: next ? formatPosition(next) : null,
    };
    return { body };
  });
  const detail = answer(async ({ params: { id } }) => {
    const found = await lists.find(id);
    if (!found) return notFound;
    const body: Detail = { ...describeDelivery(found.stored, means), ...(await replays.payloadToShow(found.stored)) };
    return { body };
  });
  const replay = answer(async ({ params: { id }, body }) => {
    const changed = parseChanged(body);
    const found = await lists.find(id);
    if (!found) return notFound;
    const outcome = await replays.replay(found.stored, found.list, changed);
    if (typeof outcome === "object") return { body: outcome };
    return { status: conflict, body: { code: outcome, message: RED._(`replay.${outcome}`) } };
  });
  const queues: RequestHandler = (_request, response) => {
    // The load of a node may be older than its pause.
    const all = [...stores.loads].map(([node, load]) => ({ node, ...load, pause: stores.paused(node) ?? null }));
    response.set("Cache-Control", "no-store").json({ queues: all });
  };
  httpAdmin.get(root, mayRead, page);
  httpAdmin.get(`${root}/:id`, mayRead, detail);
  httpAdmin.post(`${root}/:id/replay`, mayWrite, replay);
  httpAdmin.get("/webhook-trigger/queues", mayRead, queues);
  const pause = control((queue, node) => queue.pause(node));
  const resume = control((queue, node) => queue.resume(node));
  httpAdmin.post("/webhook-trigger/:id/pause", mayWrite, pause);
  httpAdmin.post("/webhook-trigger/:id/resume", mayWrite, resume);
}

function describeFailure(RED: NodeAPI, error: unknown): Answer {
  if (error instanceof BadRequest) return { status: 400, body: { code: "badRequest", message: error.message } };
  if (error instanceof StoreError) {
    return { status: 503, body: { code: error.trouble, message: RED._(`status.store.${error.trouble}`) } };
  }
  RED.log.error(error);
  return { status: 500, body: { code: "unforeseen", message: RED._("refused.unforeseen") } };
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
