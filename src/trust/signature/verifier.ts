// Who may come in by a signature.

import { createHmac, type KeyObject } from "node:crypto";
import type { Scheme, Source } from "../senders/record";
import { type Check, ContentCheck, TokenCheck } from "./checks";
import { Evidence, Plan } from "./evidence";
import type { Head } from "./fields";
import { isAsymmetric, keyOf } from "./key";
import { TwilioCheck } from "./twilio";
import type { Credential, Refusal } from "./why";

/** Why a configuration can verify nothing. */
export type SecretRule = "secret.required" | "secret.format" | "secondSecret.format";

export interface Secrets {
  first: string;
  /** Accepted as well, so that a change of secret loses nothing; an empty one is none. */
  second?: string;
}

/** A scheme with its secrets, which judges requests. */
export class Verifier {
  readonly #plan: Plan;
  readonly #keys: readonly KeyObject[];

  private constructor(plan: Plan, keys: readonly KeyObject[]) {
    this.#plan = plan;
    this.#keys = keys;
  }

  /**
   * @param publicUrl the URL that the sender was given, where the scheme signs it
   * @param ids where the sender's id of a delivery stands
   * @returns which rule a secret breaks, if one does
   */
  static of(
    scheme: Scheme,
    { first, second = "" }: Secrets,
    publicUrl = "",
    ids: readonly Source[] = [],
  ): Verifier | { rule: SecretRule } {
    if (first === "") return { rule: "secret.required" };
    const key = keyOf(scheme, first);
    if (!key) return { rule: "secret.format" };
    if (second === "") return new Verifier(new Plan(scheme, publicUrl, ids), [key]);
    const secondKey = keyOf(scheme, second);
    if (!secondKey) return { rule: "secondSecret.format" };
    return new Verifier(new Plan(scheme, publicUrl, ids), [key, secondKey]);
  }

  /**
   * Judges a request by its head: whether it has a signature that is well-formed, and a time that is near enough.
   *
   * @param now in ms since the epoch
   * @returns the check that is to get the body, or why the request is refused without it
   */
  begin(head: Head, now: number): Check | Refusal {
    const evidence = new Evidence(this.#plan, head);
    const refusal = evidence.judgeHead(now);
    if (refusal) return refusal;
    const { alg } = this.#plan.scheme;
    if (alg === "code:twilio") return new TwilioCheck(this.#plan, evidence, this.#keys);
    if (alg !== "token") return new ContentCheck(this.#plan, evidence, this.#keys, now);
    const check = new TokenCheck(this.#plan, evidence, this.#keys);
    const verdict = check.readsBody ? undefined : check.verdict(() => Buffer.alloc(0));
    return verdict && "why" in verdict ? verdict : check;
  }

  /**
   * HMAC-SHA256 (RFC 2104) of a text, as handshakes want it. It is a signature of what a caller has chosen: the text is
   * to be restricted, or its sender verified.
   *
   * @returns nothing where the sender has a key of its own
   */
  mac(text: string, credential: Credential): Buffer | undefined {
    const key = this.#keys[credential === "second" ? 1 : 0];
    if (!key || isAsymmetric(this.#plan.scheme.alg)) return undefined;
    return createHmac("sha256", key).update(text).digest();
  }
}
