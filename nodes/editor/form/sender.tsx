// The list of senders, and what a choice fills in.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { usesCertificate } from "../../../src/auth/senders/sender";
import { defaults, type SavedFields, withDefaults } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/values";
import {
  findJwtPreset,
  findRecipe,
  findSender,
  fullName,
  isKnownId,
  isRecipeId,
  type KnownId,
  listAliases,
  recipeIds,
  senderIds,
  senders,
  shortName,
} from "../../../src/auth/senders/table";
import { text } from "../deliveries/texts";
import { updateText } from "../node-red";
import { enterMissing, removeGenerated } from "./credentials";
import {
  findRow,
  form,
  type FormState,
  formatScheme,
  input,
  inputValue,
  knownPublicUrl,
  operatorDefaults,
  readForm,
  showElement,
  tickMethods,
  type WebhookNode,
} from "./form-state";
import { DocsLink, draw } from "./parts";

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
  const sender = findSender(id);
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
  let previous = withDefaults(node).sender;
  // What a choice has replaced comes back with the next one.
  let replaced = pickReplaced(previous, { ...defaults, ...operatorDefaults(), ...getPreset("") });
  input("sender").on("input change", () => {
    const chosen = inputValue("sender");
    // A choice triggers two events.
    if (chosen === previous) return;
    // A new node is told apart by its sender, as long as it has no other name.
    const label = [shortName(previous), ""].includes(inputValue("name")) ? shortName(chosen) : undefined;
    if (form().data(isNew) && label !== undefined) input("name").val(label);
    previous = chosen;
    // Who that is, is not known.
    const restored = isEnvironmentValue(chosen) ? {} : replaced;
    const entered = { ...readForm(node).values, ...restored };
    fillIn(node, { ...restored, ...(chosen === "" ? {} : getPreset(chosen)) });
    if (!isEnvironmentValue(chosen)) replaced = pickReplaced(chosen, entered);
  });
}

/** The values of the fields that a choice fills in. */
function pickReplaced(chosen: string, values: Required<Preset>): Preset {
  const fields = chosen === "" ? [] : (Object.keys(getPreset(chosen)) as (keyof Preset)[]);
  return Object.fromEntries(fields.map((field) => [field, values[field]]));
}

const searchId = "webhook-trigger-search";

