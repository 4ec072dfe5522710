/** Measures what bench/README.md shows. */
import { build, chromium, ensureDependencies, modernNode, root, run } from "./setup.mjs";

ensureDependencies();
build();
const parts = process.argv.slice(2);
// The one part that looks into an editor.
const needsBrowser = parts.length === 0 || parts.includes("tab");
run(modernNode(), ["--import", "tsx", "bench/bench.ts", ...parts], {
  cwd: root,
  env: { ...process.env, ...(needsBrowser && { CHROMIUM_PATH: chromium() }) },
});
