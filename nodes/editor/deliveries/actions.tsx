// The buttons of a delivery.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findEventField } from "../../../src/auth/senders/table";
import { type Detail, inARow, type Summary } from "../../../src/admin/summary";
import { tryParseJson } from "../../../src/config/values";
import { isReplayable } from "../../../src/deliveries/states";
import { changeRetry, failureText, replay } from "./api";
import { composeCurl, presentCredential } from "./curl";
import { host, type MissedRequest } from "./host";
import { Button, Icon, Note } from "./parts";
import { planRemoval } from "./plans";
import type { DeliveriesStore } from "./store";
import { composeFullPath, composePageUrl, composeUrlOfPath, getNodeLabel, isElsewhere, text, timeText } from "./texts";

interface Result {
  readonly icon: string;
  readonly said: string;
  readonly verdict: "good" | "bad" | "";
}

export function DeliveryActions({ detail, store }: { detail: Detail; store: DeliveriesStore }) {
  const { id, at, node, body, state, pause } = detail;
  const { findNode, prepareNode, useInTest, mayWrite, roots, copy } = host();
  const [result, setResult] = useState<Result>();
  const [isChanging, setChanging] = useState(false);
  const isBusy = useRef(false);
  const change = useRef<HTMLButtonElement>(null);
  const succeed = (said: string) => setResult({ icon: "fa-check", said, verdict: "good" });
  const fail = (said: string) => setResult({ icon: "fa-times", said, verdict: "bad" });

  /** Does what a button says, and says what came of it. */
  const act = async (work: () => Promise<string>) => {
    // A second click would start the flow twice.
    if (isBusy.current) return;
    isBusy.current = true;
    setResult({ icon: "fa-spinner fa-spin", said: text("testRequest.sending"), verdict: "" });
    try {
      succeed(await work());
    } catch (error) {
      fail(failureText(error));
    }
    isBusy.current = false;
  };
  const start = (changed?: { payload: unknown }) =>
    act(async () => text("delivery.replayed", { id: (await replay(id, changed)).id }));
  const retry = (how: "retry" | "stop", said: string) =>
    act(async () => {
      await changeRetry(id, how);
      store.renew();
      return said;
    });
  const leaveChange = () => {
    setChanging(false);
    change.current?.focus();
  };
  const copyCurl = () => {
    if (roots.node === false) return fail(text("url.closed"));
    const credential = presentCredential(node === null ? undefined : findNode(node)?.saved);
    copy(composeCurl(detail, composeUrlOfPath(composeFullPath(detail)), credential));
    const said = [text("delivery.curlCopied"), credential.hint];
    if (body.truncated) said.push(text("delivery.curlLacking"));
    succeed(inARow(said));
  };
  const copyLink = () => {
    copy(new URL(composePageUrl({ delivery: id }), location.href).href);
    succeed(text("copied"));
  };
  const remove = async () => {
    if ((await store.remove(() => planRemoval([detail], null))) > 0) store.close();
  };

  const obstacle = isReplayable(state) ? "" : describeReplayReason(detail);
  const isReplay = mayWrite() && isReplayable(state);
  const makeNode = isElsewhere(detail) && node === null ? prepareNode?.(describeMissed(detail)) : undefined;
  const said = obstacle || (mayWrite() ? "" : text("delivery.forbidden"));
  return (
    <div class="webhook-delivery-actions">
      <div class="webhook-delivery-buttons" role="group" aria-label={text("delivery.actions")}>
        {isReplay && (
          <>
            <Button icon="fa-repeat" class="webhook-delivery-first" onClick={() => void start()}>
              {text("delivery.replay")}
            </Button>
            <Button
              icon="fa-pencil"
              pressRef={change}
              aria-expanded={isChanging}
              onClick={() => (isChanging ? leaveChange() : setChanging(true))}
            >
              {text("delivery.replayChanged")}
            </Button>
          </>
        )}
        {mayWrite() && state === "retrying" && (
          <>
            {pause !== "manual" && (
              <Button
                icon="fa-repeat"
                class="webhook-delivery-first"
                onClick={() => void retry("retry", text("delivery.retried"))}
              >
                {text("delivery.retryNow")}
              </Button>
            )}
            <Button icon="fa-stop" onClick={() => void retry("stop", text("delivery.stopped"))}>
              {text("delivery.stopRetrying")}
            </Button>
          </>
        )}
        {makeNode && (
          <Button icon="fa-plus" class="webhook-delivery-first" onClick={makeNode}>
            {text("newNode.make")}
          </Button>
        )}
        <Button icon="fa-terminal" onClick={copyCurl}>
          {text("delivery.curl")}
        </Button>
        <Button icon="fa-link" onClick={copyLink}>
          {text("delivery.copyLink")}
        </Button>
        {useInTest && node !== null && findNode(node) && body.data !== "" && (
          <Button
            icon="fa-flask"
            onClick={() => {
              useInTest(node, { delivery: id, at });
              succeed(text("delivery.usedInTest", { name: getNodeLabel(node), time: timeText(at) }));
            }}
          >
            {text("delivery.useInTest")}
          </Button>
        )}
        {node !== null && (
          <Button icon="fa-filter" onClick={() => store.filterBy({ node })}>
            {text("delivery.onlyNode")}
          </Button>
        )}
        {mayWrite() && state !== "running" && (
          <Button icon="fa-trash" onClick={() => void remove()}>
            {text("delivery.delete")}
          </Button>
        )}
      </div>
      {said && <Note>{said}</Note>}
      {isChanging && <ChangeForm detail={detail} send={(payload) => void start({ payload })} cancel={leaveChange} />}
      <div class="webhook-delivery-result" role="status" data-verdict={result?.verdict}>
        {result && (
          <>
            <Icon name={result.icon} /> <span>{result.said}</span>
          </>
        )}
      </div>
    </div>
  );
}

