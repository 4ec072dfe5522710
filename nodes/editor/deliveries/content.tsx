// What a shown delivery has of its request, its reply and its attempts.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Attempt } from "../../../src/deliveries/delivery";
import { describeError, type Detail } from "../../../src/admin/summary";
import { tryParseJson } from "../../../src/config/values";
import { host } from "./host";
import { CopyButton, Definitions, Note } from "./parts";
import type { DetailSection } from "./state";
import type { DeliveriesStore } from "./store";
import { bytesText, durationText, momentText, text } from "./texts";

interface DetailProps {
  readonly detail: Detail;
  readonly store: DeliveriesStore;
}

interface SectionProps extends Pick<DetailProps, "store"> {
  readonly name: DetailSection;
  /** Shown in its heading. */
  readonly brief: string;
  readonly children: ComponentChildren;
}

export function Section({ name, brief, store, children }: SectionProps) {
  const { unfolded } = store.state;
  return (
    <details
      class="webhook-delivery-section"
      data-section={name}
      open={unfolded.has(name)}
      onToggle={({ currentTarget: { open } }) => open !== unfolded.has(name) && store.toggleSection(name, open)}
    >
      <summary>
        <span>{text(`delivery.section.${name}`)}</span> <span class="webhook-delivery-brief">{brief}</span>
      </summary>
      {children}
    </details>
  );
}

/** Header fields or parameters, a row for each value; nothing where there is none. */
export function ValuesSection({ name, detail, store }: DetailProps & { readonly name: "headers" | "query" }) {
  const entries = Object.entries(detail[name]);
  if (entries.length === 0) return null;
  return (
    <Section name={name} store={store} brief={String(entries.length)}>
      <table class="webhook-delivery-table" aria-label={text(`delivery.section.${name}`)}>
        <thead>
          <tr>
            <th scope="col">{text("delivery.name")}</th>
            <th scope="col">{text("delivery.value")}</th>
          </tr>
        </thead>
        <tbody>
          {entries.flatMap(([field, value]) =>
            [value].flat().map((each, index) => (
              <tr key={`${field} ${index}`}>
                <th scope="row">{field}</th>
                <td>{each}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </Section>
  );
}

// Bodies: JSON as a tree, text, or bytes.

export function BodySection({ detail, store }: DetailProps) {
  const type = detail.headers["content-type"];
  const size = bytesText(detail.size);
  return (
    <Section name="body" store={store} brief={type === undefined ? size : `${size} · ${String(type)}`}>
      <Body body={detail.body} size={detail.size} />
    </Section>
  );
}

function Body({ body: { data, encoding, truncated }, size }: Pick<Detail, "body" | "size">) {
  if (data === "") return <Note>{text(size === 0 ? "delivery.bodyEmpty" : "delivery.bodyNotKept")}</Note>;
  const isBinary = encoding === "base64";
  return (
    <div>
      <div class="webhook-delivery-above">
        {truncated && <Note>{text("delivery.bodyTruncated")}</Note>}
        <CopyButton name={text(isBinary ? "delivery.bodyAsBase64" : "delivery.section.body")} copied={data} />
      </div>
      {isBinary ? <BytesView base64={data} /> : truncated ? <Text>{data}</Text> : <TextView data={data} />}
    </div>
  );
}

/** As JSON, where it is an object or array that can be shown as one. */
function TextView({ data }: { data: string }) {
  const value = useMemo(() => {
    const parsed = tryParseJson(data);
    return typeof parsed === "object" && parsed !== null && isPlain(data) ? parsed : undefined;
  }, [data]);
  if (!value) return <Text>{data}</Text>;
  return <ObjectView value={value} typeHint="" write={() => JSON.stringify(value, null, 2)} />;
}

/** As the debug sidebar; more bytes are for the copy button. */
const maxShownBytes = 1000;

function BytesView({ base64 }: { base64: string }) {
  const bytes = useMemo(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)), [base64]);
  const value = useMemo(() => ({ type: "Buffer", data: [...bytes.slice(0, maxShownBytes)] }), [bytes]);
  const typeHint = `buffer[${bytes.length}]`;
  return <ObjectView {...{ value, typeHint }} write={() => `${typeHint}\n${formatBytes(value.data)}`} />;
}

/** Eight bytes a line: as hex digits and, where they have one, as characters of ASCII. */
function formatBytes(bytes: readonly number[]): string {
  const lines = Array.from({ length: Math.ceil(bytes.length / 8) }, (_, line) => bytes.slice(8 * line, 8 * (line + 1)));
  return lines
    .map((line) => {
      const digits = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      return `${digits.padEnd(24)} ${String.fromCharCode(...line).replace(/[^ -~]/g, ".")}`;
    })
    .join("\n");
}

interface ObjectProps {
  readonly value: object;
  readonly typeHint: string;
  /** As text, where the host has no view of its own. */
  readonly write: () => string;
}

/** The host's own view listens to presses itself: another value takes another one. */
function ObjectView({ value, typeHint, write }: ObjectProps) {
  const { showObject } = host();
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const view = showObject?.(value, typeHint);
    if (view) place.current?.replaceChildren(view);
  }, [value, typeHint]);
  return showObject ? <div ref={place} /> : <Text>{write()}</Text>;
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

function Text({ children }: { children: string }) {
  return (
    <pre class="webhook-delivery-text" tabindex={0} role="group" aria-label={text("delivery.section.body")}>
      {children}
    </pre>
  );
}

export function ReplySection({ detail: { answer }, store }: DetailProps) {
  if (!answer) {
    return (
      <Section name="answer" store={store} brief={text("delivery.none")}>
        <Note>{text("delivery.noAnswer")}</Note>
      </Section>
    );
  }
  const { status, milliseconds, body } = answer;
  const rows: [string, string][] = [[text("label.replyStatus"), String(status)]];
  if (milliseconds !== null) rows.push([text("delivery.took"), durationText(milliseconds)]);
  return (
    <Section name="answer" store={store} brief={rows.map(([, value]) => value).join(" · ")}>
      <div>
        <Definitions rows={rows} />
        {body && <Body body={{ encoding: "utf8", data: body, truncated: false }} size={body.length} />}
      </div>
    </Section>
  );
}

/** Nothing where the flow was not started. */
export function AttemptsSection({ detail: { attempts, state }, store }: DetailProps) {
  if (attempts.length === 0) return null;
  return (
    <Section name="attempts" store={store} brief={String(attempts.length)}>
      <ol class="webhook-delivery-attempts">
        {attempts.map((attempt) => (
          <li key={attempt.at}>
            {/* One without an end was interrupted, unless it is the running one. */}
            {`${momentText(attempt.at)} · ${formatLength(attempt, state === "running" && attempt === attempts.at(-1))}`}
            {attempt.error !== undefined && (
              <div class="webhook-delivery-error">{describeError(attempt.error, text)}</div>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

function formatLength({ at, ended }: Attempt, isRunning: boolean): string {
  if (ended !== undefined) return durationText(ended - at);
  return text(isRunning ? "delivery.stillRunning" : "delivery.endUnknown");
}
