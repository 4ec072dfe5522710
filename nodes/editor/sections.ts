// The closed sections of the form: what they hold is in their headings, and what needs a look opens them.

import {
  type CredentialName,
  defaults,
  type SavedFields,
  type TokenMethod,
  placementField,
} from "../../src/config/fields";
import { brokenRules, isUsed } from "./checks";
import { knownCredential } from "./credentials";
import { shortName } from "../../src/trust/senders/table";
import { guaranteedState } from "./guaranteed";
import { isSame, savedValues, valuesInForm, type Field, type WebhookNode } from "./fields";
import { limitsState } from "./limits";
import { messageState } from "./message";
import { duplicatesState } from "./duplicates";
import { replyState } from "./reply";
import { presetOf } from "./sender";
import { lineState } from "./terminal";

type Section = "verification" | "message" | "reply" | "duplicates" | "limits" | "guaranteed" | "terminal";

/** The fields of each section, and what it holds, in a few words. */
const sections: Record<
  Section,
  {
    saved: readonly (keyof SavedFields & Field)[];
    credentials: readonly CredentialName[];
    state: (node: WebhookNode) => string;
  }
> = {
  verification: {
    saved: ["verificationMethod", "headerParameter", "queryParameter", "scheme"],
    credentials: ["secondToken", "secondSecret"],
    state: verificationOf,
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
const names = Object.keys(sections) as Section[];

/** What each node had when it was last seen without a change. */
const deployed = new WeakMap<WebhookNode, SavedFields>();

export function prepareSections(node: WebhookNode): void {
  if (!node.changed) deployed.set(node, savedValues(node));
  for (const name of names) {
    headingOf(name).on("click", () => setOpen(name, !isOpen(name)));
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
    const heading = headingOf(name);
    // One that its user has closed is left alone.
    if (needsLook && heading.data(lookData) !== true) setOpen(name, true);
    heading.data(lookData, needsLook);
    const place = $(`#webhook-trigger-state-${name}`).toggleClass("webhook-trigger-broken", isBroken);
    place.text(isBroken ? node._("section.broken") : state(node));
    if (isBroken) place.prepend($("<i>", { class: "fa fa-exclamation-triangle" }));
  }
}

const lookData = "needs-look";

function headingOf(name: Section): JQuery {
  return $(`#webhook-trigger-heading-${name}`);
}

function isOpen(name: Section): boolean {
  return headingOf(name).attr("aria-expanded") === "true";
}

function setOpen(name: Section, open: boolean): void {
  headingOf(name).attr("aria-expanded", String(open));
  headingOf(name)
    .children("i")
    .attr("class", `fa fa-fw ${open ? "fa-angle-down" : "fa-angle-right"}`);
  $(`#webhook-trigger-section-${name}`).toggle(open);
}

function verificationOf(node: WebhookNode): string {
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
    ...presetOf(sender),
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
