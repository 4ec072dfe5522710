// Tokens and secrets in the form.

import type { ComponentChild } from "preact";
import { findRecipe, shortName } from "../../../src/auth/senders/table";
import { type CredentialName, credentialNames, credentials, rules, tokenLength } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/values";
import { text } from "../deliveries/texts";
import { toBase64 } from "../shell";
import {
  form,
  type FormState,
  input,
  inputValue,
  keptPassword,
  readForm,
  updateEvent,
  type WebhookNode,
} from "./form-state";
import { DocsLink, draw, IconButton, Note } from "./parts";

type PasswordName = Exclude<CredentialName, "user" | "callers">;
/** Node-RED shows texts again. */
const passwordNames = credentialNames.filter((name): name is PasswordName => credentials[name].type === "password");

/** Whether a credential is neither missing nor saved. */
function isNewCredential(value: string): boolean {
  return value !== "" && value !== keptPassword;
}

/** A new credential that is no environment variable and breaks no rule. */
export function credentialToGive({ credentials }: FormState, name: CredentialName): string | undefined {
  const value = credentials[name];
  if (!isNewCredential(value) || isEnvironmentValue(value)) return undefined;
  return name === "token" && rules.token(value) ? undefined : value;
}

// What becomes of credentials while a form is open.

/** Those with which it was opened. */
let opened: Partial<FormState["credentials"]> = {};
/** Those that the user wants to see. */
const visible = new Set<CredentialName>();
const generated = new Map<CredentialName, string>();

export function prepareCredentials(node: WebhookNode): void {
  opened = readForm(node).credentials;
  visible.clear();
  generated.clear();
  for (const name of passwordNames) {
    // A saved one can only be replaced.
    input(name).on("focus", () => inputValue(name) === keptPassword && input(name).trigger("select"));
  }
}

export function isCredentialChanged({ credentials }: FormState, name: CredentialName): boolean {
  return credentials[name] !== opened[name];
}

/** Only a new credential can be shown: the editor does not know saved ones. */
export function isShown({ credentials }: FormState, name: CredentialName): boolean {
  return visible.has(name) && isNewCredential(credentials[name]);
}

/** Enters a credential that the user has to copy. */
export function enterCredential(name: CredentialName, value: string): void {
  visible.add(name);
  generated.set(name, value);
  input(name).val(value).trigger("change");
}

/** Removes a generated credential: the sender that is chosen now has its own. */
export function removeGenerated(name: CredentialName): void {
  const value = inputValue(name);
  if (value !== "" && value === generated.get(name)) input(name).val("").trigger("change");
}

/** Generates missing credentials that the user chooses. */
export function enterMissing(node: WebhookNode): void {
  const { used, credentials, sender } = readForm(node);
  const chosen: CredentialName[] = ["verifyToken"];
  if (sender?.secretIsChosen) chosen.push("secret");
  // Callers have their own.
  if (credentials.callers === "") chosen.push("token", "password");
  for (const name of chosen) {
    if (used.has(name) && credentials[name] === "") enterCredential(name, generateToken());
  }
}

/** 30 random bytes are exactly 40 characters of base64url (RFC 4648 §5). */
function generateToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array((tokenLength * 3) / 4));
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_");
}

/** Random, and no secret. */
export function generatePath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `/hook-${Array.from(bytes, (byte) => (byte % 36).toString(36)).join("")}`;
}

// The buttons of credentials, and hints about them.

