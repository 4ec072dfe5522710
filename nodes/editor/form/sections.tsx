// The sections of the form: their headings summarise them, and problems open them.

import { makeTestRequest, testBody } from "../../../src/auth/present";
import { signsQuery } from "../../../src/auth/senders/sender";
import { findSender, shortName } from "../../../src/auth/senders/table";
import { parseBlocks } from "../../../src/config/blocks";
import { parseCallers } from "../../../src/config/callers";
import { defaults, rules, type SavedFields } from "../../../src/config/fields";
import { isEnvironmentValue, isTrue, tryParseJson } from "../../../src/config/values";
import { backoffAfter } from "../../../src/config/parse";
import { host } from "../deliveries/host";
import { Button } from "../deliveries/parts";
import { text } from "../deliveries/texts";
import { docsUrl, formatDuration, RED, updateText } from "../node-red";
import {
  findRow,
  form,
  type FormState,
  input,
  readForm,
  showElement,
  updateEvent,
  type WebhookNode,
} from "./form-state";
import { describeFilter, showFilter } from "./filter";
import { describeCommand, presentCaller } from "./handover";
import { DocsLink, draw, LoadedView, Note } from "./parts";

interface Section {
  /** What is in it, for its heading. */
  readonly describe: (state: FormState) => readonly string[];
  /** What it shows besides its fields, while it is open. */
  readonly show?: (state: FormState) => void;
  /** Whether the form has it. Missing: always. */
  readonly isShown?: (state: FormState) => boolean;
}

const sections: Readonly<Record<string, Section>> = {
  callers: { describe: describeCallers, show: showCallers, isShown: hasCallers },
  rotation: { describe: describeRotation, isShown: hasRotation },
  filter: { describe: describeFilter, show: showFilter },
  message: { describe: describeMessage, show: showMessage },
  reply: { describe: describeReply, show: showReply },
  duplicates: { describe: describeDuplicates, show: showDuplicates },
  limits: { describe: describeLimits, show: showLimits },
  guaranteed: { describe: describeGuaranteed, show: showGuaranteed },
  terminal: { describe: describeCommand },
};

export function prepareSections(node: WebhookNode): void {
  $(".webhook-trigger-section > summary").on("click", ({ currentTarget }) => {
    // It opens after this event.
    requestAnimationFrame(() => (currentTarget as Element).parentElement?.scrollIntoView({ block: "nearest" }));
  });
  $(".webhook-trigger-section").on("toggle", () => form().trigger(updateEvent));
  prepareDuplicates(node);
}

function findBrokenSections(state: FormState | undefined): ReadonlySet<string | undefined> {
  return new Set([...(state?.broken.keys() ?? [])].map((field) => input(field).closest("details").attr("id")));
}

/** Renews sections and headings, and opens sections with new problems: one that the user has closed stays closed. */
export function showSections(state: FormState, before: FormState | undefined): void {
  const [broken, earlier] = [findBrokenSections(state), findBrokenSections(before)];
  for (const [name, { describe, show, isShown }] of Object.entries(sections)) {
    // What is in a closed one is renewed when it is opened.
    if (!before || before.open.has(name) || state.open.has(name)) show?.(state);
    const id = `webhook-trigger-section-${name}`;
    if (isShown) showElement($(`#${id}`), isShown(state));
    const isBroken = broken.has(id);
    if (isBroken && !earlier.has(id)) $(`#${id}`).prop("open", true);
    draw(
      `heading-${name}`,
      <>
        <span>{text(`section.${name}`)}</span>{" "}
        <span id={`webhook-trigger-state-${name}`} class={isBroken ? "webhook-trigger-broken" : ""}>
          {isBroken && <i class="fa fa-exclamation-triangle" aria-hidden="true" />}
          {isBroken ? text("section.broken") : describe(state).join(" · ")}
        </span>
      </>,
    );
  }
}

// The section *Callers*.

/** Callers that the method does not use are there, which it says; those that are removed can come back. */
function hasCallers({ used, credentials }: FormState): boolean {
  if (credentials.callers !== "") form().data(hadCallers, true);
  return used.has("callers") || form().data(hadCallers) === true;
}

const hadCallers = "had-callers";

function showCallers(state: FormState): void {
  const { node, values, used, credentials, open } = state;
  // Tokens may come when the form of another node is open.
  const field = input("callers");
  const setup = {
    node: RED.nodes.subflow(node.z) ? undefined : node.id,
    value: credentials.callers,
    values,
    isUsed: used.has("callers"),
    isOpen: open.has("callers"),
    enter: (value: string) => void field.val(value).trigger("change"),
    present: (name: string, token: string) => presentCaller(state, name, token),
  };
  draw(
    "callers",
    <LoadedView
      id="callers"
      isWanted={setup.isOpen}
      show={(views, element) => views.showCallers(host(), element, setup)}
    />,
  );
}

