// What a request still has to prove by its body.

import { Problem, problems } from "../problem";
import type { Claim } from "./gate";
import { type Handshakes, longestUnsigned } from "./handshakes";
import type { Check } from "./signature/checks";
import type { Head } from "./signature/fields";
import type { Admission } from "./signature/why";

/**
 * A request with a signature that is to be verified.
 *
 * @param mayBeUnsigned whether it may be a handshake that its sender does not sign
 */
export function claimBySignature(check: Check, handshakes: Handshakes, head: Head, mayBeUnsigned: boolean): Claim {
  return {
    isUnverified: true,
    needsBytes: check.coversBody,
    verdict(body) {
      const handshake = mayBeUnsigned ? handshakes.meetWithBody(head, body) : undefined;
      if (handshake) return handshake;
      const verdict = check.verdict(() => body);
      if ("why" in verdict || handshakes.mayHaveSigned(body)) return problems.signatureInvalid;
      return handshakes.follow(head, body, verdict.credential) ?? verdict;
    },
  };
}

/**
 * What becomes of a request whose head decides, unless its body is a handshake.
 *
 * @param mayBeUnsigned whether it may be a handshake that its sender does not sign
 */
export function withHandshakes(
  handshakes: Handshakes,
  head: Head,
  entry: Admission | Problem,
  mayBeUnsigned: boolean,
): Admission | Claim | Problem {
  if (entry instanceof Problem) {
    if (!mayBeUnsigned) return entry;
    const longest = { bytes: longestUnsigned, otherwise: entry };
    const verdict: Claim["verdict"] = (body) => handshakes.meetWithBody(head, body) ?? entry;
    return { isUnverified: true, needsBytes: false, longest, verdict };
  }
  if (!mayBeUnsigned && !handshakes.haveSigned) return entry;
  const verdict: Claim["verdict"] = (body) =>
    handshakes.meetWithBody(head, body) ?? handshakes.follow(head, body, entry.credential) ?? entry;
  return { isUnverified: false, needsBytes: false, verdict };
}
