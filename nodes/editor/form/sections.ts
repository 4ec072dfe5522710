// The closed sections of the form: what they hold is in their headings, and what needs a look opens them.

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

/** The fields of each section, and what it holds, in a few words. */
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

/** What each node had when it was last seen without a change. */
const deployed = new WeakMap<WebhookNode, SavedFields>();

export function prepareSections(node: WebhookNode): void {
  if (!node.changed) deployed.set(node, savedValues(node));
  for (const name of names) {
    composeHeading(name).on("click", () => setOpen(name, !isOpen(name)));
    setOpen(name, false);
  }
}

/** Says in the headings what the sections hold, and opens those that have come to need a look. */
export function showSections(node: WebhookNode): void {
  const broken = brokenRules(node);
  const changed = changedFields(node);
  for (const name of names) {
    const { saved, credentials, state } = sections[name];
    const isBroken = [...saved, ...credentials].some((field) => broken.has(field));
    const needsLook = isBroken || [...saved, ...credentials].some((field) => changed.has(field));
    const heading = composeHeading(name);
    // One that its user has closed is left alone.
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

/** The fields that hold something else than what is deployed; of a new node, than what its sender fills in. */
function changedFields(node: WebhookNode): Set<Field> {
  const values = valuesInForm(node);
  const { sender, scheme } = values;
  const before = deployed.get(node) ?? {
    ...defaults,
    ...getPreset(sender),
    // Whoever describes a sender has to look at it.
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

// What the flow will get of a request.

export function prepareMessage(node: WebhookNode): void {
  prepareBox(node, "returnQueryParams");
  prepareBox(node, "rawBody");
}

/** Shows the message that a test request becomes. */
export function showPicture(): void {
  const payload = isTicked("returnQueryParams") ? { body: testBody, query: {} } : testBody;
  const picture = $("#webhook-trigger-picture").toggle(!isEnvironmentValue(fieldValue("returnQueryParams")));
  const lines = [`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`];
  if (isTicked("rawBody")) lines.push(`msg.rawBody = Buffer.from(${JSON.stringify(testBody)})`);
  picture.text(lines.join("\n"));
}

/** What the heading says of the message. */
function messageState(node: WebhookNode): string {
  const query = fieldValue("returnQueryParams");
  const raw = fieldValue("rawBody");
  const payload = node._(isTicked("returnQueryParams") ? "section.bodyAndQuery" : "section.body");
  const parts = [isEnvironmentValue(query) ? String(query) : payload];
  if (isTicked("rawBody")) parts.push(node._("section.rawBody"));
  else if (isEnvironmentValue(raw)) parts.push(String(raw));
  return parts.join(" · ");
}

// Who answers the caller, and what it is told.

/** Says what the flow has to do where it answers, and whether the body is what its type says. */
export function showReply(node: WebhookNode): void {
  $("#webhook-trigger-hint-reply").text(inputValue("reply") === "flow" ? node._("hint.replyByFlow") : "");
  $("#webhook-trigger-note-json").toggle(isBrokenJson(inputValue("replyType"), inputValue("replyBody")));
}

/** RFC 6839 §3.1: types whose name ends in +json are JSON as well. */
const jsonType = /^application\/json\b|^[^;]*\+json[\t ]*(?:;|$)/i;

/** @returns false as well where there is nothing, or only the runtime knows it */
function isBrokenJson(type: string, body: string): boolean {
  if (body === "" || isEnvironmentValue(body) || !jsonType.test(type)) return false;
  try {
    JSON.parse(body);
    return false;
  } catch {
    return true;
  }
}

/** What the heading says of the reply. */
function replyState(node: WebhookNode): string {
  const reply = fieldValue("reply");
  if (reply === "flow") return node._("section.byFlow", { seconds: inputValue("replyTimeout") });
  return reply === "now" ? node._("section.atOnce", { status: inputValue("replyStatus") }) : String(reply);
}

// Who may send, and how often; and how often they are expected to.

export function prepareLimits(): void {
  $("#webhook-trigger-section-limits .webhook-trigger-note a").attr("href", docsUrl("replies.md#behind-a-proxy"));
}

/** Whether there is a limit; what comes from the environment may be one. */
export function hasLimit(): boolean {
  return inputValue("allowFrom").trim() !== "" || !/^0*$/.test(inputValue("rateLimit"));
}

/** Whether there is a limit by address, and Node-RED has seen no other address than this computer's own. */
function isOnlyLocal(): boolean {
  return hasLimit() && learnt().hasOnlyLoopback === true;
}

/** Whether there is a limit by address, and any sender can claim any address. */
function isForgeable(): boolean {
  return hasLimit() && learnt().trustsEveryProxy === true;
}

/** Warns of a proxy that Node-RED may not be told of, and of proxies that it must not trust. */
export function showLimits(): void {
  $("#webhook-trigger-note-loopback").toggle(isOnlyLocal());
  $("#webhook-trigger-note-forgeable").toggle(isForgeable());
}

/** What the heading says of the limits. */
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
