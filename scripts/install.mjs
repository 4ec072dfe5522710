/**
 * Packs the built package as npm would publish it, and installs it: `node scripts/install.mjs FOLDER` fills that folder
 * anew with `package.tgz` and `node_modules`, in which there is nothing else.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "./setup.mjs";

const folder = resolve(root, process.argv[2] ?? "");
if (folder === root) throw new Error("Into which folder?");
const tarball = join(folder, "package.tgz");

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const output = npm(root, "pack", "--ignore-scripts", "--json", "--pack-destination", folder);
const report = /** @type {unknown} */ (JSON.parse(output));
const [packed] = Object.values(/** @type {Record<string, { filename: string }>} */ (report));
if (!packed) throw new Error(`npm pack made nothing: ${output}`);
renameSync(join(folder, packed.filename), tarball);
writeFileSync(join(folder, "package.json"), "{}");
npm(folder, "install", "--no-audit", "--no-fund", "--loglevel=error", "./package.tgz");

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function npm(cwd, ...args) {
  const shell = process.platform === "win32";
  return execFileSync("npm", args, { cwd, encoding: "utf8", shell, stdio: ["ignore", "pipe", "inherit"] });
}
