// The checks of one request: begun by its head, and ended by a verdict once its body is here.

import { createHash, type KeyObject } from "node:crypto";
import { isSame } from "../digest";
import { type Comparison, comparisonBy } from "./comparison";
import { bytesOf, type Evidence, type Plan } from "./evidence";
import { isInBody } from "./fields";
import { coversBody } from "./settings";
import type { Admission, Credential, Refusal } from "./why";

/** One request whose head has nothing against it. */
export interface Check {
  /** Whether the verdict reads the body: then all of it is to be kept, even where nothing else will read it. */
  readonly readsBody: boolean;
  /** Whether it takes the bytes of the body as they came. */
  readonly coversBody: boolean;
  /** @param body all of what came, in one piece */
  verdict(body: () => Buffer): Admission | Refusal;
}

const credentials: readonly Credential[] = ["first", "second"];

/** Which of the secrets fits, by those that do. */
export function admissionBy(fitting: readonly boolean[]): Admission | undefined {
  const credential = credentials[fitting.indexOf(true)];
  return credential && { credential };
}

/** For a scheme whose content a row can say. */
export class ContentCheck implements Check {
  readonly readsBody: boolean;
  readonly coversBody: boolean;
  readonly #plan: Plan;
  readonly #evidence: Evidence;
  readonly #now: number;
  readonly #comparisons: readonly Comparison[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[], now: number) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#now = now;
    this.#comparisons = keys.map((key) => comparisonBy(plan.scheme.alg, key));
    this.coversBody = coversBody(plan.scheme);
    const places = plan.time ? [...plan.content, plan.time] : plan.content;
    this.readsBody = plan.format.isInBody || places.some((place) => place.from === "body" || isInBody(place));
  }

  verdict(body: () => Buffer): Admission | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    for (const place of this.#plan.content) {
      const bytes = this.#evidence.bytesAt(place);
      if ("why" in bytes) return bytes;
      for (const comparison of this.#comparisons) comparison.update(bytes);
    }
    const accepted = admissionBy(this.#comparisons.map((each) => signatures.some((signature) => each.fits(signature))));
    if (!accepted) return { why: { kind: "signatureWrong" } };
    const sentAt = this.#evidence.sentAt(this.#now);
    if (typeof sentAt === "object") return sentAt;
    return sentAt === undefined ? accepted : { ...accepted, sentAt };
  }
}

/** For a scheme that sends the secret itself, in a field or in each element of the body. */
export class TokenCheck implements Check {
  readonly readsBody: boolean;
  readonly coversBody = false;
  readonly #isInFields: boolean;
  readonly #evidence: Evidence;
  readonly #digests: readonly Buffer[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[]) {
    this.readsBody = plan.format.isInBody;
    this.#isInFields = plan.format.isInFields;
    this.#evidence = evidence;
    this.#digests = keys.map((key) => sha256(key.export()));
  }

  verdict(body: () => Buffer): Admission | Refusal {
    this.#evidence.complete(body);
    const tokens = this.#evidence.tokens();
    if ("why" in tokens) return tokens;
    // Of a batch, the first that is wrong decides: a stranger's may have hundreds of thousands.
    const isOwn = (token: string, own: Buffer) => isSame(sha256(bytesOf(token, this.#isInFields)), own);
    const fitting = this.#digests.map((own) => tokens.every((token) => isOwn(token, own)));
    return admissionBy(fitting) ?? { why: { kind: "tokenWrong" } };
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
