// What is behind a problem, in words for the log.

import { inspect } from "node:util";
import type { Translate } from "../../src/deliveries/wording";
import { Interference } from "../../src/problem";

/** Of what is behind a refusal, the log gets so many characters: an error may quote all that a caller has sent. */
export const mostLogged = 10_000;

/** What is behind a problem: an interference in words, any other error with the place it came from. */
export function causeText(cause: unknown, translate: Translate): string {
  if (typeof cause === "string") return cause;
  try {
    if (cause instanceof Interference) return translate(`interference.${cause.kind}`);
    const stack: unknown = cause instanceof Error ? cause.stack : undefined;
    // Longer than what is logged: where a text is cut, a part of a secret may be left.
    return typeof stack === "string" ? stack : inspect(cause, { maxStringLength: 2 * mostLogged });
  } catch {
    // Anything may be thrown, also what throws when it is looked at.
    return typeof cause;
  }
}
