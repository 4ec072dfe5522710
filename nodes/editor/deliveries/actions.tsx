// The buttons of a delivery.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findEventField } from "../../../src/auth/senders/table";
import { type Detail, inARow, type Summary } from "../../../src/admin/summary";
import { tryParseJson } from "../../../src/config/values";
import { isReplayable } from "../../../src/deliveries/states";
import { changeRetry, failureText, replay } from "./api";
import { composeCurl, presentCredential } from "./curl";
import { host, type MissedRequest } from "./host";
import { Button, type ButtonProps, Icon, Note } from "./parts";
import { planRemoval } from "./plans";
import type { DeliveriesStore } from "./store";
import { composeFullPath, composePageUrl, composeUrlOfPath, getNodeLabel, isElsewhere, text, timeText } from "./texts";

/** The icons of results; there is no verdict while it is under way. */
const verdicts = { good: "fa-check", bad: "fa-times", "": "fa-spinner fa-spin" };

interface Result {
  readonly said: string;
  readonly verdict: keyof typeof verdicts;
  /** Of the attempt that it is about: once another is due, it is not true any more. */
  readonly attempt?: string | undefined;
}

/** A button: its icon, its text in the message catalog, and what it does. */
type Action = readonly [icon: string, key: string, press: () => unknown, more?: Partial<ButtonProps>];

export function DeliveryActions({ detail, store }: { detail: Detail; store: DeliveriesStore }) {
  const { id, at, node, body, state, attempt, pause } = detail;
  const { findNode, prepareNode, useInTest, mayWrite, settings, copy } = host();
  const [result, setResult] = useState<Result>();
  const [isChanging, setChanging] = useState(false);
  const isBusy = useRef(false);
  const change = useRef<HTMLButtonElement>(null);
  const due = `${state} ${attempt}`;
  const shown = result?.attempt === undefined || result.attempt === due ? result : undefined;
  const succeed = (said: string, attempt?: string) => setResult({ said, verdict: "good", attempt });
  const fail = (said: string) => setResult({ said, verdict: "bad" });

  /** Does what a button says, and says what came of it. */
  const act = async (work: () => Promise<string>, attempt?: string) => {
    // A second click would start the flow twice.
    if (isBusy.current) return;
    isBusy.current = true;
    setResult({ said: text("testRequest.sending"), verdict: "" });
    try {
      succeed(await work(), attempt);
    } catch (error) {
      fail(failureText(error));
    }
    isBusy.current = false;
  };
  const start = (changed?: { payload: unknown }) =>
    act(async () => text("delivery.replayed", { id: (await replay(id, changed)).id }));
  const retry = (how: "retry" | "stop", key: string) =>
    act(
      async () => {
        await changeRetry(id, how);
        store.renew();
        return text(key);
      },
      how === "retry" ? due : undefined,
    );
  const leaveChange = () => {
    setChanging(false);
    change.current?.focus();
  };
  const toggleChange = () => (isChanging ? leaveChange() : setChanging(true));
  const copyCurl = () => {
    if (settings.roots.node === false) return fail(text("url.closed"));
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
  const useIn = (of: string) => {
    useInTest?.(of, { delivery: id, at });
    succeed(text("delivery.usedInTest", { name: getNodeLabel(of), time: timeText(at) }));
  };
  const remove = async () => {
    if ((await store.remove(() => planRemoval([detail], null))) > 0) store.close();
  };

  const mayReplay = mayWrite() && isReplayable(state);
  const mayRetry = mayWrite() && state === "retrying";
  const makeNode = isElsewhere(detail) && node === null ? prepareNode?.(describeMissed(detail)) : undefined;
  const first = { class: "webhook-delivery-first" };
  const actions: (Action | false | undefined)[] = [
    mayReplay && ["fa-repeat", "delivery.replay", () => start(), first],
    mayReplay && [
      "fa-pencil",
      "delivery.replayChanged",
      toggleChange,
      { pressRef: change, "aria-expanded": isChanging },
    ],
    mayRetry &&
      pause !== "manual" && ["fa-repeat", "delivery.retryNow", () => retry("retry", "delivery.retried"), first],
    mayRetry && ["fa-stop", "delivery.stopRetrying", () => retry("stop", "delivery.stopped")],
    makeNode && ["fa-plus", "newNode.make", makeNode, first],
    ["fa-terminal", "delivery.curl", copyCurl],
    ["fa-link", "delivery.copyLink", copyLink],
    useInTest &&
      node !== null &&
      findNode(node) &&
      body.data !== "" && ["fa-flask", "delivery.useInTest", () => useIn(node)],
    node !== null && ["fa-filter", "delivery.onlyNode", () => store.filterBy({ node })],
    mayWrite() && state !== "running" && ["fa-trash", "delivery.delete", remove],
  ];
  // The result of a retry says when the next attempt is.
  const obstacle = isReplayable(state) || shown?.attempt !== undefined ? "" : describeReplayReason(detail);
  const said = obstacle || (mayWrite() ? "" : text("delivery.forbidden"));
  return (
    <div class="webhook-delivery-actions">
      <div class="webhook-delivery-buttons" role="group" aria-label={text("delivery.actions")}>
        {actions.map((action) => {
          if (!action) return null;
          const [icon, key, press, more] = action;
          return (
            <Button key={key} icon={icon} onClick={() => void press()} {...more}>
              {text(key)}
            </Button>
          );
        })}
      </div>
      {said && <Note>{said}</Note>}
      {isChanging && <ChangeForm detail={detail} send={(payload) => void start({ payload })} cancel={leaveChange} />}
      <div class="webhook-delivery-result" role="status" data-verdict={shown?.verdict}>
        {shown && (
          <>
            <Icon name={verdicts[shown.verdict]} /> <span>{shown.said}</span>
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
