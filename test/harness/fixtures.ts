/** Programs that run inside a Node-RED under test, compiled from the files of `test/fixtures`. */
import { buildSync } from "esbuild";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { root, temporaryFolder } from "./package";

const compiled = new Map<string, string>();

/** The JavaScript of a fixture, as that of a CommonJS module whose export is the fixture's default one, if it has one. */
export function moduleOf(name: string): string {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const entry = join(root, "test", "fixtures", `${name}.ts`);
  const footer = { js: "if (module.exports.default) module.exports = module.exports.default;" };
  const options = { bundle: true, platform: "node", format: "cjs", target: "node20", write: false, footer } as const;
  const [{ text } = { text: "" }] = buildSync({ ...options, entryPoints: [entry] }).outputFiles;
  compiled.set(name, text);
  return text;
}

/**
 * Compiles a file as the build does, but for the packages that a user installs. A thread that compiles what it runs itself
 * takes six times as long to start.
 */
export function compileFile(entry: string): string {
  const folder = temporaryFolder("compiled");
  const outfile = join(folder, "compiled.js");
  const external = ["bullmq", "ioredis"];
  const options = { bundle: true, platform: "node", format: "cjs", target: "node20", external } as const;
  buildSync({ ...options, entryPoints: [join(root, entry)], outfile });
  copyFileSync(join(root, "src", "deliveries", "sqlite", "schema.sql"), join(folder, "schema.sql"));
  return outfile;
}

/** What a fixture exports, as an expression. */
export function exportsOf(name: string): string {
  return `((module) => { ${moduleOf(name)}\nreturn module.exports; })({ exports: {} })`;
}

/** The settings that a fixture exports, as the inside of an object. */
export function settingsOf(name: string): string {
  return `...${exportsOf(name)}`;
}

/** What a fixture, a function, does to a host application. */
export function hostOf(name: string): string {
  return `${exportsOf(name)}({ app, express, server, settings, RED });`;
}
