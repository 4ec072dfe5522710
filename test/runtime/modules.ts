import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { dependencies, peerDependencies } from "../../package.json";
import { fileName } from "../../src/config/stores";
import type { NodeRed } from "../harness/node-red";
import { installedModules } from "../harness/package";

/** The environment of a Node-RED, on Node.js 22.15 or later, that says what it has loaded. */
export const withModules = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(__dirname, "modules-preload.mjs")).href}`,
};

async function loadedUrls(nodeRed: NodeRed): Promise<string[]> {
  return JSON.parse(await nodeRed.ask({ modules: true }, "modules: ")) as string[];
}

const modulesUrl = () => pathToFileURL(realpathSync(installedModules())).href;

/** The packages of ours that a Node-RED has loaded, not those of its own, and `node:sqlite` if it uses that. */
export async function loadedPackages(nodeRed: NodeRed): Promise<string[]> {
  const urls = await loadedUrls(nodeRed);
  const names = Object.keys({ ...dependencies, ...peerDependencies });
  const packages = names.filter((name) => urls.some((url) => url.startsWith(`${modulesUrl()}/${name}/`)));
  // The thread that opens the file loads it.
  return existsSync(join(nodeRed.userDir, fileName)) ? [...packages, "node:sqlite"] : packages;
}
