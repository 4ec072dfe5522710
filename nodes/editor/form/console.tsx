// What a test request sends: a sample, a delivery, or what the user writes. The form loads it when it is opened.

import { type ComponentChildren, render } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { composeAgain } from "../../../src/admin/resend";
import type { Sample } from "../../../src/admin/samples";
import type { Detail, Summary } from "../../../src/admin/summary";
import type { PreparedRequest, TestResult } from "../../../src/admin/test-requests";
import { makeTestRequest, testQuery } from "../../../src/auth/present";
import { type Algorithm, hasSharedKey } from "../../../src/auth/senders/sender";
import { findJwtPreset, findSender, shortName } from "../../../src/auth/senders/table";
import { flowMethods, type SavedFields } from "../../../src/config/fields";
import { tryParseJson } from "../../../src/config/values";
import { isText } from "../deliveries/answer";
import { ask, askForDelivery, askForPage, askForSamples, failureText } from "../deliveries/api";
import { composeCurl } from "../deliveries/curl";
import { type DeliveriesHost, host, useHost } from "../deliveries/host";
import { Button } from "../deliveries/parts";
import { durationText, minuteText, text } from "../deliveries/texts";
import { RED } from "../node-red";
import { toBase64 } from "../shell";
import { findAlgorithm, sendsSignature } from "./algorithm";
import { type AskedByForm, findTrouble } from "./test-trouble";

/** What the form knows of its node. */
export interface ConsoleSetup {
  readonly node: string;
  /** As the form has them when it opens. */
  readonly values: SavedFields;
  /** The URL of the node; nothing where the form does not know it. */
  readonly url: string | undefined;
  /** The id of the delivery that is chosen when it opens. */
  readonly delivery: string | undefined;
  /** Whether only callers have tokens: the node has none to send. */
  readonly onlyCallers: boolean;
  /** Called with what is to be sent, for the admin API, whenever it changes. */
  readonly choose: (asked: AskedByForm) => void;
}

/** A request as it is written. */
export interface WrittenRequest {
  readonly method: string;
  /** Without its question mark. */
  readonly query: string;
  /** A line for each. */
  readonly headers: string;
  readonly body: string;
  /** Bytes, which are sent instead. */
  readonly file?: ChosenFile | undefined;
}

interface ChosenFile {
  readonly name: string;
  readonly base64: string;
}

/** Where a request is from: a delivery, a sample, or neither for the usual request. */
type Origin = Pick<AskedByForm, "delivery" | "sample">;

/** Draws it anew in an element. @param setup nothing when it is closed */
export function showConsole(given: DeliveriesHost, element: HTMLElement, setup: ConsoleSetup | undefined): void {
  useHost(given);
  render(null, element);
  if (setup) render(<Console {...setup} />, element);
}

