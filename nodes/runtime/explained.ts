// Why a request was refused, with nothing in it that may not be told.

import type { Explanation, Reason } from "../../src/trust/diagnosis/explanation";
import type { Gate, Refused } from "../../src/trust/gate";

/** Of a value in an explanation, so many characters are told. */
const longestValue = 300;

/** Nothing that somebody has sent may keep a refusal from being told. */
export function explanationBy(gate: Gate, request: Refused): Explanation {
  try {
    const { reasons, ...rest } = gate.explain(request);
    return { ...rest, reasons: reasons.map(({ key, values }) => ({ key, values: concealed(values, gate) })) };
  } catch {
    return { reasons: [] };
  }
}

/** The name of a place is its caller's, who may have written anything there. */
function concealed(values: Reason["values"], gate: Gate): Reason["values"] {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "string" ? gate.secrecy.conceal(value, longestValue) : value,
  ]);
  return Object.fromEntries(texts) as Reason["values"];
}
