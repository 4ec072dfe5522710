// The sections of the form: their headings summarise them, and problems open them.

import { makeTestRequest, testBody } from "../../../src/auth/present";
import { type Sender, signsQuery } from "../../../src/auth/senders/sender";
import { shortName } from "../../../src/auth/senders/table";
import { parseBlocks } from "../../../src/config/blocks";
import { boxFields, placementField, rules } from "../../../src/config/fields";
import { isEnvironmentValue, tryParseJson } from "../../../src/config/values";
import { backoffAfter } from "../../../src/config/parse";
import { docsUrl, formatDuration } from "../node-red";
import {
  brokenRules,
  fieldValue,
  filterInForm,
  findSecretHeader,
  findSender,
  getReport,
  input,
  inputValue,
  isTicked,
  prepareBox,
  showNote,
  storeKind,
  valuesInForm,
  type WebhookNode,
} from "./form-state";
import { describeFilter, showFilter } from "./filter";
import { describeCommand } from "./handover";

/** The summaries of the sections. */
const sections: Readonly<Record<string, (node: WebhookNode) => string>> = {
  verification: describeVerification,
  filter: describeFilter,
  message: describeMessage,
  reply: describeReply,
  duplicates: describeDuplicates,
  limits: describeLimits,
  guaranteed: describeGuaranteed,
  terminal: describeCommand,
};

export function prepareSections(node: WebhookNode): void {
  for (const field of boxFields) prepareBox(node, field);
  $("#webhook-trigger-section-limits .webhook-trigger-note a").attr("href", docsUrl("replies.md#behind-a-proxy"));
  $(".webhook-trigger-section > summary").on("click", ({ currentTarget }) => {
    // It opens after this event.
    requestAnimationFrame(() => (currentTarget as Element).parentElement?.scrollIntoView({ block: "nearest" }));
  });
  prepareDuplicates();
}

const wasBroken = "was-broken";

/** Renews sections and headings, and opens sections with problems. */
export function showSections(node: WebhookNode): void {
  showFilter(node);
  showMessage(node);
  showReply(node);
  showDuplicates(node);
  $("#webhook-trigger-note-loopback").toggle(isOnlyLocal());
  $("#webhook-trigger-note-forgeable").toggle(isForgeable());
  showGuaranteed(node);
  const broken = brokenRules(node);
  for (const [name, describe] of Object.entries(sections)) {
    const section = $(`#webhook-trigger-section-${name}`);
    const isBroken = [...broken.keys()].some((field) => input(field).closest(section).length > 0);
    // A section that the user has closed stays closed.
    if (isBroken && section.data(wasBroken) !== true) section.prop("open", true);
    section.data(wasBroken, isBroken);
    const state = $(`#webhook-trigger-state-${name}`).toggleClass("webhook-trigger-broken", isBroken);
    state.text(isBroken ? node._("section.broken") : describe(node));
    if (isBroken) state.prepend($("<i>", { class: "fa fa-exclamation-triangle" }));
  }
}

function describeVerification(node: WebhookNode): string {
  const values = valuesInForm(node);
  const { verificationMethod: method, sender } = values;
  if (method === "header" || method === "query") {
    return node._(`section.${method}`, { name: values[placementField[method]] });
  }
  if (method === "jwt") {
    const name = shortName(sender) || inputValue("issuer");
    return name === "" ? node._("method.jwt") : node._("section.jwt", { name });
  }
  if (method === "basic") return node._("section.basic", { name: inputValue("user") });
  if (method !== "signature") return method;
  const name = shortName(sender);
  const header = findSecretHeader(values);
  if (header !== undefined) return node._("section.header", { name: header });
  return name === "" ? node._("section.ownSignature") : node._("section.signature", { name });
}

// The section *Message*.

/** Shows the message of a test request. */
function showMessage(node: WebhookNode): void {
  const sender: Sender | undefined = findSender(inputValue("sender"));
  const test = makeTestRequest(sender ?? {}, filterInForm(node).events);
  const isByUrl = valuesInForm(node).methods[0] === "GET";
  const [body, query] = isByUrl ? ["", { text: testBody }] : [tryParseJson(test.body) ?? test.body, {}];
  const payload = isTicked("returnQueryParams") ? { body, query } : isPayloadQuery(node) ? query : body;
  const lines = [`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`];
  if (isTicked("rawBody")) lines.push(`msg.rawBody = Buffer.from(${JSON.stringify(test.body)})`);
  const picture = $("#webhook-trigger-picture").text(lines.join("\n"));
  picture.toggle(!isEnvironmentValue(fieldValue("returnQueryParams")));
  $("#webhook-trigger-topic").text(describeTopic(node));
}

