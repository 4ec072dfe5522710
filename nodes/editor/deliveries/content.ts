// The parts of a shown delivery.

import type { Attempt } from "../../../src/deliveries/delivery";
import { describeError, type Detail } from "../../../src/deliveries/summary";
import { type Editor, parseJson, prepareCopyButton } from "../host";
import { bytesText, durationText, momentText, text } from "./texts";

/** A key under `delivery.section` in the message catalog. */
type DetailSection = "headers" | "query" | "body" | "answer" | "attempts";

/** Open sections stay open with the next delivery. */
const open = new Set<DetailSection>(["body"]);

/** @param brief shown in its heading */
function createSection(name: DetailSection, brief: string, content: JQuery): JQuery {
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

/** @param icon of Font Awesome, decorative */
export function createIcon(icon: string): JQuery {
  return $("<i>", { class: `fa fa-fw ${icon}`, "aria-hidden": "true" });
}

export function createButton(icon: string, name: string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" });
  return button.append(createIcon(icon), " ", $("<span>").text(name));
}

export function createNote(said: string): JQuery {
  return $("<p>", { class: "webhook-delivery-note" }).text(said);
}

/** A definition list. */
export function createList(rows: readonly (readonly [name: string, value: string | JQuery])[]): JQuery {
  const list = $("<dl>", { class: "webhook-delivery-list" });
  for (const [name, value] of rows) {
    const given = typeof value === "string" ? document.createTextNode(value) : value;
    list.append($("<div>").append($("<dt>").text(name), $("<dd>").append(given)));
  }
  return list;
}

function createValuesSection(name: "headers" | "query", values: Detail[typeof name]): JQuery {
  const { length } = Object.keys(values);
  const table = createTable(text(`delivery.section.${name}`), values);
  return createSection(name, String(length), length > 0 ? table : createNote(text("delivery.none")));
}

/** Header fields or parameters, a row for each value. */
function createTable(caption: string, values: Readonly<Record<string, string | string[]>>): JQuery {
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

// Bodies: JSON as a tree, text, or bytes.

declare const RED: Editor;

/** As the debug sidebar; more bytes are for the copy button. */
const maxShownBytes = 1000;

function createBodySection(detail: Detail): JQuery {
  const type = detail.headers["content-type"];
  const size = bytesText(detail.size);
  return createSection("body", type === undefined ? size : `${size} · ${String(type)}`, createBody(detail));
}

function createBody({ body, size }: Pick<Detail, "body" | "size">): JQuery {
  const { data, truncated } = body;
  if (data === "") return createNote(text(size === 0 ? "delivery.bodyEmpty" : "delivery.bodyNotKept"));
  const isBinary = body.encoding === "base64";
  const above = $("<div>", { class: "webhook-delivery-above" });
  if (truncated) above.append(createNote(text("delivery.bodyTruncated")));
  const copy = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" }).appendTo(above);
  prepareCopyButton({ _: text }, copy, text(isBinary ? "delivery.bodyAsBase64" : "delivery.section.body"), () => data);
  const shown = isBinary ? createBytesView(data) : truncated ? undefined : createJsonView(data);
  return $("<div>").append(above, shown ?? createText(data));
}

/** Nothing where the text is no JSON object or array, or cannot be shown as one. */
function createJsonView(data: string): JQuery | undefined {
  const value = parseJson(data)?.value;
  return typeof value === "object" && value !== null && isPlain(data) ? createObjectView(value) : undefined;
}

function createBytesView(base64: string): JQuery {
  const bytes = Array.from(atob(base64), (character) => character.charCodeAt(0));
  const value = { type: "Buffer", data: bytes.slice(0, maxShownBytes) };
  return createObjectView(value, `buffer[${bytes.length}]`);
}

/** @param typeHint what it is called instead of its type */
function createObjectView(value: object, typeHint = ""): JQuery {
  const view = $("<div>", { class: "webhook-delivery-object red-ui-debug-msg" });
  view.append(RED.utils.createObjectElement(value, { path: "payload", rootPath: "payload", typeHint }));
  unfoldByKeyboard(view);
  view.find(handles).first().trigger("click");
  return view;
}

/**
 * Whether the editor's view shows JSON as it is: some members make it take an object for something else, or fail, and
 * numbers beyond 2^53 are rounded.
 */
function isPlain(json: string): boolean {
  let plain = true;
  JSON.parse(json, (key, value: unknown) => {
    if (key === "__enc__" || key === "hasOwnProperty" || (key === "type" && value === "Buffer")) plain = false;
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) plain = false;
    return value;
  });
  return plain;
}

/** The editor opens these by mouse only. */
const handles = ".red-ui-debug-msg-expandable";

function unfoldByKeyboard(view: JQuery): void {
  const prepare = () => {
    view.find("i").attr("aria-hidden", "true");
    for (const handle of view.find(handles)) {
      const isOpen = handle.parentElement?.classList.contains("collapsed") === false;
      // That of bytes has a control in it, and no control may be in another.
      if (handle.querySelector("a")) $(handle).removeAttr("role tabindex aria-expanded");
      else $(handle).attr({ role: "button", tabindex: "0", "aria-expanded": String(isOpen) });
    }
  };
  view.on("click", prepare);
  view.on("keydown", handles, (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    $(event.currentTarget).trigger("click");
  });
  prepare();
}

function createText(shown: string): JQuery {
  const pre = $("<pre>", { class: "webhook-delivery-text", tabindex: "0", role: "group", text: shown });
  return pre.attr("aria-label", text("delivery.section.body"));
}

function createAnswerSection({ answer }: Pick<Detail, "answer">): JQuery {
  if (!answer) return createSection("answer", text("delivery.none"), createNote(text("delivery.noAnswer")));
  const { status, milliseconds, body } = answer;
  const rows = [[text("label.replyStatus"), String(status)]] as [string, string][];
  if (milliseconds !== null) rows.push([text("delivery.took"), durationText(milliseconds)]);
  const view = $("<div>").append(createList(rows));
  if (body) view.append(createBody({ body: { encoding: "utf8", data: body, truncated: false }, size: body.length }));
  return createSection("answer", rows.map(([, value]) => value).join(" · "), view);
}

function createAttemptsSection({ attempts, state }: Pick<Detail, "attempts" | "state">): JQuery {
  const list = $("<ol>", { class: "webhook-delivery-attempts" });
  for (const attempt of attempts) {
    // One without an end was interrupted, unless it is the running one.
    const isRunning = state === "running" && attempt === attempts.at(-1);
    const entry = $("<li>", { text: `${momentText(attempt.at)} · ${formatLength(attempt, isRunning)}` });
    if (attempt.error !== undefined) {
      entry.append($("<div>", { class: "webhook-delivery-error", text: describeError(attempt.error, text) }));
    }
    list.append(entry);
  }
  const { length } = attempts;
  return createSection("attempts", String(length), length > 0 ? list : createNote(text("delivery.noAttempts")));
}

function formatLength({ at, ended }: Attempt, isRunning: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(isRunning ? "delivery.stillRunning" : "delivery.endUnknown");
}

/** Creates a part of a delivery, which is created anew when the value that it depends on has changed. */
export type DetailPart = readonly [dependsOn: (detail: Detail) => unknown, create: (detail: Detail) => JQuery];

export const sections: readonly DetailPart[] = [
  [({ headers }) => headers, ({ headers }) => createValuesSection("headers", headers)],
  [({ query }) => query, ({ query }) => createValuesSection("query", query)],
  [({ body, size, headers }) => [body, size, headers], createBodySection],
  [({ answer }) => answer, createAnswerSection],
  [({ attempts, state }) => [attempts, state], createAttemptsSection],
];
