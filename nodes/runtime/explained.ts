// Why a request was refused, with nothing in it that may not be told.

import type { Translate } from "../../src/deliveries/wording";
import type { Problem } from "../../src/problem";
import type { Why } from "../../src/records";
import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import type { Gate, Refused } from "../../src/trust/gate";
import { TimeBudget } from "../../src/rate-bound";
import { causeText, mostLogged } from "./cause";

/** Of a value in an explanation, so many characters are told. */
const longestValue = 300;

/** Of an error, so many characters are shown. */
const longestError = 500;

/** What has come, and why it was refused. */
export interface Refusal {
  readonly problem: Problem;
  readonly request: Refused | undefined;
  /** The error behind it; nothing where a rule has refused it. */
  readonly cause: unknown;
}

/** How long it may take to find out why requests were refused, as far as that is noted: of each second, so many ms. */
const mostSpent = 100;
/** Of all endpoints: one processor has them all. */
const spending = new TimeBudget(mostSpent);

/** Why a request was refused: found out when somebody asks first, and once. */
export class Inquiry {
  readonly #refusal: Refusal;
  readonly #gate: Gate;
  readonly #translate: Translate;
  #explanation: Explanation | undefined;
  #cause: string | undefined;

  constructor(refusal: Refusal, gate: Gate, translate: Translate) {
    this.#refusal = refusal;
    this.#gate = gate;
    this.#translate = translate;
  }

  get explanation(): Explanation {
    const { problem, request, cause } = this.#refusal;
    const mayBeKnown = request && problem.status === 401 && cause === undefined;
    return (this.#explanation ??= mayBeKnown ? explanationBy(this.#gate, request) : { reasons: [] });
  }

  /** The same for a note of each: a flood of requests must not have each of them looked into. */
  get forNotes(): Why {
    const { error } = this;
    if (this.#explanation) return { explanation: this.#explanation, error };
    return { explanation: spending.spend(() => this.explanation) ?? { reasons: [] }, error };
  }

  /** The error behind it, with the place that it came from; nothing where there is none. */
  get cause(): string | undefined {
    const { cause } = this.#refusal;
    if (cause === undefined) return undefined;
    return (this.#cause ??= this.#gate.redactor.redact(causeText(cause, this.#translate)).slice(0, mostLogged));
  }

  get error(): string | undefined {
    return this.cause?.split("\n", 1)[0]?.slice(0, longestError);
  }
}

/** Nothing that somebody has sent may keep a refusal from being told. */
function explanationBy(gate: Gate, request: Refused): Explanation {
  try {
    const { reasons, ...rest } = gate.explain(request);
    return { ...rest, reasons: reasons.map(({ key, values }) => ({ key, values: redactedIn(values, gate) })) };
  } catch {
    return { reasons: [] };
  }
}

/** The name of a place is its caller's, who may have written anything there. */
function redactedIn(values: Reason["values"], gate: Gate): Reason["values"] {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "string" ? gate.redactor.redact(value).slice(0, longestValue) : value,
  ]);
  return Object.fromEntries(texts) as Reason["values"];
}
