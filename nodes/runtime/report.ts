// How a node fares, as the operator is told.

import type { Node } from "node-red";
import type { Breach } from "../../src/config/rules";
import { problems } from "../../src/problem";
import type { Ending, Fares } from "../../src/deliveries/flow";
import { interrupted } from "../../src/deliveries/state";
import type { Trouble } from "../../src/deliveries/store";
import type { Translate } from "../../src/deliveries/wording";
import type { Acceptance, Replied } from "../../src/endpoint";
import type { Standing } from "../../src/admin/standing";
import type { Counts } from "./counts";
import type { Inquiry, Refusal } from "./explained";
import { RefusalLog } from "./refusal-log";
import type { Silent, Watch } from "./silence";
import { type Lot, statusOf } from "./status";
import { Tally } from "./tally";

/** The status is renewed at most this often, in ms. */
const statusInterval = 500;

/** Tells the operator how a node fares: by its status, in the log and as metrics. The token is in none of them. */
export class Report {
  readonly #node: Node;
  readonly #translate: Translate;
  readonly #counts: Counts;
  readonly #tally: Tally;
  #path = "";
  #lot: Lot = {};
  /** How its deliveries fare, where none may be lost. */
  #fares: Fares | undefined;
  /** What the store is in trouble with. */
  #trouble: Trouble | undefined;
  /** What watches over the sender. */
  #watch: Watch | undefined;
  /** Whether the counts have changed since they were shown. */
  #changed = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #refusals: RefusalLog;
  /** The text of the status where another node gets the requests. */
  #shadow: string | undefined;

  /** @param counts what is counted over deploys */
  constructor(node: Node, translate: Translate, counts: Counts) {
    this.#node = node;
    this.#translate = translate;
    this.#counts = counts;
    this.#tally = new Tally(counts);
    this.#refusals = new RefusalLog(node, translate);
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

  open(path: string, lot: Lot = {}, watch?: Watch): void {
    this.#path = path;
    this.#lot = lot;
    this.#watch = watch;
    this.#counts.isOpen = true;
    watch?.begin(this);
    this.#countsChanged();
  }

  accepted(acceptance: Acceptance): void {
    this.#heard(acceptance, this.#tally.accept(acceptance));
    this.#countsChanged();
  }

  /** A request was a repeat of another, and has started no flow. */
  repeated(acceptance: Acceptance): void {
    this.#heard(acceptance, this.#tally.repeat(acceptance));
    this.#countsChanged();
  }

  /** The editor's test requests are no sign of the sender. */
  #heard({ admission }: Acceptance, at: number): void {
    if (!admission.isTrial) this.#watch?.heard(at);
  }

  wentSilent({ hours, since }: Silent): void {
    this.#node.warn(this.#translate("status.wentSilent", { hours, time: new Date(since).toISOString() }));
    this.#countsChanged();
  }

  heardAgain(): void {
    this.#node.log(this.#translate("status.heardAgain"));
    this.#countsChanged();
  }

  /** The flow has not answered in time. */
  unanswered(): void {
    this.#tally.missAnswer();
    this.#countsChanged();
    if (this.#refusals.allows("warn")) this.#node.warn(this.#translate(`refused.${problems.flowLate.name}`));
  }

  /**
   * Another node gets the requests.
   *
   * @param by its name; empty where that is not known
   */
  shadowed(path: string, by: string): void {
    const text = this.#translate(by === "" ? "status.shadowed" : "status.shadowedBy", { path, by });
    this.#shadow = text;
    this.#node.warn(text);
    this.#countsChanged();
  }

  replied({ id, milliseconds, contentLength }: Replied): void {
    this.#counts.replies.add(milliseconds);
    if (!this.#node.metric()) return;
    this.#node.metric("response.time.millis", { _msgid: id }, Number(milliseconds.toFixed(3)));
    this.#node.metric("response.content-length.bytes", { _msgid: id }, contentLength);
  }

  fared(fares: Fares): void {
    this.#fares = this.#counts.fares = fares;
    this.#countsChanged();
  }

  /** A start of the flow has ended that may not be lost. */
  ran({ as }: Ending): void {
    this.#counts.attempts[as]++;
  }

  /** @param error what the flow has failed with the last time; or `interrupted` */
  gaveUp(id: string, attempts: number, error: string): void {
    this.#counts.givenUp++;
    const text = error === interrupted ? this.#translate("store.interrupted") : error;
    this.#node.error(this.#translate("store.failedForGood", { id, attempts, error: text }));
  }

  redelivered(number: number): void {
    this.#node.log(this.#translate("store.redelivering", { number }));
  }

  /** @param trouble nothing where the store works again */
  storeFares(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    this.#countsChanged();
  }

  refused(refusal: Refusal, inquiry: Inquiry): void {
    this.#tally.refuse(refusal.problem.name, refusal.request?.ip);
    this.#countsChanged();
    const logged = this.#refusals.tell(refusal, inquiry, this.#lot.sender);
    if (logged) this.#tally.explain(logged);
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

  /** The node is closed: its status is no longer its own to show. */
  stop(): void {
    this.#stopped = true;
    this.#counts.isOpen = false;
    this.#watch?.end();
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
    const silentFor = this.#watch?.silent?.hours;
    const status = statusOf({ path, lot, tally, fares, trouble, silentFor }, this.#translate);
    this.#node.status(this.#shadow === undefined ? status : { fill: "yellow", shape: "ring", text: this.#shadow });
    this.#timer = setTimeout(() => this.#showCounts(), statusInterval);
  }
}
