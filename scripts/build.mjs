/**
 * Builds dist/, or the folder given, anew: bundles the runtime and the scripts of the editor and of the page, copies icons
 * and locales. It checks no types, so that it takes a second: `npm run check` does.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { buildSync, transformSync } from "esbuild";
import { writeRows } from "../nodes/editor/form/rows.mjs";
import { root } from "./setup.mjs";

const target = resolve(root, process.argv[2] ?? "dist");
// Moved at the end: what was built before stays where this build fails.
const dist = `${target}.new`;
const html = join("nodes", "webhook-trigger.html");

rmSync(dist, { recursive: true, force: true });
// Node.js loads one file in half of the time of a hundred small ones. The store in a file has a thread, and so its own.
buildSync({
  absWorkingDir: root,
  entryPoints: ["nodes/webhook-trigger.ts", "src/deliveries/sqlite/worker.ts"],
  entryNames: "[name]",
  outdir: join(dist, "nodes"),
  bundle: true,
  packages: "external",
  platform: "node",
  format: "cjs",
  target: "node20.19",
  // Without comments and indentation, and still with names and lines that an error can be found by.
  minifyWhitespace: true,
  lineLimit: 120,
});

const editor = join(root, "nodes", "editor");
const formStyles = minifyStyles("form/form.css");
const { fields, credentials, settings } = /** @type {typeof import("../src/config/fields")} */ (
  await import(`data:text/javascript,${encodeURIComponent(bundle("src/config/fields.ts", "esm"))}`)
);
const texts = /** @type {import("../nodes/editor/form/rows.mjs").Texts} */ (
  JSON.parse(readFileSync(join(root, "locales", "en-US", "webhook-trigger.json"), "utf8"))
);
const markup = writeRows(readFileSync(join(root, html), "utf8"), { ...fields, ...credentials, ...settings }, texts);
const script = bundle("nodes/webhook-trigger.editor.ts", "iife", spellOut);
writeFileSync(
  join(dist, html),
  `<script type="text/javascript">\n${script}</script>\n\n${withoutIndentation(markup)}\n<style>\n${formStyles}</style>\n`,
);

// The page outside the editor, of which the editor loads script and styles when its tab is shown.
const page = join(dist, "nodes", "page");
mkdirSync(page, { recursive: true });
cpSync(join(editor, "page", "page.html"), join(page, "page.html"));
for (const style of ["deliveries/deliveries.css", "page/page.css"]) {
  writeFileSync(join(page, basename(style)), minifyStyles(style));
}
writeFileSync(join(page, "page.js"), bundle("nodes/editor/page/page.tsx", "esm"));

// What is bundled keeps its licence.
cpSync(join(root, "node_modules", "preact", "LICENSE"), join(dist, "nodes", "LICENSE-preact"));

// The thread of the store reads it.
cpSync(join(root, "src", "deliveries", "sqlite", "schema.sql"), join(dist, "nodes", "schema.sql"));
// Read when they are asked for.
cpSync(join(root, "src", "admin", "samples"), join(dist, "nodes", "samples"), { recursive: true });
// Node-RED looks for these beside the compiled node only.
for (const folder of ["icons", "locales"]) {
  cpSync(join(root, folder), join(dist, "nodes", folder), { recursive: true });
}

// A third of the texts would be indentation.
for (const folder of [join(dist, "nodes", "locales"), join(dist, "nodes", "samples")]) {
  const paths = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((path) => extname(path) !== "");
  for (const file of paths.map((path) => join(folder, path))) {
    const text = readFileSync(file, "utf8");
    writeFileSync(file, file.endsWith(".json") ? JSON.stringify(JSON.parse(text)) : withoutIndentation(text));
  }
}

rmSync(target, { recursive: true, force: true });
renameSync(dist, target);

/**
 * The flow library reads the names of fields from the text of the script, so they are spelled out there.
 *
 * @param {string} script
 */
function spellOut(script) {
  const spell = (/** @type {string} */ definitions, /** @type {object} */ table) =>
    `{ ${Object.keys(table)
      .map((name) => `${name}: ${definitions}.${name}`)
      .join(", ")} }`;
  return script
    .replace("defaults: fieldDefinitions", `defaults: ${spell("fieldDefinitions", fields)}`)
    .replace("credentials: credentialDefinitions", `credentials: ${spell("credentialDefinitions", credentials)}`);
}

/**
 * @param {string} entry a script of a page
 * @param {"iife" | "esm"} format
 * @param {(script: string) => string} [prepare]
 */
function bundle(entry, format, prepare = (script) => script) {
  const contents = prepare(readFileSync(join(root, entry), "utf8"));
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    stdin: { contents, loader: "tsx", sourcefile: entry, resolveDir: dirname(join(root, entry)) },
    bundle: true,
    format,
    target: "es2022",
    charset: "utf8",
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
  });
  return outputFiles.map((file) => file.text).join("");
}

/** @param {string} file below `nodes/editor` */
function minifyStyles(file) {
  return transformSync(readFileSync(join(editor, file), "utf8"), { loader: "css", minify: true }).code;
}

/** @param {string} text that has nothing in it whose indentation is shown */
function withoutIndentation(text) {
  return text.replace(/^[ \t]+/gm, "");
}
