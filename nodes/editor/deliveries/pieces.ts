// The pieces that the view of a delivery is made of.

import { prepareCopyButton } from "../copy";
import { text } from "./texts";

/** What can be folded, by the key of its name under `delivery.section` in the message catalog. */
export type Section = "headers" | "query" | "body" | "answer" | "attempts";

/** What the user has open stays open with the next delivery. */
const open = new Set<Section>(["body"]);

/** @param brief what its heading says of it while it is closed */
export function sectionOf(name: Section, brief: string, content: JQuery): JQuery {
  const heading = $("<summary>").append(
    $("<span>").text(text(`delivery.section.${name}`)),
    " ",
    $("<span>", { class: "webhook-delivery-brief" }).text(brief),
  );
  const details = $("<details>", { class: "webhook-delivery-section", "data-section": name });
  details.prop("open", open.has(name)).append(heading, content);
  return details.on("toggle", () => {
    if (details.prop("open") === true) open.add(name);
    else open.delete(name);
  });
}

/** @param icon one of Font Awesome's, which says nothing by itself */
export function glyphOf(icon: string): JQuery {
  return $("<i>", { class: `fa fa-fw ${icon}`, "aria-hidden": "true" });
}

export function buttonOf(icon: string, name: string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" });
  return button.append(glyphOf(icon), " ", $("<span>").text(name));
}

/** @param name what it copies */
export function copyButton(name: string, copied: () => string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" });
  button.append(glyphOf("fa-copy"));
  prepareCopyButton({ _: text }, button, name, copied);
  return button;
}

export function noteOf(said: string): JQuery {
  return $("<p>", { class: "webhook-delivery-note" }).text(said);
}

/** Names and what they have, the one beside the other. */
export function listOf(rows: readonly (readonly [name: string, value: string | JQuery])[]): JQuery {
  const list = $("<dl>", { class: "webhook-delivery-list" });
  for (const [name, value] of rows)
    list.append($("<div>").append($("<dt>").text(name), $("<dd>").append(given(value))));
  return list;
}

/** A text is no markup. */
function given(value: string | JQuery): JQuery | Text {
  return typeof value === "string" ? document.createTextNode(value) : value;
}

/** A table of header fields or parameters, a row for each value. */
export function tableOf(caption: string, values: Readonly<Record<string, string | string[]>>): JQuery {
  const head = $("<tr>");
  for (const key of ["name", "value"] as const) head.append($("<th>", { scope: "col" }).text(text(`delivery.${key}`)));
  const body = $("<tbody>");
  for (const [name, value] of Object.entries(values)) {
    for (const each of [value].flat()) {
      body.append($("<tr>").append($("<th>", { scope: "row" }).text(name), $("<td>").text(each)));
    }
  }
  const table = $("<table>", { class: "webhook-delivery-table", "aria-label": caption });
  return table.append($("<thead>").append(head), body);
}
