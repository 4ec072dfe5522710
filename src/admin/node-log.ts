// The log lines of a node's requests and flows. Refusals are limited in rate, so that strangers cannot fill the log.

import { inspect } from "node:util";
import { normaliseAddress, RateBound } from "../auth/limits";
import type { Authenticator, Explanation, RefusedRequestFacts } from "../auth/authenticator";
import { type SenderId, shortName } from "../auth/senders/table";
import { describeError, formatRefusal, type Translate } from "./summary";
import type { Endpoint } from "../flow/endpoint";
import { listNames } from "../config/callers";
import type { Outcomes, RefusedEvent } from "../flow/outcomes";
import { type Problem, problems, type Reason, ReasonError } from "../request/problem";
import type { NodeHealths, RefusedRequest } from "./node-health";

/** At most one refusal per node and level in this time, in ms. */
const logIntervalMs = 1000;
/** How many characters of an error, or of a value in an explanation, are logged. */
const maxLoggedCause = 10_000;
const maxNotedCause = 500;
const maxValue = 300;
/** How many ms of each second may be spent on explaining refusals, for all nodes together. */
const examinationMs = 100;
/** Longer bodies are not looked at: an explanation that has begun is not interrupted. */
const maxExaminedBytes = 65_536;
const unexplained: Explanation = { reasons: [] };

/** Why a request was refused, without secrets. Whatever it contains, its refusal is reported. */
function explain(authenticator: Authenticator, { body, ...request }: RefusedRequestFacts): Explanation {
  // A stranger may have chosen the name of a header field or parameter.
  const redact = (value: string | number) =>
    typeof value === "string" ? authenticator.redactor.redact(value).slice(0, maxValue) : value;
  try {
    const examined = body && body.length <= maxExaminedBytes ? body : undefined;
    const { reasons, ...rest } = authenticator.explain({ ...request, body: examined });
    const redacted = reasons.map(({ key, values }) => {
      const texts = Object.entries(values).map(([name, value]) => [name, redact(value)] as const);
      return { key, values: Object.fromEntries(texts) };
    });
    return { ...rest, reasons: redacted };
  } catch {
    return unexplained;
  }
}

/** An interference in words; of any other error the stack. */
function describeCause(cause: unknown, translate: Translate): string {
  if (typeof cause === "string") return cause;
  try {
    if (cause instanceof ReasonError) return translate(`interference.${cause.kind}`);
    const stack: unknown = cause instanceof Error ? cause.stack : undefined;
    // Longer than what is logged: a cut text may end in a part of a secret.
    return typeof stack === "string" ? stack : inspect(cause, { maxStringLength: 2 * maxLoggedCause });
  } catch {
    // Anything may be thrown, even what throws when it is inspected.
    return typeof cause;
  }
}

function nameCaller({ authenticator }: Endpoint, caller: string | undefined): string | undefined {
  return caller === undefined ? undefined : authenticator.redactor.redact(caller);
}

export class NodeLog {
  readonly #translate: Translate;
  readonly #nodes: NodeHealths;
  /** For the log, the list and the form. */
  readonly #examination = new RateBound(examinationMs);

