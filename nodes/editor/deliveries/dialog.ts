// The dialog that asks before something is done with several deliveries, and shows how far it is.

import { create } from "../dom";
import { createButton, createList, createNote } from "./content";
import { numberText, text } from "./texts";

export interface Step {
  /** With how many it was done. */
  readonly done: number;
  /** Why it was not with others, and how many. */
  readonly failures: readonly (readonly [why: string, count: number])[];
  /** Whether nothing is left, or the rest would fail, too. */
  readonly isLast: boolean;
}

/** What is to be done, step by step. */
export interface Plan {
  /** Its texts in the message catalog, below `delivery`. */
  readonly texts: "several" | "removal";
  readonly total: number;
  /** What it is done with, below the question. */
  readonly about: readonly HTMLElement[];
  step(): Promise<Step>;
}

const buttons = { several: ["fa-repeat", "replay"], removal: ["fa-trash", "delete"] } as const;

/** Resolves when the dialog is closed: with how many it was done. */
export function runPlan(plan: Plan): Promise<number> {
  const { texts, total, about } = plan;
  const titleId = "webhook-delivery-dialog-title";
  const title = create("div", { id: titleId, role: "heading", "aria-level": 2 });
  const content = create("div");
  const offers = create("div", { class: "webhook-delivery-buttons" });
  const dialog = create("dialog", { class: "webhook-delivery-dialog", "aria-labelledby": titleId });
  const failures = new Map<string, number>();
  /** With how many it was done or has failed. */
  let tried = 0;
  let done = 0;
  let isRunning = false;
  let isStopped = false;

  const show = (heading: string, shown: readonly HTMLElement[], offered: readonly HTMLElement[]) => {
    title.textContent = heading;
    content.replaceChildren(...shown);
    offers.replaceChildren(...offered);
    offered[0]?.focus();
  };
  const offer = (icon: string, key: string, act: () => void) => {
    const button = createButton(icon, text(`delivery.${key}`));
    button.addEventListener("click", act);
    return button;
  };
  const close = () => dialog.close();
  const stop = () => (isStopped = true);

  const ask = () => {
    if (total === 0) return show(text(`delivery.${texts}.none`), about, [offer("fa-times", "close", close)]);
    const [icon, key] = buttons[texts];
    const offered = [offer("fa-times", "cancel", close), offer(icon, key, () => void run())];
    const question = texts === "removal" && total === 1 ? "one" : "ask";
    show(text(`delivery.${texts}.${question}`, { count: numberText(total) }), about, offered);
  };
  const run = async () => {
    const bar = create("progress", { max: total, "aria-label": text(`delivery.${texts}.progress`) });
    const count = create("span");
    const line = create("div", { class: "webhook-delivery-progress" }, bar, " ", count);
    show(text(`delivery.${texts}.progress`), [line], [offer("fa-stop", "several.stop", stop)]);
    isRunning = true;
    for (let isLast = false; !isLast && !isStopped;) {
      bar.value = tried;
      count.textContent = text("delivery.several.done", { done: numberText(tried), total: numberText(total) });
      const step = await plan.step();
      ({ isLast } = step);
      done += step.done;
      tried += step.done;
      for (const [why, number] of step.failures) {
        failures.set(why, (failures.get(why) ?? 0) + number);
        tried += number;
      }
    }
    isRunning = false;
    showResult();
  };
  const showResult = () => {
    const rows = Array.from(failures, ([why, count]) => [why, count > 0 ? numberText(count) : ""] as const);
    // There is nothing to be seen of what is gone.
    if (texts === "removal" && rows.length === 0 && done >= total) return close();
    const follow = texts === "several" && done > 0 ? [createNote(text("delivery.several.follow"))] : [];
    const failed = rows.length > 0 ? [createNote(text("delivery.several.failed")), createList(rows)] : [];
    const left = createCount(`${texts}.left`, total - tried);
    const heading = text(`delivery.${texts}.sum`, { count: numberText(done) });
    show(heading, [...follow, ...failed, ...left], [offer("fa-times", "close", close)]);
  };

  dialog.append(create("div", { "aria-live": "polite" }, title), content, offers);
  dialog.addEventListener("cancel", (event) => {
    // Escape stops a running replay and shows its result.
    if (isRunning) event.preventDefault();
    stop();
  });
  // The editor has shortcuts of its own.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);
  ask();
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      stop();
      dialog.remove();
      resolve(done);
    });
  });
}

export function createCount(key: "several.leftOut" | `${Plan["texts"]}.left`, count: number): HTMLElement[] {
  return count > 0 ? [createNote(text(`delivery.${key}`, { count: numberText(count) }))] : [];
}
