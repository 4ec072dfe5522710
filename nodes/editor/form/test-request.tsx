// The test request and its result.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { credentialNames } from "../../../src/config/fields";
import { formatFilterReason, formatReasons, formatRefusal, formatSentence, inARow } from "../../../src/admin/summary";
import type { TestResult } from "../../../src/admin/test-requests";
import { isText } from "../deliveries/answer";
import { ask, classifyError } from "../deliveries/api";
import { host } from "../deliveries/host";
import { Button } from "../deliveries/parts";
import { durationText, minuteText, text } from "../deliveries/texts";
import { RED } from "../node-red";
import { sendsSignature } from "./algorithm";
import type { ConsoleSetup } from "./console";
import { isCredentialChanged } from "./credentials";
import { form, type FormState, isSame, updateEvent, type WebhookNode } from "./form-state";
import { composeUrl } from "./handover";
import { draw, LoadedView, Note } from "./parts";
import { hasLimit } from "./sections";
import { type AskedByForm, findTrouble } from "./test-trouble";

/** What came of a test request, or why none could be sent: a key in the message catalog. */
type TestOutcome = TestResult | { readonly outcome: "failed"; readonly key: string };

export function showTestRequest(state: FormState): void {
  draw("test-request", <TestRequest {...state} />);
}

function TestRequest(state: FormState) {
  const { node, values, onlyCallers } = state;
  const [isSending, setSending] = useState(false);
  const [result, setResult] = useState<TestOutcome>();
  const [isOpen, setOpen] = useState(false);
  /** What the console asks for; nothing while it is closed. */
  const asked = useRef<AskedByForm | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  const body = bodies.get(node.id);
  const hide = () => setResult(undefined);
  // The result belongs to earlier values, or to another body.
  useEffect(() => void form().on("input change", hide), []);
  useEffect(hide, [body]);
  // What was chosen last is sent.
  useEffect(() => {
    if (!body) return;
    asked.current = undefined;
    setOpen(false);
  }, [body]);

  const send = async () => {
    // A disabled button would lose the focus.
    if (isSending) return;
    setSending(true);
    setResult(await sendTest(node, asked.current ?? { delivery: body?.delivery }));
    setSending(false);
  };
  const setup: ConsoleSetup = {
    ...{ node: node.id, values, onlyCallers },
    url: composeUrl(state),
    delivery: body?.delivery,
    choose: (chosen) => {
      asked.current = chosen;
      hide();
    },
  };
  const inSubflow = Boolean(RED.nodes.subflow(node.z));
  const hint = text(inSubflow ? "testRequest.subflow" : "testRequest.hint");
  return (
    <>
      {host().mayWrite() && !inSubflow && (
        <Button
          icon={isOpen ? "fa-angle-down" : "fa-angle-right"}
          id="webhook-trigger-console-open"
          aria-expanded={isOpen}
          onClick={() => {
            asked.current = undefined;
            setOpen(!isOpen);
            hide();
          }}
        >
          {text("console.open")}
        </Button>
      )}
      <LoadedView
        id="console"
        isWanted={isOpen}
        // Its key may be the sender's own by now.
        basis={isOpen ? JSON.stringify([values.sender, values.verificationMethod, values.keySource, onlyCallers]) : ""}
        show={(views, element) => views.showConsole(host(), element, isOpen ? setup : undefined)}
      />
      <div class="webhook-trigger-send">
        <button
          type="button"
          class="red-ui-button"
          id="webhook-trigger-send"
          ref={button}
          disabled={inSubflow}
          aria-disabled={isSending}
          aria-describedby="webhook-trigger-send-hint"
          onClick={() => void send()}
        >
          {text("testRequest.send")}
        </button>
        <span class="webhook-trigger-hint" id="webhook-trigger-send-hint">
          {body && !isOpen ? text("delivery.testBody", { time: minuteText(body.at) }) : hint}
        </span>
        {body && !isOpen && (
          <Button
            id="webhook-trigger-usual-body"
            onClick={() => {
              chooseTestBody(node.id, undefined);
              // This button goes.
              button.current?.focus();
            }}
          >
            {text("delivery.usualBody")}
          </Button>
        )}
      </div>
      <div role="status">
        {isSending ? (
          <ResultLine look="" icon="spinner fa-spin" said={text("testRequest.sending")} />
        ) : (
          result && <Result {...{ state, result }} />
        )}
      </div>
    </>
  );
}

