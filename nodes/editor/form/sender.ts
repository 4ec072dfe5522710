// Who sends: the list to choose from, and what a choice fills in.

import type { NodeReport } from "../../../src/admin/node-health";
import { isSenderId, type SenderId, senderIds, senders } from "../../../src/auth/senders/table";
import { defaults, type SavedFields } from "../../../src/config/fields";
import { hashes, text } from "../../../src/config/rules";
import { dropGenerated, enterMissing } from "./credentials";
import {
  fieldValue,
  form,
  input,
  inputValue,
  isSame,
  savedValues,
  schemeText,
  findSender,
  settingText,
  showUnlisted,
  type WebhookNode,
} from "./fields";

/** Those that most people look for. */
const wellKnown = ["github", "gitlab", "gitlab-signed", "stripe", "shopify", "slack", "standard-webhooks"] as const;
const custom: SenderId = "custom";

/** What a sender's choice says of the other fields. */
type Preset = Partial<Pick<SavedFields, "verificationMethod" | "headerParameter">>;

/** What a sender fills in; nothing of one that is not known. */
export function getPreset(id: string): Preset {
  const { verificationMethod, headerParameter } = defaults;
  if (id === "") return { verificationMethod, headerParameter };
  const sender = findSender(id);
  if (!sender) return {};
  const [header] = sender.scheme.sig.headers;
  if (sender.scheme.alg === "token" && header !== undefined) {
    return { verificationMethod: "header", headerParameter: header };
  }
  return { verificationMethod: "signature" };
}

export function prepareSender(node: WebhookNode): void {
  const { sender } = savedValues(node);
  const rest = senderIds
    .filter((id) => id !== custom && !wellKnown.some((known) => known === id))
    .sort((one, other) => senders[one].name.localeCompare(senders[other].name));
  const group = (label: string, ids: readonly SenderId[]) =>
    $("<optgroup>", { label }).append(ids.map((id) => new Option(senders[id].name, id)));
  input("sender")
    .append(new Option(node._("sender.any"), ""), group(node._("sender.wellKnown"), wellKnown))
    .append(group(node._("sender.others"), rest), new Option(node._("sender.custom"), custom));
  // An unknown one stays until somebody chooses another.
  showUnlisted("sender", sender);
  let filledIn = sender;
  let ofAnySender = getPreset("");
  input("sender").on("input change", () => {
    const chosen = inputValue("sender");
    // A choice makes two events.
    if (chosen === filledIn) return;
    if (filledIn === "") {
      const [verificationMethod, headerParameter] = [inputValue("verificationMethod"), inputValue("headerParameter")];
      ofAnySender = { verificationMethod, headerParameter };
    }
    filledIn = chosen;
    fillIn(node, chosen === "" ? ofAnySender : getPreset(chosen));
  });
  prepareSettings(node);
}

/** Takes over what is known of the sender. */
function fillIn(node: WebhookNode, { verificationMethod, headerParameter }: Preset): void {
  const id = inputValue("sender");
  if (verificationMethod !== undefined) input("verificationMethod").val(verificationMethod);
  if (headerParameter !== undefined) input("headerParameter").val(headerParameter);
  if (id === custom && inputValue("scheme") === "") input("scheme").val(schemeText(senders.custom.scheme));
  if (id !== custom && !findSender(id)?.secretIsChosen) dropGenerated("secret");
  enterMissing(node);
}

/** Has another sender chosen, as by hand. */
export function chooseSender(id: SenderId): void {
  input("sender").val(id).trigger("change").trigger("focus");
}

/** The settings that a sender may have are saved in one property, which Node-RED does not fill in by itself. */
function prepareSettings(node: WebhookNode): void {
  const { senderSettings } = savedValues(node);
  input("alg").append(new Option(node._("alg.preset"), ""), ...hashes.map((hash) => new Option(hash)));
  for (const name of ["publicUrl", "signatureHeader", "timestampHeader", "topicUrl", "alg", "arm"] as const) {
    const value = senderSettings[name];
    if (name === "arm") input(name).prop("checked", settingText(value) === "true");
    else input(name).val(text(value));
    showUnlisted(name, value);
  }
}

/** Shows in each setting what holds while it is empty. */
export function showSettings(publicUrl: string): void {
  const { headers, ts } = { headers: [], ts: null, ...schemeParts(inputValue("sender")) };
  input("publicUrl").attr("placeholder", publicUrl);
  input("signatureHeader").attr("placeholder", headers[0] ?? "");
  input("timestampHeader").attr("placeholder", ts?.source.replace(/^header:/, "") ?? "");
  // A secret that is there is the sender's already.
  if (inputValue("secret") !== "" && fieldValue("arm") === false) input("arm").closest(".form-row").hide();
}

function schemeParts(id: string) {
  const sender = findSender(id);
  return sender && { headers: sender.scheme.sig.headers, ts: "ts" in sender.scheme ? sender.scheme.ts : null };
}

// How a sender signs that nobody knows yet: written by its user, most easily after one that is known.

export function prepareScheme(node: WebhookNode): void {
  const text = input("scheme").val(schemeText(savedValues(node).scheme));
  const ids = senderIds.filter((id) => id !== "custom");
  const sorted = ids.sort((one, other) => senders[one].name.localeCompare(senders[other].name));
  const choice = $("#webhook-trigger-schemeOf");
  choice.append(new Option(node._("scheme.choose"), ""), ...sorted.map((id) => new Option(senders[id].name, id)));
  choice.on("change", () => {
    const id = choice.val();
    if (isSenderId(id)) text.val(schemeText(senders[id].scheme)).trigger("change");
  });
}

// What the runtime has told the open form of its node, as far as it bears on what fields mean.

type Learnt = Pick<NodeReport, "hasOnlyLoopback" | "trustsEveryProxy" | "withoutKey">;

/** Happens to the form when it has come to know something of the node. */
export const learntEvent = "webhook-trigger-learnt";

const learntData = "learnt";
const nothing: Learnt = { hasOnlyLoopback: false, trustsEveryProxy: false, withoutKey: 0 };

export function learnt(): Learnt {
  return (form().data(learntData) as Learnt | undefined) ?? nothing;
}

/** @param standing nothing of a node that is not deployed */
export function learn(standing: NodeReport | undefined): void {
  const { hasOnlyLoopback = false, trustsEveryProxy = false, withoutKey } = standing ?? nothing;
  const news: Learnt = { hasOnlyLoopback, trustsEveryProxy, withoutKey };
  if (!isSame(news, learnt())) form().data(learntData, news).trigger(learntEvent);
}
