// The list of senders, and what a choice fills in.

import { type Sender, usesCertificate } from "../../../src/auth/senders/sender";
import { defaults, hashes, type SavedFields, settingNames, withDefaults } from "../../../src/config/fields";
import { text } from "../../../src/config/values";
import {
  findJwtPreset,
  fullName,
  isKnownId,
  isRecipeId,
  isSenderId,
  type KnownId,
  listAliases,
  recipeIds,
  senderIds,
  senders,
  shortName,
} from "../../../src/auth/senders/table";
import { updateText } from "../node-red";
import { prepareCustom } from "./custom";
import { enterMissing, removeGenerated } from "./credentials";
import {
  findRecipe,
  findRow,
  findSender,
  type FormState,
  formatScheme,
  input,
  inputValue,
  knownPublicUrl,
  linkToDocs,
  operatorDefaults,
  readForm,
  showElement,
  showUnlisted,
  tickMethods,
  type WebhookNode,
} from "./form-state";

/** The most frequent senders. */
const wellKnown = [
  "github",
  "gitlab",
  "gitlab-signed",
  "stripe",
  "shopify",
  "slack",
  "standard-webhooks",
  "shared-secret",
] as const;

const byName = (one: KnownId, other: KnownId) => fullName(one).localeCompare(fullName(other));

/** All that sign or send a secret, by their names. */
const signingIds = senderIds.filter((id) => id !== "custom").sort(byName);
/** All but the most frequent ones, by their names. */
const otherIds = [...signingIds.filter((id) => !wellKnown.some((known) => known === id)), ...recipeIds].sort(byName);

/** What a choice fills in. */
type Preset = Partial<
  Pick<SavedFields, "verificationMethod" | "headerParameter" | "queryParameter" | "methods" | "replyBody">
>;

/** Empty for an unknown sender. */
export function getPreset(id: string): Preset {
  if (id === "") {
    const { verificationMethod: method, headerParameter } = { ...defaults, ...operatorDefaults() };
    // Only known senders sign.
    return { verificationMethod: method === "signature" ? defaults.verificationMethod : method, headerParameter };
  }
  const { headerParameter, queryParameter, methods } = defaults;
  const recipe = findRecipe(id);
  if (recipe) return { headerParameter, queryParameter, methods, ...recipe.fields };
  const sender: Sender | undefined = findSender(id);
  if (!sender) return {};
  if (findJwtPreset(id)) return { verificationMethod: "jwt" };
  const [header] = sender.scheme.sig.headers;
  // A shared secret may have any length, a token may not.
  if (sender.scheme.alg === "token" && header !== undefined && id !== "shared-secret") {
    return { verificationMethod: "header", headerParameter: header };
  }
  return { verificationMethod: "signature" };
}

export function prepareSender(node: WebhookNode): void {
  const { sender } = withDefaults(node);
  listSenders(node, sender);
  prepareSearch(node);
  let previous = sender;
  // What was entered before a choice filled it in: for any sender, and before a recipe.
  let enteredForAny = getPreset("");
  let enteredBeforeRecipe: Preset = { ...defaults, ...operatorDefaults() };
  input("sender").on("input change", () => {
    const chosen = inputValue("sender");
    // A choice triggers two events.
    if (chosen === previous) return;
    const { verificationMethod, headerParameter, queryParameter, methods, replyBody } = readForm(node).values;
    if (previous === "") enteredForAny = { verificationMethod, headerParameter };
    // What a recipe has filled in goes with it.
    const restored = findRecipe(previous) ? enteredBeforeRecipe : {};
    if (!findRecipe(previous)) enteredBeforeRecipe = { headerParameter, queryParameter, methods, replyBody };
    previous = chosen;
    fillIn(node, { ...restored, ...(chosen === "" ? enteredForAny : getPreset(chosen)) });
  });
  prepareSettings(node);
  prepareScheme(node);
}

/** Lists the senders that have a text in one of their names, and the chosen one. */
function listSenders(node: WebhookNode, chosen: string, search = ""): void {
  const find = (ids: readonly (KnownId | "")[]) => {
    const options = ids.map((id) => createOption(node, id));
    const isFound = (name: string) => name.toLowerCase().includes(search.toLowerCase());
    return options.filter(({ text, value }) => value === chosen || [text, ...listAliases(value)].some(isFound));
  };
  const group = (label: string, found: HTMLOptionElement[]) =>
    found.length === 0 ? $() : $("<optgroup>", { label }).append(found);
  const list = input("sender")
    .empty()
    .append(find([""]));
  list.append(group(node._("sender.wellKnown"), find(wellKnown)), group(node._("sender.others"), find(otherIds)));
  list.append(find(["custom"]));
  // An unknown sender stays until another is chosen.
  showUnlisted("sender", chosen);
}

function createOption(node: WebhookNode, id: KnownId | ""): HTMLOptionElement {
  const described = { "": "any", "shared-secret": "sharedSecret", custom: "custom" } as const;
  if (id === "" || id === "shared-secret" || id === "custom") return new Option(node._(`sender.${described[id]}`), id);
  return new Option(fullName(id), id);
}

/** The most lines of the list that are in sight while it is searched. */
const maxLines = 10;

