// Tries a filter on the last requests of a node, as one types it.

import { setTimeout as wait } from "node:timers/promises";
import { readSenderDelivery, RequestValues } from "../auth/request-values";
import type { WebhookConfig } from "../config/parse";
import { type Delivery, type FilterReason, finished, type StoredDelivery, unfinished } from "../deliveries/delivery";
import { findDelivery, listPage } from "../deliveries/lists";
import { compareByAge, type DeliveryList } from "../deliveries/queue";
import { lacksBody, redactStored, restoreBody } from "../deliveries/record";
import { startsFlow } from "../deliveries/states";
import type { DecodedBody } from "../request/decode";
import type { RequestHead } from "../request/head";
import { readJson } from "../request/json";
import { addPlaces } from "../request/places";
import { Problem } from "../request/problem";
import type { Endpoint } from "./endpoint";
import { filterRequest } from "./filter";
import { describeBody } from "./message";

/** How many deliveries are looked at, besides the filtered requests that are kept. */
const maxTried = 200;
/** In how many of the newest requests places are looked for. */
const maxShown = 20;

export interface DryRun {
  /** How many requests the filter was tried on. */
  readonly of: number;
  readonly passing: number;
  /** Those that would not start the flow, the newest first. */
  readonly not: readonly { readonly id: string; readonly why: FilterReason }[];
  /** Where the newest of them have values: places of conditions. */
  readonly places: readonly string[];
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Bodies are tried as they are shown: who may only read must not find secrets out by conditions, and conditions on fields
 * that are masked are not for this. Bodies are decoded
 * one after the other, with pauses, and one filter is tried at a time. Those that were not kept are left out.
 *
 * @throws {StoreError}
 */
export function tryFilter(...asked: Parameters<typeof tryNow>): Promise<DryRun> {
  const next = last.then(() => tryNow(...asked));
  last = next.catch(() => undefined);
  return next;
}

async function tryNow(
  endpoint: Endpoint,
  lists: readonly DeliveryList[],
  filter: Pick<WebhookConfig, "events" | "conditions">,
): Promise<DryRun> {
  const not: { id: string; why: FilterReason }[] = [];
  const places = new Set<string>();
  let of = 0;
  let begun = performance.now();
  for (const { id } of await listTried(lists, endpoint.node.id)) {
    // Half of the time is for others: a request takes several turns of the event loop.
    await wait(performance.now() - begun);
    const found = await findDelivery(lists, id);
    begun = performance.now();
    const read = found && (await readStored(endpoint, found.stored));
    if (!read) continue;
    of++;
    if (of <= maxShown) addPlaces(places, read.head, readJson(read.payload()));
    const result = filterRequest(filter, read, endpoint.authenticator.redactor);
    if ("why" in result) not.push({ id, why: result.why });
  }
  const { redactor } = endpoint.authenticator;
  const shown = [...places].filter((place) => !redactor.contains(place));
  return { of, passing: of - not.length, not, places: shown };
}

/** The newest first. */
async function listTried(lists: readonly DeliveryList[], node: string): Promise<Delivery[]> {
  const list = async (state: Delivery["state"]) => (await listPage(lists, { node, state, limit: maxTried })).deliveries;
  const started = await Promise.all([...unfinished, ...finished].filter(startsFlow).map(list));
  const newest = (deliveries: Delivery[]) => deliveries.sort((one, other) => compareByAge(other, one));
  return newest([...newest(started.flat()).slice(0, maxTried), ...(await list("filtered"))]);
}

/** @returns nothing where its body is not there, or cannot be read */
async function readStored(endpoint: Endpoint, stored: StoredDelivery) {
  if (lacksBody(stored)) return undefined;
  const shown = await redactStored(stored);
  const { method, search, headers } = shown.delivery.head;
  const rawHeaders = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return readTried(endpoint, { method, search, rawHeaders }, restoreBody(shown), stored.delivery.isPayload);
}

/** @returns nothing where its body cannot be read */
async function readTried(
  { sender, config, maxBodyBytes }: Endpoint,
  head: RequestHead,
  body: DecodedBody,
  isPayload?: boolean,
) {
  const content = await body.decode(maxBodyBytes);
  if (content instanceof Problem) return undefined;
  const events = sender ? readSenderDelivery(sender.row, new RequestValues(head, body)).events : [];
  return { events, head, ...describeBody(content, head, config, isPayload) };
}

/** Why the filter of a node stops a request; nothing where it does not, or its body cannot be read. */
export async function findWhy(
  endpoint: Endpoint,
  head: RequestHead,
  body: DecodedBody,
): Promise<FilterReason | undefined> {
  const read = await readTried(endpoint, head, body);
  const result = read && filterRequest(endpoint.config, read, endpoint.authenticator.redactor);
  return result && "why" in result ? result.why : undefined;
}
