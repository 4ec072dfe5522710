/** Makes the README's pictures in docs/ anew, from the package as it is built now. */
import { build, chromium, ensureDependencies, modernNode, root, run } from "./setup.mjs";

ensureDependencies();
build();
run(modernNode(), ["--import", "tsx", "scripts/screenshots.ts"], {
  cwd: root,
  env: { ...process.env, CHROMIUM_PATH: chromium() },
});
