// The admin API, as the tab uses it.

import type { Pause } from "../../../src/deliveries/delivery";
import type { Load } from "../../../src/deliveries/queue";
import {
  type Detail,
  type FailureGroup,
  type FailureGroups,
  type GroupReplay,
  type Obstacle,
  obstacles,
  type Summary,
  type SummaryPage,
} from "../../../src/deliveries/summary";
import type { SilentEvent } from "../../../src/flow/outcomes";
import { ApiFailure, host } from "./host";
import { text } from "./texts";

/** Empty: all. */
export interface ListFilter {
  readonly node: string;
  readonly state: Summary["state"] | "";
  readonly text: string;
  /** Of failures. */
  readonly error: string;
}

export const everything: ListFilter = { node: "", state: "", text: "", error: "" };

/** The queue of a node with guaranteed delivery. */
export interface QueueSummary extends Pick<Load, "queued" | "retrying"> {
  readonly node: string;
  readonly pause: Pause | null;
}

const pageSize = 500;

// All of them reject with an `ApiFailure`.

/** @param before the beginning of the page; missing: the newest */
export function askForPage(filter: ListFilter, before = ""): Promise<SummaryPage> {
  return ask("deliveries", { ...filter, limit: String(pageSize), before });
}

export function askForDelivery(id: string): Promise<Detail> {
  return ask(`deliveries/${encodeURIComponent(id)}`);
}

export async function askForSilent(): Promise<readonly SilentEvent[]> {
  return (await ask<{ nodes: readonly SilentEvent[] }>("silent")).nodes;
}

export async function askForQueues(): Promise<readonly QueueSummary[]> {
  return (await ask<{ queues: readonly QueueSummary[] }>("queues")).queues;
}

/** @param node empty: all */
export function askForFailures(node: string): Promise<FailureGroups> {
  return ask("failures", { node });
}

async function ask<Answer>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = given.length > 0 ? `?${String(new URLSearchParams(given))}` : "";
  return (await host().call(path + search)) as Answer;
}

export async function control(node: string, action: "pause" | "resume"): Promise<void> {
  await host().call(`${encodeURIComponent(node)}/${action}`, {});
}

/** @param changed an edited payload */
export async function replay(
  id: string,
  changed: { readonly payload?: unknown } = {},
): Promise<{ readonly id: string }> {
  return (await host().call(`deliveries/${encodeURIComponent(id)}/replay`, changed)) as { id: string };
}

/** Replays a part of a group. @param after where the part before has ended; missing: the first part */
export async function replayGroup(
  { node, error, last }: FailureGroup,
  after: string | undefined,
): Promise<GroupReplay> {
  return (await host().call("failures/replay", { node, error, last, after })) as GroupReplay;
}

function getStatus(error: unknown): number {
  if (error instanceof ApiFailure) return error.status;
  throw error;
}

export function isForbidden(error: unknown): boolean {
  return [401, 403].includes(getStatus(error));
}

/** Why the list could not be fetched: a key under `tab.trouble` in the message catalog. */
export function classifyTrouble(error: unknown): "forbidden" | "notKept" | "unreachable" | "failed" {
  const status = getStatus(error);
  if (status === 0) return "unreachable";
  if (isForbidden(error)) return "forbidden";
  return status === 404 ? "notKept" : "failed";
}

/** Why a delivery could not be fetched or replayed. */
export function failureText(error: unknown): string {
  const status = getStatus(error);
  if (status === 0) return text("testRequest.failed");
  if (isForbidden(error)) return text("delivery.forbidden");
  if (status === 404) return text("delivery.gone");
  const obstacle = status === 409 ? obstacles.find((each) => each === (error as ApiFailure).code) : undefined;
  return obstacle ? obstacleText(obstacle) : text("delivery.otherwise", { status: String(status) });
}

/** Why a delivery cannot be replayed. */
export function obstacleText(obstacle: Obstacle): string {
  return text("lastRequest.sentence", { sentence: text(`replay.${obstacle}`) });
}
