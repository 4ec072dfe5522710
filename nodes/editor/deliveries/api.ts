// The admin API, as the tab uses it.

import type { Pause } from "../../../src/deliveries/delivery";
import type { Load } from "../../../src/deliveries/queue";
import {
  type Detail,
  formatSentence,
  type GroupReplay,
  type Summary,
  type SummaryPage,
} from "../../../src/admin/summary";
import type { FailureGroup, FailureGroups } from "../../../src/deliveries/failures";
import { type ReplayReason, replayReasons } from "../../../src/deliveries/states";
import type { NewCaller } from "../../../src/admin/callers";
import type { SavedFields } from "../../../src/config/fields";
import type { Sample } from "../../../src/admin/samples";
import type { DryRun } from "../../../src/flow/dry-run";
import type { Silence } from "../../../src/flow/outcomes";
import { formatQuery, type ListFilter } from "../../../src/admin/place";
import type { TrafficReport } from "../../../src/admin/traffic";
import { isListOf, isNumber, isNumbers, isRecord, isText, readReply, type Shape } from "./answer";
import { ApiError, type DeliveriesHost, host, isApiError } from "./host";
import { text } from "./texts";

export const everything: ListFilter = { node: "", state: "", text: "", error: "" };

/** The queue of a node with guaranteed delivery. */
export interface QueueSummary extends Pick<Load, "queued" | "retrying"> {
  readonly node: string;
  readonly pause: Pause | null;
}

const pageSize = 500;

const isTextOrNull = (value: unknown) => value === null || isText(value);
const summaryShape = { id: isText, at: isNumber, state: isText, method: isText, path: isText };
const queueShape = { node: isText, queued: isNumber, retrying: isNumber };

type Call = Parameters<DeliveriesHost["call"]>;

/** @throws {ApiError} also where the answer has another shape */
export async function ask<Answer extends object>(shape: Shape<Answer>, ...call: Call): Promise<Answer> {
  return readReply(await host().call(...call), shape);
}

/** Has something done whose answer is empty. @throws {ApiError} */
async function tell(...call: Call): Promise<void> {
  if ((await host().call(...call)) !== undefined) throw new ApiError(200);
}

// All of them reject with an `ApiError`.

/** @param before the beginning of the page; missing: the newest */
export function askForPage(filter: ListFilter, { before = "", limit = pageSize } = {}): Promise<SummaryPage> {
  const query = formatQuery({ ...filter, limit: String(limit), before });
  return ask({ deliveries: isListOf(summaryShape), next: isTextOrNull }, `deliveries${query}`);
}

/** All pages, up to a number of deliveries. */
export async function listAll(
  filter: ListFilter,
  { since = -Infinity, until = Infinity, max = Infinity } = {},
): Promise<Summary[]> {
  const found: Summary[] = [];
  for (let before: string | null = ""; before !== null && found.length < max;) {
    const { deliveries, next }: SummaryPage = await askForPage(filter, { before });
    found.push(...deliveries.filter(({ at }) => at >= since && at <= until));
    const oldest = deliveries.at(-1);
    before = oldest && oldest.at >= since ? next : null;
  }
  return found;
}

export function askForDelivery(id: string): Promise<Detail> {
  const parts = { headers: isRecord, query: isRecord, body: isRecord, attempts: isListOf({ at: isNumber }) };
  return ask({ ...summaryShape, ...parts }, `deliveries/${encodeURIComponent(id)}`);
}

export interface Silences {
  readonly nodes: readonly Silence[];
  readonly callers: readonly (Silence & { readonly caller: string })[];
}

export function askForSilent(): Promise<Silences> {
  const silent = { node: isText, hours: isNumber, since: isNumber };
  return ask({ nodes: isListOf(silent), callers: isListOf({ ...silent, caller: isText }) }, "silent");
}

export async function askForQueues(): Promise<readonly QueueSummary[]> {
  return (await ask<{ queues: readonly QueueSummary[] }>({ queues: isListOf(queueShape) }, "queues")).queues;
}

/** @param node empty: all */
export function askForFailures(node: string): Promise<FailureGroups> {
  const groups = isListOf({ node: isText, error: isText, count: isNumber, last: isNumber });
  return ask({ groups, causes: isNumber, failures: isNumber }, `failures${formatQuery({ node })}`);
}

/** @param node empty: all */
export function askForTraffic(node: string): Promise<TrafficReport> {
  const shape = { accepted: isNumbers, refused: isNumbers, failed: isNumbers, waiting: isNumbers };
  return ask(shape, `traffic${formatQuery({ node })}`);
}

export function control(node: string, action: "pause" | "resume"): Promise<void> {
  return tell(`${encodeURIComponent(node)}/${action}`, "POST", {});
}

