// The parts of a shown delivery.

import { type Attempt, describeError, type Detail, type ShownBody } from "../../../src/deliveries/summary";
import { type Editor, prepareCopyButton } from "../host";
import { durationText, momentText, text } from "./texts";

/** A key under `delivery.section` in the message catalog. */
type DetailSection = "headers" | "query" | "body" | "answer" | "attempts";

/** Open sections stay open with the next delivery. */
const open = new Set<DetailSection>(["body"]);

/** @param brief shown in its heading */
export function createSection(name: DetailSection, brief: string, content: JQuery): JQuery {
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

function copyButton(name: string, copied: () => string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" });
  button.append(createIcon("fa-copy"));
  prepareCopyButton({ _: text }, button, name, copied);
  return button;
}

export function createNote(said: string): JQuery {
  return $("<p>", { class: "webhook-delivery-note" }).text(said);
}

/** A definition list. */
export function createList(rows: readonly (readonly [name: string, value: string | JQuery])[]): JQuery {
  const list = $("<dl>", { class: "webhook-delivery-list" });
  for (const [name, value] of rows)
    list.append($("<div>").append($("<dt>").text(name), $("<dd>").append(given(value))));
  return list;
}

/** A text is no markup. */
function given(value: string | JQuery): JQuery | Text {
  return typeof value === "string" ? document.createTextNode(value) : value;
}

/** Header fields or parameters, a row for each value. */
export function createTable(caption: string, values: Readonly<Record<string, string | string[]>>): JQuery {
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

/** Shown at first, and with each click: bytes, or characters of text. */
const bytesAtOnce = 4096;
const charactersAtOnce = 50_000;

export function createBody({ body, size }: Pick<Detail, "body" | "size">): JQuery {
  if (body.data === "") return createNote(text(size === 0 ? "delivery.bodyEmpty" : "delivery.bodyNotKept"));
  const isBinary = body.encoding === "base64";
  const above = $("<div>", { class: "webhook-delivery-above" });
  if (body.truncated) above.append(createNote(text("delivery.bodyTruncated")));
  above.append(copyButton(text(isBinary ? "delivery.bodyAsBase64" : "delivery.section.body"), () => body.data));
  return $("<div>").append(above, isBinary ? createDump(body) : (createObjectView(body) ?? createText(body.data)));
}

/** Nothing where the body is no JSON, or cut. */
function jsonIn({ encoding, data, truncated }: ShownBody): { value: unknown } | undefined {
  if (encoding !== "utf8" || truncated) return undefined;
  try {
    return { value: JSON.parse(data) as unknown };
  } catch {
    return undefined;
  }
}

function createObjectView(body: ShownBody): JQuery | undefined {
  const json = jsonIn(body);
  if (typeof json?.value !== "object" || json.value === null || !isPlain(body.data)) return undefined;
  const view = $("<div>", { class: "webhook-delivery-object red-ui-debug-msg" });
  view.append(RED.utils.createObjectElement(json.value, { path: "payload", rootPath: "payload" }));
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
      $(handle).attr({ role: "button", tabindex: "0", "aria-expanded": String(isOpen) });
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

function createText(data: string): JQuery {
  return growing("webhook-delivery-text", data.length, charactersAtOnce, (from, to) => data.slice(from, to));
}

function createDump({ data }: ShownBody): JQuery {
  const bytes = decodeBase64(data);
  return growing("webhook-delivery-dump", bytes.length, bytesAtOnce, (from, to) => hexDump(bytes, from, to));
}

/** A long text in steps. */
function growing(style: string, length: number, step: number, part: (from: number, to: number) => string): JQuery {
  const pre = $("<pre>", { class: style, tabindex: "0", role: "group" });
  pre.attr("aria-label", text("delivery.section.body")).append(document.createTextNode(part(0, step)));
  if (length <= step) return pre;
  let shown = step;
  const more = createButton("fa-chevron-down", text("delivery.more"));
  more.on("click", () => {
    pre.append(document.createTextNode(part(shown, shown + step)));
    shown += step;
    if (shown < length) return;
    // The focused button has gone.
    pre.trigger("focus");
    more.remove();
  });
  return $("<div>").append(pre, more);
}

const perLine = 16;

/**
 * As `hexdump -C`.
 *
 * @param from a multiple of 16
 */
function hexDump(bytes: Uint8Array, from: number, to: number): string {
  const lines: string[] = [];
  for (let at = from; at < Math.min(to, bytes.length); at += perLine) {
    const line = [...bytes.subarray(at, Math.min(at + perLine, to))];
    const digits = line.map((byte) => byte.toString(16).padStart(2, "0"));
    const halves = [digits.slice(0, perLine / 2), digits.slice(perLine / 2)].map((half) => half.join(" "));
    const text = line.map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${halves.join("  ").padEnd(3 * perLine)}  |${text}|\n`);
  }
  return lines.join("");
}

function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** RFC 9110 §15, for usual replies to webhooks. */
const phrases: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  205: "Reset Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** With its English phrase, as in the protocol. */
export function statusText(status: number): string {
  const phrase = phrases[status];
  return phrase === undefined ? String(status) : `${status} ${phrase}`;
}

export function createAnswer({ answer }: Pick<Detail, "answer">): JQuery {
  if (!answer) return createNote(text("delivery.noAnswer"));
  const { status, milliseconds, body } = answer;
  const rows: [string, string][] = [[text("label.replyStatus"), statusText(status)]];
  if (milliseconds !== null) rows.push([text("delivery.took"), durationText(milliseconds)]);
  const view = $("<div>").append(createList(rows));
  if (body === null || body === "") return view;
  return view.append(createBody({ body: { encoding: "utf8", data: body, truncated: false }, size: body.length }));
}

export function attemptList({ attempts, state }: Pick<Detail, "attempts" | "state">): JQuery {
  if (attempts.length === 0) return createNote(text("delivery.noAttempts"));
  const list = $("<ol>", { class: "webhook-delivery-attempts" });
  for (const attempt of attempts) {
    // One without an end was interrupted, unless it is the running one.
    const goesOn = state === "running" && attempt === attempts.at(-1);
    list.append(
      $("<li>").append(
        document.createTextNode(`${momentText(attempt.at)} · ${formatLength(attempt, goesOn)}`),
        ...createError(attempt),
      ),
    );
  }
  return list;
}

function formatLength({ at, ended }: Attempt, goesOn: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(goesOn ? "delivery.stillRunning" : "delivery.endUnknown");
}

function createError({ error }: Attempt): JQuery[] {
  if (error === undefined) return [];
  return [$("<div>", { class: "webhook-delivery-error" }).text(describeError(error, text))];
}
