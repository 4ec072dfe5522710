// Guaranteed delivery.

import { shortName } from "../../../src/auth/senders/table";
import { backoffAfter } from "../../../src/config/parse";
import { isEnvironmentValue, rules } from "../../../src/config/rules";
import { formatDuration } from "../host";
import { keeping } from "./checks";
import { fieldValue, input, inputValue, isTicked, prepareBox, findSender, type WebhookNode } from "./fields";
import { learnt } from "./sender";

export function prepareGuaranteed(node: WebhookNode): void {
  prepareBox(node, "guaranteed");
  $("#webhook-trigger-guaranteed-in-file").toggle(keeping() === "file");
  $("#webhook-trigger-guaranteed-on-server").toggle(keeping() === "server");
  $("#webhook-trigger-note-no-store").toggle(keeping() === "none");
}

export function showGuaranteed(node: WebhookNode): void {
  $("#webhook-trigger-guaranteed-by-flow").toggle(inputValue("reply") === "flow");
  showSpan(node);
  const name = isTicked("guaranteed") ? suggestedFor() : "";
  $("#webhook-trigger-note-guaranteed-duplicates")
    .toggle(name !== "")
    .children("span")
    .text(name === "" ? "" : node._("guaranteed.duplicates", { name }));
}

/** Shows how long a failing delivery is retried. */
function showSpan(node: WebhookNode): void {
  const [attempts = 0, backoffFirst = 0, backoffLongest = 0] = (
    ["attempts", "backoffFirst", "backoffLongest"] as const
  ).map((field) => (hasValidNumber(field) ? Number(inputValue(field)) : NaN));
  let seconds = 0;
  for (let failures = 1; failures < attempts; failures++) {
    seconds += backoffAfter({ backoffFirst, backoffLongest }, failures);
  }
  const isKnown = isTicked("guaranteed") && seconds > 0;
  const text = isKnown ? node._("guaranteed.span", { time: formatDuration(seconds) }) : "";
  $("#webhook-trigger-guaranteed-span").toggle(isKnown).text(text);
}

function hasValidNumber(field: "attempts" | "backoffFirst" | "backoffLongest"): boolean {
  return rules[field](inputValue(field)) === undefined;
}

export function guaranteedState(node: WebhookNode): string {
  const value = fieldValue("guaranteed");
  if (isEnvironmentValue(value)) return String(value);
  if (!isTicked("guaranteed")) return node._("section.guaranteedOff");
  const [count, rate, failures] = [inputValue("concurrency"), inputValue("ratePerMinute"), inputValue("breaker")];
  return [
    node._(keeping() === "server" ? "section.guaranteedOnServer" : "section.guaranteedInFile"),
    ...(Number(count) === 0 ? [] : [node._("section.concurrency", { count })]),
    ...(Number(rate) === 0 ? [] : [node._("section.rate", { rate })]),
    ...(Number(failures) === 0 ? [] : [node._("section.breaker", { failures })]),
  ].join(", ");
}

// Duplicates.

/** Kinds of keys; `none` must be chosen, `written` is typed below. */
type Kind = "id" | "header" | "json" | "query" | "body" | "none" | "written";

/** Kinds with a name behind a colon. */
const named = /^(header|json|query):(.*)$/s;

export function prepareDuplicates(node: WebhookNode): void {
  prepareBox(node, "ignoreDuplicates");
  // Any input renews the form: by then, the key must be set.
  kindChoice().on("input change", () => {
    const kind = kindChoice().val() as Kind;
    // The second event of the same choice.
    if (kind === "written" || kind === getKeyKind(inputValue("duplicateKey"))) return;
    const beginnings: Partial<Record<Kind, string>> = { id: "", none: "", body: "body" };
    // The name of one kind is none of another.
    const key = beginnings[kind] ?? `${kind}:`;
    input("duplicateKey").val(key).trigger("change");
  });
  suggestion()
    .find("button")
    .on("click", () => {
      // The button disappears, so the focus moves.
      input("ignoreDuplicates").prop("checked", true).trigger("change").trigger("focus");
    });
}

/** Offers keys, and suggests the sender's id. */
export function showDuplicates(node: WebhookNode): void {
  const kind = getKeyKind(inputValue("duplicateKey"));
  const offered = [hasId() ? "id" : "none", "header", "json", "query", "body"] satisfies Kind[];
  const kinds: Kind[] = kind === "written" ? [...offered, kind] : offered;
  const choice = kindChoice();
  if (choice.data(kindsData) !== kinds.join()) {
    choice.empty().append(kinds.map((each) => new Option(node._(`duplicateKey.${each}`), each)));
    choice.data(kindsData, kinds.join());
  }
  choice.val(kind);
  choice.closest(".form-row").toggle(isIgnoring());
  const name = suggestedFor();
  suggestion()
    .toggle(name !== "")
    .find("span > span")
    .text(name === "" ? "" : node._("duplicates.suggested", { name }));
  $("#webhook-trigger-note-no-id").toggle(isIgnoring() && kind === "none");
  $("#webhook-trigger-hint-duplicateKey").text(node._(hasId() ? "hint.duplicateKey" : "hint.duplicateKeyWithoutId"));
  showWithoutKey(node);
}

/** Shows how many requests had no key. */
function showWithoutKey(node: WebhookNode): void {
  const { withoutKey } = learnt();
  $("#webhook-trigger-note-without-key")
    .toggle(isIgnoring() && withoutKey > 0)
    .children("span")
    .text(node._("duplicates.withoutKey", { count: String(withoutKey) }));
}

const kindsData = "kinds";

export function duplicatesState(node: WebhookNode): string {
  const value = fieldValue("ignoreDuplicates");
  if (isEnvironmentValue(value)) return String(value);
  const name = suggestedFor();
  if (!isTicked("ignoreDuplicates")) {
    return [
      node._("section.duplicatesUnchecked"),
      ...(name === "" ? [] : [node._("section.duplicatesSuggested", { name })]),
    ].join(" · ");
  }
  const key = inputValue("duplicateKey");
  const kind = getKeyKind(key);
  if (kind === "none") return node._("section.duplicatesUnknown");
  const by = kind === "id" ? node._("section.byId") : kind === "body" ? node._("section.byBody") : key;
  return node._("section.duplicatesKnown", { hours: inputValue("duplicateWindow"), key: by });
}

function kindChoice(): JQuery {
  return $("#webhook-trigger-duplicateKeyOf");
}

function suggestion(): JQuery {
  return $("#webhook-trigger-note-duplicates");
}

function isIgnoring(): boolean {
  return isTicked("ignoreDuplicates") || isEnvironmentValue(fieldValue("ignoreDuplicates"));
}

/** A sender that repeats deliveries, while duplicates are not ignored; else empty. */
function suggestedFor(): string {
  const sender = inputValue("sender");
  return isIgnoring() || !findSender(sender)?.id ? "" : shortName(sender);
}

/** One from the environment may have one. */
function hasId(): boolean {
  const sender = inputValue("sender");
  return isEnvironmentValue(sender) || findSender(sender)?.id !== undefined;
}

function getKeyKind(key: string): Kind {
  if (key === "") return hasId() ? "id" : "none";
  if (key === "body") return "body";
  const [, kind] = named.exec(key) ?? [];
  return kind === "header" || kind === "json" || kind === "query" ? kind : "written";
}
