// The checks of one request: begun by its head, fed while its body comes, and ended by a verdict.

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
  /** Takes a part of the body as it came over the wire, its content codings still on it. */
  update(chunk: Buffer): void;
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
  /** How many parts of the content have been taken. */
  #taken = 0;

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[], now: number) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#now = now;
    this.#comparisons = keys.map((key) => comparisonBy(plan.scheme.alg, key));
    this.coversBody = coversBody(plan.scheme);
    this.readsBody = !plan.isStreamed || (plan.time !== undefined && isInBody(plan.time));
    if (plan.isStreamed) this.#take((from) => from !== "body");
  }

  update(chunk: Buffer): void {
    if (!this.#plan.isStreamed || this.#taken === this.#plan.content.length) return;
    for (const comparison of this.#comparisons) comparison.update(chunk);
  }

  verdict(body: () => Buffer): Admission | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    // What has come of the body by itself has been taken.
    if (this.#plan.isStreamed) this.#taken++;
    const refusal = this.#take(() => true);
    if (refusal) return refusal;
    const accepted = admissionBy(this.#comparisons.map((each) => signatures.some((signature) => each.fits(signature))));
    if (!accepted) return { why: { kind: "signatureWrong" } };
    const sentAt = this.#evidence.sentAt(this.#now);
    if (typeof sentAt === "object") return sentAt;
    return sentAt === undefined ? accepted : { ...accepted, sentAt };
  }

  /** Takes the next parts of the content, as long as they are wanted. */
  #take(wants: (from: string) => boolean): Refusal | undefined {
    for (;;) {
      const place = this.#plan.content[this.#taken];
      if (!place || !wants(place.from)) return undefined;
      const bytes = this.#evidence.bytesAt(place);
      if ("why" in bytes) return bytes;
      for (const comparison of this.#comparisons) comparison.update(bytes);
      this.#taken++;
    }
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

  update(): void {
    // The body is no part of the proof.
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
