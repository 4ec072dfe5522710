// What is wrong with the fields of the form, said under each.

import { findUnreadable } from "../../src/config/blocks";
import type { BrokenRule } from "../../src/config/rules";
import { brokenRules, checkedFields, ruleText } from "./checks";
import { input, inputValue, rowOf, type WebhookNode } from "./fields";

/** Says under each field what is wrong with it, as soon as it is. */
export function showMessages(node: WebhookNode): void {
  const broken = brokenRules(node);
  for (const field of checkedFields) {
    const rule = broken.get(field);
    input(field).attr("aria-invalid", String(rule !== undefined));
    // Node-RED marks a field when it changes itself, but others may bear on it.
    input(field).toggleClass("input-error", rule !== undefined);
    $(`#webhook-trigger-message-${field}`).text(rule ? textOf(node, rule) : "");
  }
}

/** In a list, it has to be found first. */
function textOf(node: WebhookNode, rule: BrokenRule): string {
  const entry = rule === "allowFrom" ? findUnreadable(inputValue("allowFrom")) : undefined;
  return entry === undefined ? ruleText(node, rule) : node._("limits.unreadable", { entry });
}

/** Puts under each field where it is said what is wrong with it, and tells those who cannot see it. */
export function prepareMessages(): void {
  for (const field of checkedFields) {
    const id = `webhook-trigger-message-${field}`;
    const control = input(field);
    const beside = control.closest(".webhook-trigger-credential").add(control.next("span"));
    $("<div>", { id, class: "webhook-trigger-message", role: "status" }).insertAfter(
      beside.length > 0 ? beside : control,
    );
    const hints = rowOf(field).find(".webhook-trigger-hint").toArray();
    // The form itself names what stands outside of the row.
    const others = control.attr("aria-describedby")?.split(" ") ?? [];
    control.attr("aria-describedby", [id, ...hints.map((hint) => hint.id), ...others].join(" "));
  }
}
