// The rows that describe a custom sender. What is entered is written into its scheme, which is shown as JSON below.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { algorithms, encodings, keyFormats, timeUnits } from "../../../src/auth/senders/sender";
import { findJwtPreset, fullName, isSenderId, senderIds, senders } from "../../../src/auth/senders/table";
import { isObject, text as textOf } from "../../../src/config/values";
import { Button } from "../deliveries/parts";
import { text } from "../deliveries/texts";
import { RED } from "../node-red";
import { type FormState, formatScheme, input, inputValue } from "./form-state";
import { draw } from "./parts";
import { nameSender } from "./sender";

/** The senders whose schemes can be copied: those that are all in the scheme. */
const copiedIds = senderIds
  .filter((id) => id !== "custom" && !findJwtPreset(id) && !senders[id].scheme.alg.startsWith("code:"))
  .sort((one, other) => fullName(one).localeCompare(fullName(other)));

/** As it is entered: whether it is right is checked as for every field. */
type CustomScheme = Readonly<Record<string, unknown>>;

/** A member of the scheme, by its path, and how it is entered. */
interface SchemeRow {
  /** Of Font Awesome 4. */
  readonly icon: string;
  readonly path: readonly [name: string, member?: string];
  /** Of a list to choose from; an empty one leaves the member out. */
  readonly options?: readonly string[];
  readonly lines?: number;
  /** Missing: a text as it is. */
  readonly format?: (value: unknown) => string;
  readonly parse?: (entered: string) => unknown;
  /**
   * For the row that decides whether the first member of the path is there: the member's other values when it is added.
   * Without a value in this row, the member is left out, and the other rows of it are hidden.
   */
  readonly others?: CustomScheme;
}

const rows: Readonly<Record<string, SchemeRow>> = {
  alg: { icon: "cog", path: ["alg"], options: algorithms.filter((name) => name !== "code:twilio") },
  key: { icon: "key", path: ["key", "format"], options: keyFormats },
  headers: {
    icon: "tag",
    path: ["sig", "headers"],
    format: (value) => [value].flat().join(", "),
    parse: (entered) => entered.split(/[\s,]+/).filter(Boolean),
  },
  prefix: {
    icon: "quote-left",
    path: ["sig", "pick"],
    format: (value) => (isObject(value) ? textOf(value.prefix) : ""),
    parse: (entered) => (entered === "" ? undefined : { prefix: entered }),
  },
  enc: { icon: "barcode", path: ["sig", "enc"], options: encodings },
  content: { icon: "file-text-o", path: ["content"], format: formatContent, parse: parseContent },
  time: {
    icon: "clock-o",
    path: ["ts", "source"],
    format: (value) => textOf(value).replace(/^header:/, ""),
    parse: (entered) => (entered === "" || entered.includes(":") ? asEntered(entered) : `header:${entered}`),
    others: { unit: "s", tolerance: 300 },
  },
  unit: { icon: "calendar", path: ["ts", "unit"], options: ["", ...timeUnits] },
  tolerance: {
    icon: "hourglass-end",
    path: ["ts", "tolerance"],
    parse: (entered) => (/^\d+$/.test(entered) ? Number(entered) : entered || undefined),
  },
  requires: { icon: "list", path: ["requires"], lines: 2, format: formatPairs(": "), parse: parsePairs(":") },
  handshake: {
    icon: "handshake-o",
    path: ["handshake", "method"],
    options: ["", "GET", "HEAD", "OPTIONS", "POST"],
    others: {},
  },
  when: { icon: "search", path: ["handshake", "when"], lines: 2, format: formatPairs("="), parse: parsePairs("=") },
  echo: { icon: "reply", path: ["handshake", "echo"] },
  member: { icon: "indent", path: ["handshake", "member"] },
  replyHeader: { icon: "tag", path: ["handshake", "header"] },
};

export function showCustom(state: FormState): void {
  const { used, values } = state;
  if (!used.has("scheme")) return draw("custom", null);
  // Nothing while the JSON is broken.
  const scheme = values.scheme === null ? {} : isObject(values.scheme) ? values.scheme : undefined;
  draw("custom", <CustomRows {...{ scheme }} />);
  draw("scheme-editor", <Button onClick={editScheme}>{text("editor:jsonEditor.title")}</Button>);
}

/** Node-RED's code editor. */
function editScheme(): void {
  RED.editor.editJSON({ value: inputValue("scheme"), complete: enterScheme });
}

function enterScheme(scheme: string): void {
  input("scheme").val(scheme).trigger("change");
}

interface CustomProps {
  readonly scheme: CustomScheme | undefined;
}

