// What the log says of refusals: so seldom that strangers cannot fill it.

import type { Node } from "node-red";
import type { Translate } from "../../src/deliveries/wording";
import type { RefusedRequest } from "../../src/admin/standing";
import { normaliseAddress } from "../../src/trust/limits";
import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import { type SenderId, shortName } from "../../src/trust/senders/table";
import type { Inquiry, Refusal } from "./explained";

/** Refusals are logged at most this often, in ms. */
const logInterval = 1000;

export class RefusalLog {
  readonly #node: Node;
  readonly #translate: Translate;
  readonly #last = { warn: -Infinity, error: -Infinity };

  constructor(node: Node, translate: Translate) {
    this.#node = node;
    this.#translate = translate;
  }

  /**
   * Logs a refusal, unless another was just before.
   *
   * @param configured who sends, as it is configured
   * @returns what was logged, for the form; nothing of an error, which is for the log alone
   */
  tell(
    { problem, request, cause }: Refusal,
    inquiry: Inquiry,
    configured: SenderId | undefined,
  ): RefusedRequest | undefined {
    // What a stranger does must not hide an error, so each has an interval of its own.
    const level = cause === undefined ? "warn" : "error";
    if (!this.allows(level)) return undefined;
    const reason = this.#translate(`refused.${problem.name}`);
    if (inquiry.cause !== undefined) {
      this.#node[level](`${reason}: ${inquiry.cause}`);
      return undefined;
    }
    const from = problem.isOfAddress ? normaliseAddress(request?.ip ?? "") : undefined;
    const { explanation } = inquiry;
    const told = from ? `${reason}: ${from}` : reason;
    this.#node[level]([told, ...this.#sentences(explanation, configured)].join(". "));
    return { at: Date.now(), problem: problem.name, ...(from && { ip: from }), ...explanation };
  }

  /** Whether there may be a line now; if so, the interval begins. */
  allows(level: "warn" | "error"): boolean {
    const now = performance.now();
    if (now - this.#last[level] < logInterval) return false;
    this.#last[level] = now;
    return true;
  }

  /** The surest reason, and who it looks like where that is somebody else. */
  #sentences({ reasons: [reason], looksLike }: Explanation, configured: SenderId | undefined): string[] {
    const sentence = ({ key, values }: Reason) => this.#translate(`whyNot.${key}`, values);
    const isOther = looksLike !== undefined && looksLike !== configured && reason?.key !== "otherSender";
    const likeness = isOther ? [{ key: "looksLike", values: { sender: shortName(looksLike) } }] : [];
    return [...(reason ? [reason] : []), ...likeness].map(sentence);
  }
}
