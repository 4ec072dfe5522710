// How a node fares, as the operator is told.

import { inspect } from "node:util";
import type { Node } from "node-red";
import type { Credentials } from "../../src/trust/token";
import type { Breach } from "../../src/config/rules";
import { Interference, type Problem } from "../../src/problem";
import type { Acceptance } from "../../src/endpoint";

/** Looks a text up in the message catalog. */
export type Translate = (key: string, values?: Record<string, string | number>) => string;

/** The status is renewed at most this often, in ms. */
const statusInterval = 500;
/** Refusals are logged at most this often, in ms. */
const logInterval = 1000;
/** Of what is behind a refusal, the log gets so many characters: an error may quote all that a caller has sent. */
const mostLogged = 10_000;

/** Tells the operator how a node fares: by its status, in the log and as metrics. The token is in none of them. */
export class Report {
  readonly #node: Node;
  readonly #translate: Translate;
  #path = "";
  #accepted = 0;
  #refused = 0;
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

  open(path: string): void {
    this.#path = path;
    this.#countsChanged();
  }

  accepted({ id, milliseconds, contentLength }: Acceptance): void {
    this.#accepted++;
    this.#countsChanged();
    if (!this.#node.metric()) return;
    this.#node.metric("response.time.millis", { _msgid: id }, Number(milliseconds.toFixed(3)));
    this.#node.metric("response.content-length.bytes", { _msgid: id }, contentLength);
  }

  /**
   * @param cause the error behind it, if there was one
   * @param credentials what must not get into the log
   */
  refused(problem: Problem, cause: unknown, credentials: Credentials): void {
    this.#refused++;
    this.#countsChanged();
    // What a stranger does must not hide an error, so each has an interval of its own.
    const level = cause === undefined ? "warn" : "error";
    const now = performance.now();
    if (now - this.#lastLog[level] < logInterval) return;
    this.#lastLog[level] = now;
    const reason = this.#translate(`refused.${problem.name}`);
    if (cause === undefined) this.#node[level](reason);
    else this.#node[level](`${reason}: ${credentials.conceal(this.#describe(cause), mostLogged)}`);
  }

  /** What is behind a problem: an interference in words, any other error with the place it came from. */
  #describe(cause: unknown): string {
    if (typeof cause === "string") return cause;
    try {
      if (cause instanceof Interference) return this.#translate(`interference.${cause.kind}`);
      const stack: unknown = cause instanceof Error ? cause.stack : undefined;
      // Of a text that is cut, a part of the token could be left: a shorter one would not be cut again with care.
      return typeof stack === "string" ? stack : inspect(cause, { maxStringLength: mostLogged });
    } catch {
      // Anything may be thrown, also what throws when it is looked at.
      return typeof cause;
    }
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
    const counts = { path: this.#path, accepted: this.#accepted, refused: this.#refused };
    const text = this.#translate(this.#refused > 0 ? "status.openRefusing" : "status.open", counts);
    this.#node.status({ fill: "green", shape: "dot", text });
    this.#timer = setTimeout(() => this.#showCounts(), statusInterval);
  }
}