function Console(setup: ConsoleSetup) {
  const { node, values, choose } = setup;
  const [usual] = useState(() => composeUsual(values));
  const hasKey = !setup.onlyCallers && canSign(values);
  const sender = shortName(values.sender);
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [deliveries, setDeliveries] = useState<readonly Summary[]>([]);
  /** The one that was taken last, which need not be among them. */
  const [picked, setPicked] = useState<Summary>();
  const [origin, setOrigin] = useState<Origin>({});
  const [request, setRequest] = useState(usual);
  /** How often one was taken: the code editor begins anew with each. */
  const [takes, setTakes] = useState(0);
  const [isEdited, setEdited] = useState(false);
  const [isToSign, setToSign] = useState(hasKey);
  const [trouble, setTrouble] = useState("");
  /** How often the user has chosen or written something. */
  const choices = useRef(0);
  const place = useRef<HTMLDivElement>(null);
  const asked: AskedByForm = { ...(isEdited ? toParts(request) : origin), sign: isToSign };
  useEffect(() => choose(asked), [origin, request, isToSign]);
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
    if (setup.delivery !== undefined) void select(`delivery:${setup.delivery}`);
    const show = (found: readonly Sample[]) => {
      setSamples(found);
      // One that the filter lets through is better than the usual request.
      const fitting = found.find(({ event }) => event !== null && [values.events].flat().includes(event));
      if (fitting && choices.current === 0) take({ sample: fitting.name }, fromSample(fitting));
    };
    void askForSamples(values.sender).then(show, () => undefined);
    void askForPage({ node, state: "", text: "", error: "" }, { limit: 50 }).then(
      (page) =>
        setDeliveries(
          page.deliveries.filter(({ state }) => !["refused", "handshake"].includes(state)).slice(0, maxDeliveries),
        ),
      () => undefined,
    );
  }, []);

  const edit = (change: Partial<WrittenRequest>) => {
    choices.current++;
    setRequest((before) => ({ ...before, ...change }));
    setEdited(true);
  };
  const take = (from: Origin, taken: WrittenRequest) => {
    choices.current++;
    setOrigin(from);
    setRequest(taken);
    setTakes((before) => before + 1);
    setEdited(false);
    setTrouble("");
  };
  const select = async (chosen: string) => {
    const sample = samples.find(({ name }) => chosen === `sample:${name}`);
    if (sample) return take({ sample: sample.name }, fromSample(sample));
    if (!chosen.startsWith("delivery:")) return take({}, usual);
    const delivery = chosen.slice("delivery:".length);
    const choice = ++choices.current;
    try {
      const detail = await askForDelivery(delivery);
      if (choice !== choices.current) return;
      setPicked(detail);
      take({ delivery }, fromDelivery(detail, values.methods));
    } catch (error) {
      if (choice === choices.current) setTrouble(failureText(error));
    }
  };
  const isListed = !picked || deliveries.some(({ id }) => id === picked.id);
  const chosen = isEdited ? "own" : origin.sample ? `sample:${origin.sample}` : origin.delivery ? `delivery:${origin.delivery}` : ""; // prettier-ignore
  return (
    <div class="webhook-trigger-console" role="group" aria-label={text("console.open")} ref={place}>
      <Row label={text("console.request")}>
        {(id) => (
          <select id={id} class="webhook-trigger-console-request" value={chosen} onChange={({ currentTarget }) => void select(currentTarget.value)}>
            <option value="">{text("console.usual")}</option>
            {isEdited && <option value="own">{text("console.own")}</option>}
            <Options name="sample" label={text("console.samples")} all={samples.map(({ name }) => [name, name])} />
            <Options name="delivery" label={text("tab.label")} all={[...deliveries, ...(isListed ? [] : [picked])].map((each) => [each.id, describe(each)])} />
          </select>
        )}
      </Row>
      <Row label={text("console.method")}>
        {(id) => (
          <select id={id} value={request.method} onChange={({ currentTarget }) => edit({ method: currentTarget.value })}>
            {flowMethods.map((method) => <option key={method}>{method}</option>)}
          </select>
        )}
      </Row>
      <Row label={text("console.query")}>
        {(id) => <input id={id} type="text" value={request.query} onInput={({ currentTarget }) => edit({ query: currentTarget.value })} />}
      </Row>
      <Row label={text("console.headers")}>
        {(id) => <textarea id={id} rows={4} spellcheck={false} value={request.headers} onInput={({ currentTarget }) => edit({ headers: currentTarget.value })} />}
      </Row>
      {request.method !== "GET" && <BodyRow {...{ request, edit }} key={takes} />}
      <div class="form-row">
        {hasKey ? (
          <label class="webhook-trigger-console-sign">
            <input type="checkbox" checked={isToSign} onChange={({ currentTarget }) => setToSign(currentTarget.checked)} />
            <span>{sender === "" ? text("console.authenticate") : text("console.sign", { sender })}</span>
          </label>
        ) : (
          <span class="webhook-trigger-hint">{text(setup.onlyCallers ? "callers.only" : "console.noKey")}</span>
        )}
      </div>
      {isToSign && sendsSignature(values) && <CurlRow {...{ setup, asked }} />}
      <div role="status" class="webhook-trigger-message">{trouble}</div>
    </div>
  ); // prettier-ignore
}

/** How many are offered. */
const maxDeliveries = 20;

interface RowProps {
  readonly label: string;
  /** @param id of the field, for its label */
  readonly children: (id: string) => ComponentChildren;
}

function Row({ label, children }: RowProps) {
  const id = `webhook-trigger-console${useId()}`;
  return (
    <div class="form-row">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface OptionsProps {
  readonly name: string;
  readonly label: string;
  /** Values and what is shown. */
  readonly all: readonly (readonly [string, string])[];
}

function Options({ name, label, all }: OptionsProps) {
  if (all.length === 0) return null;
  return (
    <optgroup label={label}>
      {all.map(([value, shown]) => (
        <option key={value} value={`${name}:${value}`}>
          {shown}
        </option>
      ))}
    </optgroup>
  );
}

interface BodyProps {
  readonly request: WrittenRequest;
  readonly edit: (change: Partial<WrittenRequest>) => void;
}

function BodyRow({ request: { body, file, headers }, edit }: BodyProps) {
  const read = async (chosen: File | undefined) => {
    if (!chosen) return;
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    edit({ file: { name: chosen.name, base64: toBase64(bytes) } });
  };
  return (
    <div class="form-row">
      <label>{text("console.body")}</label>
      <div>
        {file ? (
          <div class="webhook-trigger-console-file">
            <span>{text("console.bytes", { name: file.name })}</span>{" "}
            <Button onClick={() => edit({ file: undefined })}>{text("console.write")}</Button>
          </div>
        ) : (
          <CodeEditor value={body} isJson={/json/i.test(headers)} onEdit={(changed) => edit({ body: changed })} />
        )}
        <input
          type="file"
          aria-label={text("console.file")}
          title={text("console.file")}
          onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
        />
      </div>
    </div>
  );
}

interface CodeEditorProps {
  /** What is in it at first. */
  readonly value: string;
  readonly isJson: boolean;
  readonly onEdit: (value: string) => void;
}

/** Node-RED's own: it colours JSON and points errors out. */
function CodeEditor({ value, isJson, onEdit }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ value, onEdit });
  latest.current = { value, onEdit };
  useLayoutEffect(() => {
    const element = document.createElement("div");
    element.className = "webhook-trigger-console-editor";
    place.current?.append(element);
    const mode = `ace/mode/${isJson ? "json" : "text"}`;
    const editor = RED.editor.createEditor({ element, mode, value: latest.current.value });
    editor.updateOptions?.({ ariaLabel: text("console.body") });
    editor.getSession().on("change", () => latest.current.onEdit(editor.getValue()));
    return () => {
      editor.destroy();
      element.remove();
    };
  }, [isJson]);
  // It writes tabs.
  const isLeaving = useRef(false);
  return (
    <>
      <span class="webhook-trigger-hint">{text("console.leave")}</span>
      <div
        ref={place}
        onKeyDownCapture={(event) => {
          if (event.key === "Tab" && isLeaving.current) event.stopPropagation();
          else if (event.key !== "Shift") isLeaving.current = event.key === "Escape";
        }}
        onFocusOut={() => {
          isLeaving.current = false;
        }}
      />
    </>
  );
}