  constructor(translate: Translate, outcomes: Outcomes, nodes: NodeHealths) {
    this.#translate = translate;
    this.#nodes = nodes;
    const running = (node: string) => nodes.get(node)?.running;
    outcomes.on("refused", (event) => this.#refuse(event));
    outcomes.on("unanswered", ({ node, caller }) => {
      const found = running(node);
      if (!found || !this.#mayLog(node, "warn")) return;
      found.node.warn(this.#formatRefusal(problems.flowLate, nameCaller(found, caller)));
    });
    outcomes.on("handshake", ({ node, secret, request, status }) => {
      const health = nodes.get(node);
      if (!health?.running) return;
      const { node: found, config, recorder } = health.running;
      recorder?.addHandshake(request, status);
      // A second secret may be a stranger's.
      if (secret === undefined || health.secret !== undefined) return;
      health.secret = secret;
      found.warn(translate("status.secretBrought", { path: config.path }));
    });
    outcomes.on("shadowed", ({ node, by }) => {
      const found = running(node);
      found?.node.warn(describeShadow(found.config.path, by, translate));
    });
    outcomes.on("attempt:failed", ({ node, id, attempt: attempts, error, isGivenUp }) => {
      if (!isGivenUp) return;
      const text = describeError(error, translate);
      running(node)?.node.error(translate("store.failedForGood", { id, attempts, error: text }));
    });
    outcomes.on("paused", ({ node, pause }) => {
      const found = running(node);
      const failures = found?.config.pace.breaker ?? 0;
      if (pause === "breaker") found?.node.warn(translate("store.pausedByBreaker", { failures }));
    });
    outcomes.on("resumed", ({ node }) => running(node)?.node.log(translate("store.resumed")));
    outcomes.on("silent", ({ node, silent }) => {
      for (const { caller, hours, since } of silent) {
        if (caller !== undefined) continue;
        running(node)?.node.warn(translate("status.wentSilent", { hours, time: new Date(since).toISOString() }));
      }
      const callers = silent.flatMap(({ caller }) => caller ?? []);
      if (callers.length === 0) return;
      const { hours = 0 } = silent[0] ?? {};
      running(node)?.node.warn(translate("status.callersWentSilent", { hours, names: listNames(callers) }));
    });
    outcomes.on("heard", ({ node, caller }) => {
      const text =
        caller === undefined ? translate("status.heardAgain") : translate("alert.reason.callerHeard", { caller });
      running(node)?.node.log(text);
    });
    outcomes.on("replied", ({ node, id, milliseconds, contentLength }) => {
      const metric = running(node)?.node;
      if (!metric?.metric()) return;
      metric.metric("response.time.millis", { _msgid: id }, Number(milliseconds.toFixed(3)));
      metric.metric("response.content-length.bytes", { _msgid: id }, contentLength);
    });
  }

  #refuse(event: RefusedEvent): void {
    const { node, authenticator, problem, request, cause } = event;
    const health = this.#nodes.get(node);
    if (!health?.running) return;
    const { running } = health;
    const text = cause === undefined ? undefined : describeCause(cause, this.#translate);
    const redact = () => text && authenticator.redactor.redact(text).slice(0, maxLoggedCause);
    let explanation: Explanation | undefined;
    // Warnings that a stranger causes must not hide errors: each level has its own interval.
    if (cause === undefined && this.#mayLog(node, "warn")) {
      explanation = this.#examine(event);
      health.lastRefused = this.#warn(running, event, explanation);
    } else if (cause !== undefined && this.#mayLog(node, "error")) {
      running.node.error(`${this.#formatRefusal(problem, nameCaller(running, request?.caller))}: ${redact()}`);
    }
    running.recorder?.addRefused(problem, request, () => ({
      explanation: explanation ?? this.#examine(event) ?? unexplained,
      error: redact()?.split("\n", 1)[0]?.slice(0, maxNotedCause),
    }));
  }

  /** @returns nothing where there is no time left in this second: not each request of a flood is explained */
  #examine({ authenticator, problem, request, cause }: RefusedEvent): Explanation | undefined {
    const isExplained = problem.isOfCredential || problem === problems.keysUnavailable;
    if (!request || !isExplained || cause !== undefined) return unexplained;
    return this.#examination.spend(() => explain(authenticator, request));
  }

  /** @param from a caller or an address */
  #formatRefusal({ name, status }: Problem, from: string | undefined): string {
    const text = formatRefusal(name, status, this.#translate);
    return from === undefined ? text : `${text}: ${from}`;
  }

  /** @returns what was logged, for the form */
  #warn(running: Endpoint, { problem, request }: RefusedEvent, explanation: Explanation | undefined): RefusedRequest {
    const { name, status } = problem;
    const { caller, ip = "" } = request ?? {};
    const from = nameCaller(running, caller) ?? (problem.isOfAddress ? normaliseAddress(ip) : undefined);
    const told = explanation ? this.#describe(explanation, running.sender?.id) : [this.#translate(`fix.${name}`)];
    running.node.warn([this.#formatRefusal(problem, from), ...told].join(". "));
    const logged = { at: Date.now(), problem: name, status, ...(from !== undefined && { from }) };
    return { ...logged, ...(explanation ?? unexplained) };
  }

  /** The first reason, and the sender that the request looks like, if that is another one. */
  #describe({ reasons: [reason], looksLike }: Explanation, configured: SenderId | undefined): string[] {
    const describe = ({ key, values }: Reason) => this.#translate(`whyNot.${key}`, values);
    const isOther = looksLike !== undefined && looksLike !== configured && reason?.key !== "otherSender";
    const likeness = isOther ? [{ key: "looksLike", values: { sender: shortName(looksLike) } }] : [];
    return [...(reason ? [reason] : []), ...likeness].map(describe);
  }

  /** Whether a line may be logged now; if so, the interval begins. */
  #mayLog(node: string, level: "warn" | "error"): boolean {
    const logged = this.#nodes.get(node)?.logged;
    const now = performance.now();
    if (!logged || now - logged[level] < logIntervalMs) return false;
    logged[level] = now;
    return true;
  }
}

/** @param by the name of the node that gets the requests; may be empty */
export function describeShadow(path: string, by: string, translate: Translate): string {
  return translate(by === "" ? "status.shadowed" : "status.shadowedBy", { path, by });
}