function describeCallers({ used, credentials: { callers } }: FormState): readonly string[] {
  if (!used.has("callers")) return [text("callers.notUsed")];
  if (isEnvironmentValue(callers)) return [callers];
  const parsed = parseCallers(callers);
  const isNone = typeof parsed === "string" || parsed.length === 0;
  return [isNone ? text("callers.none") : String(parsed.length)];
}

// The section *Rotation*.

const secondCredentials = ["secondPassword", "secondSecret"] as const;

/** Whether there can be a second credential. */
function hasRotation({ used }: FormState): boolean {
  return secondCredentials.some((name) => used.has(name));
}

function describeRotation({ credentials, used }: FormState): readonly string[] {
  const hasSecond = secondCredentials.some((name) => used.has(name) && credentials[name] !== "");
  return [text(hasSecond ? "section.twoCredentials" : "section.oneCredential")];
}

// The section *Message*.

/** Shows the message of a test request. */
function showMessage(state: FormState): void {
  const { values, sender } = state;
  const test = makeTestRequest(sender ?? {}, values.events);
  const isByUrl = values.methods[0] === "GET";
  const [body, query] = isByUrl ? ["", { text: testBody }] : [tryParseJson(test.body) ?? test.body, {}];
  const payload = isTrue(values.returnQueryParams) ? { body, query } : isPayloadQuery(state) ? query : body;
  const lines = [`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`];
  if (isTrue(values.rawBody)) lines.push(`msg.rawBody = Buffer.from(${JSON.stringify(test.body)})`);
  draw("picture", lines.join("\n"));
  showElement($("#webhook-trigger-picture"), !isEnvironmentValue(values.returnQueryParams));
  draw("topic", describeTopic(state));
}

/** Says where the sender has the event; empty where it has none. */
function describeTopic({ sender }: FormState): string {
  const [, from, place = ""] = /^(header|json):(.+)$/.exec(sender?.events?.[0] ?? "") ?? [];
  if (from === undefined) return "";
  return text(from === "header" ? "message.topicInHeader" : "message.topicInJson", { place });
}

/** Whether the payload of a request by the first method is its query. */
function isPayloadQuery({ values: { methods, verificationMethod }, sender }: FormState): boolean {
  return (
    methods[0] === "GET" && (verificationMethod !== "signature" || (sender !== undefined && signsQuery(sender.scheme)))
  );
}

function describeMessage(state: FormState): readonly string[] {
  const { returnQueryParams: query, rawBody: raw } = state.values;
  const ofRequest = isPayloadQuery(state) ? "section.payloadQuery" : "section.body";
  const payload = text(isTrue(query) ? "section.bodyAndQuery" : ofRequest);
  const parts = [isEnvironmentValue(query) ? String(query) : payload];
  if (isTrue(raw)) parts.push(text("section.rawBody"));
  else if (isEnvironmentValue(raw)) parts.push(String(raw));
  return parts;
}

// The section *Reply*.

/** RFC 6839 §3.1: types ending in +json. */
const jsonType = /^application\/json\b|^[^;]*\+json[\t ]*(?:;|$)/i;

/** Shows what the flow must do, and whether the body fits its type. */
function showReply({ values: { reply, replyBody: body, replyType } }: FormState): void {
  draw("hint-reply", reply === "flow" && text("hint.replyByFlow"));
  const needsJson = jsonType.test(replyType) && body !== "" && !isEnvironmentValue(body);
  const isBroken = needsJson && tryParseJson(body) === undefined;
  draw("notes-reply", <Note id="note-json" icon="info-circle" text={isBroken ? text("reply.noJson") : ""} />);
}

function describeReply({ values: { reply, replyTimeout, replyStatus } }: FormState): readonly string[] {
  if (reply === "flow") return [text("section.byFlow", { seconds: String(replyTimeout) })];
  return [reply === "now" ? text("section.atOnce", { status: String(replyStatus) }) : reply];
}

// The section *Duplicates*.

/** Kinds of keys; `none` must be chosen, `written` is typed below. */
type KeyKind = "id" | "header" | "json" | "query" | "body" | "none" | "written";

