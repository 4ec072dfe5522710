import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

export const root = resolve(__dirname, "../..");
export const packageName = "@flowhooks/node-red-webhook-trigger";

const folders: string[] = [];
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder for a test's files, which goes when the tests end. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `webhook-trigger-${purpose}-`));
  folders.push(folder);
  return folder;
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

/**
 * A node_modules folder into which the packed package was installed, and nothing else, once.
 *
 * @param besides modules of this repository that are installed beside it; then the folder is a new one
 */
export function installedModules(besides: readonly string[] = []): string {
  modules ??= install();
  return besides.length > 0 ? modulesWith(modules, besides) : modules;
}

/** The package itself is copied: what it needs is looked for beside the place where it really is. */
function modulesWith(installed: string, names: readonly string[]): string {
  const folder = join(temporaryFolder("modules"), "node_modules");
  cpSync(installed, folder, { recursive: true });
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, name));
  }
  return folder;
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
