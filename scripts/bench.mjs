/** Measures what bench/README.md shows. */
import { build, chromium, ensureDependencies, modernNode, nodeBinary, root, run } from "./setup.mjs";

ensureDependencies();
build();
const parts = process.argv.slice(2);
// The one part that looks into an editor.
const needsBrowser = parts.length === 0 || parts.includes("tab");
// An `http in` flow serves about twice as much on Node 24 as on 22: ratios to it depend on which one runs.
const major = /** @type {22 | 24 | 26 | 0} */ (Number(process.env.NODE_MAJOR ?? 0));
run(major ? nodeBinary(major) : modernNode(), ["--import", "tsx", "bench/bench.ts", ...parts], {
  cwd: root,
  env: { ...process.env, ...(needsBrowser && { CHROMIUM_PATH: chromium() }) },
});
