// The last request and the counts, while the form is open.

import type { NodeReport } from "../../../src/admin/node-health";
import { isSenderId, senders } from "../../../src/auth/senders/table";
import { formatReasons, formatRefusal, inARow } from "../../../src/admin/summary";
import { isNumber, isText, readReply } from "../deliveries/answer";
import { ApiError, host } from "../deliveries/host";
import { showDeliveriesOf } from "../deliveries/tab";
import { minuteText } from "../deliveries/texts";
import { enterCredential } from "./credentials";
import { input, inputValue, setReport, showNote, type WebhookNode } from "./form-state";
import { chooseSender } from "./sender";

/** In ms. */
const interval = 2000;

export function prepareStatus(node: WebhookNode): void {
  const line = $("#webhook-trigger-last-request");
  const suggestion = $("#webhook-trigger-looks-like");
  $("#webhook-trigger-fetch-failed").hide();
  suggestion.find("button").on("click", () => {
    const id: unknown = suggestion.data("sender");
    if (isSenderId(id)) chooseSender(id);
  });
  $("#webhook-trigger-brought button").on("click", () => void fetchSecret(node));
  $("#webhook-trigger-deliveries").on("click", () => showDeliveriesOf(node.id));
  show(node, undefined);
  const ask = async () => {
    // The form was closed.
    if (!line[0]?.isConnected) return;
    try {
      show(node, await askForReport(node));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Without an answer of Node-RED nothing is known to have changed.
      if (error.status >= 400) show(node, undefined);
    } finally {
      setTimeout(() => void ask(), interval);
    }
  };
  void ask();
}

async function askForReport({ id }: WebhookNode): Promise<NodeReport> {
  const shape = { accepted: isNumber, refused: isNumber, handshakes: isNumber };
  return readReply(await host().call(`${id}/lastRequest`), shape);
}

/** @param report missing where the node is not deployed */
function show(node: WebhookNode, report: NodeReport | undefined): void {
  showNote("#webhook-trigger-last-request", report ? describeLast(node, report) : "");
  showNote("#webhook-trigger-refused", report ? describeRefusal(node, report) : "");
  const id = report?.lastRefused?.looksLike;
  const name = isSenderId(id) && id !== inputValue("sender") ? senders[id].name : "";
  showNote("#webhook-trigger-looks-like", name === "" ? "" : node._("lastRequest.looksLike", { name }));
  $("#webhook-trigger-looks-like").data("sender", id ?? "");
  const hasSecret = report?.hasSecret ?? false;
  $("#webhook-trigger-brought").toggle(hasSecret);
  if (hasSecret) $("#webhook-trigger-fetch-failed").hide();
  setReport(report);
}

function describeLast(node: WebhookNode, report: NodeReport): string {
  const { accepted, refused, handshakes, duplicates, filtered, unanswered, last, credential } = report;
  if (!last) return node._("lastRequest.none");
  const counts = { accepted: String(accepted), refused: String(refused), handshakes: String(handshakes) };
  const parts = [
    node._(`lastRequest.${last.outcome}`, { time: minuteText(last.at) }),
    node._(handshakes > 0 ? "lastRequest.sumWithHandshakes" : "lastRequest.sum", counts),
  ];
  if (duplicates > 0) parts.push(node._("status.duplicates", { duplicates: String(duplicates) }));
  if (filtered > 0) parts.push(node._("status.filtered", { filtered: String(filtered) }));
  if (unanswered > 0) parts.push(node._("status.unanswered", { unanswered: String(unanswered) }));
  if (credential !== undefined) parts.push(node._(`lastRequest.${credential}`));
  return parts.join(" · ");
}

function describeRefusal(node: WebhookNode, { lastRefused }: NodeReport): string {
  if (!lastRefused) return "";
  const { at, problem, status, ip, reasons } = lastRefused;
  const translate = node._.bind(node);
  const text = formatRefusal(problem, status, translate);
  const refused = node._("lastRequest.refusedAt", {
    time: minuteText(at),
    refused: ip === undefined ? text : `${text}: ${ip}`,
  });
  return inARow([refused, ...formatReasons(reasons, translate)]);
}

/** The secret that the sender has sent can be fetched once. */
async function fetchSecret(node: WebhookNode): Promise<void> {
  try {
    const answer = await host().call(`${node.id}/secret`, "POST", {});
    const { secret } = readReply<{ secret: string }>(answer, { secret: isText });
    enterCredential("secret", secret);
    input("arm").filter(":checkbox").prop("checked", false).trigger("change");
    input("secret").trigger("focus");
    $("#webhook-trigger-brought").hide();
  } catch {
    $("#webhook-trigger-fetch-failed").show();
  }
}