/** @param changed an edited payload */
export function replay(id: string, changed: { readonly payload?: unknown } = {}): Promise<{ readonly id: string }> {
  return ask({ id: isText }, `deliveries/${encodeURIComponent(id)}/replay`, "POST", changed);
}

/** Has the next attempt of one that is retried begin now, or none. */
export function changeRetry(id: string, act: "retry" | "stop"): Promise<void> {
  return tell(`deliveries/${encodeURIComponent(id)}/${act}`, "POST", {});
}

/** What a sender sends, by its documentation; nothing for one that has no samples. */
export async function askForSamples(sender: string): Promise<readonly Sample[]> {
  if (sender === "") return [];
  const shape = { samples: isListOf({ name: isText, method: isText, query: isText, body: isText }) };
  return (await ask<{ samples: readonly Sample[] }>(shape, `samples/${encodeURIComponent(sender)}`)).samples;
}

/** Tries a filter on the last requests of a node. */
export function tryFilter(node: string, filter: Pick<SavedFields, "events" | "conditions">): Promise<DryRun> {
  const not = isListOf({ id: isText, why: isRecord });
  const shape = { of: isNumber, passing: isNumber, not, places: Array.isArray };
  return ask(shape, `${encodeURIComponent(node)}/filter`, "POST", filter);
}

/** When the callers of a deployed node were last used, in ms since the epoch, or `null` for never: by their names. */
export type LastUsed = ReadonlyMap<string, number | null>;

export async function askForCallers(node: string): Promise<LastUsed> {
  const shape = { callers: isListOf({ name: isText }) };
  const { callers } = await ask<{ callers: readonly { name: string; lastUsedAt: number | null }[] }>(
    shape,
    `${encodeURIComponent(node)}/callers`,
  );
  return new Map(callers.map(({ name, lastUsedAt }) => [name, lastUsedAt]));
}

/** Has a token made for each name. */
export async function makeCallers(names: readonly string[]): Promise<readonly NewCaller[]> {
  const shape = { callers: isListOf({ name: isText, token: isText, digest: isText }) };
  return (await ask<{ callers: readonly NewCaller[] }>(shape, "callers", "POST", { names })).callers;
}

/** Replays a part of a group. @param after where the part before has ended; missing: the first part */
export function replayGroup({ node, error, last }: FailureGroup, after: string | undefined): Promise<GroupReplay> {
  const shape = { replayed: isNumber, left: isListOf({ code: isText, count: isNumber }), next: isTextOrNull };
  return ask(shape, "failures/replay", "POST", { node, error, last, after });
}

export function remove(id: string): Promise<void> {
  return tell(`deliveries/${encodeURIComponent(id)}`, "DELETE");
}

/** @returns how many were deleted */
export async function removeAll({ node, state }: Pick<ListFilter, "node" | "state">): Promise<number> {
  const path = `deliveries${formatQuery({ node, state })}`;
  return (await ask<{ deleted: number }>({ deleted: isNumber }, path, "DELETE")).deleted;
}

// How a call has failed.

/** A key under `tab.trouble` in the message catalog. */
export type Trouble = "forbidden" | "notKept" | "unreachable" | "inFront" | "failed";

/** Why the list could not be fetched. */
export function classifyError(error: unknown): Trouble {
  if (!isApiError(error)) throw error;
  const { status } = error;
  if (status === 0) return "unreachable";
  if (status < 400) return "inFront";
  if (status === 401 || status === 403) return "forbidden";
  return status === 404 ? "notKept" : "failed";
}

export function isForbidden(error: unknown): boolean {
  return classifyError(error) === "forbidden";
}

/** @param keys of texts that say it better than those of the list */
export function troubleText(error: unknown, keys: Partial<Record<Trouble, string>> = {}): string {
  const trouble = classifyError(error);
  return text(keys[trouble] ?? `tab.trouble.${trouble}`);
}

/** Why a delivery could not be fetched, replayed, retried or deleted. */
export function failureText(error: unknown): string {
  if (classifyError(error) !== "failed") {
    const keys = { unreachable: "testRequest.failed", forbidden: "delivery.forbidden", notKept: "delivery.gone" };
    return troubleText(error, keys);
  }
  const { status, code } = error as ApiError;
  if (status === 409 && code === "running") return sentence("deletion.running");
  if (status === 409 && code === "notRetrying") return sentence("retry.notRetrying");
  const obstacle = status === 409 ? replayReasons.find((each) => each === code) : undefined;
  return obstacle ? replayReasonText(obstacle) : text("delivery.otherwise", { status: String(status) });
}

/** Why a delivery cannot be replayed. */
export function replayReasonText(obstacle: ReplayReason): string {
  return sentence(`replay.${obstacle}`);
}

function sentence(key: string): string {
  return formatSentence(text(key), text);
}
