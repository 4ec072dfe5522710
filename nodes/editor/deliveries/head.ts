// The head of a delivery: what came of it and why, from where it came, and to which node.

import type { Summary } from "../../../src/deliveries/summary";
import { fixOf, reasonOf } from "../../../src/deliveries/wording";
import { senders } from "../../../src/trust/senders/table";
import type { Editor } from "../host";
import { iconOf } from "./looks";
import { bytesText, momentText } from "./measures";
import { nameOf } from "./names";
import { listOf } from "./pieces";
import { attemptText, durationText, text } from "./texts";
import { isElsewhere, wholePathOf } from "./whole-path";

declare const RED: Editor;

export function headOf(summary: Summary): JQuery {
  const line = $("<div>", { class: "webhook-delivery-line" }).append(stateOf(summary), " ");
  line.append($("<time>", { datetime: new Date(summary.at).toISOString() }).text(momentText(summary.at)));
  return $("<div>", { class: "webhook-delivery-head" }).append(line, ...causeOf(summary), listOf(rowsOf(summary)));
}

/** Why it was refused or has failed, and what mends it. */
function causeOf({ cause, state, pause }: Summary): JQuery[] {
  if (cause === null) return [];
  const box = $("<div>", { class: "webhook-delivery-cause", role: "group", "aria-label": text("delivery.cause") });
  return [box.append($("<p>").text(reasonOf(cause, text)), $("<p>").text(fixOf({ cause, state, pause }, text)))];
}

function stateOf({ state }: Summary): JQuery {
  const icon = $("<i>", { class: iconOf(state), "aria-hidden": "true" });
  return $("<b>", { "data-state": state }).append(icon, " ", $("<span>").text(text(`tab.state.${state}`)));
}

/** By the key of its name under `delivery` in the message catalog. */
type Row =
  | keyof Pick<Summary, "node" | "ip" | "sender" | "event" | "senderId" | "id" | "size" | "attempt" | "replayOf">
  | "meant"
  | "request"
  | "took";

function rowsOf(summary: Summary): [name: string, value: string | JQuery][] {
  const { node, method, ip, sender, event, senderId, id, size, milliseconds, attempt, replayOf } = summary;
  const rows: [name: Row, value: string | JQuery | null][] = [
    [isElsewhere(summary) && node !== null ? "meant" : "node", node === null ? text("delivery.noNode") : nodeOf(node)],
    ["request", `${method} ${wholePathOf(summary)}`],
    ["ip", ip],
    ["sender", sender && senders[sender].name],
    ["event", event],
    ["senderId", senderId],
    ["id", id],
    ["size", bytesText(size)],
    ["took", milliseconds === null ? null : durationText(milliseconds)],
    ["attempt", attemptText(summary) ?? (attempt > 1 ? String(attempt) : null)],
    ["replayOf", replayOf],
  ];
  return rows.flatMap(([key, value]) => (value === null || value === "" ? [] : [[text(`delivery.${key}`), value]]));
}

/** A button that shows the node; its id where it is not there any more. */
function nodeOf(id: string): string | JQuery {
  const name = nameOf(id);
  if (!RED.nodes.node(id)) return text("delivery.deletedNode", { id });
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" }).text(name);
  return button.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(id));
}
