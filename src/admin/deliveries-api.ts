// The admin API of deliveries and of queues, and the push that makes open editors fetch them again.

import type { Node, NodeAPI } from "node-red";
import { fields, type SavedCondition } from "../config/fields";
import { parseConditions, type WebhookConfig } from "../config/parse";
import { permissions } from "../config/permissions";
import { isEnvironmentValue, isObject } from "../config/values";
import { finished, type State, unfinished } from "../deliveries/delivery";
import { describeDelivery, summarize } from "./shown-delivery";
import { findDelivery, formatPosition, listPage, parsePosition } from "../deliveries/lists";
import type { Position, Query } from "../deliveries/queue";
import type { Detail, GroupReplay, SummaryPage } from "./summary";
import { type FailureGroup, groupFailures } from "../deliveries/failures";
import { tryFilter } from "../flow/dry-run";
import { isMasked } from "../flow/filter";
import type { Outcomes } from "../flow/outcomes";
import type { Changed, Replays } from "../flow/replays";
import type { DeliveryStores } from "../flow/stores";
import type { NodeHealths } from "./node-health";
import { addRoute, type Answer, BadRequest, notFound, readText } from "./routes";

const states: readonly State[] = [...unfinished, ...finished, "filtered"];
const defaultPageSize = 100;
const maxPageSize = 500;
/** RFC 9110 §15.5.10 */
const conflict = 409;
/** From one push to the next, in ms. */
const pushInterval = 250;

/** @returns how often deliveries and loads have changed */
export function pushChanges(RED: NodeAPI, outcomes: Outcomes): () => number {
  let changes = 0;
  let timer: NodeJS.Timeout | undefined;
  const push = () => {
    timer = undefined;
    RED.comms.publish("webhook-trigger/deliveries", { changed: true }, false);
  };
  const change = () => {
    changes++;
    timer ??= setTimeout(push, pushInterval).unref();
  };
  outcomes.on("changed", change);
  outcomes.on("load", change);
  return () => changes;
}

/** Until it is read. */
const noLoad = { running: 0, queued: 0, retrying: 0, failed: 0 };

/** Serves and deletes deliveries, and pauses and resumes nodes. */
export function serveDeliveries(RED: NodeAPI, stores: DeliveryStores, nodes: NodeHealths, replays: Replays): void {
  const refuse = (code: string, key: string): Answer => ({ status: conflict, body: { code, message: RED._(key) } });
  const means = { translate: RED._, paused: (node: string) => stores.paused(node) };
  addRoute(RED, "get", "deliveries", async ({ query }) => {
    const { deliveries, next } = await listPage(stores.lists, parseQuery(query));
    const body: SummaryPage = {
      deliveries: deliveries.map((delivery) => summarize(delivery, means)),
      next: next ? formatPosition(next) : null,
    };
    return { body };
  });
  addRoute(RED, "get", "deliveries/:id", async ({ params: { id } }) => {
    const found = await findDelivery(stores.lists, id);
    if (!found) return notFound;
    const detail = await describeDelivery(found.stored, means);
    const body: Detail = { ...detail, ...(await replays.payloadToShow(found.stored)) };
    return { body };
  });
  addRoute(RED, "post", "deliveries/:id/replay", async ({ params: { id }, body }) => {
    const changed = parseChanged(body);
    const found = await findDelivery(stores.lists, id);
    if (!found) return notFound;
    const outcome = await replays.replay(found.stored, found.list, changed);
    if (typeof outcome === "object") return { body: outcome };
    return refuse(outcome, `replay.${outcome}`);
  });
  for (const [act, when] of [
    ["retry", "now"],
    ["stop", "never"],
  ] as const) {
    addRoute(RED, "post", `deliveries/:id/${act}`, async ({ params: { id } }) => {
      const { stored } = (await findDelivery(stores.lists, id)) ?? {};
      if (!stored) return notFound;
      // Only the queue has any.
      if (stored.delivery.state === "retrying" && (await stores.queue.retry(id, when))) return { status: 204 };
      return refuse("notRetrying", "retry.notRetrying");
    });
  }
  addRoute(RED, "delete", "deliveries", async ({ query }) => {
    const asked = { node: readText(query, "node"), state: parseState(query) };
    if (asked.node === undefined && asked.state === undefined) throw new BadRequest("Give node or state, or both");
    let deleted = 0;
    for (const list of stores.lists) deleted += await list.removeAll(asked);
    return { body: { deleted } };
  });
  addRoute(RED, "delete", "deliveries/:id", async ({ params: { id } }) => {
    for (const list of stores.lists) {
      const removal = await list.remove(id);
      if (removal === "removed") return { status: 204 };
      if (removal === "running") return refuse(removal, `deletion.${removal}`);
    }
    return notFound;
  });
  const tryOut = async ({ params: { id }, body }: { params: { id: string }; body?: unknown }) => {
    const { running } = nodes.get(id) ?? {};
    if (!running) return notFound;
    return { body: await tryFilter(running, stores.lists, parseFilter(body)) };
  };
  addRoute(RED, "post", ":id/filter", tryOut, permissions.read);
  addRoute(RED, "get", "failures", async ({ query }) => {
    return { body: await groupFailures(stores.lists, readText(query, "node")) };
  });
  addRoute(RED, "post", "failures/replay", async ({ body: asked }) => {
    const { group, after } = parseGroup(asked);
    const { replayed, left, next } = await replays.replayGroup(stores.lists, group, after);
    const body: GroupReplay = {
      replayed,
      left: Array.from(left, ([code, count]) => ({ code, message: RED._(`replay.${code}`), count })),
      next: next ? formatPosition(next) : null,
    };
    return { body };
  });
  /** Not while flows are stopped. */
  const isThere = (node: string) => Boolean(RED.nodes.getNode(node) as Node | null);
  /** Where guaranteed delivery is off by now, a pause holds what was stored before. */
  const hasQueue = (node: string) => {
    const { running } = nodes.get(node) ?? {};
    return running !== undefined && (running.config.guaranteed || stores.paused(node) !== undefined);
  };
  addRoute(RED, "get", "queues", () => {
    const queues = [...nodes.all].flatMap(([node, { load = noLoad }]) =>
      hasQueue(node) && isThere(node) ? [{ node, ...load, pause: stores.paused(node) ?? null }] : [],
    );
    return { body: { queues } };
  });
  for (const act of ["pause", "resume"] as const) {
    addRoute(RED, "post", `:id/${act}`, async ({ params: { id } }) => {
      if (!isThere(id)) return notFound;
      if (!hasQueue(id)) return refuse("notGuaranteed", "queue.notGuaranteed");
      await stores.queue[act](id);
      return { status: 204 };
    });
  }
}

