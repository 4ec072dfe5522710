// Twilio's signature, which covers the URL and the sorted fields of a form.

import { createHash, type KeyObject } from "node:crypto";
import { isSame } from "../digest";
import { acceptance, type Check } from "./checks";
import { comparisonBy } from "./comparison";
import { decodeStrictly } from "./encoding";
import type { Evidence, Plan } from "./evidence";
import { placeOf } from "./fields";
import { twilioUrls } from "./public-url";
import type { Acceptance, Refusal } from "./why";

const bodyDigest = placeOf("query:bodySHA256");

/**
 * Of a form, name and value of each field follow the URL; of another body, the URL has the SHA-256.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security
 */
export class TwilioCheck implements Check {
  readonly readsBody = true;
  readonly #plan: Plan;
  readonly #evidence: Evidence;
  readonly #keys: readonly KeyObject[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[]) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#keys = keys;
  }

  update(): void {
    // Fields are sorted first: nothing is signed in the order in which it comes.
  }

  verdict(body: () => Buffer): Acceptance | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    const { isForm } = this.#evidence;
    const fields = isForm ? sortedFields(this.#evidence.body.toString()) : "";
    const fitting = this.#keys.map((key) => signatures.some((signature) => this.#fits(key, fields, signature)));
    const accepted = acceptance(fitting);
    if (!accepted) return { why: { kind: "signatureWrong" } };
    return (isForm ? undefined : this.#judgeDigest()) ?? accepted;
  }

  #fits(key: KeyObject, fields: string, signature: Buffer): boolean {
    for (const url of twilioUrls(this.#plan.publicUrl, this.#evidence.search)) {
      const comparison = comparisonBy(this.#plan.scheme.alg, key);
      comparison.update(Buffer.from(url + fields));
      if (comparison.fits(signature)) return true;
    }
    return false;
  }

  #judgeDigest(): Refusal | undefined {
    const text = this.#evidence.textAt(bodyDigest);
    if (typeof text !== "string") return text;
    const told = decodeStrictly(text, "hex");
    const own = createHash("sha256").update(this.#evidence.body).digest();
    return told?.length === own.length && isSame(told, own) ? undefined : { why: { kind: "bodyDigestWrong" } };
  }
}

/** Fields by their names; the values of a repeated one sorted, each once. */
function sortedFields(form: string): string {
  const fields = new URLSearchParams(form);
  const names = [...new Set(fields.keys())].sort();
  return names.flatMap((name) => [...new Set(fields.getAll(name))].sort().map((value) => name + value)).join("");
}
