// What is said of deliveries in the language of the runtime.

import { interrupted, statusError } from "../../src/deliveries/state";
import type { Wording } from "../../src/deliveries/shown";
import type { Cause } from "../../src/deliveries/summary";
import { problems } from "../../src/problem";
import { inARow } from "../../src/trust/diagnosis/sentences";
import { shortName } from "../../src/trust/senders/table";
import type { Translate } from "./cause";

export class RuntimeWording implements Wording {
  readonly #translate: Translate;

  constructor(translate: Translate) {
    this.#translate = translate;
  }

  reasonOf({ problem, error }: Cause): string {
    if (problem !== null) {
      const refused = this.#translate(`refused.${problem}`);
      return error === null ? refused : `${refused}: ${error}`;
    }
    if (isLate(error)) return this.#translate(`refused.${problems.flowLate.name}`);
    const text = error === interrupted ? this.#translate("store.interrupted") : (error ?? "");
    return this.#translate("failed.flow", { error: text });
  }

  fixOf({ problem, reasons, looksLike, error }: Cause): string {
    if (problem === null && isLate(error)) return this.#translate(`fix.${problems.flowLate.name}`);
    if (problem === null) return this.#translate("fix.flow");
    const likeness = looksLike === null || reasons.some(({ key }) => key === "otherSender") ? [] : [looksLike];
    const told = [
      ...reasons.map(({ key, values }) => this.#translate(`whyNot.${key}`, values)),
      ...likeness.map((sender) => this.#translate("whyNot.looksLike", { sender: shortName(sender) })),
    ];
    const [first = this.#translate(`fix.${problem}`), ...others] = told;
    if (others.length === 0) return first;
    return inARow(told.map((sentence) => this.#translate("standing.sentence", { sentence })));
  }
}

/** Whether the flow has not answered in time. */
function isLate(error: string | null): boolean {
  return error === statusError(problems.flowLate.status);
}