/** Says where the sender has the event; empty where it has none. */
function describeTopic(node: WebhookNode): string {
  const sender: Sender | undefined = findSender(inputValue("sender"));
  const [, from, place = ""] = /^(header|json):(.+)$/.exec(sender?.events?.[0] ?? "") ?? [];
  if (from === undefined) return "";
  return node._(from === "header" ? "message.topicInHeader" : "message.topicInJson", { place });
}

/** Whether the payload of a request by the first method is its query. */
function isPayloadQuery(node: WebhookNode): boolean {
  const { methods, verificationMethod, sender } = valuesInForm(node);
  const known: Sender | undefined = findSender(sender);
  return (
    methods[0] === "GET" && (verificationMethod !== "signature" || (known !== undefined && signsQuery(known.scheme)))
  );
}

function describeMessage(node: WebhookNode): string {
  const query = fieldValue("returnQueryParams");
  const raw = fieldValue("rawBody");
  const ofRequest = isPayloadQuery(node) ? "section.payloadQuery" : "section.body";
  const payload = node._(isTicked("returnQueryParams") ? "section.bodyAndQuery" : ofRequest);
  const parts = [isEnvironmentValue(query) ? String(query) : payload];
  if (isTicked("rawBody")) parts.push(node._("section.rawBody"));
  else if (isEnvironmentValue(raw)) parts.push(String(raw));
  return parts.join(" · ");
}

// The section *Reply*.

/** RFC 6839 §3.1: types ending in +json. */
const jsonType = /^application\/json\b|^[^;]*\+json[\t ]*(?:;|$)/i;

/** Shows what the flow must do, and whether the body fits its type. */
function showReply(node: WebhookNode): void {
  $("#webhook-trigger-hint-reply").text(inputValue("reply") === "flow" ? node._("hint.replyByFlow") : "");
  const body = inputValue("replyBody");
  const needsJson = jsonType.test(inputValue("replyType")) && body !== "" && !isEnvironmentValue(body);
  $("#webhook-trigger-note-json").toggle(needsJson && tryParseJson(body) === undefined);
}

function describeReply(node: WebhookNode): string {
  const reply = inputValue("reply");
  if (reply === "flow") return node._("section.byFlow", { seconds: inputValue("replyTimeout") });
  return reply === "now" ? node._("section.atOnce", { status: inputValue("replyStatus") }) : reply;
}

// The section *Duplicates*.

/** Kinds of keys; `none` must be chosen, `written` is typed below. */
type KeyKind = "id" | "header" | "json" | "query" | "body" | "none" | "written";

function prepareDuplicates(): void {
  const choice = $("#webhook-trigger-duplicateKeyOf");
  choice.on("input", () => {
    const kind = choice.val() as KeyKind;
    if (kind === "written" || kind === getKeyKind(inputValue("duplicateKey"))) return;
    const keys: Partial<Record<KeyKind, string>> = { id: "", none: "", body: "body" };
    // The name of one kind is none of another.
    input("duplicateKey").val(keys[kind] ?? `${kind}:`);
  });
  $("#webhook-trigger-ignore-duplicates").on("click", () => {
    // The button disappears, so the focus moves.
    input("ignoreDuplicates").prop("checked", true).trigger("change").trigger("focus");
  });
}

/** Offers keys, and suggests the sender's id. */
function showDuplicates(node: WebhookNode): void {
  const kind = getKeyKind(inputValue("duplicateKey"));
  const kinds: KeyKind[] = [hasId() ? "id" : "none", "header", "json", "query", "body"];
  if (kind === "written") kinds.push(kind);
  const choice = $("#webhook-trigger-duplicateKeyOf");
  // The list may be open.
  if (choice.data("kinds") !== kinds.join()) {
    choice.empty().append(kinds.map((each) => new Option(node._(`duplicateKey.${each}`), each)));
    choice.data("kinds", kinds.join());
  }
  choice.val(kind).closest(".form-row").toggle(isIgnoring());
  const name = findRepeatingSender();
  showNote("#webhook-trigger-note-duplicates", name === "" ? "" : node._("duplicates.suggested", { name }));
  $("#webhook-trigger-note-no-id").toggle(isIgnoring() && kind === "none");
  $("#webhook-trigger-hint-duplicateKey").text(node._(hasId() ? "hint.duplicateKey" : "hint.duplicateKeyWithoutId"));
  const { withoutKey = 0 } = getReport();
  const count = isIgnoring() && withoutKey > 0 ? String(withoutKey) : "";
  showNote("#webhook-trigger-note-without-key", count === "" ? "" : node._("duplicates.withoutKey", { count }));
}

function describeDuplicates(node: WebhookNode): string {
  const value = fieldValue("ignoreDuplicates");
  if (isEnvironmentValue(value)) return String(value);
  if (!isIgnoring()) {
    const name = findRepeatingSender();
    const unchecked = node._("section.duplicatesUnchecked");
    return name === "" ? unchecked : `${unchecked} · ${node._("section.duplicatesSuggested", { name })}`;
  }
  const key = inputValue("duplicateKey");
  const kind = getKeyKind(key);
  if (kind === "none") return node._("section.duplicatesUnknown");
  const by = kind === "id" ? node._("section.byId") : kind === "body" ? node._("section.byBody") : key;
  return node._("section.duplicatesKnown", { hours: inputValue("duplicateWindow"), key: by });
}

