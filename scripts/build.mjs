/**
 * Builds dist/, or the folder given, anew: checks all types, compiles the runtime, bundles the editor script into
 * its html, copies icons and locales.
 */
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync, transformSync } from "esbuild";
import { commandOf, root, runAtOnce } from "./setup.mjs";

const target = resolve(root, process.argv[2] ?? "dist");
// Moved at the end: what was built before stays where this build fails.
const dist = `${target}.new`;
const html = join("nodes", "webhook-trigger.html");

rmSync(dist, { recursive: true, force: true });
const tsc = commandOf("typescript", "bin/tsc");
await runAtOnce(["tsconfig.json", "tsconfig.editor.json"].map((project) => [tsc, "-p", project, "--outDir", dist]));

const { outputFiles } = buildSync({
  absWorkingDir: root,
  entryPoints: ["nodes/webhook-trigger.editor.ts"],
  bundle: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  write: false,
});
const script = outputFiles.map((file) => file.text).join("");
const markup = withoutIndentation(readFileSync(join(root, html), "utf8"));
writeFileSync(join(dist, html), `<script type="text/javascript">\n${script}</script>\n\n${markup}`);

// Read beside the compiled files.
const schema = join("src", "deliveries", "sqlite", "schema.sql");
cpSync(join(root, schema), join(dist, schema));
// Node-RED looks for these beside the compiled node only.
for (const folder of ["icons", "locales"]) {
  cpSync(join(root, folder), join(dist, "nodes", folder), { recursive: true });
}

// A third of what is published would be indentation.
for (const path of readdirSync(dist, { encoding: "utf8", recursive: true })) {
  const file = join(dist, path);
  // That of the node has a script in it, whose texts are not to be changed.
  if (!/\.(js(on)?|html)$/.test(file) || path === html) continue;
  const text = readFileSync(file, "utf8");
  writeFileSync(file, compact(file, text));
}

rmSync(target, { recursive: true, force: true });
renameSync(dist, target);

/**
 * @param {string} file
 * @param {string} text what is in it
 */
function compact(file, text) {
  if (file.endsWith(".js")) return transformSync(text).code;
  return file.endsWith(".json") ? JSON.stringify(JSON.parse(text)) : withoutIndentation(text);
}

/** @param {string} text that has nothing in it whose indentation is shown */
function withoutIndentation(text) {
  return text.replace(/^[ \t]+/gm, "");
}