function prepareDuplicates(node: WebhookNode): void {
  const choice = $("#webhook-trigger-duplicateKeyOf");
  choice.on("input", () => {
    const kind = choice.val() as KeyKind;
    if (kind === "written" || kind === getKeyKind(readForm(node).values)) return;
    const keys: Partial<Record<KeyKind, string>> = { id: "", none: "", body: "body" };
    // The name of one kind is none of another.
    input("duplicateKey").val(keys[kind] ?? `${kind}:`);
  });
}

/** Offers keys, and suggests the sender's id. */
function showDuplicates(state: FormState): void {
  const { values } = state;
  const kind = getKeyKind(values);
  const kinds: KeyKind[] = [hasId(values) ? "id" : "none", "header", "json", "query", "body"];
  if (kind === "written") kinds.push(kind);
  draw(
    "duplicateKeyOf",
    kinds.map((each) => (
      <option key={each} value={each}>
        {text(`duplicateKey.${each}`)}
      </option>
    )),
  );
  showElement($("#webhook-trigger-duplicateKeyOf").val(kind).closest(".form-row"), ignoresDuplicates(values));
  const hint = hasId(values) ? "hint.duplicateKey" : "hint.duplicateKeyWithoutId";
  updateText($("#webhook-trigger-hint-duplicateKey"), text(hint));
  draw("notes-duplicates", <DuplicateNotes {...state} />);
}

function DuplicateNotes({ values, report: { withoutKey = 0 } }: FormState) {
  const isIgnoring = ignoresDuplicates(values);
  const name = findRepeatingSender(values);
  // The button disappears, so the focus moves.
  const ignore = () => input("ignoreDuplicates").prop("checked", true).trigger("change").trigger("focus");
  return (
    <>
      <Note id="note-duplicates" icon="lightbulb-o" text={name && text("duplicates.suggested", { name })}>
        <Button id="webhook-trigger-ignore-duplicates" onClick={ignore}>
          {text("label.ignoreDuplicates")}
        </Button>
      </Note>
      <Note id="note-no-id" text={isIgnoring && getKeyKind(values) === "none" ? text("duplicates.noId") : ""} />
      <Note
        id="note-without-key"
        text={isIgnoring && withoutKey > 0 ? text("duplicates.withoutKey", { count: withoutKey }) : ""}
      />
    </>
  );
}

function describeDuplicates({ values }: FormState): readonly string[] {
  const { ignoreDuplicates: value, duplicateKey: key, duplicateWindow } = values;
  if (isEnvironmentValue(value)) return [String(value)];
  if (!ignoresDuplicates(values)) {
    const name = findRepeatingSender(values);
    return [
      text("section.duplicatesUnchecked"),
      ...(name === "" ? [] : [text("section.duplicatesSuggested", { name })]),
    ];
  }
  const kind = getKeyKind(values);
  if (kind === "none") return [text("section.duplicatesUnknown")];
  const by = kind === "id" ? text("section.byId") : kind === "body" ? text("section.byBody") : key;
  return [text("section.duplicatesKnown", { hours: String(duplicateWindow), key: by })];
}

function ignoresDuplicates({ ignoreDuplicates: value }: SavedFields): boolean {
  return isTrue(value) || isEnvironmentValue(value);
}

/** The name of a sender that repeats deliveries, while duplicates are not ignored; else empty. */
function findRepeatingSender(values: SavedFields): string {
  return ignoresDuplicates(values) || !findSender(values.sender)?.id ? "" : shortName(values.sender);
}

/** A sender from the environment may have one. */
function hasId({ sender }: SavedFields): boolean {
  return isEnvironmentValue(sender) || findSender(sender)?.id !== undefined;
}

function getKeyKind(values: SavedFields): KeyKind {
  const { duplicateKey: key } = values;
  if (key === "") return hasId(values) ? "id" : "none";
  if (key === "body") return "body";
  const kinds = ["header", "json", "query"] as const;
  return kinds.find((kind) => key.startsWith(`${kind}:`)) ?? "written";
}

// The section *Limits*.

/** A limit from the environment counts. */
export function hasLimit({ allowFrom, rateLimit }: SavedFields): boolean {
  return allowFrom.trim() !== "" || !/^0*$/.test(String(rateLimit));
}

/** Whether there is a limit by address, and all requests came from this computer. */
function isOnlyLocal({ values, report }: FormState): boolean {
  return hasLimit(values) && report.hasOnlyLoopback === true;
}

/** Whether there is a limit by address, and senders can claim any address. */
function isForgeable({ values, report }: FormState): boolean {
  return hasLimit(values) && report.trustsEveryProxy === true;
}

