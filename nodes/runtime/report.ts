// How a node fares, as the operator is told.

import type { Node } from "node-red";
import type { Breach } from "../../src/config/rules";
import { problems } from "../../src/problem";
import { type Fares, interrupted } from "../../src/deliveries/flow";
import type { Trouble } from "../../src/deliveries/store";
import type { Acceptance, Replied } from "../../src/endpoint";
import type { Dropped } from "../../src/reply/owed";
import type { Standing } from "../../src/reply/standing";
import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import { shortName } from "../../src/trust/senders/table";
import { addressOf } from "../../src/trust/addresses";
import type { Translate } from "./cause";
import type { Inquiry, Refusal } from "./explained";
import { type Lot, statusOf } from "./status";
import { Tally } from "./tally";

/** The status is renewed at most this often, in ms. */
const statusInterval = 500;
/** Refusals are logged at most this often, in ms. */
const logInterval = 1000;

/** Tells the operator how a node fares: by its status, in the log and as metrics. The token is in none of them. */
export class Report {
  readonly #node: Node;
  readonly #translate: Translate;
  readonly #tally = new Tally();
  #path = "";
  #lot: Lot = {};
  /** How its deliveries fare, where none may be lost. */
  #fares: Fares | undefined;
  /** What the store is in trouble with. */
  #trouble: Trouble | undefined;
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

  fared(fares: Fares): void {
    this.#fares = fares;
    this.#countsChanged();
  }

  /** @param error what the flow has failed with the last time; or `interrupted` */
  gaveUp(id: string, error: string): void {
    const text = error === interrupted ? this.#translate("store.interrupted") : error;
    this.#node.error(this.#translate("store.failedForGood", { id, error: text }));
  }

  redelivered(number: number): void {
    this.#node.log(this.#translate("store.redelivering", { number }));
  }

  /** @param trouble nothing where the store works again */
  storeFares(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    this.#countsChanged();
  }

  refused({ problem, request, cause }: Refusal, inquiry: Inquiry): void {
    this.#tally.refuse(request?.ip);
    this.#countsChanged();
    // What a stranger does must not hide an error, so each has an interval of its own.
    const level = cause === undefined ? "warn" : "error";
    if (!this.#mayLog(level)) return;
    const reason = this.#translate(`refused.${problem.name}`);
    if (inquiry.cause !== undefined) {
      this.#node[level](`${reason}: ${inquiry.cause}`);
      return;
    }
    const from = problem.isOfAddress ? addressOf(request?.ip ?? "") : undefined;
    const { explanation } = inquiry;
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
    const [path, lot, tally, fares, trouble] = [this.#path, this.#lot, this.#tally, this.#fares, this.#trouble];
    this.#node.status(statusOf({ path, lot, tally, fares, trouble }, this.#translate));
    this.#timer = setTimeout(() => this.#showCounts(), statusInterval);
  }
}
