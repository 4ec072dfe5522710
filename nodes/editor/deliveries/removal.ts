// Deletes deliveries: one, those that have failed with one cause, or all of a node or a state.

import type { Summary } from "../../../src/admin/summary";
import type { FailureGroup } from "../../../src/deliveries/failures";
import { classifyError, everything, failureText, listAll, type ListFilter, remove, removeAll } from "./api";
import { createList, createNote } from "./content";
import { type Plan, runPlan, type Step } from "./dialog";
import { host } from "./host";
import { getNodeName, text } from "./texts";

/** So many are counted before the question. */
const maxCounted = 10_000;

/** Whether all that a filter shows can be deleted at once. */
export function isRemovable({ node, state, text: searched, error }: ListFilter): boolean {
  return node + state !== "" && state !== "running" && searched + error === "" && host().mayWrite();
}

/** @returns how many were deleted */
export function removeOne(delivery: Summary): Promise<number> {
  return ask(() => Promise.resolve(planSingly([delivery], [])));
}

/** @param cause the error of the group, in words @returns how many were deleted */
export function removeGroup({ node, error, last }: FailureGroup, cause: string): Promise<number> {
  return ask(async () => {
    const failed = await listAll({ ...everything, node, error, state: "failed" }, { until: last });
    return planSingly(failed, [createNote(text("failures.only", { error: cause }))]);
  });
}

/** @returns how many were deleted */
export function removeFiltered(filter: ListFilter): Promise<number> {
  return ask(async () => {
    const found = await listAll(filter, { max: maxCounted });
    const { node, state } = filter;
    const names = { node: node && getNodeName(node), state: state && text(`tab.state.${state}`) };
    const rows = Object.entries(names).filter(([, name]) => name !== "");
    const notes = [createList(rows.map(([key, name]) => [text(`tab.filter.${key}`), name]))];
    if (found.length >= maxCounted) notes.push(createNote(text("delivery.removal.more")));
    if (found.some((each) => each.state === "running")) notes.push(createNote(text("delivery.removal.running")));
    const total = found.filter((each) => each.state !== "running").length;
    return { texts: "removal", total, about: [...notes, ...describeWaiting(found)], step: () => removeAtOnce(filter) };
  });
}

let isBusy = false;

/** Counts, asks and deletes; a second click counts nothing. */
async function ask(makePlan: () => Promise<Plan>): Promise<number> {
  if (isBusy) return 0;
  isBusy = true;
  try {
    return await runPlan(await makePlan());
  } catch (error) {
    host().reportError(text(`tab.trouble.${classifyError(error)}`));
    return 0;
  } finally {
    isBusy = false;
  }
}

function planSingly(deliveries: readonly Summary[], about: readonly HTMLElement[]): Plan {
  const ids = deliveries.map(({ id }) => id);
  const step = () => removeNext(ids);
  return { texts: "removal", total: ids.length, about: [...about, ...describeWaiting(deliveries)], step };
}

async function removeNext(ids: string[]): Promise<Step> {
  const isLast = ids.length < 2;
  try {
    await remove(ids.shift() ?? "");
    return { done: 1, failures: [], isLast };
  } catch (error) {
    // The others would fail, too.
    const isOver = ["forbidden", "unreachable", "inFront"].includes(classifyError(error));
    return { done: 0, failures: [[failureText(error), 1]], isLast: isLast || isOver };
  }
}

async function removeAtOnce(filter: ListFilter): Promise<Step> {
  try {
    return { done: await removeAll(filter), failures: [], isLast: true };
  } catch (error) {
    return { done: 0, failures: [[failureText(error), 0]], isLast: true };
  }
}

/** What users may not expect: some would have started their flow. */
function describeWaiting(deliveries: readonly Summary[]): HTMLElement[] {
  const isWaiting = deliveries.some(({ state }) => state === "queued" || state === "retrying");
  return isWaiting ? [createNote(text("delivery.removal.waiting"))] : [];
}