function parseQuery(query: Readonly<Record<string, unknown>>): Query {
  const names = ["node", "text", "error", "before", "limit"];
  const [node, text, error, page, limit] = names.map((name) => readText(query, name));
  const number = limit === undefined ? defaultPageSize : Number(limit);
  if (!Number.isInteger(number) || number < 1) throw new BadRequest(`limit: 1 - ${maxPageSize}`);
  const before = page === undefined ? undefined : parsePosition(page);
  if (page !== undefined && !before) throw new BadRequest("before");
  const state = error === undefined ? parseState(query) : "failed";
  return { node, state, text, error, before, limit: Math.min(number, maxPageSize) };
}

function parseState(query: Readonly<Record<string, unknown>>): State | undefined {
  const state = readText(query, "state");
  const known = states.find((each) => each === state);
  if (state !== undefined && known === undefined) throw new BadRequest(`state: ${states.join(", ")}`);
  return known;
}

/** Without environment variables and masked fields: the permission to read is none to find out their values. */
function parseFilter(body: unknown): Pick<WebhookConfig, "events" | "conditions"> {
  const { events, conditions } = isObject(body) ? body : {};
  const isValid =
    fields.events.accepts(events) && fields.conditions.accepts(conditions) && isShort({ events, conditions });
  const filter = isValid && { events: events as string[], conditions: parseConditions(conditions as SavedCondition[]) };
  const isHidden =
    filter && [...filter.events, ...filter.conditions.map(({ value }) => value)].some(isEnvironmentValue);
  if (!filter || isHidden || filter.conditions.some(({ place }) => isMasked(place))) {
    throw new BadRequest("{ events, conditions }, without environment variables and fields that are masked");
  }
  return filter;
}

/** The longest filter that is tried, in characters of JSON: each is compared with 200 bodies, and its values are repeated. */
const maxFilterLength = 10_000;

function isShort(filter: object): boolean {
  return JSON.stringify(filter).length <= maxFilterLength;
}

const beginning: Position = { at: 0, id: "" };

function parseGroup(body: unknown): { group: Omit<FailureGroup, "count">; after: Position } {
  const { node, error, last, after = null } = isObject(body) ? body : {};
  const position = typeof after === "string" ? parsePosition(after) : after === null ? beginning : undefined;
  if (typeof node !== "string" || typeof error !== "string" || !Number.isSafeInteger(last) || !position) {
    throw new BadRequest("{ node, error, last, after }");
  }
  return { group: { node, error, last: Number(last) }, after: position };
}

function parseChanged(body: unknown): Changed | undefined {
  if (body === undefined) return undefined;
  if (!isObject(body)) throw new BadRequest("{} | { payload }");
  return "payload" in body ? { payload: body.payload } : undefined;
}
