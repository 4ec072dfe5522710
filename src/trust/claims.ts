// What requests still have to prove by their bodies.

import { Problem, problems } from "../problem";
import type { Answer } from "./answer";
import type { Claim } from "./gate";
import { type Handshakes, longestUnsigned } from "./handshakes";
import type { Check } from "./signature/checks";
import type { Head } from "./signature/fields";
import type { Admission } from "./signature/why";
import { unverifiedBytes } from "./unverified";

/** The memory that a body takes as long as nobody knows whose it is. */
class Unproven {
  #bytes = 0;

  update(chunk: Buffer): Problem | undefined {
    if (!unverifiedBytes.take(chunk.length)) return problems.unverifiedFull;
    this.#bytes += chunk.length;
    return undefined;
  }

  drop(): void {
    unverifiedBytes.release(this.#bytes);
    this.#bytes = 0;
  }
}

/** A request that has a signature, which is to fit. */
export class Proof implements Claim {
  readonly needsBytes: boolean;
  readonly #check: Check;
  readonly #handshakes: Handshakes;
  readonly #head: Head;
  /** Whether it may be a handshake that nobody signs. */
  readonly #mayBeUnsigned: boolean;
  readonly #unproven = new Unproven();

  constructor(check: Check, handshakes: Handshakes, head: Head, mayBeUnsigned: boolean) {
    this.needsBytes = check.coversBody;
    this.#check = check;
    this.#handshakes = handshakes;
    this.#head = head;
    this.#mayBeUnsigned = mayBeUnsigned;
  }

  update(chunk: Buffer): Problem | undefined {
    this.#check.update(chunk);
    return this.#unproven.update(chunk);
  }

  verdict(body: Buffer): Admission | Answer | Problem {
    this.drop();
    const greeting = this.#mayBeUnsigned ? this.#handshakes.meetWithBody(this.#head, body) : undefined;
    if (greeting) return greeting;
    const verdict = this.#check.verdict(() => body);
    if ("why" in verdict || this.#handshakes.mayHaveSigned(body)) return problems.signatureInvalid;
    return this.#handshakes.follow(this.#head, body, verdict.credential) ?? verdict;
  }

  drop(): void {
    this.#unproven.drop();
  }
}

/** A request that may come in, unless its body is a handshake. */
class Greeting implements Claim {
  readonly needsBytes = false;
  readonly #admission: Admission;
  readonly #handshakes: Handshakes;
  readonly #head: Head;

  constructor(admission: Admission, handshakes: Handshakes, head: Head) {
    this.#admission = admission;
    this.#handshakes = handshakes;
    this.#head = head;
  }

  update(): undefined {
    return undefined;
  }

  verdict(body: Buffer): Admission | Answer {
    const [handshakes, head] = [this.#handshakes, this.#head];
    return (
      handshakes.meetWithBody(head, body) ??
      handshakes.follow(head, body, this.#admission.credential) ??
      this.#admission
    );
  }

  drop(): void {
    // Whose it is is known, so that nobody counts its memory.
  }
}

/** A request without a signature, which is let in nowhere and is to be answered if it is a handshake. */
class Challenge implements Claim {
  readonly longest: NonNullable<Claim["longest"]>;
  readonly needsBytes = false;
  readonly #handshakes: Handshakes;
  readonly #head: Head;
  readonly #problem: Problem;
  readonly #unproven = new Unproven();

  /** @param problem why it is refused if it is none */
  constructor(handshakes: Handshakes, head: Head, problem: Problem) {
    this.#handshakes = handshakes;
    this.#head = head;
    this.#problem = problem;
    this.longest = { bytes: longestUnsigned, otherwise: problem };
  }

  update(chunk: Buffer): Problem | undefined {
    return this.#unproven.update(chunk);
  }

  verdict(body: Buffer): Answer | Problem {
    this.drop();
    return this.#handshakes.meetWithBody(this.#head, body) ?? this.#problem;
  }

  drop(): void {
    this.#unproven.drop();
  }
}

/**
 * What becomes of a request whose head tells whether it may come in, where its body may be a handshake nevertheless.
 *
 * @param mayBeUnsigned whether it may be one that nobody signs
 */
export function withHandshakes(
  handshakes: Handshakes,
  head: Head,
  entry: Admission | Problem,
  mayBeUnsigned: boolean,
): Admission | Claim | Problem {
  if (entry instanceof Problem) return mayBeUnsigned ? new Challenge(handshakes, head, entry) : entry;
  return mayBeUnsigned || handshakes.haveSigned ? new Greeting(entry, handshakes, head) : entry;
}