function LimitNotes(state: FormState) {
  const link = <DocsLink href={docsUrl("replies.md#behind-a-proxy")}>{text("limits.proxy")}</DocsLink>;
  return (
    <>
      <Note id="note-loopback" text={isOnlyLocal(state) ? text("limits.loopback") : ""}>
        {link}
      </Note>
      <Note id="note-forgeable" text={isForgeable(state) ? text("limits.trustsEveryProxy") : ""}>
        {link}
      </Note>
    </>
  );
}

/** Fields that count by caller are of no use without callers. */
function showLimits(state: FormState): void {
  const { values, used, credentials } = state;
  for (const field of ["rateLimitBy", "alertPerCaller"] as const) {
    const isUseful = credentials.callers !== "" || values[field] !== defaults[field];
    showElement(findRow(field), used.has(field) && isUseful);
  }
  draw("notes-limits", <LimitNotes {...state} />);
}

function describeLimits(state: FormState): readonly string[] {
  const { methods, allowFrom, rateLimit: rate, alertWhenSilent: hours } = state.values;
  const parts = [
    [methods].flat().join(", "),
    describeAddresses(allowFrom),
    Number(rate) === 0 ? text("section.noRate") : text("section.rate", { rate: String(rate) }),
  ];
  if (Number(hours) !== 0) parts.push(text("section.expected", { hours: String(hours) }));
  if (isOnlyLocal(state)) parts.push(text("section.onlyLocal"));
  if (isForgeable(state)) parts.push(text("section.forgeable"));
  return parts;
}

function describeAddresses(list: string): string {
  if (isEnvironmentValue(list)) return list;
  const { length } = parseBlocks(list) ?? [];
  if (length === 0) return text("section.anyAddress");
  return length === 1 ? list.replace(/[\s,]/g, "") : text("section.addresses", { count: String(length) });
}

// The section *Guaranteed delivery*.

function showGuaranteed(state: FormState): void {
  const { values, used } = state;
  draw("guaranteed", <Promises {...state} />);
  const seconds = isTrue(values.guaranteed) ? sumBackoffs(values) : 0;
  draw("guaranteed-span", seconds > 0 && text("guaranteed.span", { time: formatDuration(seconds) }));
  showElement($("#webhook-trigger-section-guaranteed .webhook-trigger-group"), used.has("attempts"));
}

/** What guaranteed delivery promises, and asks of the flow; or what it needs where nothing can be stored. */
function Promises({ values }: FormState) {
  if (RED.settings.webhookTriggerGuaranteed === "none")
    return <Note id="note-no-store" text={text("guaranteed.missing")} />;
  return (
    <>
      <ul class="webhook-trigger-points">
        <li>{text("guaranteed.again")}</li>
        <li>{text("guaranteed.status")}</li>
        {values.reply === "flow" && <li>{text("guaranteed.byFlow")}</li>}
      </ul>
      <DocsLink href={docsUrl("guaranteed-delivery.md")}>{text("guaranteed.docs")}</DocsLink>
    </>
  );
}

/** For how many seconds a failing delivery is retried; `NaN` where that is unknown. */
function sumBackoffs(values: SavedFields): number {
  const fields = ["attempts", "backoffFirst", "backoffLongest"] as const;
  const isKnown = fields.every((field) => rules[field](values[field]) === undefined);
  const [attempts = 0, backoffFirst = 0, backoffLongest = 0] = fields.map((field) => Number(values[field]));
  if (!isKnown) return NaN;
  const pace = { backoffFirstMs: 1000 * backoffFirst, backoffLongestMs: 1000 * backoffLongest };
  let ms = 0;
  for (let failures = 1; failures < attempts; failures++) ms += backoffAfter(pace, failures);
  return ms / 1000;
}

function describeGuaranteed({ values }: FormState): readonly string[] {
  const { guaranteed, concurrency: count, ratePerMinute: rate, breaker: failures } = values;
  if (isEnvironmentValue(guaranteed)) return [String(guaranteed)];
  if (!isTrue(guaranteed)) return [text("section.guaranteedOff")];
  const parts = [
    text(
      RED.settings.webhookTriggerGuaranteed === "server" ? "section.guaranteedOnServer" : "section.guaranteedInFile",
    ),
  ];
  if (Number(count) !== 0) parts.push(text("section.concurrency", { count: String(count) }));
  if (Number(rate) !== 0) parts.push(text("section.rate", { rate: String(rate) }));
  if (Number(failures) !== 0)
    parts.push(text("section.breaker", { count: Number(failures), failures: String(failures) }));
  return parts;
}
