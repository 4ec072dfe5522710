/**
 * Builds, then kills a Node-RED again and again while callers never pause: `npm run kills`, or with its defaults written
 * out `npm run kills -- --times 100 --store sqlite`; the other store is `bullmq`. `--term` tells it to end, by SIGTERM,
 * `--deploys` does either during a deploy, and with `--duplicates` senders repeat what was answered after each start.
 */
import { build, ensureDependencies, modernNode, nodeRedFolder, root, run } from "./setup.mjs";

ensureDependencies();
build();
run(modernNode(), ["--import", "tsx", "bench/kills.ts", ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, NODE_RED_FOLDER: nodeRedFolder(5) },
});
