// How a node fares, as the operator is told.

import type { Node } from "node-red";
import type { Breach } from "../../src/config/rules";
import { type Problem, problems } from "../../src/problem";
import type { Acceptance, Replied } from "../../src/endpoint";
import type { Dropped } from "../../src/reply/owed";
import type { Standing } from "../../src/reply/standing";
import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import type { Gate, Refused } from "../../src/trust/gate";
import { type SenderId, shortName } from "../../src/trust/senders/table";
import { addressOf } from "../../src/trust/addresses";
import { causeText, mostLogged, type Translate } from "./cause";
import { explanationBy } from "./explained";
import { Tally } from "./tally";

/** The status is renewed at most this often, in ms. */
const statusInterval = 500;
/** Refusals are logged at most this often, in ms. */
const logInterval = 1000;

/** What else there is to tell of an open endpoint. */
export interface Lot {
  /** Who sends, as it is configured. */
  sender?: SenderId | undefined;
  /** Whether there are two secrets or tokens. */
  hasTwo?: boolean;
  /** Whether it waits for the sender to bring the secret. */
  isArmed?: boolean;
}

/** Tells the operator how a node fares: by its status, in the log and as metrics. The token is in none of them. */
export class Report {
  readonly #node: Node;
  readonly #translate: Translate;
  readonly #tally = new Tally();
  #path = "";
  #lot: Lot = {};
  /** Whether the counts have changed since they were shown. */
  #changed = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #lastLog = { warn: -Infinity, error: -Infinity };

  constructor(node: Node, translate: Translate) {
    this.#node = node;
    this.#translate = translate;
  }

  /** The node's configuration breaks a rule, so its endpoint stays closed. */
  broken({ rule, value }: Breach): void {
    const text = this.#translate(`rules.${rule}`, { value });
    this.#node.status({ fill: "red", shape: "ring", text });
    this.#node.error(text);
  }

  /** The operator has switched HTTP nodes off. */
  switchedOff(): void {
    const text = this.#translate("status.switchedOff");
    this.#node.status({ fill: "red", shape: "ring", text });
    this.#node.warn(text);
  }

  waiting(path: string): void {
    const text = this.#translate("status.waiting", { path });
    this.#node.status({ fill: "yellow", shape: "ring", text });
    this.#node.warn(text);
  }

  open(path: string, lot: Lot = {}): void {
    this.#path = path;
    this.#lot = lot;
    this.#countsChanged();
  }

  accepted(acceptance: Acceptance): void {
    this.#tally.accept(acceptance);
    this.#countsChanged();
  }

  /** A request was a repeat of another, and has started no flow. */
  repeated(acceptance: Acceptance): void {
    this.#tally.repeat(acceptance);
    this.#countsChanged();
  }

