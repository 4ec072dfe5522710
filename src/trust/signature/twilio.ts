// Twilio's signature, which covers the URL and the sorted fields of a form.

import { createHash, type KeyObject } from "node:crypto";
import { isSame } from "../digest";
import { admissionBy, type Check } from "./checks";
import { comparisonBy } from "./comparison";
import { decodeStrictly } from "./encoding";
import type { Evidence, Plan } from "./evidence";
import { placeOf, readForm } from "./fields";
import { twilioUrls } from "./public-url";
import type { Admission, Refusal } from "./why";

const bodyDigest = placeOf("query:bodySHA256");

/**
 * Of a form, name and value of each field follow the URL; of another body, the URL has the SHA-256.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security
 */
export class TwilioCheck implements Check {
  readonly readsBody = true;
  readonly coversBody = true;
  readonly #plan: Plan;
  readonly #evidence: Evidence;
  readonly #keys: readonly KeyObject[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[]) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#keys = keys;
  }

  verdict(body: () => Buffer): Admission | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    const { isForm } = this.#evidence;
    const fields = isForm ? sortedFields(this.#evidence.body.toString()) : Buffer.alloc(0);
    if (!fields) return { why: { kind: "signatureWrong" } };
    const fitting = this.#keys.map((key) => signatures.some((signature) => this.#fits(key, fields, signature)));
    const accepted = admissionBy(fitting);
    if (!accepted) return { why: { kind: "signatureWrong" } };
    return (isForm ? undefined : this.#judgeDigest()) ?? accepted;
  }

  #fits(key: KeyObject, fields: Buffer, signature: Buffer): boolean {
    for (const url of twilioUrls(this.#plan.publicUrl, this.#evidence.search)) {
      const comparison = comparisonBy(this.#plan.scheme.alg, key);
      comparison.update(Buffer.from(url));
      comparison.update(fields);
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

/** Fields by their names; the values of a repeated one sorted, each once. Nothing for a form that is not read. */
function sortedFields(text: string): Buffer | undefined {
  const form = readForm(text);
  if (!form) return undefined;
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of form) fields.set(name, (fields.get(name) ?? new Set()).add(value));
  const names = [...fields.keys()].sort();
  const sorted = names.flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value));
  return Buffer.from(sorted.join(""));
}