function Result({ state, result }: { readonly state: FormState; readonly result: TestOutcome }) {
  const { values } = state;
  if (result.outcome === "failed") return <ResultLine look="bad" icon="times" said={text(result.key)} />;
  const { outcome, output, event = "", status, signed, milliseconds, reply } = result;
  const isGood = ["accepted", "stored", "answered", "handshake"].includes(outcome);
  const hasStarted = ["accepted", "answered", "unanswered"].includes(outcome);
  const said = [describeOutcome(result)];
  if (output !== undefined) said.push(text("testRequest.output", { number: String(output), event }));
  if (hasStarted && hasLimit(values)) said.push(text("testRequest.unlimited"));
  const facts = signed ? [text(sendsSignature(values) ? "testRequest.signed" : "testRequest.presented")] : [];
  if (milliseconds !== undefined) facts.push(text("testRequest.took", { duration: durationText(milliseconds) }));
  return (
    <>
      <ResultLine look={isGood ? "good" : "bad"} icon={isGood ? "check" : "times"} said={inARow(said)}>
        {hasStarted && (
          // It may show how far the message came.
          <Button id="webhook-trigger-debug" onClick={() => RED.actions.invoke("core:show-debug-tab")}>
            {text("testRequest.debug")}
          </Button>
        )}
      </ResultLine>
      <div class="webhook-trigger-hint" id="webhook-trigger-facts">
        {facts.length > 0 && inARow(facts)}
      </div>
      {outcome === "answered" && reply && reply.body !== "" && (
        <pre
          class="webhook-trigger-code"
          id="webhook-trigger-reply"
          tabIndex={0}
          aria-label={text("testRequest.reply")}
        >
          {reply.body}
        </pre>
      )}
      <Note id="changed" text={status !== undefined && isChanged(state) ? text("testRequest.changed") : ""} />
    </>
  );
}

interface ResultLineProps {
  readonly look: "good" | "bad" | "";
  readonly icon: string;
  readonly said: string;
  readonly children?: ComponentChildren;
}

function ResultLine({ look, icon, said, children }: ResultLineProps) {
  const line = useRef<HTMLDivElement>(null);
  // It may be out of sight.
  useLayoutEffect(() => line.current?.scrollIntoView({ block: "nearest" }), [said]);
  return (
    <div class={`webhook-trigger-result ${look}`} ref={line}>
      <i class={`fa fa-fw fa-${icon}`} aria-hidden="true" />
      <span>
        <span id="webhook-trigger-result">{said}</span> {children}
      </span>
    </div>
  );
}

/** @param asked as the admin API takes it */
async function sendTest(node: WebhookNode, asked: AskedByForm): Promise<TestOutcome> {
  try {
    return await ask<TestResult>({ outcome: isText }, `${node.id}/test`, "POST", asked);
  } catch (error) {
    const keys = { forbidden: "testRequest.forbidden", inFront: "tab.trouble.inFront" } as Record<string, string>;
    const key = findTrouble(error, asked) ?? keys[classifyError(error)] ?? "testRequest.failed";
    return { outcome: "failed", key };
  }
}

/** The result as a sentence. */
function describeOutcome(result: TestResult): string {
  const { outcome, status = 0, problem, rule, value = "", reasons = [], why } = result;
  if (outcome === "unsignable") return inARow([text("testRequest.unsignable"), ...formatReasons(reasons, text)]);
  if (problem !== undefined) {
    return inARow(
      [formatRefusal(problem, status, text), text(`fix.${problem}`)].map((each) => formatSentence(each, text)),
    );
  }
  if (outcome === "filtered") {
    const reason = why ? [formatSentence(formatFilterReason(why, text), text)] : [];
    const filtered = text("testRequest.filtered", { status: String(status) });
    return inARow([filtered, ...reason, text("testRequest.filteredFix")]);
  }
  const reason = rule ? text(`rules.${rule}`, { value }) : "";
  return text(`testRequest.${outcome}`, { status: String(status), reason });
}

/** Whether anything is not deployed: in this form but for the name, or in the editor, such as a wire. */
function isChanged(state: FormState): boolean {
  const isSameForm = isSame({ ...state.values, name: "" }, { ...state.saved, name: "" });
  return RED.nodes.dirty() || credentialNames.some((name) => isCredentialChanged(state, name)) || !isSameForm;
}

// The chosen body of a node's test request, while the editor is open.

interface TestBody {
  /** The id of the delivery that it is from. */
  readonly delivery: string;
  /** When that came, in ms since the epoch. */
  readonly at: number;
}

/** By the id of the node. */
const bodies = new Map<string, TestBody>();

/** @param body missing: the default one */
export function chooseTestBody(node: string, body: TestBody | undefined): void {
  if (body) bodies.set(node, body);
  else bodies.delete(node);
  form().trigger(updateEvent);
}