function CurlRow({ setup: { node, url }, asked }: { readonly setup: ConsoleSetup; readonly asked: AskedByForm }) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [JSON.stringify(asked)]);
  if (url === undefined) return null;
  const copy = async () => {
    try {
      const body = { ...asked, send: false };
      const { outcome, request } = await ask<TestResult>({ outcome: isText }, `${node}/test`, "POST", body);
      if (!request) return setSaid(text(outcome === "prepared" ? "console.noKey" : "console.notPrepared"));
      host().copy(toCommand(request, url));
      const { validFor } = request;
      setSaid(validFor === null ? text("console.copied") : text("console.copiedFor", { duration: durationText(validFor * 1000) }));
    } catch (error) {
      const key = findTrouble(error, asked);
      setSaid(key === undefined ? failureText(error) : text(key));
    }
  }; // prettier-ignore
  return (
    <div class="form-row">
      <span>
        <Button icon="fa-copy" onClick={() => void copy()}>
          {text("delivery.curl")}
        </Button>{" "}
        <span role="status">{said}</span>
      </span>
    </div>
  );
}

function toCommand({ method, query, headers, body, encoding }: PreparedRequest, url: string): string {
  const content = { encoding, data: body, truncated: false };
  const described = { method, query: {}, headers, body: content, isJson: false };
  const none = { headers: {}, search: "", hint: "", isSigned: false };
  return composeCurl(described, query === "" ? url : `${url}?${query}`, none);
}

/** Whether the node has the key with which its sender signs, or what that sends. */
function canSign(values: SavedFields): boolean {
  const { verificationMethod, keySource, sender } = values;
  if (verificationMethod === "jwt") return (findJwtPreset(sender)?.keySource ?? keySource) === "secret";
  const alg = findAlgorithm(values);
  return alg === undefined || hasSharedKey({ alg: alg as Algorithm });
}

/** The request that is sent where none is chosen. */
function composeUsual({ methods, events, sender }: SavedFields): WrittenRequest {
  const [method = ""] = methods;
  if (method === "GET") return { method, query: testQuery, headers: "", body: "" };
  const { headers, body } = makeTestRequest(findSender(sender) ?? {}, events);
  return { method, query: "", headers: toLines(Object.entries(headers)), body };
}

/** As the admin API takes it. */
function toParts({ method, query, headers, body, file }: WrittenRequest): object {
  const lines = headers.split("\n").filter((line) => line.trim() !== "");
  const fields = new Map<string, [string, string]>();
  for (const line of lines) {
    const [name = "", value = ""] = line.split(/:([^]*)/).map((part) => part.trim());
    const earlier = fields.get(name.toLowerCase());
    // RFC 9110 §5.3: a list may be in several lines, or in one.
    fields.set(name.toLowerCase(), earlier ? [earlier[0], `${earlier[1]}, ${value}`] : [name, value]);
  }
  const content = method === "GET" ? {} : file ? { body: file.base64, encoding: "base64" } : { body };
  return { method, query, headers: Object.fromEntries(fields.values()), ...content };
}

function fromSample({ method, query, headers, body }: Sample): WrittenRequest {
  return { method, query, headers: toLines(Object.entries(headers)), body: indent(body) };
}

function fromDelivery(detail: Detail, methods: readonly string[]): WrittenRequest {
  const { body } = detail;
  const { method, search: query, headers } = composeAgain(detail, methods);
  return {
    ...{ method, query, headers: toLines(Object.entries(headers)) },
    ...(body.encoding === "utf8" ? { body: body.data } : { body: "", file: { name: "", base64: body.data } }),
  };
}

function toLines(fields: readonly (readonly [string, string])[]): string {
  return fields.map(([name, value]) => `${name}: ${value}`).join("\n");
}

function indent(body: string): string {
  const value = tryParseJson(body);
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : body;
}

function describe({ at, event, words, method }: Summary): string {
  return `${minuteText(at)} ${event ?? words ?? method}`;
}
