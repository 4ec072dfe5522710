import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
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

/** Where the package is packed and installed: `npm test` does that once for all its parts. */
let installation = process.env.PACKAGE_FOLDER;

function installed(name: string): string {
  if (installation === undefined) {
    installation = temporaryFolder("install");
    execFileSync(process.execPath, [join(root, "scripts", "install.mjs"), installation], { stdio: "inherit" });
  }
  return join(installation, name);
}

/** The built package as npm would publish it. */
export function packedTarball(): string {
  return installed("package.tgz");
}

/**
 * A node_modules folder into which the packed package was installed, and nothing else.
 *
 * @param besides modules of this repository that are installed beside it; then the folder is another one
 */
export function installedModules(besides: readonly string[] = []): string {
  const modules = installed("node_modules");
  if (besides.length === 0) return modules;
  const known = copies.get(besides.join());
  if (known !== undefined) return known;
  const copy = modulesWith(modules, besides);
  copies.set(besides.join(), copy);
  return copy;
}

const copies = new Map<string, string>();

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
