/** Measures what bench/README.md shows. */
import { build, chromium, ensureDependencies, modernNode, root, run } from "./setup.mjs";

ensureDependencies();
build();
run(modernNode(), ["--import", "tsx", "bench/bench.ts", ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, CHROMIUM_PATH: chromium() },
});
