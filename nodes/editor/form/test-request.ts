// The test request and its result.

import { credentialNames, withDefaults } from "../../../src/config/fields";
import { formatRefusal, formatSentence, inARow, type Translate } from "../../../src/admin/summary";
import type { TestResult } from "../../../src/admin/test-requests";
import { isText, readReply } from "../deliveries/answer";
import { classifyError } from "../deliveries/api";
import { host } from "../deliveries/host";
import { minuteText } from "../deliveries/texts";
import type { Editor } from "../node-red";
import { isCredentialChanged } from "./credentials";
import { form, isSame, readForm, type WebhookNode } from "./form-state";
import { hasLimit } from "./sections";

declare const RED: Editor;

export function prepareTestRequest(node: WebhookNode): void {
  const inSubflow = Boolean(RED.nodes.subflow(node.z));
  const send = $("#webhook-trigger-send").prop("disabled", inSubflow);
  prepareBody(node);
  send.on("click", () => {
    // A disabled button would lose the focus.
    if (send.attr("aria-disabled") === "true") return;
    send.attr("aria-disabled", "true");
    showResult("fa-spinner fa-spin", "", node._("testRequest.sending"));
    void sendTest(node).finally(() => send.attr("aria-disabled", "false"));
  });
  $("#webhook-trigger-debug").on("click", () => RED.actions.invoke("core:show-debug-tab"));
}

async function sendTest(node: WebhookNode): Promise<void> {
  const { delivery } = { ...bodies.get(node.id) };
  try {
    const answer = await host().call(`${node.id}/test`, "POST", { delivery });
    const result = readReply<TestResult>(answer, { outcome: isText });
    const isGood = ["accepted", "stored", "answered"].includes(result.outcome);
    const hasStarted = ["accepted", "answered", "unanswered"].includes(result.outcome);
    const { output, event = "" } = result;
    const said = [describeOutcome(node, result)];
    if (output !== undefined) said.push(node._("testRequest.output", { number: String(output), event }));
    if (hasStarted && hasLimit(readForm(node).values)) said.push(node._("testRequest.unlimited"));
    showResult(isGood ? "fa-check" : "fa-times", isGood ? "good" : "bad", inARow(said));
    // The debug sidebar may show how far it came.
    $("#webhook-trigger-debug").toggle(hasStarted);
    $("#webhook-trigger-changed").toggle(result.status !== undefined && isChanged(node));
  } catch (error) {
    const key = { forbidden: "testRequest.forbidden", inFront: "tab.trouble.inFront" } as Record<string, string>;
    showResult("fa-times", "bad", node._(key[classifyError(error)] ?? "testRequest.failed"));
  }
}

/** Shows the chosen body, and a button that resets it. */
function prepareBody(node: WebhookNode): void {
  const usual = $("#webhook-trigger-usual-body").on("click", () => {
    chooseTestBody(node.id, undefined);
    // The button has gone.
    $("#webhook-trigger-send").trigger("focus");
  });
  const show = () => {
    const body = bodies.get(node.id);
    const hint = node._(RED.nodes.subflow(node.z) ? "testRequest.subflow" : "testRequest.hint");
    const text = body ? node._("delivery.testBody", { time: minuteText(body.at) }) : hint;
    $("#webhook-trigger-send-hint").text(text);
    usual.toggle(body !== undefined);
    hideResult();
  };
  form().on(bodyEvent, show);
  show();
}

/** The result belongs to earlier values. */
export function hideResult(): void {
  $(".webhook-trigger-result, #webhook-trigger-changed").hide();
}

function showResult(icon: string, verdict: "good" | "bad" | "", text: string): void {
  hideResult();
  $("#webhook-trigger-debug").hide();
  $("#webhook-trigger-result").text(text);
  const result = $(".webhook-trigger-result").show().attr("class", `webhook-trigger-result ${verdict}`);
  result.children("i").attr("class", `fa fa-fw ${icon}`);
  // It may be out of sight.
  result[0]?.scrollIntoView({ block: "nearest" });
}

/** The result as a sentence. */
function describeOutcome(node: WebhookNode, { outcome, status = 0, problem, rule, value = "" }: TestResult): string {
  if (problem !== undefined) {
    const translate: Translate = (key, values) => node._(key, values);
    const texts = [formatRefusal(problem, status, translate), translate(`fix.${problem}`)];
    return inARow(texts.map((text) => formatSentence(text, translate)));
  }
  const reason = rule ? node._(`rules.${rule}`, { value }) : "";
  return node._(`testRequest.${outcome}`, { status: String(status), reason });
}

/** Whether anything is not deployed: in this form but for the name, or in the editor, such as a wire. */
function isChanged(node: WebhookNode): boolean {
  const [{ values }, saved] = [readForm(node), withDefaults(node)];
  const isSameForm = isSame({ ...values, name: "" }, { ...saved, name: "" });
  return RED.nodes.dirty() || credentialNames.some(isCredentialChanged) || !isSameForm;
}

// The chosen body of a node's test request, while the editor is open.

interface TestBody {
  /** The id of the delivery that it is from. */
  readonly delivery: string;
  /** When that came, in ms since the epoch. */
  readonly at: number;
}

/** Triggered on the form when a body was chosen or reset. */
const bodyEvent = "webhook-trigger-body";

/** By the id of the node. */
const bodies = new Map<string, TestBody>();

/** @param body missing: the default one */
export function chooseTestBody(node: string, body: TestBody | undefined): void {
  if (body) bodies.set(node, body);
  else bodies.delete(node);
  form().trigger(bodyEvent);
}
