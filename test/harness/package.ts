import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const root = resolve(__dirname, "../..");
export const packageName = "@flowhooks/node-red-webhook-trigger";

/** A new folder for one test's files. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `webhook-trigger-${purpose}-`));
}

let tarball: string | undefined;

/** Packs the built package as npm would publish it, once. */
export function packedTarball(): string {
  tarball ??= pack();
  return tarball;
}

function pack(): string {
  const folder = temporaryFolder("pack");
  const output = npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], root);
  const [report] = Object.values(JSON.parse(output) as Record<string, { filename: string }>);
  if (!report) throw new Error(`npm pack made nothing: ${output}`);
  return join(folder, report.filename);
}

let modules: string | undefined;

/** A node_modules folder into which the packed package was installed, and nothing else, once. */
export function installedModules(): string {
  modules ??= install();
  return modules;
}

function install(): string {
  const folder = temporaryFolder("install");
  writeFileSync(join(folder, "package.json"), "{}");
  npm(["install", "--no-audit", "--no-fund", "--loglevel=error", packedTarball()], folder);
  return join(folder, "node_modules");
}

function npm(args: string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