function CustomRows({ scheme }: CustomProps) {
  return (
    <>
      <CustomRow id="schemeOf" icon="files-o" label={text("label.schemeOf")} hint={text("hint.schemeOf")}>
        <select
          id="webhook-trigger-schemeOf"
          onChange={({ currentTarget: { value } }) =>
            isSenderId(value) && enterScheme(formatScheme(senders[value].scheme))
          }
        >
          <option value="">{text("scheme.choose")}</option>
          {copiedIds.map((id) => (
            <option key={id} value={id}>
              {nameSender(id)}
            </option>
          ))}
        </select>
      </CustomRow>
      {/* What belongs to a time or a question comes with it. */}
      {Object.entries(rows).map(([name, row]) => {
        const isMember = ["ts", "handshake"].includes(row.path[0]) && !row.others;
        return (!isMember || isObject(scheme?.[row.path[0]])) && <SchemeField key={name} {...{ name, row, scheme }} />;
      })}
    </>
  );
}

interface CustomRowProps {
  readonly id: string;
  readonly icon: string;
  readonly label: string;
  readonly hint: string;
  readonly children: ComponentChildren;
}

function CustomRow({ id, icon, label, hint, children }: CustomRowProps) {
  return (
    <div class="form-row">
      <label for={`webhook-trigger-${id}`}>
        <i class={`fa fa-fw fa-${icon}`} aria-hidden="true" /> {label}
      </label>
      {children}
      <div id={`webhook-trigger-${id}-hint`} class="webhook-trigger-hint">
        {hint}
      </div>
    </div>
  );
}

type SchemeFieldProps = CustomProps & { readonly name: string; readonly row: SchemeRow };

function SchemeField({ name, row, scheme }: SchemeFieldProps) {
  /** What is being typed, which is left alone. */
  const [typed, setTyped] = useState<string>();
  const { icon, format = textOf, options, lines } = row;
  const id = `custom-${name}`;
  const attributes = {
    id: `webhook-trigger-${id}`,
    "aria-describedby": `webhook-trigger-${id}-hint`,
    disabled: !scheme,
    value: typed ?? (scheme ? format(readMember(scheme, row.path)) : ""),
    onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      setTyped(value);
      if (scheme) input("scheme").val(formatScheme(write(scheme, row, value)));
    },
    onBlur: () => setTyped(undefined),
  };
  return (
    <CustomRow {...{ id, icon }} label={text(`custom.label.${name}`)} hint={text(`custom.hint.${name}`)}>
      {options ? (
        <select {...attributes}>
          {options.map((option) => (
            <option key={option} value={option}>
              {option || text("custom.none")}
            </option>
          ))}
        </select>
      ) : lines ? (
        <textarea {...attributes} rows={lines} spellcheck={false} />
      ) : (
        <input {...attributes} type="text" spellcheck={false} />
      )}
    </CustomRow>
  );
}

function readMember(scheme: CustomScheme, [name, member]: SchemeRow["path"]): unknown {
  const value = scheme[name];
  return member === undefined ? value : isObject(value) ? value[member] : undefined;
}

/** Members without a value are left out of the JSON. */
function write(scheme: CustomScheme, { path: [name, member], parse = asEntered, others }: SchemeRow, entered: string) {
  const value = parse(entered);
  const parts = isObject(scheme[name]) ? scheme[name] : others;
  const isGone = others !== undefined && value === undefined;
  const changed = member === undefined ? value : isGone ? undefined : { ...parts, [member]: value };
  return { ...scheme, [name]: changed };
}

function asEntered(entered: string): string | undefined {
  return entered === "" ? undefined : entered;
}

/** As a text with its parts in braces: `{ts}.{body}`. */
function formatContent(value: unknown): string {
  const parts = Array.isArray(value) ? value.map(String) : [];
  return parts.map((part) => (part.startsWith("lit:") ? part.slice(4) : `{${part}}`)).join("");
}

function parseContent(entered: string): string[] {
  const parts = entered.split(/(\{[^{}]*\})/).filter((part) => part !== "");
  return parts.map((part) => (/^\{.*\}$/.test(part) ? part.slice(1, -1) : `lit:${part}`));
}

/** Names and values, one pair in each line. */
function formatPairs(separator: string): (value: unknown) => string {
  return (value) =>
    Object.entries(isObject(value) ? value : {})
      .map(([name, given]) => name + separator + textOf(given))
      .join("\n");
}

function parsePairs(separator: string): (entered: string) => Record<string, string> | undefined {
  return (entered) => {
    const lines = entered.split("\n").filter((line) => line.trim() !== "");
    const pairs = lines.map((line) => {
      // The place of a value has a colon of its own, but no equals sign.
      const end = line.includes(separator) ? line.indexOf(separator) : line.length;
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()] as const;
    });
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  };
}
