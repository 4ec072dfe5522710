// Try it: a line for a terminal, a test request, and a picture of the message.

import { placementField } from "../../src/config/fields";
import { isEnvironmentValue, rules } from "../../src/config/rules";
import { present, testBody } from "../../src/trust/present";
import type { TrialResult } from "../../src/reply/trial";
import { brokenRule, type Field, input, inputValue, keptPassword, prepareCopyButton, type WebhookNode } from "./fields";
import type { Editor } from "./host";
import { isTokenChanged, knownToken } from "./token";
import { urlOf } from "./url";

declare const RED: Editor;

/** What a sender might send, for the picture of the message. */
const sample = { body: { order: 42 }, query: { shop: "7" } };

export function prepareTrial(node: WebhookNode): void {
  prepareCopyButton(
    $("#webhook-trigger-command-copy"),
    () => $("#webhook-trigger-command").text(),
    node._("token.copied"),
  );
  const inSubflow = Boolean(RED.nodes.subflow(node.z));
  const send = $("#webhook-trigger-send").prop("disabled", inSubflow);
  $("#webhook-trigger-send-hint").text(node._(inSubflow ? "trial.subflow" : "trial.hint"));
  send.on("click", () => {
    // A button that is disabled loses the focus, and with it who works by keyboard.
    if (send.attr("aria-disabled") === "true") return;
    send.attr("aria-disabled", "true");
    showResult("fa-spinner fa-spin", "", node._("trial.sending"));
    void $.ajax({
      type: "POST",
      url: `webhook-trigger/${node.id}/test`,
      success: (result: TrialResult) => {
        const accepted = result.outcome === "accepted";
        const changed = result.status !== undefined && isChanged(node);
        const text = textOf(node, result) + (changed ? ` ${node._("trial.changed")}` : "");
        showResult(accepted ? "fa-check" : "fa-times", accepted ? "good" : "bad", text);
      },
      error: ({ status }) => {
        const refused = status === 401 || status === 403;
        showResult("fa-times", "bad", node._(refused ? "trial.forbidden" : "trial.failed"));
      },
      complete: () => send.attr("aria-disabled", "false"),
    });
  });
  hideResult();
}

/** What came of an earlier request says nothing of what the form holds now. */
export function hideResult(): void {
  $("#webhook-trigger-result").parent().hide();
}

function showResult(icon: string, verdict: "good" | "bad" | "", text: string): void {
  const result = $("#webhook-trigger-result").text(text).parent().show();
  result.attr("class", `webhook-trigger-result ${verdict}`).find("i").attr("class", `fa ${icon}`);
  // At the end of a long form, it may be out of sight.
  result[0]?.scrollIntoView({ block: "nearest" });
}

/** What came of a test request, and what to do about it. */
function textOf(node: WebhookNode, { outcome, status = 0, id = "", rule, value = "" }: TrialResult): string {
  const reason = rule ? node._(`rules.${rule}`, { value }) : "";
  return node._(`trial.${outcome}`, { status: String(status), id, reason });
}

/** Whether something is not deployed that may bear on the test: in this form, or anywhere in the editor, as a new wire. */
function isChanged(node: WebhookNode): boolean {
  const fields = ["relativePath", "verificationMethod", ...Object.values(placementField)] as const satisfies Field[];
  const returned = input("returnQueryParams");
  return (
    RED.nodes.dirty() ||
    isTokenChanged() ||
    fields.some((field) => inputValue(field) !== node[field]) ||
    (returned.is(":checkbox") && returned.prop("checked") !== (String(node.returnQueryParams) === "true"))
  );
}

/** Shows the line that sends a request to the node as the form has it, as far as that is known here. */
export function showCommand(node: WebhookNode): void {
  const command = commandOf(node);
  $("#webhook-trigger-command")
    .text(command ?? "")
    .closest(".webhook-trigger-command")
    .toggle(command !== undefined);
  const isSet = inputValue("token") === keptPassword || knownToken() !== undefined;
  const hint = isSet ? "trial.tokenHidden" : "trial.tokenMissing";
  $("#webhook-trigger-command-token").text(tokenToShow() === undefined ? node._(hint) : "");
}

function commandOf(node: WebhookNode): string | undefined {
  const url = urlOf(node);
  const method = inputValue("verificationMethod");
  if (url === undefined || (method !== "header" && method !== "query")) return undefined;
  const name = inputValue(placementField[method]);
  if (isEnvironmentValue(name) || isEnvironmentValue(inputValue("relativePath"))) return undefined;
  if (brokenRule(node, placementField[method], name)) return undefined;
  const { headers, search } = present({ method, name }, tokenToShow() ?? node._("trial.placeholder"));
  return [
    `curl ${quoted(url + search)}`,
    ...Object.entries(headers).map(([field, value]) => `-H ${quoted(`${field}: ${value}`)}`),
    `--data ${quoted(testBody)}`,
  ].join(" ");
}

/** The token, where the form has a whole one: the value of an environment variable is known to the runtime alone. */
function tokenToShow(): string | undefined {
  const token = knownToken();
  return isEnvironmentValue(token) || rules.token(token) !== undefined ? undefined : token;
}

/** Shows what the message will look like. */
export function showPicture(): void {
  const checkbox = input("returnQueryParams");
  const payload = checkbox.is(":checked") || checkbox.val() === "true" ? sample : sample.body;
  const picture = $("#webhook-trigger-picture").toggle(!isEnvironmentValue(checkbox.val()));
  picture.text(`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`);
}

/**
 * Quotes an argument for a shell. Double quotes do for the shells of all systems, unless a character means something
 * within them; single quotes take all but themselves as it stands, but only where the shell is a POSIX one.
 */
function quoted(argument: string): string {
  return /["$%`!\\]/.test(argument) ? `'${argument.replaceAll("'", "'\\''")}'` : `"${argument}"`;
}