/** Why a delivery that is not replayable is not. */
function describeReplayReason({ state, nextAt, pause }: Summary): string {
  if (state !== "retrying") return text(`delivery.noReplay.${state}`);
  // A paused node has no next attempt, which the fix says.
  return nextAt === null || pause !== null ? "" : text("delivery.noReplay.retryingAt", { time: timeText(nextAt) });
}

function describeMissed({ method, path, cause, headers }: Detail): MissedRequest {
  const sender = cause?.looksLike ?? null;
  const known = sender === null ? undefined : findEventField(sender, (field) => headers[field]);
  return { method, path, sender, event: known?.event };
}

interface ChangeFormProps {
  readonly detail: Detail;
  /** Replays with a payload. */
  readonly send: (payload: unknown) => void;
  readonly cancel: () => void;
}

/** Edits the payload of a replay. */
function ChangeForm({ detail: { payload }, send, cancel }: ChangeFormProps) {
  const id = "webhook-delivery-payload";
  const field = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState(() => (payload === undefined ? "" : JSON.stringify(payload, null, 2)));
  useLayoutEffect(() => field.current?.focus(), []);
  const parsed = tryParseJson(typed);
  const isJson = parsed !== undefined;
  return (
    <div class="webhook-delivery-change" role="group" aria-label={text("delivery.replayChanged")}>
      <label for={id}>{text("delivery.payload")}</label>
      <textarea
        ref={field}
        id={id}
        rows={10}
        spellcheck={false}
        aria-describedby={`${id}-wrong`}
        aria-invalid={!isJson}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          // Escape closes the delivery elsewhere.
          event.preventDefault();
          cancel();
        }}
      />
      <div id={`${id}-wrong`} class="webhook-delivery-error" role="status">
        {isJson ? "" : text("reply.noJson")}
      </div>
      <div class="webhook-delivery-buttons">
        {/* A disabled button could not be reached by keyboard. */}
        <Button
          icon="fa-repeat"
          aria-disabled={!isJson}
          onClick={() => (isJson ? send(parsed) : field.current?.focus())}
        >
          {text(isJson ? "delivery.replayThis" : "delivery.replayNoJson")}
        </Button>
        <Button icon="fa-times" onClick={cancel}>
          {text("delivery.cancel")}
        </Button>
      </div>
    </div>
  );
}
