/**
 * Builds, then runs a script of TypeScript on a Node.js that runs Node-RED 5, or on that of `NODE_MAJOR`:
 * `node scripts/start.mjs bench/soak.ts --seconds 60`.
 */
import { build, ensureDependencies, modernNode, nodeBinary, root, run } from "./setup.mjs";

ensureDependencies();
build();
const major = /** @type {22 | 24 | 26 | 0} */ (Number(process.env.NODE_MAJOR ?? 0));
run(major ? nodeBinary(major) : modernNode(), ["--import", "tsx", ...process.argv.slice(2)], { cwd: root });