export function showCredentials(state: FormState): void {
  for (const name of passwordNames) {
    // The next one may be a secret of the sender.
    if (state.credentials[name] === "") visible.delete(name);
    input(name).attr("type", isShown(state, name) ? "text" : "password");
    draw(`buttons-${name}`, <CredentialButtons {...{ state, name }} />);
  }
  const { credentials, onlyCallers, values } = state;
  const name = shortName(values.sender);
  const docs = name !== "" && state.sender && (
    <DocsLink href={state.sender.docs}>{text("secret.docs", { name })}</DocsLink>
  );
  const unneeded = onlyCallers ? text("callers.only") : "";
  const hint = (of: CredentialName) => (credentials[of] === keptPassword ? text("credential.kept") : unneeded);
  draw("hint-token", withDocs(hint("token") || composeTokenHint(state, name), docs));
  draw("hint-password", hint("password"));
  draw("hint-secret", withDocs(hint("secret") || composeSecretHint(state, name), docs));
  draw("doubt", <Note id="note-secret" text={describeDoubt(state)} />);
}

function CredentialButtons({ state, name }: { readonly state: FormState; readonly name: PasswordName }) {
  const { credentials } = state;
  const isVisible = isShown(state, name);
  const isSecret = name === "secret" || name === "secondSecret";
  const toggle = () => {
    if (!visible.delete(name)) visible.add(name);
    // The box *Give this to the sender* shows it, too.
    form().trigger(updateEvent);
  };
  return (
    <>
      <IconButton
        id={`${name}-show`}
        icon={isVisible ? "eye-slash" : "eye"}
        label={text(isVisible ? "credential.hide" : "credential.show", { name: text(`label.${name}`) })}
        isDisabled={!isNewCredential(credentials[name])}
        onClick={toggle}
      />
      {(!isSecret || isOurs(classifySecret(state))) && (
        <button
          type="button"
          class="red-ui-button"
          id={`webhook-trigger-${name}-make`}
          onClick={() => enterCredential(name, generateToken())}
        >
          {text(`make.${isSecret ? "secret" : name}`)}
        </button>
      )}
    </>
  );
}

function withDocs(hint: string, docs: ComponentChild) {
  return (
    (hint !== "" || docs) && (
      <>
        {hint} {docs}
      </>
    )
  );
}

function composeSecretHint(state: FormState, name: string): string {
  const { sender } = state;
  const { secretBegins: begins, where } = sender ?? {};
  const hints = [text(`secret.${classifySecret(state)}`, { name })];
  if (name !== "" && where) hints.push(text("sender.where", { name, where }));
  if (name !== "" && begins) hints.push(text("secret.begins", { begins }));
  return hints.join(" ");
}

function composeTokenHint(state: FormState, name: string): string {
  const { values, credentials } = state;
  // A copied or imported node has lost its token.
  if (credentials.token === "" && !isCredentialChanged(state, "token")) return text("token.lost");
  // A recipe says more, below the list.
  return name === "" || findRecipe(values.sender) ? "" : text("secret.chosen", { name });
}

/** Says why a new secret is hardly the sender's; empty where it may be. */
function describeDoubt(state: FormState): string {
  const { sender } = state;
  const secret = credentialToGive(state, "secret");
  if (secret === undefined) return "";
  if (secret.trim() !== secret) return text("whyNot.secretBlank");
  const { secretBegins: prefix, scheme } = sender ?? {};
  // What is no part of the key may be left out.
  if (prefix === undefined || [scheme?.key.strip].flat().includes(prefix) || secret.startsWith(prefix)) return "";
  return text("whyNot.secretPrefixMissing", { prefix });
}

type SecretKind = "chosen" | "anyLength" | "shown" | "publicKey" | "brought" | "shared";

/** Where the secret comes from: a key under `secret` in the message catalog. */
function classifySecret({ values, sender }: FormState): SecretKind {
  if (!sender || values.sender === "custom") return "shared";
  if (values.sender === "shared-secret") return "anyLength";
  if (sender.settings?.includes("arm")) return "brought";
  if (sender.secretIsChosen) return "chosen";
  return sender.scheme.key.format === "utf8" || sender.scheme.alg.startsWith("hmac-") ? "shown" : "publicKey";
}

/** Whether the user may choose the secret. */
function isOurs(kind: SecretKind): boolean {
  return ["chosen", "anyLength", "shared"].includes(kind);
}
