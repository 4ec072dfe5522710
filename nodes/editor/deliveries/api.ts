// The admin API, as the tab uses it.

import { type Detail, obstacles, type Summary, type SummaryPage } from "../../../src/deliveries/summary";
import { text } from "./texts";

/** Empty: all. */
export interface Filter {
  readonly node: string;
  readonly state: Summary["state"] | "";
  readonly text: string;
}

export const everything: Filter = { node: "", state: "", text: "" };

/** A node with an inactivity alert. */
export interface Silence {
  readonly node: string;
  /** The longest expected time between two requests. */
  readonly hours: number;
  /** When the last request was accepted, or the node was started, in ms since the epoch. */
  readonly since: number;
}

/** The queue of a node with guaranteed delivery. */
export interface QueueSummary {
  readonly node: string;
  readonly pause: "manual" | "breaker" | null;
  readonly queued: number;
  readonly retrying: number;
}

/** A key under `tab.trouble` in the message catalog. */
export type FetchTrouble = "forbidden" | "notKept" | "unreachable" | "failed";

const pageSize = 500;

/** @param before the beginning of the page; missing: the newest */
export function askForPage(filter: Filter, before?: string): Promise<SummaryPage> {
  return ask("deliveries", { ...filter, limit: String(pageSize), ...(before === undefined ? {} : { before }) });
}

/** Rejects with the `jqXHR`: `failureText` says why. */
export async function askForDelivery(id: string): Promise<Detail> {
  return ask(`deliveries/${encodeURIComponent(id)}`, {});
}

export async function askForSilent(): Promise<readonly Silence[]> {
  return (await ask<{ nodes: readonly Silence[] }>("silent", {})).nodes;
}

export async function askForQueues(): Promise<readonly QueueSummary[]> {
  return (await ask<{ queues: readonly QueueSummary[] }>("queues", {})).queues;
}

/** @throws an error for `toFetchTrouble` */
export async function control(node: string, action: "pause" | "resume"): Promise<void> {
  await $.post(`webhook-trigger/${encodeURIComponent(node)}/${action}`);
}

/** @throws an error for `toFetchTrouble` */
async function ask<Answer>(what: string, values: Readonly<Record<string, string>>): Promise<Answer> {
  const query = Object.entries(values).filter(([, value]) => value !== "");
  return (await $.getJSON(`webhook-trigger/${what}`, Object.fromEntries(query))) as Answer;
}

export function toFetchTrouble(error: unknown): FetchTrouble {
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  if (status === 0) return "unreachable";
  if (status === 401 || status === 403) return "forbidden";
  return status === 404 ? "notKept" : "failed";
}

export interface Failure {
  readonly status: number;
  /** A key under `replay` in the message catalog. */
  readonly code?: unknown;
}

type Replayed = { readonly id: string } | Failure;

/** @param changed an edited payload */
export function replay(id: string, changed: { readonly payload?: unknown } = {}): Promise<Replayed> {
  return new Promise((resolve) => {
    void $.ajax({
      type: "POST",
      url: `webhook-trigger/deliveries/${encodeURIComponent(id)}/replay`,
      contentType: "application/json",
      data: JSON.stringify(changed),
      success: (replayed: { id: string }) => resolve(replayed),
      error: ({ status, responseJSON }) => resolve({ status, code: codeIn(responseJSON) }),
    });
  });
}

function codeIn(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "code" in answer ? answer.code : undefined;
}

/** Whether the next request would fail, too. */
export function isHopeless({ status }: Failure): boolean {
  return [0, 401, 403].includes(status);
}

export function failureText({ status, code }: Failure): string {
  if (status === 0) return text("trial.failed");
  if (status === 401 || status === 403) return text("delivery.forbidden");
  if (status === 404) return text("delivery.gone");
  const obstacle = status === 409 ? obstacles.find((each) => each === code) : undefined;
  if (obstacle) return text("standing.sentence", { sentence: text(`replay.${obstacle}`) });
  return text("delivery.otherwise", { status: String(status) });
}
