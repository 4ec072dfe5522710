// The folded sections: their headings summarise them, and problems open them.

import { testBody } from "../../../src/auth/present";
import { shortName } from "../../../src/auth/senders/table";
import { parseBlocks } from "../../../src/config/blocks";
import {
  type CredentialName,
  defaults,
  placementField,
  type SavedFields,
  type TokenMethod,
} from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/rules";
import { docsUrl } from "../host";
import { brokenRules, isUsed } from "./checks";
import { knownCredential } from "./credentials";
import {
  type Field,
  fieldValue,
  inputValue,
  isSame,
  isTicked,
  prepareBox,
  savedValues,
  valuesInForm,
  type WebhookNode,
} from "./fields";
import { duplicatesState, guaranteedState } from "./guaranteed";
import { lineState } from "./handover";
import { learnt, getPreset } from "./sender";

type FormSection = "verification" | "message" | "reply" | "duplicates" | "limits" | "guaranteed" | "terminal";

/** The fields of each section, and its summary. */
const sections: Record<
  FormSection,
  {
    saved: readonly (keyof SavedFields & Field)[];
    credentials: readonly CredentialName[];
    state: (node: WebhookNode) => string;
  }
> = {
  verification: {
    saved: ["verificationMethod", "headerParameter", "queryParameter", "scheme"],
    credentials: ["secondToken", "secondSecret"],
    state: describeVerification,
  },
  message: { saved: ["returnQueryParams", "rawBody"], credentials: [], state: messageState },
  reply: {
    saved: ["reply", "replyStatus", "replyBody", "replyType", "replyTimeout"],
    credentials: [],
    state: replyState,
  },
  duplicates: {
    saved: ["ignoreDuplicates", "duplicateKey", "duplicateWindow"],
    credentials: [],
    state: duplicatesState,
  },
  limits: { saved: ["allowFrom", "rateLimit", "alertWhenSilent"], credentials: [], state: limitsState },
  guaranteed: {
    saved: [
      "guaranteed", "attempts", "backoffFirst", "backoffLongest",
      "attemptTimeout", "concurrency", "ratePerMinute", "breaker",
    ], // prettier-ignore
    credentials: [],
    state: guaranteedState,
  },
  terminal: { saved: [], credentials: [], state: (node) => node._(`section.${lineState(node)}`) },
};
const names = Object.keys(sections) as FormSection[];

/** The values of a node without changes. */
const deployed = new WeakMap<WebhookNode, SavedFields>();

export function prepareSections(node: WebhookNode): void {
  if (!node.changed) deployed.set(node, savedValues(node));
  for (const name of names) {
    composeHeading(name).on("click", () => setOpen(name, !isOpen(name)));
    setOpen(name, false);
  }
}

/** Renews the headings, and opens sections with problems. */
export function showSections(node: WebhookNode): void {
  const broken = brokenRules(node);
  const changed = changedFields(node);
  for (const name of names) {
    const { saved, credentials, state } = sections[name];
    const isBroken = [...saved, ...credentials].some((field) => broken.has(field));
    const needsLook = isBroken || [...saved, ...credentials].some((field) => changed.has(field));
    const heading = composeHeading(name);
    // A section that the user has closed stays closed.
    if (needsLook && heading.data(lookData) !== true) setOpen(name, true);
    heading.data(lookData, needsLook);
    const place = $(`#webhook-trigger-state-${name}`).toggleClass("webhook-trigger-broken", isBroken);
    place.text(isBroken ? node._("section.broken") : state(node));
    if (isBroken) place.prepend($("<i>", { class: "fa fa-exclamation-triangle" }));
  }
}

const lookData = "needs-look";

function composeHeading(name: FormSection): JQuery {
  return $(`#webhook-trigger-heading-${name}`);
}

function isOpen(name: FormSection): boolean {
  return composeHeading(name).attr("aria-expanded") === "true";
}

function setOpen(name: FormSection, open: boolean): void {
  composeHeading(name).attr("aria-expanded", String(open));
  composeHeading(name)
    .children("i")
    .attr("class", `fa fa-fw ${open ? "fa-angle-down" : "fa-angle-right"}`);
  $(`#webhook-trigger-section-${name}`).toggle(open);
}

function describeVerification(node: WebhookNode): string {
  const values = valuesInForm(node);
  const { verificationMethod: method, sender } = values;
  const name = sender === "custom" ? "" : shortName(sender);
  if (method === "signature") {
    return name === "" ? node._("section.ownSignature") : node._("section.signature", { name });
  }
  if (method !== "header" && method !== "query") return method;
  return node._(`section.${method}`, { name: values[placementField[method satisfies TokenMethod]] });
}

