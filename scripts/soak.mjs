/** Builds, then has callers and deploys wear a Node-RED out: `npm run soak`, for a minute `npm run soak -- --seconds 60`. */
import { build, ensureDependencies, modernNode, nodeRedFolder, root, run } from "./setup.mjs";

ensureDependencies();
build();
run(modernNode(), ["--import", "tsx", "bench/soak.ts", ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, NODE_RED_FOLDER: nodeRedFolder(5) },
});