/** Shows the chosen sender, and finds others by their names: a combobox with its list (WAI-ARIA Authoring Practices). */
function SenderPicker({ values, broken }: FormState) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(0);
  const option = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => option.current?.scrollIntoView({ block: "nearest" }), [isOpen, active]);

  const groups = isOpen ? findSenders(typed) : [];
  const found = groups.flatMap(({ ids }) => ids);
  const open = () => {
    setOpen(true);
    const all = findSenders().flatMap(({ ids }) => ids);
    setActive(
      Math.max(
        0,
        all.findIndex((id) => id === values.sender),
      ),
    );
  };
  const choose = (id: string | undefined) => {
    setOpen(false);
    setTyped(undefined);
    if (id !== undefined) input("sender").val(id).trigger("change");
  };
  /** The list does not have it. */
  const entered = isEnvironmentValue(typed) ? typed : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && !isOpen) open();
    else if (step !== undefined) setActive(Math.min(Math.max(active + step, 0), found.length - 1));
    else if (event.key === "Enter" && isOpen && !event.ctrlKey && !event.metaKey) choose(found[active] ?? entered);
    else if (event.key === "Escape" && isOpen) choose(undefined);
    else return;
    event.preventDefault();
    // Node-RED would close the form.
    event.stopPropagation();
  };
  const optionOf = (id: KnownId | "") => {
    const isActive = id === found[active];
    return (
      <div
        key={id}
        id={`webhook-trigger-sender-${id}`}
        class={isActive ? "active" : ""}
        ref={isActive ? option : null}
        role="option"
        aria-selected={id === values.sender}
        data-value={id}
        onClick={() => choose(id)}
      >
        {nameSender(id)}
      </div>
    );
  };
  return (
    <div class="webhook-trigger-picker">
      <input
        type="text"
        id={searchId}
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls="webhook-trigger-senders"
        aria-activedescendant={found.length > 0 ? `webhook-trigger-sender-${found[active]}` : undefined}
        aria-invalid={broken.has("sender")}
        aria-describedby="webhook-trigger-message-sender webhook-trigger-found webhook-trigger-hint-sender"
        placeholder={text("sender.search")}
        value={typed ?? nameSender(values.sender)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onClick={({ currentTarget }) => {
          if (isOpen) return;
          currentTarget.select();
          open();
        }}
        onInput={(event) => {
          // The form has not changed.
          event.stopPropagation();
          setOpen(true);
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onChange={(event) => event.stopPropagation()}
        onBlur={() => choose(entered)}
        onKeyDown={onKeyDown}
      />
      {found.length > 0 && (
        // The field keeps the focus.
        <div
          id="webhook-trigger-senders"
          class="webhook-trigger-senders"
          role="listbox"
          aria-label={text("label.sender")}
          onMouseDown={(event) => event.preventDefault()}
        >
          {groups.map(({ label, ids }) =>
            label === undefined ? (
              ids.map(optionOf)
            ) : (
              <div key={label} role="group" aria-label={label}>
                <div role="presentation">{label}</div>
                {ids.map(optionOf)}
              </div>
            ),
          )}
        </div>
      )}
      <div class="webhook-trigger-hint" id="webhook-trigger-found" role="status">
        {typed !== undefined && text("sender.found", { count: String(found.length) })}
      </div>
    </div>
  );
}

/** The senders that have a text in one of their names. */
function findSenders(search = "") {
  const isFound = (name: string) => name.toLowerCase().includes(search.trim().toLowerCase());
  const groups: { readonly label?: string; readonly ids: readonly (KnownId | "")[] }[] = [
    { ids: [""] },
    { label: text("sender.wellKnown"), ids: wellKnown },
    { label: text("sender.others"), ids: otherIds },
    { ids: ["custom"] },
  ];
  return groups
    .map(({ ids, ...group }) => ({
      ...group,
      ids: ids.filter((id) => [nameSender(id), ...listAliases(id)].some(isFound)),
    }))
    .filter(({ ids }) => ids.length > 0);
}

/** An unknown sender, or an environment variable, stays as it is. */
export function nameSender(id: string): string {
  const described: Partial<Record<string, string>> = { "": "any", "shared-secret": "sharedSecret", custom: "custom" };
  const key = described[id];
  if (key !== undefined) return text(`sender.${key}`);
  return isKnownId(id) ? fullName(id) : id;
}

const isNew = "is-new";

/** Fills in what the operator's default of the sender brings with it, and missing credentials. */
export function fillInNew(node: WebhookNode): void {
  form().data(isNew, true);
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
  const isUserOpen = inputValue("user") === "" && inputValue("callers") === "";
  if (isRecipeId(id) && isUserOpen && preset.verificationMethod === "basic") input("user").val(id);
  if (id === "custom" && inputValue("scheme") === "") input("scheme").val(formatScheme(senders.custom.scheme));
  const sender = findSender(id);
  if (!sender?.secretIsChosen) removeGenerated("secret");
  if (sender?.settings?.includes("arm") && inputValue("secret") === "") input("arm").prop("checked", true);
  enterMissing(node);
}

export function showSender(state: FormState): void {
  draw("sender", <SenderPicker {...state} />);
  draw("hint-sender", <Where {...state} />);
  showSettings(state);
}

/**
 * Where in its own pages a sender without a signature is given the values, and the documentation of one that has neither
 * a token nor a secret: those have it below them.
 */
function Where({ values, sender }: FormState) {
  const recipe = findRecipe(values.sender);
  const name = shortName(values.sender);
  const hasOwnKey = findJwtPreset(values.sender)?.keySource === "jwks" || (sender && usesCertificate(sender.scheme));
  const docs = recipe?.docs ?? (hasOwnKey ? sender?.docs : undefined);
  if (docs === undefined) return null;
  return (
    <>
      {recipe && text("sender.where", { name, where: recipe.where })}{" "}
      <DocsLink href={docs}>{text("secret.docs", { name })}</DocsLink>
    </>
  );
}

export function chooseSender(id: KnownId | ""): void {
  input("sender").val(id).trigger("change");
  $(`#${searchId}`).trigger("focus");
}

/** Shows defaults as placeholders. */
function showSettings({ values, credentials, used, sender }: FormState): void {
  const scheme = sender?.scheme;
  const isSecret = scheme?.alg === "token";
  updateText(
    findRow("signatureHeader").find("label span"),
    text(isSecret ? "label.headerParameter" : "label.signatureHeader"),
  );
  updateText($("#webhook-trigger-hint-signatureHeader"), text(isSecret ? "hint.secretHeader" : "hint.signatureHeader"));
  // Nothing is signed.
  const method = values.sender === "shared-secret" ? "sender.sharedSecret" : "verificationMethod.signature";
  updateText(input("verificationMethod").find("[value=signature]"), text(method));
  input("publicUrl").attr("placeholder", knownPublicUrl(values));
  input("signatureHeader").attr("placeholder", scheme?.sig.headers[0] ?? "");
  input("timestampHeader").attr("placeholder", scheme?.ts?.source.replace(/^header:/, "") ?? "");
  // The secret is there already.
  showElement(findRow("arm"), used.has("arm") && (credentials.secret === "" || Boolean(values.senderSettings.arm)));
}
