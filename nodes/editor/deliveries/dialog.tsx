// The dialog that asks before something is done with several deliveries, and shows how far it is.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, Definitions, Note } from "./parts";
import { Count, type Plan } from "./plans";
import { numberText, text } from "./texts";

const actions = { several: ["fa-repeat", "replay"], removal: ["fa-trash", "delete"] } as const;

interface Progress {
  readonly phase: "question" | "running" | "sum";
  readonly done: number;
  readonly failures: ReadonlyMap<string, number>;
}

/** @param end called when it is closed: with how many it was done */
export function PlanDialog({ plan, end }: { plan: Plan; end: (done: number) => void }) {
  const { texts, total, about } = plan;
  const dialog = useRef<HTMLDialogElement>(null);
  const isStopped = useRef(false);
  const [progress, setProgress] = useState<Progress>({ phase: "question", done: 0, failures: new Map() });
  const { phase, done, failures } = progress;
  /** With how many it was done or has failed. */
  const tried = [...failures.values()].reduce((sum, count) => sum + count, done);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayoutEffect(() => dialog.current?.querySelector("button")?.focus(), [phase]);

  const close = () => dialog.current?.close();
  const stop = () => (isStopped.current = true);
  const run = async () => {
    let now: Progress = { ...progress, phase: "running" };
    setProgress(now);
    for (let isLast = false; !isLast && !isStopped.current;) {
      const step = await plan.step();
      ({ isLast } = step);
      const failed = new Map(now.failures);
      for (const [why, count] of step.failures) failed.set(why, (failed.get(why) ?? 0) + count);
      now = { ...now, done: now.done + step.done, failures: failed };
      setProgress(now);
    }
    setProgress({ ...now, phase: "sum" });
    // There is nothing to be seen of what is gone.
    if (texts === "removal" && now.failures.size === 0 && now.done >= total) close();
  };

  const [icon, action] = actions[texts];
  const rows = Array.from(failures, ([why, count]) => [why, count > 0 ? numberText(count) : ""] as const);
  const question = total === 0 ? "none" : total === 1 ? "one" : "ask";
  const headings = {
    question: text(`delivery.${texts}.${question}`, { count: numberText(total) }),
    running: text(`delivery.${texts}.progress`),
    sum: text(`delivery.${texts}.sum`, { count: numberText(done) }),
  };
  return (
    <dialog
      ref={dialog}
      class="webhook-delivery-dialog"
      aria-labelledby="webhook-delivery-dialog-title"
      onCancel={(event) => {
        if (phase !== "running") return;
        // Escape stops what is running and shows its result.
        event.preventDefault();
        stop();
      }}
      onClose={() => {
        stop();
        end(done);
      }}
      // The editor has shortcuts of its own.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div aria-live="polite">
        <div id="webhook-delivery-dialog-title" role="heading" aria-level={2}>
          {headings[phase]}
        </div>
      </div>
      {phase === "question" && about}
      {phase === "running" && (
        <div class="webhook-delivery-progress">
          <progress max={total} value={tried} aria-label={headings.running} />{" "}
          <span>{text("delivery.several.done", { done: numberText(tried), total: numberText(total) })}</span>
        </div>
      )}
      {phase === "sum" && (
        <>
          {texts === "several" && done > 0 && <Note>{text("delivery.several.follow")}</Note>}
          {rows.length > 0 && <Note>{text("delivery.several.failed")}</Note>}
          {rows.length > 0 && <Definitions rows={rows} />}
          <Count of={`${texts}.left`} count={total - tried} />
        </>
      )}
      <div class="webhook-delivery-buttons" key={phase}>
        {phase === "running" ? (
          <Button icon="fa-stop" onClick={stop}>
            {text("delivery.several.stop")}
          </Button>
        ) : (
          <Button icon="fa-times" onClick={close}>
            {text(`delivery.${phase === "question" && total > 0 ? "cancel" : "close"}`)}
          </Button>
        )}
        {phase === "question" && total > 0 && (
          <Button icon={icon} onClick={() => void run()}>
            {text(`delivery.${action}`)}
          </Button>
        )}
      </div>
    </dialog>
  );
}