/** While something is typed, the list is open. */
function prepareSearch(node: WebhookNode): void {
  const [search, list] = [searchField(), input("sender")];
  // The form has not changed.
  search.on("input change", (event) => event.stopPropagation());
  search.on("input", () => {
    const text = String(search.val()).trim();
    listSenders(node, inputValue("sender"), text);
    const lines = Math.min(list.find("option, optgroup").length, maxLines);
    // One line would be a closed list.
    list.attr("size", text === "" ? null : Math.max(lines, 2));
    const count = String(list.find("option").length);
    $("#webhook-trigger-found").text(text === "" ? "" : node._("sender.found", { count }));
  });
  search.on("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || search.val() === "") return;
    // It would open the closed list.
    event.preventDefault();
    const found = list.find("option:not(:checked)").first().val();
    if (found === "" || isKnownId(found)) chooseSender(found);
  });
  list.on("click keydown", (event) => {
    if (search.val() === "" || (event.type !== "click" && event.key !== "Enter")) return;
    event.preventDefault();
    endSearch();
  });
}

function searchField(): JQuery {
  return $("#webhook-trigger-search");
}

function endSearch(): void {
  searchField().val("").trigger("input");
}

/** Fills in what the operator's default of the sender brings with it, and missing credentials. */
export function fillInNew(node: WebhookNode): void {
  const { sender = "", ...others } = operatorDefaults();
  fillIn(node, { ...(sender === "" ? {} : getPreset(sender)), ...others });
}

function fillIn(node: WebhookNode, preset: Preset): void {
  const id = inputValue("sender");
  for (const field of ["verificationMethod", "headerParameter", "queryParameter", "replyBody"] as const) {
    const value = preset[field];
    if (value !== undefined) input(field).val(value);
  }
  if (preset.methods) tickMethods(preset.methods);
  // Any name is good, as long as the sender has the same one.
  if (isRecipeId(id) && inputValue("user") === "" && preset.verificationMethod === "basic") input("user").val(id);
  if (id === "custom") {
    if (inputValue("scheme") === "") input("scheme").val(formatScheme(senders.custom.scheme));
    $("#webhook-trigger-section-verification").prop("open", true);
  }
  if (!findSender(id)?.secretIsChosen) removeGenerated("secret");
  enterMissing(node);
}

/**
 * Where in its own pages a sender without a signature is given the values, and the documentation of one that has neither
 * a token nor a secret: those have it below them.
 */
export function showWhere({ node, values, sender }: FormState): void {
  const id = values.sender;
  const recipe = findRecipe(id);
  const hasOwnKey = findJwtPreset(id)?.keySource === "jwks" || (sender && usesCertificate(sender.scheme));
  const docs = recipe?.docs ?? (hasOwnKey ? sender?.docs : undefined);
  const hint = $("#webhook-trigger-hint-sender").empty();
  showElement(hint, docs !== undefined);
  if (docs === undefined) return;
  const name = shortName(id);
  const where = recipe ? `${node._("sender.where", { name, where: recipe.where })} ` : "";
  hint.text(where).append(linkToDocs(node, docs, name));
}

export function chooseSender(id: KnownId | ""): void {
  endSearch();
  input("sender").val(id).trigger("change").trigger("focus");
}

/** The settings are saved as one property, which Node-RED does not fill in. */
function prepareSettings(node: WebhookNode): void {
  const { senderSettings } = withDefaults(node);
  input("alg").append(new Option(node._("alg.preset"), ""), ...hashes.map((hash) => new Option(hash)));
  for (const name of settingNames) {
    const value = senderSettings[name];
    if (name === "arm") input(name).prop("checked", String(value) === "true");
    else input(name).val(text(value));
    showUnlisted(name, value);
  }
}

/** Shows defaults as placeholders. */
export function showSettings({ node, values, credentials, sender }: FormState): void {
  const scheme = sender?.scheme;
  const isSecret = scheme?.alg === "token";
  updateText(
    findRow("signatureHeader").find("label span"),
    node._(isSecret ? "label.headerParameter" : "label.signatureHeader"),
  );
  updateText(
    $("#webhook-trigger-hint-signatureHeader"),
    node._(isSecret ? "hint.secretHeader" : "hint.signatureHeader"),
  );
  input("publicUrl").attr("placeholder", knownPublicUrl(values));
  input("signatureHeader").attr("placeholder", scheme?.sig.headers[0] ?? "");
  input("timestampHeader").attr("placeholder", scheme?.ts?.source.replace(/^header:/, "") ?? "");
  // The secret is there already.
  if (credentials.secret !== "" && !values.senderSettings.arm) showElement(findRow("arm"), false);
}

/** Custom schemes can be copied from a known sender. */
function prepareScheme(node: WebhookNode): void {
  const scheme = input("scheme").val(formatScheme(withDefaults(node).scheme));
  const choice = $("#webhook-trigger-schemeOf");
  const copied = signingIds.filter((id) => !findJwtPreset(id) && !senders[id].scheme.alg.startsWith("code:"));
  choice.append(new Option(node._("scheme.choose"), ""), ...copied.map((id) => createOption(node, id)));
  choice.on("change", () => {
    const id = choice.val();
    if (isSenderId(id)) scheme.val(formatScheme(senders[id].scheme)).trigger("change");
  });
  prepareCustom(node);
}
