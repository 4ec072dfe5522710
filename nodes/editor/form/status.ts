// The last request and the counts, while the form is open.

import type { NodeReport } from "../../../src/admin/node-health";
import { isSenderId, type SenderId, senders } from "../../../src/auth/senders/table";
import { inARow, formatReasons } from "../../../src/deliveries/summary";
import { showDeliveriesOf } from "../deliveries/tab";
import { formatTime } from "../host";
import { enter } from "./credentials";
import { input, inputValue, type WebhookNode } from "./fields";
import { chooseSender, learn } from "./sender";

/** In ms. */
const interval = 2000;

export function prepareStanding(node: WebhookNode): void {
  const line = $("#webhook-trigger-standing");
  show(node, undefined);
  $("#webhook-trigger-fetch-failed").hide();
  const suggestion = $("#webhook-trigger-looks-like");
  suggestion.find("button").on("click", () => {
    const id: unknown = suggestion.data(senderData);
    if (isSenderId(id)) chooseSender(id);
  });
  $("#webhook-trigger-brought")
    .find("button")
    .on("click", () => void fetchSecret(node));
  $("#webhook-trigger-deliveries").on("click", () => showDeliveriesOf(node.id));
  const ask = () => {
    // The form was closed.
    if (!line[0]?.isConnected) return;
    void $.getJSON(`webhook-trigger/${node.id}/standing`)
      .done((standing: NodeReport) => show(node, standing))
      .fail(({ status }) => {
        // Without a connection nothing is known to have changed.
        if (status !== 0) show(node, undefined);
      })
      .always(() => setTimeout(ask, interval));
  };
  ask();
}

const senderData = "sender";

/** @param standing missing where the node is not deployed */
function show(node: WebhookNode, standing: NodeReport | undefined): void {
  say("#webhook-trigger-standing", standing ? describeLast(node, standing) : "");
  say("#webhook-trigger-refused", standing ? createRefusal(node, standing) : "");
  const id = standing?.lastRefused?.looksLike;
  const suggested = isSenderId(id) && id !== inputValue("sender") ? id : undefined;
  suggest(node, suggested);
  const hasSecret = standing?.hasSecret ?? false;
  $("#webhook-trigger-brought").toggle(hasSecret);
  if (hasSecret) $("#webhook-trigger-fetch-failed").hide();
  learn(standing);
}

/** Announced only when it is new. */
function say(line: string, text: string): void {
  const place = $(line)
    .toggle(text !== "")
    .children("span");
  if (place.text() !== text) place.text(text);
}

function suggest(node: WebhookNode, id: SenderId | undefined): void {
  const suggestion = $("#webhook-trigger-looks-like")
    .toggle(id !== undefined)
    .data(senderData, id ?? "");
  const text = id ? node._("standing.looksLike", { name: senders[id].name }) : "";
  const place = suggestion.find("span > span");
  if (place.text() !== text) place.text(text);
}

function describeLast(node: WebhookNode, standing: NodeReport): string {
  const { accepted, refused, handshakes, duplicates, unanswered, last, credential } = standing;
  const counts = { accepted: String(accepted), refused: String(refused), handshakes: String(handshakes) };
  const sum = node._(handshakes > 0 ? "standing.sumWithHandshakes" : "standing.sum", counts);
  if (!last) return node._("standing.none");
  const time = formatTime(last.at);
  const parts = [node._(`standing.${last.outcome}`, { time }), sum];
  if (duplicates > 0) parts.push(node._("status.duplicates", { duplicates: String(duplicates) }));
  if (unanswered > 0) parts.push(node._("status.unanswered", { unanswered: String(unanswered) }));
  if (credential !== undefined) parts.push(node._(`standing.${credential}`));
  return parts.join(" · ");
}

function createRefusal(node: WebhookNode, { lastRefused }: NodeReport): string {
  if (!lastRefused) return "";
  const { at, problem, ip, reasons } = lastRefused;
  const refused = node._(`refused.${problem}`);
  const what = { time: formatTime(at), refused: ip === undefined ? refused : `${refused}: ${ip}` };
  const why = formatReasons(reasons, node._.bind(node));
  return inARow([node._("standing.refusedAt", what), ...why]);
}

/** The secret that the sender has sent can be fetched once. */
async function fetchSecret(node: WebhookNode): Promise<void> {
  try {
    const { secret } = (await $.post(`webhook-trigger/${node.id}/secret`)) as { secret: string };
    enter("secret", secret);
    input("arm").filter(":checkbox").prop("checked", false).trigger("change");
    input("secret").trigger("focus");
    $("#webhook-trigger-brought").hide();
  } catch {
    $("#webhook-trigger-fetch-failed").show();
  }
}
