// The list of senders, and what a choice fills in.

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

/** The most frequent senders. */
const wellKnown = ["github", "gitlab", "gitlab-signed", "stripe", "shopify", "slack", "standard-webhooks"] as const;
const custom: SenderId = "custom";

/** What a choice fills in. */
type Preset = Partial<Pick<SavedFields, "verificationMethod" | "headerParameter">>;

/** Empty for an unknown sender. */
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
  // An unknown sender stays until another is chosen.
  showUnlisted("sender", sender);
  let filledIn = sender;
  let ofAnySender = getPreset("");
  input("sender").on("input change", () => {
    const chosen = inputValue("sender");
    // A choice triggers two events.
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

function fillIn(node: WebhookNode, { verificationMethod, headerParameter }: Preset): void {
  const id = inputValue("sender");
  if (verificationMethod !== undefined) input("verificationMethod").val(verificationMethod);
  if (headerParameter !== undefined) input("headerParameter").val(headerParameter);
  if (id === custom && inputValue("scheme") === "") input("scheme").val(schemeText(senders.custom.scheme));
  if (id !== custom && !findSender(id)?.secretIsChosen) dropGenerated("secret");
  enterMissing(node);
}

export function chooseSender(id: SenderId): void {
  input("sender").val(id).trigger("change").trigger("focus");
}

/** The settings are saved as one property, which Node-RED does not fill in. */
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

/** Shows defaults as placeholders. */
export function showSettings(publicUrl: string): void {
  const { headers, ts } = { headers: [], ts: null, ...schemeParts(inputValue("sender")) };
  input("publicUrl").attr("placeholder", publicUrl);
  input("signatureHeader").attr("placeholder", headers[0] ?? "");
  input("timestampHeader").attr("placeholder", ts?.source.replace(/^header:/, "") ?? "");
  // The secret is there already.
  if (inputValue("secret") !== "" && fieldValue("arm") === false) input("arm").closest(".form-row").hide();
}

function schemeParts(id: string) {
  const sender = findSender(id);
  return sender && { headers: sender.scheme.sig.headers, ts: "ts" in sender.scheme ? sender.scheme.ts : null };
}

// Custom schemes, copied from a known sender.

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

// What the runtime has reported about the node.

type Learnt = Pick<NodeReport, "hasOnlyLoopback" | "trustsEveryProxy" | "withoutKey">;

/** Triggered when the runtime has reported something new. */
export const learntEvent = "webhook-trigger-learnt";

const learntData = "learnt";
const nothing: Learnt = { hasOnlyLoopback: false, trustsEveryProxy: false, withoutKey: 0 };

export function learnt(): Learnt {
  return (form().data(learntData) as Learnt | undefined) ?? nothing;
}

/** @param standing missing where the node is not deployed */
export function learn(standing: NodeReport | undefined): void {
  const { hasOnlyLoopback = false, trustsEveryProxy = false, withoutKey } = standing ?? nothing;
  const news: Learnt = { hasOnlyLoopback, trustsEveryProxy, withoutKey };
  if (!isSame(news, learnt())) form().data(learntData, news).trigger(learntEvent);
}
