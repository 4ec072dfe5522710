/** Measures what bench/README.md shows. */
import { build, ensureDependencies, modernNode, root, run } from "./setup.mjs";

ensureDependencies();
build();
run(modernNode(), ["--import", "tsx", "bench/bench.ts", ...process.argv.slice(2)], { cwd: root });
