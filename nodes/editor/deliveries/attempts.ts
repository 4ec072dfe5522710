// Each start of the flow with a delivery.

import type { Attempt } from "../../../src/deliveries/state";
import type { Detail } from "../../../src/deliveries/summary";
import { describeError } from "../../../src/deliveries/wording";
import { momentText } from "./measures";
import { noteOf } from "./pieces";
import { durationText, text } from "./texts";

export function attemptList({ attempts, state }: Pick<Detail, "attempts" | "state">): JQuery {
  if (attempts.length === 0) return noteOf(text("delivery.noAttempts"));
  const list = $("<ol>", { class: "webhook-delivery-attempts" });
  for (const attempt of attempts) {
    // One that has no end was cut off, unless it is the one that goes on.
    const goesOn = state === "running" && attempt === attempts.at(-1);
    list.append(
      $("<li>").append(
        document.createTextNode(`${momentText(attempt.at)} · ${lengthOf(attempt, goesOn)}`),
        ...errorOf(attempt),
      ),
    );
  }
  return list;
}

function lengthOf({ at, ended }: Attempt, goesOn: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(goesOn ? "delivery.stillRunning" : "delivery.endUnknown");
}

function errorOf({ error }: Attempt): JQuery[] {
  if (error === undefined) return [];
  return [$("<div>", { class: "webhook-delivery-error" }).text(describeError(error, text))];
}
