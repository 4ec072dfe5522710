import Mocha from "mocha";

/** @typedef {{ test: string, error: string }} Failure */
/** @typedef {{ passes: number, failures: Failure[] }} Result */

/** Mocha's own report, its totals on a line of their own at the end; they go to the parent process as well. */
export default class Reporter extends Mocha.reporters.Spec {
  /** @override */
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    process.stdout.write(`${passes} passed, ${failures} failed\n`);
    /** @type {Result} */
    const result = { passes, failures: this.failures.map(failureOf) };
    process.send?.(result);
  }
}

/**
 * @param {Mocha.Test} test
 * @returns {Failure}
 */
function failureOf(test) {
  return { test: test.titlePath().join(": "), error: test.err?.message ?? "" };
}
