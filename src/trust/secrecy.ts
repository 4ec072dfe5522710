// What nobody may be told, and how it is kept out of texts.

import { Budget } from "../request/budget";
import { isSpelled, withoutTokens } from "./spelling";

/** A secret that is shorter may stand in any text by chance. */
const shortestInText = 8;

/** Finds secrets in texts, however they were quoted or encoded on the way. */
export class Secrecy {
  readonly #secrets: readonly string[];
  readonly #passing: () => Iterable<string>;
  readonly #shortest: number;

  /**
   * @param secrets empty ones are none
   * @param passing those that are secret at this moment
   */
  constructor(secrets: readonly string[], passing: () => Iterable<string> = () => []) {
    this.#secrets = secrets.filter((secret) => secret !== "");
    this.#passing = passing;
    this.#shortest = Math.max(shortestInText, Math.min(...this.#secrets.map(({ length }) => length)));
  }

  /** Those that are looked for in bodies. */
  get inBodies(): readonly string[] {
    return this.#secrets.filter(({ length }) => length >= shortestInText);
  }

  /** Whether a text has a secret in it, or may have it beyond the budget. */
  tells(text: string, budget = new Budget()): boolean {
    for (const secret of this.#secrets) if (isToldBy(text, secret, budget)) return true;
    for (const secret of this.#passing()) if (isSpelled(secret, text, budget)) return true;
    return false;
  }

  /** Whether the name of a field has a secret in it: names come in lower case. */
  names(field: string, budget = new Budget()): boolean {
    // Most names are too short for it.
    if (field.length < this.#shortest) return false;
    const inLowerCase = (character: string) => character.toLowerCase();
    return this.#secrets
      .filter(({ length }) => length >= shortestInText)
      .some((secret) => isSpelled(secret.toLowerCase(), field, budget, inLowerCase));
  }

  /**
   * Takes the secrets out of a text that is meant for the log, and shortens it.
   *
   * @param most the most characters of the text that are kept; fewer where the budget is spent before
   */
  conceal(text: string, most = Infinity, budget = new Budget()): string {
    return withoutTokens([...this.#secrets, ...this.#passing()], text, { budget, stop: most }, "…");
  }
}

function isToldBy(text: string, secret: string, budget: Budget): boolean {
  return secret.length < shortestInText ? text === secret : isSpelled(secret, text, budget);
}
