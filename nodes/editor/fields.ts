// The fields of the form, checked by the rules of the runtime.

import { placementField, type SavedFields, type VerificationMethod } from "../../src/config/fields";
import { adminRule, type Roots } from "../../src/config/roots";
import { type BrokenRule, isEnvironmentValue, rules } from "../../src/config/rules";
import type { Editor, EditorNode, Validator } from "./host";

declare const RED: Editor;

export type WebhookNode = EditorNode & SavedFields;
export type Field = keyof typeof rules;

/** What the editor shows in place of a password that is set: it does not know the password itself. */
export const keptPassword = "__PWRD__";

export function form(): JQuery {
  return $(".webhook-trigger-form");
}

export function input(field: Field | "name"): JQuery {
  return $(`#node-input-${field}`);
}

/** What a field of the open form holds. */
export function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** Checks a field by the rule that the runtime uses. */
export function validator(field: Field): Validator<SavedFields> {
  return function (value, _options) {
    const broken = brokenRule(this, field, value);
    return broken ? this._(`rules.${broken}`) : true;
  };
}

export function brokenRule(node: WebhookNode, field: Field, value: unknown): BrokenRule | undefined {
  if (isEnvironmentValue(value) || !isUsed(field, methodOf(node))) return undefined;
  if (field === "token" && value === keptPassword) return undefined;
  return rules[field](value) ?? (field === "relativePath" ? adminRule(String(value), roots()) : undefined);
}

/** The Verification Method of a node; while its form is open, the one that is chosen there. */
function methodOf(node: WebhookNode): string {
  return form().data("node") === node.id ? inputValue("verificationMethod") : node.verificationMethod;
}

/** Of the two parameter fields, only the one of the method is used; with an environment value it may be either. */
export function isUsed(field: Field, method: string): boolean {
  const parameters: Field[] = Object.values(placementField);
  if (!parameters.includes(field) || isEnvironmentValue(method)) return true;
  return field === placementField[method as VerificationMethod];
}

/** The editor knows `httpNodeRoot` as `/` even if it is `false`, so the runtime half of this node passes the roots on. */
export function roots(): Roots {
  return RED.settings.webhookTriggerRoots;
}

/** A select and a checkbox cannot show `${NAME}`: the select gets an option for it, the checkbox becomes a text field. */
export function prepareEnvironmentValues({ verificationMethod, returnQueryParams }: WebhookNode): void {
  if (isEnvironmentValue(verificationMethod)) {
    input("verificationMethod").append(new Option(verificationMethod)).val(verificationMethod);
  }
  const checkbox = input("returnQueryParams");
  if (isEnvironmentValue(returnQueryParams)) checkbox.attr("type", "text").val(String(returnQueryParams));
  else checkbox.prop("checked", String(returnQueryParams) === "true");
}

/** Shows only the parameter field that the chosen method uses. */
export function showPlacement(): void {
  const method = inputValue("verificationMethod");
  for (const field of Object.values(placementField)) {
    input(field).closest(".form-row").toggle(isUsed(field, method));
  }
}

/** Says under each field what is wrong with it, as soon as it is. */
export function showMessages(node: WebhookNode): void {
  for (const field of Object.keys(rules) as Field[]) {
    const value: unknown = input(field).is(":checkbox") ? input(field).prop("checked") : input(field).val();
    const broken = brokenRule(node, field, value);
    input(field).attr("aria-invalid", String(broken !== undefined));
    $(`#webhook-trigger-message-${field}`).text(broken ? node._(`rules.${broken}`) : "");
  }
}

/** Makes a button copy a text, and say its name when it is pointed at. */
export function prepareCopyButton(button: JQuery, text: () => string, copied: string): void {
  button.on("click", () => RED.clipboard.copyText(text(), button, copied));
  RED.popover.tooltip(button, () => button.attr("aria-label") ?? "");
}
