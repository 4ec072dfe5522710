// What the log says of refusals: so seldom that strangers cannot fill it.

import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import { type SenderId, shortName } from "../../src/trust/senders/table";
import type { Translate } from "./cause";

/** Refusals are logged at most this often, in ms. */
const logInterval = 1000;

/** When refusals were last logged. What a stranger does must not hide an error, so each has an interval of its own. */
export class RefusalPace {
  readonly #last = { warn: -Infinity, error: -Infinity };

  /** Whether there may be a line now; if so, the interval begins. */
  allows(level: "warn" | "error"): boolean {
    const now = performance.now();
    if (now - this.#last[level] < logInterval) return false;
    this.#last[level] = now;
    return true;
  }
}

/**
 * The surest reason, and who it looks like where that is somebody else.
 *
 * @param configured who sends, as it is configured
 */
export function sentencesOf(
  { reasons: [reason], looksLike }: Explanation,
  configured: SenderId | undefined,
  translate: Translate,
): string[] {
  const sentence = ({ key, values }: Reason) => translate(`whyNot.${key}`, values);
  const isOther = looksLike !== undefined && looksLike !== configured && reason?.key !== "otherSender";
  const likeness = isOther ? [{ key: "looksLike", values: { sender: shortName(looksLike) } }] : [];
  return [...(reason ? [reason] : []), ...likeness].map(sentence);
}
