// The last request and the counts, while the form is open.

import { useState } from "preact/hooks";
import type { NodeReport } from "../../../src/admin/node-health";
import { isSenderId, senders } from "../../../src/auth/senders/table";
import { formatReasons, formatRefusal, inARow } from "../../../src/admin/summary";
import { isNumber, isText } from "../deliveries/answer";
import { ask } from "../deliveries/api";
import { ApiError } from "../deliveries/host";
import { Button } from "../deliveries/parts";
import { showDeliveriesOf } from "../deliveries/tab";
import { minuteText, text } from "../deliveries/texts";
import { enterCredential } from "./credentials";
import { form, type FormState, input, setReport, type WebhookNode } from "./form-state";
import { draw, Note } from "./parts";
import { chooseSender } from "./sender";

/** In ms. */
const interval = 2000;

const watched = "watched";

/** Renews what the runtime says of the node until the form is closed. */
export async function watchReport({ id }: WebhookNode): Promise<void> {
  const opened = form().data(watched, true);
  // Below the code editor it is not in the document, but Node-RED drops its data only when it is closed.
  const isOpen = () => opened.data(watched) === true;
  while (isOpen()) {
    try {
      const shape = { accepted: isNumber, refused: isNumber, handshakes: isNumber };
      const report = await ask<NodeReport>(shape, `${id}/lastRequest`);
      if (isOpen()) setReport(report);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // It is not deployed. Without an answer of Node-RED nothing is known to have changed.
      if (error.status >= 400 && isOpen()) setReport();
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

export function showStatus(state: FormState): void {
  draw("status", <Status {...state} />);
}

function Status({ node, values, report }: FormState) {
  const [hasFailed, setFailed] = useState(false);
  const id = report.lastRefused?.looksLike;
  const like = isSenderId(id) && id !== values.sender ? id : undefined;
  const name = like ? senders[like].name : "";
  const fetch = async () => {
    setFailed(!(await fetchSecret(node)));
    // It can be fetched once.
    setReport({ ...report, hasSecret: false });
  };
  return (
    <>
      <Note id="last-request" icon="history" text={describeLast(report)}>
        <Button id="webhook-trigger-deliveries" onClick={() => showDeliveriesOf(node.id)}>
          {text("tab.list")}
        </Button>
      </Note>
      <div role="status">
        <Note id="refused" text={describeRefusal(report)} />
        <Note id="looks-like" icon="lightbulb-o" text={name && text("lastRequest.looksLike", { name })}>
          <Button onClick={() => like && chooseSender(like)}>{text("lastRequest.takeOver")}</Button>
        </Note>
        <Note id="brought" icon="lightbulb-o" text={report.hasSecret ? text("lastRequest.brought") : ""}>
          <Button onClick={() => void fetch()}>{text("lastRequest.fetch")}</Button>
        </Note>
        <Note id="fetch-failed" text={hasFailed && !report.hasSecret ? text("lastRequest.fetchFailed") : ""} />
      </div>
    </>
  );
}

/** Empty where the node is not deployed. */
function describeLast(report: Partial<NodeReport>): string {
  const { accepted, refused, handshakes = 0, duplicates = 0, filtered = 0, unanswered = 0, last, credential } = report;
  if (accepted === undefined) return "";
  if (!last) return text("lastRequest.none");
  const parts = [
    text(`lastRequest.${last.outcome}`, { time: minuteText(last.at) }),
    text("lastRequest.sum", { accepted: String(accepted), refused: String(refused) }),
  ];
  if (handshakes > 0) parts.push(text("lastRequest.handshakes", { count: handshakes }));
  if (duplicates > 0) parts.push(text("status.duplicates", { duplicates: String(duplicates) }));
  if (filtered > 0) parts.push(text("status.filtered", { filtered: String(filtered) }));
  if (unanswered > 0) parts.push(text("status.unanswered", { unanswered: String(unanswered) }));
  if (credential !== undefined) parts.push(text(`lastRequest.${credential}`));
  return parts.join(" · ");
}

function describeRefusal({ lastRefused }: Partial<NodeReport>): string {
  if (!lastRefused) return "";
  const { at, problem, status, from, reasons } = lastRefused;
  const refusal = formatRefusal(problem, status, text);
  const refused = from === undefined ? refusal : `${refusal}: ${from}`;
  return inARow([text("lastRequest.refusedAt", { time: minuteText(at), refused }), ...formatReasons(reasons, text)]);
}

/** Enters the secret that the sender has sent; `false` where it is gone. */
async function fetchSecret(node: WebhookNode): Promise<boolean> {
  try {
    const { secret } = await ask<{ secret: string }>({ secret: isText }, `${node.id}/secret`, "POST", {});
    enterCredential("secret", secret);
    input("arm").filter(":checkbox").prop("checked", false).trigger("change");
    input("secret").trigger("focus");
    return true;
  } catch {
    return false;
  }
}
