// The deliveries of this Node-RED, for whoever looks at them in the editor.

import type { RequestHandler, Response } from "express";
import type { NodeAPI } from "node-red";
import { finished, type State, unfinished } from "../../src/deliveries/delivery";
import { type JoinedStores, UnknownPlace } from "../../src/deliveries/joined";
import { detailOf, summaryOf } from "../../src/deliveries/shown";
import type { Obstacle } from "../../src/deliveries/state";
import { type Query, StoreError } from "../../src/deliveries/store";
import type { Detail, Notice, SummaryPage } from "../../src/deliveries/summary";
import { Live } from "./live";
import type { Changed, Replays } from "./replays";
import { permissions } from "./permissions";
import { millisecondsKnown, type Minute, minutesOf, type Traffic } from "./traffic";

const states: readonly State[] = [...unfinished, ...finished];
export const usualLimit = 100;
export const mostOfPage = 500;
/** So many deliveries of each store are counted for the picture of what is filtered by more than a node. */
const mostCounted = 2000;
/** RFC 9110 §15.5.10: what is asked does not fit the state of what it is asked of. */
const conflict = 409;

/** What the admin API of deliveries is made of. */
export interface Means {
  readonly stores: JoinedStores;
  readonly replays: Replays;
  readonly traffic: Traffic;
}

/** What was asked cannot be understood. */
class BadRequest extends Error {}

export class ShownDeliveries {
  readonly #RED: NodeAPI;
  readonly #means: Means;
  readonly #live: Live;

  constructor(RED: NodeAPI, means: Means) {
    this.#RED = RED;
    this.#means = means;
    this.#live = new Live(RED, (id) => this.#notice(id));
    const { httpAdmin, auth } = RED;
    const [mayRead, mayWrite] = [auth.needsPermission(permissions.read), auth.needsPermission(permissions.write)];
    const root = "/webhook-trigger/deliveries";
    httpAdmin.get(
      root,
      mayRead,
      this.#answer(async ({ query }) => this.#page(queryOf(query))),
    );
    httpAdmin.get(
      `${root}/:id`,
      mayRead,
      this.#answer(async ({ params }) => this.#detail(params.id)),
    );
    httpAdmin.post(
      `${root}/:id/replay`,
      mayWrite,
      this.#answer(async ({ params, body }, response) => this.#replay(params.id, changedOf(body), response)),
    );
    httpAdmin.get("/webhook-trigger/traffic", mayRead, this.#answer(async ({ query }) => this.#traffic(queryOf(query)))); // prettier-ignore
  }

  /** A delivery has come or has changed. Stands in the way of every request. */
  seen(id: string): void {
    this.#live.seen(id);
  }

  async #notice(id: string): Promise<Notice | undefined> {
    const delivery = await this.#means.stores.look(id);
    if (!delivery) return undefined;
    const { words: _, ...notice } = summaryOf(delivery, this.#RED._);
    return notice;
  }

  async #page(query: Query): Promise<SummaryPage> {
    const { deliveries, next } = await this.#means.stores.page(query);
    return { deliveries: deliveries.map((delivery) => summaryOf(delivery, this.#RED._)), next: next ?? null };
  }

  async #detail(id: string): Promise<Detail | undefined> {
    const found = await this.#means.stores.find(id);
    return found && { ...detailOf(found.kept, this.#RED._), ...(await this.#means.replays.payloadToShow(found.kept)) };
  }

  async #replay(id: string, changed: Changed | undefined, response: Response): Promise<unknown> {
    const found = await this.#means.stores.find(id);
    if (!found) return undefined;
    const outcome: { id: string } | Obstacle = await this.#means.replays.replay(found.kept, found.shelf, changed);
    if (typeof outcome === "object") return outcome;
    response.status(conflict);
    return { code: outcome, message: this.#RED._(`replay.${outcome}`) };
  }

  async #traffic({ node, state, text }: Query): Promise<{ minutes: readonly Minute[] }> {
    if (state === undefined && text === undefined) return { minutes: this.#means.traffic.last(node) };
    const since = Date.now() - millisecondsKnown;
    return { minutes: minutesOf(await this.#means.stores.since(since, { node, state, text }, mostCounted)) };
  }

  #answer(
    act: (...asked: Parameters<RequestHandler<{ id: string }>>) => Promise<unknown>,
  ): RequestHandler<{ id: string }> {
    return (request, response, next) => {
      response.set("Cache-Control", "no-store");
      act(request, response, next)
        .then((told) => (told === undefined ? response.sendStatus(404) : response.json(told)))
        .catch((error: unknown) => this.#fail(error, response));
    };
  }

  #fail(error: unknown, response: Response): void {
    if (error instanceof BadRequest || error instanceof UnknownPlace) {
      response.status(400).json({ code: "badRequest", message: error.message });
    } else if (error instanceof StoreError) {
      response.status(503).json({ code: error.trouble, message: this.#RED._(`status.store.${error.trouble}`) });
    } else {
      this.#RED.log.error(error);
      response.status(500).json({ code: "unforeseen", message: this.#RED._("refused.unforeseen") });
    }
  }
}

function queryOf(query: Readonly<Record<string, unknown>>): Query {
  const [node, state, text, before, limit] = ["node", "state", "text", "before", "limit"].map((name) => textIn(query, name)); // prettier-ignore
  const known = states.find((each) => each === state);
  if (state !== undefined && known === undefined) throw new BadRequest(`state: ${states.join(", ")}`);
  const number = limit === undefined ? usualLimit : Number(limit);
  if (!Number.isInteger(number) || number < 1) throw new BadRequest(`limit: 1 - ${mostOfPage}`);
  return { node, state: known, text, before, limit: Math.min(number, mostOfPage) };
}

/** What is empty counts as missing. */
function textIn(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw new BadRequest(name);
  return value;
}

function changedOf(body: unknown): Changed | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new BadRequest("{} | { payload }");
  return "payload" in body ? { payload: body.payload } : undefined;
}
