// The list of callers. The form loads it when its section is opened. Tokens are in its state only, which goes with the form.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { NewCaller } from "../../../src/admin/callers";
import { type Caller, isCallerName, listNames, maxCallers } from "../../../src/config/callers";
import type { SavedFields } from "../../../src/config/fields";
import { isObject, text as textOf, tryParseJson } from "../../../src/config/values";
import { askForCallers, isForbidden, type LastUsed, makeCallers } from "../deliveries/api";
import { type DeliveriesHost, isApiError, useHost } from "../deliveries/host";
import { Button, CopyButton } from "../deliveries/parts";
import { agoText, minuteText, momentText, numberText, text } from "../deliveries/texts";

/** From the form. */
export interface CallersSetup {
  /** Its id; missing in a subflow, each of whose instances has another. */
  readonly node: string | undefined;
  /** The credential, as the form has it. */
  readonly value: string;
  readonly values: SavedFields;
  /** Whether the Verification Method knows callers. */
  readonly isUsed: boolean;
  readonly isOpen: boolean;
  /** Puts the credential into the form. */
  readonly enter: (value: string) => void;
  readonly present: (name: string, token: string) => PresentedCaller;
}

/** The values that a caller needs, besides its name and its token. */
export interface PresentedCaller {
  /** Empty where its token is in the URL, or its place is not known. */
  readonly header: string;
  /** With its token, where that is in there; empty where the form does not know the path. */
  readonly url: string;
  /** For a terminal; empty where the form does not know one. */
  readonly command: string;
}

/** A caller as the form has it. */
interface CallerRow extends Caller {
  readonly key: number;
  /** As the deployed node may know it; missing for a new one. */
  readonly savedName?: string;
  /** That was made since the form is open, and when, to order them. */
  readonly token?: string;
  readonly madeAt?: number;
  readonly isRemoved: boolean;
}

/** The list, and the variable that may have it instead: one that is empty leaves the other one in the credential. */
interface CallersChoice {
  readonly rows: readonly CallerRow[];
  /** The list in JSON: as it was saved, until a row changes; empty for none. */
  readonly list: string;
  readonly variable: string;
  readonly isByVariable: boolean;
}

/** From how many on they can be searched, and how many are shown. */
const [manyRows, maxRows] = [20, 100];
/** How many tokens are shown; all are in the file. */
const maxShown = 10;

/** Draws it in an element; once more for each change. */
export function showCallers(given: DeliveriesHost, element: HTMLElement, setup: CallersSetup): void {
  useHost(given);
  render(<Callers {...setup} />, element);
}

/** The list, or the name of the variable that has it. Each is kept while the other one is shown. */
function Callers(setup: CallersSetup) {
  const { enter, isUsed } = setup;
  const [choice, setChoice] = useState(() => readChoice(setup.value));
  // New tokens come after other changes.
  const latest = useRef(choice);
  const change = (changed: Partial<CallersChoice>) => {
    latest.current = { ...latest.current, ...changed };
    setChoice(latest.current);
    enter(composeValue(latest.current));
  };
  const changeRows = (edit: (rows: readonly CallerRow[]) => readonly CallerRow[]) => {
    const rows = edit(latest.current.rows);
    change({ rows, list: writeRows(rows) });
  };
  const { rows, list, variable, isByVariable } = choice;
  return (
    <>
      <div class="webhook-trigger-hint">{text(isUsed ? "callers.hint" : "callers.notUsed")}</div>
      {isByVariable ? (
        <VariableRow {...setup} variable={variable} setVariable={(entered) => change({ variable: entered })} />
      ) : (
        <CallerList {...setup} {...{ rows, changeRows }} />
      )}
      {!isByVariable && list !== "" && (
        <div>
          {text("callers.asVariable")} <CopyButton name={text("callers.asVariable")} copied={list} />
        </div>
      )}
      <Button onClick={() => change({ isByVariable: !isByVariable })}>
        {text(isByVariable ? "callers.byList" : "callers.byVariable")}
      </Button>
    </>
  );
}

function readChoice(value: string): CallersChoice {
  // Any other text than JSON may be a part of the name of a variable.
  const isByVariable = value !== "" && tryParseJson(value) === undefined;
  const [list, variable] = isByVariable ? ["", value] : [value, ""];
  return { rows: readRows(list), list, variable, isByVariable };
}

/** Composes the credential. */
function composeValue({ list, variable, isByVariable }: CallersChoice): string {
  return isByVariable ? variable || list : list || variable;
}

