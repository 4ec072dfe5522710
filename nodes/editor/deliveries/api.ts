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
import { isListOf, isNumber, isNumbers, isRecord, isText, readReply } from "./answer";
import { ApiError, host, isApiError } from "./host";
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

// All of them reject with an `ApiError`.

/** @param before the beginning of the page; missing: the newest */
export async function askForPage(filter: ListFilter, { before = "", limit = pageSize } = {}): Promise<SummaryPage> {
  const answer = await ask("deliveries", { ...filter, limit: String(limit), before });
  return readReply(answer, { deliveries: isListOf(summaryShape), next: isTextOrNull });
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

export async function askForDelivery(id: string): Promise<Detail> {
  const parts = { headers: isRecord, query: isRecord, body: isRecord, attempts: isListOf({ at: isNumber }) };
  return readReply(await ask(`deliveries/${encodeURIComponent(id)}`), { ...summaryShape, ...parts });
}

export interface Silences {
  readonly nodes: readonly Silence[];
  readonly callers: readonly (Silence & { readonly caller: string })[];
}

export async function askForSilent(): Promise<Silences> {
  const silent = { node: isText, hours: isNumber, since: isNumber };
  return readReply(await ask("silent"), { nodes: isListOf(silent), callers: isListOf({ ...silent, caller: isText }) });
}

export async function askForQueues(): Promise<readonly QueueSummary[]> {
  return readReply<{ queues: readonly QueueSummary[] }>(await ask("queues"), { queues: isListOf(queueShape) }).queues;
}

/** @param node empty: all */
export async function askForFailures(node: string): Promise<FailureGroups> {
  const groups = isListOf({ node: isText, error: isText, count: isNumber, last: isNumber });
  return readReply(await ask("failures", { node }), { groups, causes: isNumber, failures: isNumber });
}

/** @param node empty: all */
export async function askForTraffic(node: string): Promise<TrafficReport> {
  const shape = { accepted: isNumbers, refused: isNumbers, failed: isNumbers, waiting: isNumbers };
  return readReply(await ask("traffic", { node }), shape);
}

function ask(...asked: Parameters<typeof composePath>): Promise<unknown> {
  return host().call(composePath(...asked));
}

/** @param query without what is empty */
function composePath(path: string, query: Readonly<Record<string, string>> = {}): string {
  return path + formatQuery(query);
}

export async function control(node: string, action: "pause" | "resume"): Promise<void> {
  expectNothing(await host().call(`${encodeURIComponent(node)}/${action}`, "POST", {}));
}

/** @param changed an edited payload */
export async function replay(
  id: string,
  changed: { readonly payload?: unknown } = {},
): Promise<{ readonly id: string }> {
  return readReply(await host().call(`deliveries/${encodeURIComponent(id)}/replay`, "POST", changed), { id: isText });
}

/** Has the next attempt of one that is retried begin now, or none. */
export async function changeRetry(id: string, act: "retry" | "stop"): Promise<void> {
  expectNothing(await host().call(`deliveries/${encodeURIComponent(id)}/${act}`, "POST", {}));
}

/** What a sender sends, by its documentation; nothing for one that has no samples. */
export async function askForSamples(sender: string): Promise<readonly Sample[]> {
  if (sender === "") return [];
  const shape = { name: isText, method: isText, query: isText, body: isText };
  const answer = await host().call(`samples/${encodeURIComponent(sender)}`);
  return readReply<{ samples: readonly Sample[] }>(answer, { samples: isListOf(shape) }).samples;
}

/** Tries a filter on the last requests of a node. */
export async function tryFilter(node: string, filter: Pick<SavedFields, "events" | "conditions">): Promise<DryRun> {
  const answer = await host().call(`${encodeURIComponent(node)}/filter`, "POST", filter);
  const not = isListOf({ id: isText, why: isRecord });
  return readReply(answer, { of: isNumber, passing: isNumber, not, places: Array.isArray });
}

/** When the callers of a deployed node were last used, in ms since the epoch, or `null` for never: by their names. */
export type LastUsed = ReadonlyMap<string, number | null>;

export async function askForCallers(node: string): Promise<LastUsed> {
  const answer = await host().call(`${encodeURIComponent(node)}/callers`);
  const shape = { callers: isListOf({ name: isText }) };
  const { callers } = readReply<{ callers: readonly { name: string; lastUsedAt: number | null }[] }>(answer, shape);
  return new Map(callers.map(({ name, lastUsedAt }) => [name, lastUsedAt]));
}

/** Has a token made for each name. */
export async function makeCallers(names: readonly string[]): Promise<readonly NewCaller[]> {
  const answer = await host().call("callers", "POST", { names });
  const shape = { callers: isListOf({ name: isText, token: isText, digest: isText }) };
  return readReply<{ callers: readonly NewCaller[] }>(answer, shape).callers;
}

/** Replays a part of a group. @param after where the part before has ended; missing: the first part */
export async function replayGroup(
  { node, error, last }: FailureGroup,
  after: string | undefined,
): Promise<GroupReplay> {
  const answer = await host().call("failures/replay", "POST", { node, error, last, after });
  return readReply(answer, {
    replayed: isNumber,
    left: isListOf({ code: isText, count: isNumber }),
    next: isTextOrNull,
  });
}

export async function remove(id: string): Promise<void> {
  expectNothing(await host().call(`deliveries/${encodeURIComponent(id)}`, "DELETE"));
}

/** @returns how many were deleted */
export async function removeAll({ node, state }: Pick<ListFilter, "node" | "state">): Promise<number> {
  const answer = await host().call(composePath("deliveries", { node, state }), "DELETE");
  return readReply<{ deleted: number }>(answer, { deleted: isNumber }).deleted;
}

/** @throws {ApiError} */
function expectNothing(answer: unknown): void {
  if (answer !== undefined) throw new ApiError(200);
}

function getStatus(error: unknown): number {
  if (isApiError(error)) return error.status;
  throw error;
}

export function isForbidden(error: unknown): boolean {
  return [401, 403].includes(getStatus(error));
}

/** Why the list could not be fetched: a key under `tab.trouble` in the message catalog. */
export function classifyError(error: unknown): "forbidden" | "notKept" | "unreachable" | "inFront" | "failed" {
  const status = getStatus(error);
  if (status === 0) return "unreachable";
  if (status < 400) return "inFront";
  if (isForbidden(error)) return "forbidden";
  return status === 404 ? "notKept" : "failed";
}

/** Why a delivery could not be fetched, replayed, retried or deleted. */
export function failureText(error: unknown): string {
  const status = getStatus(error);
  if (status === 0) return text("testRequest.failed");
  if (status < 400) return text("tab.trouble.inFront");
  if (isForbidden(error)) return text("delivery.forbidden");
  if (status === 404) return text("delivery.gone");
  const { code } = error as ApiError;
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
