/**
 * What the commands of this repository need and set up themselves: the dependencies, a Node.js that runs
 * Node-RED 5, other versions of Node-RED, a Chromium. All of it stays inside this folder.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../", import.meta.url));
const cache = join(root, ".cache");

/** The exact versions that the tests run on, by their release lines. */
const nodeVersions = { 20: "20.19.0", 22: "22.23.3", 24: "24.21.0", 26: "26.10.0" };
/** For Apple silicon npm has only some. */
const nodeVersionsOnAppleSilicon = { 20: "20.18.1", 22: "22.23.2", 24: "24.0.0", 26: "26.10.0" };
export const nodeRedVersions = { 4: "4.1.15" };
const chromiumVersion = "153.0.0";

/** Installs the dependencies unless they are there as the lock file has them. */
export function ensureDependencies() {
  const lock = join(root, "package-lock.json");
  const installed = join(root, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say("Installing the dependencies ...");
  npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
}

/** Builds a folder anew, which holds what the package calls dist/. */
export function build(folder = join(root, "dist")) {
  say("Building ...");
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
  const appleSilicon = system === "darwin" && process.arch === "arm64";
  const name = `${appleSilicon ? "node-bin" : "node"}-${system}-${process.arch}`;
  const versions = appleSilicon ? nodeVersionsOnAppleSilicon : nodeVersions;
  const folder = installed(`node-${major}`, name, versions[major]);
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
  // Debian's headless shell has no windows of its own, and takes three quarters of the time.
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  const known = [process.env.CHROMIUM_PATH, ...names.map((name) => `/usr/bin/${name}`)];
  const found = known.find((path) => path && existsSync(path));
  if (found) return found;
  const folder = installed("chromium", "@sparticuz/chromium", chromiumVersion);
  const print = 'import chromium from "@sparticuz/chromium"; process.stdout.write(await chromium.executablePath());';
  return execFileSync(process.execPath, ["--input-type=module", "--eval", print], { cwd: folder, encoding: "utf8" });
}

/**
 * The servers that some tests need, which npm has not to fetch: where the system has none, these are left out.
 *
 * @typedef {object} Program
 * @property {string} name
 * @property {string} packages those of Debian that have it
 * @property {string} variable the environment variable that names another one
 * @property {string} required the environment variable with which its absence is a failure
 * @property {string[]} places where Debian has it
 * @property {string[]} specs the files that have nothing but tests that need it
 * @property {string} [besides] what else is not tested without it
 */

/** @type {Program[]} */
export const programs = [
  {
    name: "nginx",
    packages: "nginx",
    variable: "NGINX_PATH",
    required: "NGINX_REQUIRED",
    places: ["/usr/sbin/nginx"],
    specs: ["test/demo/nginx.test.ts", "test/runtime/instances.test.ts"],
  },
  {
    name: "Valkey or Redis",
    packages: "redis-server",
    variable: "REDIS_PATH",
    required: "REDIS_REQUIRED",
    places: ["/usr/bin/valkey-server", "/usr/bin/redis-server"],
    specs: ["test/runtime/instances.test.ts"],
    besides: "deliveries in a server wherever engines are compared",
  },
  {
    name: "openssl",
    packages: "openssl",
    variable: "OPENSSL_PATH",
    required: "OPENSSL_REQUIRED",
    places: ["/usr/bin/openssl"],
    specs: ["test/runtime/jwt.test.ts", "test/runtime/certificates.test.ts", "test/unit/auth/certificates.test.ts"],
  },
  {
    // Java runs a source file only where its compiler is.
    name: "compiler of Java",
    packages: "default-jdk-headless",
    variable: "JAVAC_PATH",
    required: "JAVAC_REQUIRED",
    places: ["/usr/bin/javac"],
    specs: ["test/runtime/java.test.ts"],
  },
];

/**
 * The path of a program: the one that is named, or else the system's if it has one.
 *
 * @param {Program} program
 */
export function pathOf({ variable, places }) {
  const named = process.env[variable];
  return (named ? [named] : places).find((path) => existsSync(path));
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
    say(`Fetching ${name} ${version} ...`);
    npm([
      "install",
      "--prefix",
      // On Windows a shell reads this, which would break the path of this repository at its spaces.
      relative(root, prefix),
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      ...options,
      `${name}@${version}`,
    ]);
  }
  return folder;
}

/** @param {string[]} args */
function npm(args) {
  run("npm", args, { shell: process.platform === "win32" });
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

/**
 * The path of a command that a development dependency brings.
 *
 * @param {string} name
 * @param {string} path
 */
export function commandOf(name, path) {
  return join(root, "node_modules", name, path);
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}