interface VariableRowProps extends CallersSetup {
  readonly variable: string;
  readonly setVariable: (entered: string) => void;
}

function VariableRow({ node, isOpen, variable, setVariable }: VariableRowProps) {
  const [id, hint] = ["webhook-trigger-caller-variable", "webhook-trigger-caller-variable-hint"];
  const deployed = [...(useLastUsed(node, isOpen) ?? [])];
  return (
    <>
      <div class="form-row">
        <label for={id}>{text("callers.variable")}</label>
        <input
          type="text"
          id={id}
          value={variable}
          aria-describedby={hint}
          onInput={({ currentTarget }) => setVariable(currentTarget.value)}
        />
        <div class="webhook-trigger-hint" id={hint}>
          {text("callers.variableHint")}
        </div>
      </div>
      {deployed.length > 0 && (
        <>
          <div>{text("callers.deployed")}</div>
          <ul>
            {deployed.map(([name, at]) => (
              <li key={name}>
                <span>{name}</span>
                <span class="webhook-trigger-hint">
                  <Used at={at} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

interface CallerListProps extends CallersSetup {
  readonly rows: readonly CallerRow[];
  /** Edits the rows as they are then. */
  readonly changeRows: (edit: (rows: readonly CallerRow[]) => readonly CallerRow[]) => void;
}

function CallerList({ node, values, isOpen, present, rows, changeRows }: CallerListProps) {
  // With Basic authentication, names are those of users.
  const areUsers = values.verificationMethod === "basic";
  const [typed, setTyped] = useState("");
  const [sought, setSought] = useState("");
  const [trouble, setTrouble] = useState("");
  const lastUsed = useLastUsed(node, isOpen);
  const names = useRef<HTMLTextAreaElement>(null);
  const made = useRef<HTMLDivElement>(null);
  const isMaking = useRef(false);
  const [makes, setMakes] = useState(0);
  // They are to be copied or saved now.
  useEffect(() => {
    if (makes === 0) return;
    made.current?.focus({ preventScroll: true });
    made.current?.scrollIntoView({ block: "start" });
  }, [makes]);

  const edit = ({ key }: CallerRow, edited: Partial<CallerRow>) =>
    changeRows((latest) => latest.map((row) => (row.key === key ? { ...row, ...edited } : row)));
  /** Tokens are made once, however often a button is pressed. */
  const make = async (wanted: readonly string[], take: (callers: readonly NewCaller[]) => void) => {
    if (isMaking.current) return;
    isMaking.current = true;
    try {
      take(await makeCallers(wanted));
      setTrouble("");
      setMakes((before) => before + 1);
    } catch (error) {
      setTrouble(describeFailure(error));
    } finally {
      isMaking.current = false;
    }
  };
  const add = () => {
    const wanted = typed
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    const problem = describeProblem(wanted, rows);
    setTrouble(problem);
    if (problem !== "" || wanted.length === 0) return names.current?.focus();
    void make(wanted, (callers) => {
      const madeAt = performance.now();
      changeRows((latest) => [
        ...latest,
        ...callers.map((caller, index) => ({ ...caller, madeAt, key: latest.length + index, isRemoved: false })),
      ]);
      setTyped("");
    });
  };
  const renew = (row: CallerRow) =>
    void make([row.name], (callers) => {
      // It may have been renamed since.
      for (const { token, digest } of callers) edit(row, { token, digest, madeAt: performance.now() });
    });
  // A saved caller stays in sight while it is renamed.
  const isSought = ({ name, savedName = "" }: CallerRow) =>
    [name, savedName].some((each) => each.toLowerCase().includes(sought.toLowerCase()));
  const found = rows.filter(isSought);
  const counts = countNames(rows);
  const isTwice = ({ name, isRemoved }: CallerRow) => !isRemoved && counts.get(name.toLowerCase()) !== 1;
  const isWrong = (row: CallerRow) => !row.isRemoved && (!isCallerName(row.name) || isTwice(row));
  const twice = rows.filter(isTwice).map(({ name }) => name);
  return (
    <>
      {rows.length > manyRows && (
        <input
          type="search"
          aria-label={text("tab.filter.text")}
          placeholder={text("tab.filter.text")}
          value={sought}
          onInput={({ currentTarget }) => setSought(currentTarget.value)}
        />
      )}
      {found.length > 0 && (
        <ul>
          {found.slice(0, maxRows).map((row) => (
            <Row key={row.key} {...{ row, areUsers, lastUsed, edit, renew }} isWrong={isWrong(row)} />
          ))}
        </ul>
      )}
      {twice.length > 0 && <div>{text("callers.twice", { names: listNames(twice) })}</div>}
      {found.length > maxRows && (
        <div class="webhook-trigger-hint">{text("callers.hidden", { count: numberText(found.length - maxRows) })}</div>
      )}
      <div class="form-row">
        <label for="webhook-trigger-caller-names">{text("callers.names")}</label>
        <textarea
          id="webhook-trigger-caller-names"
          rows={3}
          ref={names}
          value={typed}
          aria-invalid={trouble !== ""}
          aria-describedby="webhook-trigger-caller-trouble"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <div class="webhook-trigger-message" id="webhook-trigger-caller-trouble" role="status">
          {trouble}
        </div>
        <span>
          <Button icon="fa-plus" onClick={add}>
            {text("callers.add")}
          </Button>
        </span>
      </div>
      <div ref={made} tabIndex={-1}>
        <Made
          rows={rows.filter(({ token, isRemoved }) => token !== undefined && !isRemoved)}
          title={values.name || values.relativePath}
          {...{ areUsers, present }}
        />
      </div>
    </>
  );
}

function readRows(value: string): readonly CallerRow[] {
  const parsed = tryParseJson(value);
  return (Array.isArray(parsed) ? parsed.filter(isObject) : []).map(({ name, digest }, key) => {
    return { key, name: textOf(name), savedName: textOf(name), digest: textOf(digest), isRemoved: false };
  });
}

function writeRows(rows: readonly CallerRow[]): string {
  const kept = rows.filter(({ isRemoved }) => !isRemoved).map(({ name, digest }) => ({ name, digest }));
  return kept.length === 0 ? "" : JSON.stringify(kept);
}

/** Without letter case. */
function countNames(rows: readonly Pick<CallerRow, "name" | "isRemoved">[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name, isRemoved } of rows) {
    if (!isRemoved) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  }
  return counts;
}

/** Says which of the names cannot be added; empty where all can. */
function describeProblem(wanted: readonly string[], rows: readonly CallerRow[]): string {
  const all = [...rows, ...wanted.map((name) => ({ name, isRemoved: false }))];
  if (all.filter(({ isRemoved }) => !isRemoved).length > maxCallers) return text("rules.callers.many");
  const list = (names: readonly string[]) => listNames([...new Set(names)]);
  const broken = wanted.filter((name) => !isCallerName(name));
  if (broken.length > 0) return text("callers.unusable", { names: list(broken) });
  const counts = countNames(all);
  const taken = wanted.filter((name) => counts.get(name.toLowerCase()) !== 1);
  return taken.length > 0 ? text("callers.taken", { names: list(taken) }) : "";
}

function describeFailure(error: unknown): string {
  if (!isApiError(error)) throw error;
  if (isForbidden(error)) return text("callers.forbidden");
  return error.status === 0 ? text("testRequest.failed") : text("delivery.otherwise", { status: String(error.status) });
}

/** When callers were last used; nothing while that is not known. */
function useLastUsed(node: string | undefined, isOpen: boolean): LastUsed | undefined {
  const [lastUsed, setLastUsed] = useState<LastUsed>();
  useEffect(() => {
    const isUndeployed = (error: unknown) => isApiError(error) && error.status === 404;
    const fail = (error: unknown) => setLastUsed(isUndeployed(error) ? new Map<string, null>() : undefined);
    if (isOpen && node !== undefined) void askForCallers(node).then(setLastUsed, fail);
  }, [isOpen]);
  return lastUsed;
}

interface RowProps {
  readonly row: CallerRow;
  readonly areUsers: boolean;
  readonly isWrong: boolean;
  readonly lastUsed: LastUsed | undefined;
  readonly edit: (row: CallerRow, edited: Partial<CallerRow>) => void;
  readonly renew: (row: CallerRow) => void;
}

function Row({ row, areUsers, isWrong, lastUsed, edit, renew }: RowProps) {
  const { name, isRemoved } = row;
  // A space between two words is at the end while it is typed.
  const [typed, setTyped] = useState(name);
  const rename = (given: string) => {
    setTyped(given);
    edit(row, { name: given.trim() });
  };
  const newToken = text("callers.renew", { name });
  const toggle = text(isRemoved ? "callers.keep" : "callers.remove", { name });
  return (
    <li>
      <input
        type="text"
        aria-label={text("label.name")}
        aria-invalid={isWrong}
        disabled={isRemoved}
        value={typed}
        onInput={({ currentTarget }) => rename(currentTarget.value)}
      />
      <span class="webhook-trigger-hint">
        <Use {...{ row, areUsers, lastUsed }} />
      </span>
      {!isRemoved && <Button icon="fa-key" aria-label={newToken} title={newToken} onClick={() => renew(row)} />}
      <Button
        icon={isRemoved ? "fa-undo" : "fa-trash"}
        aria-label={toggle}
        title={toggle}
        onClick={() => edit(row, { isRemoved: !isRemoved })}
      />
    </li>
  );
}

/** When it was last used, or what the next deploy changes for it. */
function Use({ row, areUsers, lastUsed }: Pick<RowProps, "row" | "areUsers" | "lastUsed">) {
  const { name, savedName, token, isRemoved } = row;
  if (isRemoved) return text("callers.removed");
  if (savedName === undefined) return text("callers.undeployed");
  const changes = [
    ...(areUsers && name !== savedName ? [text("callers.renamed")] : []),
    ...(token === undefined ? [] : [text("callers.renewed")]),
  ];
  if (changes.length > 0) return changes.join(" ");
  return lastUsed ? <Used at={lastUsed.get(savedName)} /> : null;
}

/** @param at missing for one that is not deployed, `null` for never */
function Used({ at }: { readonly at: number | null | undefined }) {
  if (at === undefined || at === null) return text(at === null ? "callers.unused" : "callers.undeployed");
  return (
    <time datetime={new Date(at).toISOString()} title={momentText(at)}>
      {text("callers.used", { time: agoText(at) ?? minuteText(at) })}
    </time>
  );
}

interface MadeProps extends Pick<CallersSetup, "present"> {
  readonly rows: readonly CallerRow[];
  /** The file is named after it. */
  readonly title: string;
  readonly areUsers: boolean;
}

/** The tokens that were made since the form is open, and what to do with them. */
function Made({ rows, title, areUsers, present }: MadeProps) {
  if (rows.length === 0) return null;
  /** With the keys of their labels. */
  const listValues = ({ name, token = "" }: CallerRow) => {
    const { header, url, command } = present(name, token);
    const values: readonly (readonly [label: string, value: string])[] = [
      ["handover.user", areUsers ? name : ""],
      [areUsers ? "handover.password" : "handover.token", token],
      ["handover.header", header],
      ["handover.url", url],
      ["section.terminal", command],
    ];
    return values.filter(([, value]) => value !== "");
  };
  const save = () => {
    const lines = rows.map(({ name, token = "" }) => {
      const { header, url } = present(name, token);
      // A device sends its user exactly so.
      return [areUsers ? name : asText(name), token, header, url];
    });
    const given = areUsers ? ["user", "password"] : ["name", "token"];
    const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
    saveFile(`${["callers", ...words].join("-")}.csv`, writeCsv([[...given, "header", "URL"], ...lines]));
  };
  const latestFirst = rows.toSorted((one, other) => (other.madeAt ?? 0) - (one.madeAt ?? 0));
  return (
    <div class="webhook-trigger-handover" role="group" aria-labelledby="webhook-trigger-caller-tokens">
      <div id="webhook-trigger-caller-tokens">{text("callers.made")}</div>
      <div>{text("callers.seen")}</div>
      <Button icon="fa-download" onClick={save}>
        {text("callers.save")}
      </Button>
      {latestFirst.slice(0, maxShown).map((row) => (
        <div key={row.key} role="group" aria-label={row.name}>
          <div class="webhook-trigger-group">{row.name}</div>
          {listValues(row).map(([item, given]) => (
            <div class="webhook-trigger-given" key={item}>
              <span>{text(item)}</span> <code>{given}</code>{" "}
              <div>
                <CopyButton name={text(item)} copied={given} />
              </div>
            </div>
          ))}
        </div>
      ))}
      {rows.length > maxShown && <div>{text("callers.more", { count: numberText(rows.length - maxShown) })}</div>}
    </div>
  );
}

/** With what makes a spreadsheet show it, and not calculate it. Source: OWASP, "CSV Injection". */
function asText(name: string): string {
  return /^[=+@-]/.test(name) ? `'${name}` : name;
}

/** RFC 4180, with the byte-order mark by which Excel knows UTF-8. */
function writeCsv(lines: readonly (readonly string[])[]): string {
  const quote = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const written = lines.map((cells) => `${cells.map(quote).join(",")}\r\n`).join("");
  return (/^[\0-\x7f]*$/.test(written) ? "" : "\uFEFF") + written;
}

function saveFile(name: string, content: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