function isIgnoring(): boolean {
  return isTicked("ignoreDuplicates") || isEnvironmentValue(fieldValue("ignoreDuplicates"));
}

/** The name of a sender that repeats deliveries, while duplicates are not ignored; else empty. */
function findRepeatingSender(): string {
  const sender = inputValue("sender");
  return isIgnoring() || !findSender(sender)?.id ? "" : shortName(sender);
}

/** A sender from the environment may have one. */
function hasId(): boolean {
  const sender = inputValue("sender");
  return isEnvironmentValue(sender) || findSender(sender)?.id !== undefined;
}

function getKeyKind(key: string): KeyKind {
  if (key === "") return hasId() ? "id" : "none";
  if (key === "body") return "body";
  const kinds = ["header", "json", "query"] as const;
  return kinds.find((kind) => key.startsWith(`${kind}:`)) ?? "written";
}

// The section *Limits*.

/** A limit from the environment counts. */
export function hasLimit(): boolean {
  return inputValue("allowFrom").trim() !== "" || !/^0*$/.test(inputValue("rateLimit"));
}

/** Whether there is a limit by address, and all requests came from this computer. */
function isOnlyLocal(): boolean {
  return hasLimit() && getReport().hasOnlyLoopback === true;
}

/** Whether there is a limit by address, and senders can claim any address. */
function isForgeable(): boolean {
  return hasLimit() && getReport().trustsEveryProxy === true;
}

function describeLimits(node: WebhookNode): string {
  const [rate, hours] = [inputValue("rateLimit"), inputValue("alertWhenSilent")];
  const parts = [
    describeAddresses(node, inputValue("allowFrom")),
    Number(rate) === 0 ? node._("section.noRate") : node._("section.rate", { rate }),
  ];
  if (Number(hours) !== 0) parts.push(node._("section.expected", { hours }));
  if (isOnlyLocal()) parts.push(node._("section.onlyLocal"));
  if (isForgeable()) parts.push(node._("section.forgeable"));
  return parts.join(", ");
}

function describeAddresses(node: WebhookNode, list: string): string {
  if (isEnvironmentValue(list)) return list;
  const { length } = parseBlocks(list) ?? [];
  if (length === 0) return node._("section.anyAddress");
  return length === 1 ? list.replace(/[\s,]/g, "") : node._("section.addresses", { count: String(length) });
}

// The section *Guaranteed delivery*.

function showGuaranteed(node: WebhookNode): void {
  $("#webhook-trigger-guaranteed-in-file").toggle(storeKind() === "file");
  $("#webhook-trigger-guaranteed-on-server").toggle(storeKind() === "server");
  $("#webhook-trigger-note-no-store").toggle(storeKind() === "none");
  $("#webhook-trigger-guaranteed-by-flow").toggle(inputValue("reply") === "flow");
  const seconds = isTicked("guaranteed") ? sumBackoffs() : 0;
  const span = seconds > 0 ? node._("guaranteed.span", { time: formatDuration(seconds) }) : "";
  $("#webhook-trigger-guaranteed-span").text(span);
}

/** For how many seconds a failing delivery is retried; `NaN` where that is unknown. */
function sumBackoffs(): number {
  const fields = ["attempts", "backoffFirst", "backoffLongest"] as const;
  const isKnown = fields.every((field) => rules[field](inputValue(field)) === undefined);
  const [attempts = 0, backoffFirst = 0, backoffLongest = 0] = fields.map((field) => Number(inputValue(field)));
  if (!isKnown) return NaN;
  const pace = { backoffFirstMs: 1000 * backoffFirst, backoffLongestMs: 1000 * backoffLongest };
  let ms = 0;
  for (let failures = 1; failures < attempts; failures++) ms += backoffAfter(pace, failures);
  return ms / 1000;
}

function describeGuaranteed(node: WebhookNode): string {
  const value = fieldValue("guaranteed");
  if (isEnvironmentValue(value)) return String(value);
  if (!isTicked("guaranteed")) return node._("section.guaranteedOff");
  const [count, rate, failures] = [inputValue("concurrency"), inputValue("ratePerMinute"), inputValue("breaker")];
  const parts = [node._(storeKind() === "server" ? "section.guaranteedOnServer" : "section.guaranteedInFile")];
  if (Number(count) !== 0) parts.push(node._("section.concurrency", { count }));
  if (Number(rate) !== 0) parts.push(node._("section.rate", { rate }));
  if (Number(failures) !== 0) parts.push(node._("section.breaker", { failures }));
  return parts.join(", ");
}
