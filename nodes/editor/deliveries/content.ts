// The parts of a shown delivery.

import type { Attempt } from "../../../src/deliveries/delivery";
import { describeError, type Detail } from "../../../src/admin/summary";
import { tryParseJson } from "../../../src/config/values";
import { create } from "../dom";
import { host } from "./host";
import { bytesText, durationText, momentText, text } from "./texts";

/** A key under `delivery.section` in the message catalog. */
type DetailSection = "headers" | "query" | "body" | "answer" | "attempts";

/** Open sections stay open with the next delivery. */
const open = new Set<DetailSection>(["body"]);

/** @param brief shown in its heading */
function createSection(name: DetailSection, brief: string, content: HTMLElement): HTMLElement {
  const heading = create(
    "summary",
    {},
    create("span", {}, text(`delivery.section.${name}`)),
    " ",
    create("span", { class: "webhook-delivery-brief" }, brief),
  );
  const attributes = { class: "webhook-delivery-section", "data-section": name, open: open.has(name) };
  const details = create("details", attributes, heading, content);
  details.addEventListener("toggle", () => {
    if (details.open) open.add(name);
    else open.delete(name);
  });
  return details;
}

/** @param icon of Font Awesome, decorative */
export function createIcon(icon: string): HTMLElement {
  return create("i", { class: `fa fa-fw ${icon}`, "aria-hidden": "true" });
}

export const smallButton = "red-ui-button red-ui-button-small";

export function createButton(icon: string, name: string): HTMLButtonElement {
  return create("button", { type: "button", class: smallButton }, createIcon(icon), " ", create("span", {}, name));
}

export function createNote(said: string): HTMLElement {
  return create("p", { class: "webhook-delivery-note" }, said);
}

/** A definition list. */
export function createList(rows: readonly (readonly [name: string, value: string | HTMLElement])[]): HTMLElement {
  const entries = rows.map(([name, value]) => create("div", {}, create("dt", {}, name), create("dd", {}, value)));
  return create("dl", { class: "webhook-delivery-list" }, ...entries);
}

function createValuesSection(name: "headers" | "query", values: Detail[typeof name]): HTMLElement {
  const { length } = Object.keys(values);
  const table = createTable(text(`delivery.section.${name}`), values);
  return createSection(name, String(length), length > 0 ? table : createNote(text("delivery.none")));
}

/** Header fields or parameters, a row for each value. */
function createTable(caption: string, values: Readonly<Record<string, string | string[]>>): HTMLElement {
  const heads = (["name", "value"] as const).map((key) => create("th", { scope: "col" }, text(`delivery.${key}`)));
  const rows = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each) => create("tr", {}, create("th", { scope: "row" }, name), create("td", {}, each))),
  );
  const head = create("thead", {}, create("tr", {}, ...heads));
  return create("table", { class: "webhook-delivery-table", "aria-label": caption }, head, create("tbody", {}, ...rows)); // prettier-ignore
}

// Bodies: JSON as a tree, text, or bytes.

/** Another body takes the place of one, as what Node-RED shows listens to presses itself. */
let created = 0;

/** As the debug sidebar; more bytes are for the copy button. */
const maxShownBytes = 1000;

function createBodySection(detail: Detail): HTMLElement {
  const type = detail.headers["content-type"];
  const size = bytesText(detail.size);
  return createSection("body", type === undefined ? size : `${size} · ${String(type)}`, createBody(detail));
}

function createBody({ body, size }: Pick<Detail, "body" | "size">): HTMLElement {
  const { data, truncated } = body;
  if (data === "") return createNote(text(size === 0 ? "delivery.bodyEmpty" : "delivery.bodyNotKept"));
  const isBinary = body.encoding === "base64";
  const copy = create("button", { type: "button", class: smallButton });
  host().prepareCopyButton(copy, text(isBinary ? "delivery.bodyAsBase64" : "delivery.section.body"), () => data);
  const note = truncated ? [createNote(text("delivery.bodyTruncated"))] : [];
  const above = create("div", { class: "webhook-delivery-above" }, ...note, copy);
  const shown = isBinary ? createBytesView(data) : truncated ? undefined : createJsonView(data);
  created += 1;
  return create("div", { "data-key": created }, above, shown ?? createText(data));
}

/** Nothing where the text is no JSON object or array, or cannot be shown as one. */
function createJsonView(data: string): HTMLElement | undefined {
  const value = tryParseJson(data);
  return typeof value === "object" && value !== null && isPlain(data) ? host().showObject(value, "") : undefined;
}

function createBytesView(base64: string): HTMLElement {
  const bytes = Array.from(atob(base64), (character) => character.charCodeAt(0));
  const value = { type: "Buffer", data: bytes.slice(0, maxShownBytes) };
  return host().showObject(value, `buffer[${bytes.length}]`);
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

export function createText(shown: string): HTMLElement {
  const label = text("delivery.section.body");
  return create("pre", { class: "webhook-delivery-text", tabindex: 0, role: "group", "aria-label": label }, shown);
}

function createReplySection({ answer }: Pick<Detail, "answer">): HTMLElement {
  if (!answer) return createSection("answer", text("delivery.none"), createNote(text("delivery.noAnswer")));
  const { status, milliseconds, body } = answer;
  const rows = [[text("label.replyStatus"), String(status)]] as [string, string][];
  if (milliseconds !== null) rows.push([text("delivery.took"), durationText(milliseconds)]);
  const view = create("div", {}, createList(rows));
  if (body) view.append(createBody({ body: { encoding: "utf8", data: body, truncated: false }, size: body.length }));
  return createSection("answer", rows.map(([, value]) => value).join(" · "), view);
}

function createAttemptsSection({ attempts, state }: Pick<Detail, "attempts" | "state">): HTMLElement {
  const entries = attempts.map((attempt) => {
    // One without an end was interrupted, unless it is the running one.
    const isRunning = state === "running" && attempt === attempts.at(-1);
    const entry = create("li", {}, `${momentText(attempt.at)} · ${formatLength(attempt, isRunning)}`);
    if (attempt.error !== undefined) {
      entry.append(create("div", { class: "webhook-delivery-error" }, describeError(attempt.error, text)));
    }
    return entry;
  });
  const list = create("ol", { class: "webhook-delivery-attempts" }, ...entries);
  const { length } = attempts;
  return createSection("attempts", String(length), length > 0 ? list : createNote(text("delivery.noAttempts")));
}

function formatLength({ at, ended }: Attempt, isRunning: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(isRunning ? "delivery.stillRunning" : "delivery.endUnknown");
}

/** Creates a part of a delivery, which is created anew when the value that it depends on has changed. */
export type DetailPart = readonly [dependsOn: (detail: Detail) => unknown, create: (detail: Detail) => HTMLElement];

export const sections: readonly DetailPart[] = [
  [({ headers }) => headers, ({ headers }) => createValuesSection("headers", headers)],
  [({ query }) => query, ({ query }) => createValuesSection("query", query)],
  [({ body, size, headers }) => [body, size, headers], createBodySection],
  [({ answer }) => answer, createReplySection],
  [({ attempts, state }) => [attempts, state], createAttemptsSection],
];