/** Fields that differ from what is deployed; of a new node, from what its sender fills in. */
function changedFields(node: WebhookNode): Set<Field> {
  const values = valuesInForm(node);
  const { sender, scheme } = values;
  const before = deployed.get(node) ?? {
    ...defaults,
    ...getPreset(sender),
    // The user has to see a custom scheme.
    scheme: sender === "custom" ? null : scheme,
  };
  const changed = new Set<Field>();
  for (const { saved, credentials } of Object.values(sections)) {
    for (const field of saved) {
      if (isUsed(field, values) && !isSame(values[field], before[field])) changed.add(field);
    }
    for (const name of credentials) if (knownCredential(name) !== undefined && isUsed(name, values)) changed.add(name);
  }
  return changed;
}

// The section *Message*.

export function prepareMessage(node: WebhookNode): void {
  prepareBox(node, "returnQueryParams");
  prepareBox(node, "rawBody");
}

/** Shows the message of a test request. */
export function showPicture(): void {
  const payload = isTicked("returnQueryParams") ? { body: testBody, query: {} } : testBody;
  const picture = $("#webhook-trigger-picture").toggle(!isEnvironmentValue(fieldValue("returnQueryParams")));
  const lines = [`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`];
  if (isTicked("rawBody")) lines.push(`msg.rawBody = Buffer.from(${JSON.stringify(testBody)})`);
  picture.text(lines.join("\n"));
}

function messageState(node: WebhookNode): string {
  const query = fieldValue("returnQueryParams");
  const raw = fieldValue("rawBody");
  const payload = node._(isTicked("returnQueryParams") ? "section.bodyAndQuery" : "section.body");
  const parts = [isEnvironmentValue(query) ? String(query) : payload];
  if (isTicked("rawBody")) parts.push(node._("section.rawBody"));
  else if (isEnvironmentValue(raw)) parts.push(String(raw));
  return parts.join(" · ");
}

// The section *Reply*.

/** Shows what the flow must do, and whether the body fits its type. */
export function showReply(node: WebhookNode): void {
  $("#webhook-trigger-hint-reply").text(inputValue("reply") === "flow" ? node._("hint.replyByFlow") : "");
  $("#webhook-trigger-note-json").toggle(isBrokenJson(inputValue("replyType"), inputValue("replyBody")));
}

/** RFC 6839 §3.1: types ending in +json. */
const jsonType = /^application\/json\b|^[^;]*\+json[\t ]*(?:;|$)/i;

/** @returns `false` also where it is empty or unknown */
function isBrokenJson(type: string, body: string): boolean {
  if (body === "" || isEnvironmentValue(body) || !jsonType.test(type)) return false;
  try {
    JSON.parse(body);
    return false;
  } catch {
    return true;
  }
}

function replyState(node: WebhookNode): string {
  const reply = fieldValue("reply");
  if (reply === "flow") return node._("section.byFlow", { seconds: inputValue("replyTimeout") });
  return reply === "now" ? node._("section.atOnce", { status: inputValue("replyStatus") }) : String(reply);
}

// The section *Limits*.

export function prepareLimits(): void {
  $("#webhook-trigger-section-limits .webhook-trigger-note a").attr("href", docsUrl("replies.md#behind-a-proxy"));
}

/** A limit from the environment counts. */
export function hasLimit(): boolean {
  return inputValue("allowFrom").trim() !== "" || !/^0*$/.test(inputValue("rateLimit"));
}

/** Whether there is a limit by address, and all requests came from this computer. */
function isOnlyLocal(): boolean {
  return hasLimit() && learnt().hasOnlyLoopback === true;
}

/** Whether there is a limit by address, and senders can claim any address. */
function isForgeable(): boolean {
  return hasLimit() && learnt().trustsEveryProxy === true;
}

/** Warns of an unknown proxy, and of trusting every proxy. */
export function showLimits(): void {
  $("#webhook-trigger-note-loopback").toggle(isOnlyLocal());
  $("#webhook-trigger-note-forgeable").toggle(isForgeable());
}

function limitsState(node: WebhookNode): string {
  const parts = [listAddresses(node, inputValue("allowFrom")), describeRate(node, inputValue("rateLimit"))];
  const hours = inputValue("alertWhenSilent");
  if (Number(hours) !== 0) parts.push(node._("section.expected", { hours }));
  if (isOnlyLocal()) parts.push(node._("section.onlyLocal"));
  if (isForgeable()) parts.push(node._("section.forgeable"));
  return parts.join(", ");
}

function listAddresses(node: WebhookNode, list: string): string {
  if (isEnvironmentValue(list)) return list;
  const { length } = parseBlocks(list) ?? [];
  if (length === 0) return node._("section.anyAddress");
  return length === 1 ? list.replace(/[\s,]/g, "") : node._("section.addresses", { count: String(length) });
}

function describeRate(node: WebhookNode, rate: string): string {
  return Number(rate) === 0 ? node._("section.noRate") : node._("section.rate", { rate });
}
