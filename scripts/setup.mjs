/**
 * What the commands of this repository need and set up themselves: the dependencies, a Node.js that runs
 * Node-RED 5, other versions of Node-RED, a Chromium. All of it stays inside this folder.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../", import.meta.url));
const cache = join(root, ".cache");

/** The exact versions that the tests run on, by their release lines. */
const nodeVersions = { 20: "20.19.0", 22: "22.23.3", 24: "24.21.0", 26: "26.10.0" };
export const nodeRedVersions = { 4: "4.1.15" };
const chromiumVersion = "153.0.0";

/** Installs the dependencies unless they are there as the lock file has them. */
export function ensureDependencies() {
  const lock = join(root, "package-lock.json");
  const installed = join(root, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  process.stdout.write("Installing the dependencies ...\n");
  npm("ci");
}

/** Builds a folder anew, which holds what the package calls dist/. */
export function build(folder = join(root, "dist")) {
  process.stdout.write("Building ...\n");
  run(process.execPath, [join(root, "scripts", "build.mjs"), folder]);
}

/**
 * The path of a Node.js of a release line: this one if it fits, else one from npm.
 *
 * @param {keyof typeof nodeVersions} major
 */
export function nodeBinary(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const system = process.platform === "win32" ? "win" : process.platform;
  // Of those for Apple silicon npm has only some, and it runs the others as well.
  const name = `node-${system}-${system === "darwin" ? "x64" : process.arch}`;
  const folder = installed(`node-${major}`, name, nodeVersions[major]);
  return join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");
}

/** The path of a Node.js that runs Node-RED 5, which needs 22.9 or later. */
export function modernNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 9) ? process.execPath : nodeBinary(24);
}

/**
 * The folder of a Node-RED: the development dependency for 5, one from npm for the others.
 *
 * @param {5 | keyof typeof nodeRedVersions} major
 */
export function nodeRedFolder(major) {
  if (major === 5) return join(root, "node_modules", "node-red");
  return installed(`node-red-${major}`, "node-red", nodeRedVersions[major]);
}

/** The path of a Chromium: the system's if it has one, else one from npm, which runs on Linux x64 without an install. */
export function chromium() {
  const { CHROMIUM_PATH: named } = process.env;
  // Debian's headless shell has no windows of its own, and takes three quarters of the time.
  const found = named ?? findProgram("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
  if (found) return found;
  const folder = installed("chromium", "@sparticuz/chromium", chromiumVersion);
  const print = 'import chromium from "@sparticuz/chromium"; process.stdout.write(await chromium.executablePath());';
  return execFileSync(process.execPath, ["--input-type=module", "--eval", print], { cwd: folder, encoding: "utf8" });
}

/**
 * What some tests need that npm has not, by the names of its programs: the specs that have nothing but such tests, and
 * Debian's package. Where it is missing, they are left out; deliveries in a server are, wherever engines are compared.
 */
export const programs = [
  { names: ["nginx"], specs: ["demo/nginx", "runtime/instances"], debian: "nginx" },
  { names: ["valkey-server", "redis-server"], specs: ["runtime/instances"], debian: "redis-server" },
  {
    names: ["openssl"],
    specs: ["runtime/jwt", "runtime/certificates", "unit/auth/certificates"],
    debian: "openssl",
  },
  { names: ["javac"], specs: ["runtime/java"], debian: "default-jdk-headless" },
];

/**
 * The path of one of these programs, if the system has it.
 *
 * @param {string[]} names
 */
export function findProgram(...names) {
  // The last is where Debian has servers.
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/**
 * Installs one package into a folder of its own, once.
 *
 * @param {string} place
 * @param {string} name
 * @param {string} version
 * @param {string[]} options more options of `npm install`
 */
export function installed(place, name, version, options = []) {
  const prefix = join(cache, place);
  const folder = join(prefix, "node_modules", name);
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest) || !readFileSync(manifest, "utf8").includes(`"version": "${version}"`)) {
    process.stdout.write(`Fetching ${name} ${version} ...\n`);
    // On Windows a shell reads the path, which would break that of this repository at its spaces.
    npm("install", "--prefix", relative(root, prefix), "--no-save", ...options, `${name}@${version}`);
  }
  return folder;
}

/** @param {string[]} args */
function npm(...args) {
  run("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], { shell: process.platform === "win32" });
}

/**
 * Runs a command to its end and, if it fails, ends this one with the same status.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnSyncOptions} [options]
 */
export function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
