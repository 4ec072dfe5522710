import Mocha from "mocha";

/** @typedef {{ passes: number, failures: { test: string, error: string }[] }} Result */

/** Mocha's own report, which goes to the parent process in short as well. */
export default class Reporter extends Mocha.reporters.Spec {
  /** @override */
  epilogue() {
    super.epilogue();
    /** @type {Result} */
    const result = {
      passes: this.stats.passes,
      failures: this.failures.map((test) => ({ test: test.titlePath().join(": "), error: test.err?.message ?? "" })),
    };
    process.send?.(result);
  }
}