  /** The flow has not answered in time. */
  unanswered(): void {
    this.#tally.missAnswer();
    this.#countsChanged();
    if (this.#mayLog("warn")) this.#node.warn(this.#translate(`refused.${problems.flowLate.name}`));
  }

  /** An answer of the flow was not sent. */
  dropped(id: string, why: Dropped): void {
    this.#node.warn(this.#translate(`reply.${why}`, { id }));
  }

  replied({ id, milliseconds, contentLength }: Replied): void {
    if (!this.#node.metric()) return;
    this.#node.metric("response.time.millis", { _msgid: id }, Number(milliseconds.toFixed(3)));
    this.#node.metric("response.content-length.bytes", { _msgid: id }, contentLength);
  }

  /**
   * @param cause the error behind it, if there was one
   * @param gate what has refused it, and knows what must not get into the log
   */
  refused(problem: Problem, request: Refused | undefined, cause: unknown, gate: Gate): void {
    this.#tally.refuse(request?.ip);
    this.#countsChanged();
    // What a stranger does must not hide an error, so each has an interval of its own.
    const level = cause === undefined ? "warn" : "error";
    if (!this.#mayLog(level)) return;
    const reason = this.#translate(`refused.${problem.name}`);
    if (cause !== undefined) {
      this.#node[level](`${reason}: ${gate.secrecy.conceal(causeText(cause, this.#translate), mostLogged)}`);
      return;
    }
    const from = problem.isOfAddress ? addressOf(request?.ip ?? "") : undefined;
    const explanation = request && problem.status === 401 ? explanationBy(gate, request) : { reasons: [] };
    this.#tally.explain({ at: Date.now(), problem: problem.name, ...(from && { ip: from.text }), ...explanation });
    const told = from ? `${reason}: ${from.text}` : reason;
    this.#node[level]([told, ...this.#sentences(explanation)].join(". "));
  }

  #mayLog(level: "warn" | "error"): boolean {
    const now = performance.now();
    if (now - this.#lastLog[level] < logInterval) return false;
    this.#lastLog[level] = now;
    return true;
  }

  /** A handshake was answered. The secret that it may have brought is for the form alone. */
  greeted(secret: string | undefined): void {
    const isFirst = secret !== undefined && !this.#tally.hasSecret;
    this.#tally.greet(secret);
    this.#countsChanged();
    if (isFirst) this.#node.warn(this.#translate("status.secretBrought", { path: this.#path }));
  }

  get standing(): Standing {
    return this.#tally.standing(this.#lot.hasTwo === true);
  }

  /** What the sender has brought: once. */
  takeSecret(): string | undefined {
    return this.#tally.takeSecret();
  }

  /** The surest reason, and who it looks like where that is somebody else. */
  #sentences({ reasons: [reason], looksLike }: Explanation): string[] {
    const sentence = ({ key, values }: Reason) => this.#translate(`whyNot.${key}`, values);
    const isOther = looksLike !== undefined && looksLike !== this.#lot.sender && reason?.key !== "otherSender";
    const likeness = isOther ? [{ key: "looksLike", values: { sender: shortName(looksLike) } }] : [];
    return [...(reason ? [reason] : []), ...likeness].map(sentence);
  }

  /** The node is closed: its status is no longer its own to show. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Has the counts shown: now or, if they were shown just before, when the interval is over. */
  #countsChanged(): void {
    this.#changed = true;
    if (!this.#timer) this.#showCounts();
  }

  #showCounts(): void {
    this.#timer = undefined;
    if (this.#stopped || !this.#changed) return;
    this.#changed = false;
    const { accepted, refused, handshakes, repeats, unanswered, hasSecret } = this.#tally;
    if (this.#lot.isArmed === true) {
      const text = this.#translate(hasSecret ? "status.secretBrought" : "status.armed", { path: this.#path });
      this.#node.status({ fill: "yellow", shape: hasSecret ? "dot" : "ring", text });
    } else {
      const counts = { path: this.#path, accepted, refused };
      const parts = [this.#translate(refused > 0 ? "status.openRefusing" : "status.open", counts)];
      if (handshakes > 0) parts.push(this.#translate("status.handshakes", { handshakes }));
      if (repeats > 0) parts.push(this.#translate("status.repeats", { repeats }));
      if (unanswered > 0) parts.push(this.#translate("status.unanswered", { unanswered }));
      if (this.#lot.hasTwo === true) parts.push(this.#translate("status.lastUsed", this.#lastUsed()));
      this.#node.status({ fill: "green", shape: "dot", text: parts.join(", ") });
    }
    this.#timer = setTimeout(() => this.#showCounts(), statusInterval);
  }

  /** When the first and the second of two secrets or tokens were last used. */
  #lastUsed(): Record<"first" | "second", string> {
    const { first, second } = this.#tally.used;
    const text = (at: number | undefined) => (at === undefined ? "–" : timeText(new Date(at)));
    return { first: text(first), second: text(second) };
  }
}

/** A time of day and, where it is not today, the day before it (ISO 8601), as the clock of this machine shows it. */
function timeText(time: Date): string {
  const digits = (value: number) => String(value).padStart(2, "0");
  const clock = `${digits(time.getHours())}:${digits(time.getMinutes())}`;
  if (time.toDateString() === new Date().toDateString()) return clock;
  return `${time.getFullYear()}-${digits(time.getMonth() + 1)}-${digits(time.getDate())} ${clock}`;
}
