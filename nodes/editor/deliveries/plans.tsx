// What is done with several deliveries after a question, step by step: replays and deletions.

import type { ComponentChildren } from "preact";
import type { ListFilter } from "../../../src/admin/place";
import type { Summary } from "../../../src/admin/summary";
import type { FailureGroup } from "../../../src/deliveries/failures";
import { isReplayable } from "../../../src/deliveries/states";
import {
  classifyError,
  everything,
  failureText,
  listAll,
  remove,
  removeAll,
  replay,
  replayGroup,
  replayReasonText,
} from "./api";
import { host } from "./host";
import { type DefinitionRow, Definitions, Note } from "./parts";
import { getNodeName, numberText, text } from "./texts";

export interface Step {
  /** With how many it was done. */
  readonly done: number;
  /** Why it was not with others, and how many. */
  readonly failures: readonly (readonly [why: string, count: number])[];
  /** Whether nothing is left, or the rest would fail, too. */
  readonly isLast: boolean;
}

export interface Plan {
  /** Its texts in the message catalog, below `delivery`. */
  readonly texts: "several" | "removal";
  readonly total: number;
  /** What it is done with, below the question. */
  readonly about: ComponentChildren;
  readonly step: () => Promise<Step>;
}

/** One after the other. */
function stepThrough(deliveries: readonly Summary[], act: (id: string) => Promise<unknown>): Plan["step"] {
  const ids = deliveries.map(({ id }) => id);
  return async () => {
    const isLast = ids.length < 2;
    try {
      await act(ids.shift() ?? "");
      return { done: 1, failures: [], isLast };
    } catch (error) {
      // The others would fail, too.
      const isOver = ["forbidden", "unreachable", "inFront"].includes(classifyError(error));
      return { done: 0, failures: [[failureText(error), 1]], isLast: isLast || isOver };
    }
  };
}

/** A step whose failure ends all. */
function stepOrEnd(step: Plan["step"]): Plan["step"] {
  return () => step().catch((error: unknown): Step => ({ done: 0, failures: [[failureText(error), 0]], isLast: true }));
}

/** The oldest first, so that the flows start in this order. */
export function planReplay(deliveries: readonly Summary[]): Plan {
  const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
  const nodes = new Map<string, number>();
  for (const { node } of chosen) if (node !== null) nodes.set(node, (nodes.get(node) ?? 0) + 1);
  const about = (
    <>
      <StartedNodes counts={nodes} />
      <Count of="several.leftOut" count={deliveries.length - chosen.length} />
    </>
  );
  return { texts: "several", total: chosen.length, about, step: stepThrough(chosen, replay) };
}

/** Replays the failed deliveries of a group, of which the page may have loaded none. @param cause its error in words */
export function planGroupReplay(group: FailureGroup, cause: string): Plan {
  let after: string | undefined;
  const step = stepOrEnd(async () => {
    const { replayed, left, next } = await replayGroup(group, after);
    after = next ?? undefined;
    const failures = left.map(({ code, count }) => [replayReasonText(code), count] as const);
    return { done: replayed, failures, isLast: next === null };
  });
  const about = (
    <>
      <Note>{text("failures.cause", { error: cause })}</Note>
      <StartedNodes counts={new Map([[group.node, group.count]])} />
    </>
  );
  return { texts: "several", total: group.count, about, step };
}

/** The nodes, with counts where there are several. */
function StartedNodes({ counts }: { counts: ReadonlyMap<string, number> }) {
  const rows = Array.from(counts, ([node, count]) => [getNodeName(node), numberText(count)] as const);
  const [only, ...others] = rows;
  if (!only) return null;
  if (others.length === 0) return <Note>{text("delivery.several.toNode", { name: only[0] })}</Note>;
  return (
    <>
      <Note>{text("delivery.several.toNodes", { count: numberText(rows.length) })}</Note>
      <Definitions rows={rows} />
    </>
  );
}

export function Count({ of, count }: { of: "several.leftOut" | `${Plan["texts"]}.left`; count: number }) {
  return count > 0 ? <Note>{text(`delivery.${of}`, { count: numberText(count) })}</Note> : null;
}

/** So many are counted before the question. */
const maxCounted = 10_000;

/** Whether all that a filter shows can be deleted at once. */
export function isRemovable({ node, state, text: searched, error }: ListFilter): boolean {
  return node + state !== "" && state !== "running" && searched + error === "" && host().mayWrite();
}

export function planRemoval(deliveries: readonly Summary[], about: ComponentChildren): Plan {
  const all = (
    <>
      {about}
      <WaitingNote deliveries={deliveries} />
    </>
  );
  return { texts: "removal", total: deliveries.length, about: all, step: stepThrough(deliveries, remove) };
}

/** @param cause the error of the group, in words */
export async function planGroupRemoval({ node, error, last }: FailureGroup, cause: string): Promise<Plan> {
  const failed = await listAll({ ...everything, node, error, state: "failed" }, { until: last });
  return planRemoval(failed, <Note>{text("failures.cause", { error: cause })}</Note>);
}

export async function planFilteredRemoval(filter: ListFilter): Promise<Plan> {
  const found = await listAll(filter, { max: maxCounted });
  const removable = found.filter(({ state }) => state !== "running");
  const { node, state } = filter;
  const rows: DefinitionRow[] = [];
  if (node) rows.push([text("tab.filter.node"), getNodeName(node)]);
  if (state) rows.push([text("tab.filter.state"), text(`tab.state.${state}`)]);
  const about = (
    <>
      <Definitions rows={rows} />
      {found.length >= maxCounted && <Note>{text("delivery.removal.more")}</Note>}
      {removable.length < found.length && <Note>{text("delivery.removal.running")}</Note>}
      <WaitingNote deliveries={found} />
    </>
  );
  const step = stepOrEnd(async () => ({ done: await removeAll(filter), failures: [], isLast: true }));
  return { texts: "removal", total: removable.length, about, step };
}

/** What users may not expect: some would have started their flow. */
function WaitingNote({ deliveries }: { deliveries: readonly Summary[] }) {
  const isWaiting = deliveries.some(({ state }) => state === "queued" || state === "retrying");
  return isWaiting ? <Note>{text("delivery.removal.waiting")}</Note> : null;
}
