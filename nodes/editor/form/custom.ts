// The rows that describe a custom sender. What is entered is written into its scheme, which is shown as JSON below.

import { algorithms, encodings, keyFormats, timeUnits } from "../../../src/auth/senders/sender";
import { isObject, tryParseJson } from "../../../src/config/values";
import { type FormState, formatScheme, input, inputValue, showElement, type WebhookNode } from "./form-state";

/** As it is entered: whether it is right is checked as for every field. */
type CustomScheme = Readonly<Record<string, unknown>>;

/** A member of the scheme, by its path, and how it is entered. */
interface SchemeRow {
  readonly path: readonly [name: string, member?: string];
  /** Of a list to choose from; an empty one leaves the member out. */
  readonly options?: readonly string[];
  readonly lines?: number;
  /** Missing: a text as it is. */
  readonly format?: (value: unknown) => string;
  readonly parse?: (text: string) => unknown;
  /**
   * For the row that decides whether the first member of the path is there: the member's other values when it is added.
   * Without a value in this row, the member is left out, and the other rows of it are hidden.
   */
  readonly others?: CustomScheme;
}

const rows: Readonly<Record<string, SchemeRow>> = {
  alg: { path: ["alg"], options: algorithms.filter((name) => name !== "code:twilio") },
  key: { path: ["key", "format"], options: keyFormats },
  headers: {
    path: ["sig", "headers"],
    format: (value) => [value].flat().join(", "),
    parse: (text) => text.split(/[\s,]+/).filter(Boolean),
  },
  prefix: {
    path: ["sig", "pick"],
    format: (value) => (isObject(value) ? asText(value.prefix) : ""),
    parse: (text) => (text === "" ? undefined : { prefix: text }),
  },
  enc: { path: ["sig", "enc"], options: encodings },
  content: { path: ["content"], format: formatContent, parse: parseContent },
  time: {
    path: ["ts", "source"],
    format: (value) => asText(value).replace(/^header:/, ""),
    parse: (text) => (text === "" || text.includes(":") ? asEntered(text) : `header:${text}`),
    others: { unit: "s", tolerance: 300 },
  },
  unit: { path: ["ts", "unit"], options: ["", ...timeUnits] },
  tolerance: { path: ["ts", "tolerance"], parse: (text) => (/^\d+$/.test(text) ? Number(text) : text || undefined) },
  requires: { path: ["requires"], lines: 2, format: formatPairs(": "), parse: parsePairs(":") },
  handshake: { path: ["handshake", "method"], options: ["", "GET", "HEAD", "OPTIONS", "POST"], others: {} },
  when: { path: ["handshake", "when"], lines: 2, format: formatPairs("="), parse: parsePairs("=") },
  echo: { path: ["handshake", "echo"] },
  member: { path: ["handshake", "member"] },
  replyHeader: { path: ["handshake", "header"] },
};

export function prepareCustom(node: WebhookNode): void {
  const list = $("#webhook-trigger-custom");
  for (const [name, row] of Object.entries(rows)) {
    const id = `webhook-trigger-custom-${name}`;
    const control = row.options
      ? $("<select>", { id }).append(row.options.map((option) => new Option(option || node._("custom.none"), option)))
      : row.lines
        ? $("<textarea>", { id, rows: row.lines, spellcheck: "false" })
        : $("<input>", { id, type: "text" });
    const label = $("<label>", { for: id, text: node._(`custom.label.${name}`) });
    const hint = $("<div>", { id: `${id}-hint`, class: "webhook-trigger-hint", text: node._(`custom.hint.${name}`) });
    control.attr("aria-describedby", hint.attr("id") ?? "").on("input change", () => write(row, String(control.val())));
    list.append($("<div>", { class: "form-row" }).append(label, control, hint));
  }
}

/** Shows what the JSON says, but leaves alone what is being typed. What belongs to a time or a question comes with it. */
export function showCustom({ used }: FormState): void {
  const isCustom = used.has("scheme");
  showElement($("#webhook-trigger-schemeOf").closest(".form-row"), isCustom);
  showElement($("#webhook-trigger-custom"), isCustom);
  if (!isCustom) return;
  const scheme = readScheme();
  for (const [name, { path, format = asText, others }] of Object.entries(rows)) {
    const control = $(`#webhook-trigger-custom-${name}`).prop("disabled", !scheme);
    const isMember = ["ts", "handshake"].includes(path[0]) && !others;
    showElement(control.closest(".form-row"), !isMember || isObject(scheme?.[path[0]]));
    if (!control.is(":focus")) control.val(scheme ? format(readMember(scheme, path)) : "");
  }
}

/** Nothing while the JSON is broken. */
function readScheme(): CustomScheme | undefined {
  const typed = inputValue("scheme").trim();
  const scheme = typed === "" ? {} : tryParseJson(typed);
  return isObject(scheme) ? scheme : undefined;
}

function readMember(scheme: CustomScheme, [name, member]: SchemeRow["path"]): unknown {
  const value = scheme[name];
  return member === undefined ? value : isObject(value) ? value[member] : undefined;
}

/** Members without a value are left out of the JSON. */
function write({ path: [name, member], parse = asEntered, others }: SchemeRow, entered: string): void {
  const scheme = readScheme();
  if (!scheme) return;
  const value = parse(entered);
  const parts = isObject(scheme[name]) ? scheme[name] : others;
  const isGone = others !== undefined && value === undefined;
  const changed = member === undefined ? value : isGone ? undefined : { ...parts, [member]: value };
  input("scheme").val(formatScheme({ ...scheme, [name]: changed }));
}

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function asEntered(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** As a text with its parts in braces: `{ts}.{body}`. */
function formatContent(value: unknown): string {
  const parts = Array.isArray(value) ? value.map(String) : [];
  return parts.map((part) => (part.startsWith("lit:") ? part.slice(4) : `{${part}}`)).join("");
}

function parseContent(text: string): string[] {
  const parts = text.split(/(\{[^{}]*\})/).filter((part) => part !== "");
  return parts.map((part) => (/^\{.*\}$/.test(part) ? part.slice(1, -1) : `lit:${part}`));
}

/** Names and values, one pair in each line. */
function formatPairs(separator: string): (value: unknown) => string {
  return (value) =>
    Object.entries(isObject(value) ? value : {})
      .map(([name, text]) => name + separator + asText(text))
      .join("\n");
}

function parsePairs(separator: string): (text: string) => Record<string, string> | undefined {
  return (text) => {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const pairs = lines.map((line) => {
      // The place of a value has a colon of its own, but no equals sign.
      const end = line.includes(separator) ? line.indexOf(separator) : line.length;
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()] as const;
    });
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  };
}
