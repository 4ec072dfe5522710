// What is said of deliveries in the language of the runtime.

import { interrupted, statusError } from "../../src/deliveries/flow";
import type { Wording } from "../../src/deliveries/shown";
import type { Cause } from "../../src/deliveries/summary";
import { problems } from "../../src/problem";
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
    if (problem === null) return this.#translate(isLate(error) ? `fix.${problems.flowLate.name}` : "fix.flow");
    if (reasons.length === 0 && looksLike === null) return this.#translate(`fix.${problem}`);
    const told = reasons.map(({ key, values }) => this.#translate(`whyNot.${key}`, values));
    const likeness = looksLike === null || reasons.some(({ key }) => key === "otherSender") ? [] : [looksLike];
    const like = likeness.map((sender) => this.#translate("whyNot.looksLike", { sender: shortName(sender) }));
    return [...told, ...like].join(". ");
  }
}

/** Whether the flow has not answered in time. */
function isLate(error: string | null): boolean {
  return error === statusError(problems.flowLate.status);
}
