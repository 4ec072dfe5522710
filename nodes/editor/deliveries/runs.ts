// Each start of the flow with a delivery.

import { interrupted, type Run } from "../../../src/deliveries/state";
import type { Detail } from "../../../src/deliveries/summary";
import { momentText } from "./measures";
import { noteOf } from "./pieces";
import { durationText, text } from "./texts";

export function runsOf({ runs, state }: Pick<Detail, "runs" | "state">): JQuery {
  if (runs.length === 0) return noteOf(text("delivery.noRuns"));
  const list = $("<ol>", { class: "webhook-delivery-runs" });
  for (const run of runs) {
    // One that has no end was cut off, unless it is the one that goes on.
    const goesOn = state === "running" && run === runs.at(-1);
    list.append(
      $("<li>").append(document.createTextNode(`${momentText(run.at)} · ${lengthOf(run, goesOn)}`), ...errorOf(run)),
    );
  }
  return list;
}

function lengthOf({ at, ended }: Run, goesOn: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(goesOn ? "delivery.stillRunning" : "delivery.endUnknown");
}

function errorOf({ error }: Run): JQuery[] {
  if (error === undefined) return [];
  const said = error === interrupted ? text("store.interrupted") : error;
  return [$("<div>", { class: "webhook-delivery-error" }).text(said)];
}
