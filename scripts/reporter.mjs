import Mocha from "mocha";

/** Mocha's own report, its totals on a line of their own at the end; they go to the parent process as well. */
export default class Reporter extends Mocha.reporters.Spec {
  /** @override */
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    process.stdout.write(`${passes} passed, ${failures} failed\n`);
    process.send?.({ passes, failures });
  }
}
