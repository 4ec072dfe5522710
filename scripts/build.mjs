/**
 * Builds dist/, or the folder given, anew: compiles the runtime, bundles the scripts of the editor and of the page, copies
 * icons and locales. It checks no types, so that it takes a second: `npm run check` does.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { buildSync, transformSync } from "esbuild";
import ts from "typescript";
import { writeRows } from "../nodes/editor/form/rows.mjs";
import { root } from "./setup.mjs";

const target = resolve(root, process.argv[2] ?? "dist");
// Moved at the end: what was built before stays where this build fails.
const dist = `${target}.new`;
const html = join("nodes", "webhook-trigger.html");

rmSync(dist, { recursive: true, force: true });
const config = ts.readConfigFile(join(root, "tsconfig.runtime.json"), (path) => ts.sys.readFile(path));
const { options, fileNames } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
for (const fileName of fileNames) {
  const { outputText } = ts.transpileModule(readFileSync(fileName, "utf8"), { compilerOptions: options, fileName });
  const compiled = join(dist, relative(root, fileName)).replace(/ts$/, "js");
  mkdirSync(dirname(compiled), { recursive: true });
  writeFileSync(compiled, outputText);
}

const editor = join(root, "nodes", "editor");
const formStyles = minifyStyles("form/form.css");
const load = createRequire(import.meta.url);
const { fields, credentials, settings } = /** @type {typeof import("../src/config/fields")} */ (
  load(join(dist, "src", "config", "fields.js"))
);
const texts = /** @type {import("../nodes/editor/form/rows.mjs").Texts} */ (
  load("../locales/en-US/webhook-trigger.json")
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
  // That of the node has a script in it, whose texts are not to be changed, as those of the page's.
  if (!/\.(js(on)?|html)$/.test(file) || path === html || dirname(path) === join("nodes", "page")) continue;
  const text = readFileSync(file, "utf8");
  writeFileSync(file, compact(file, text));
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

/**
 * @param {string} file
 * @param {string} text what is in it
 */
function compact(file, text) {
  if (file.endsWith(".js")) return transformSync(text).code;
  return file.endsWith(".json") ? JSON.stringify(JSON.parse(text)) : withoutIndentation(text);
}

/** @param {string} file below `nodes/editor` */
function minifyStyles(file) {
  return transformSync(readFileSync(join(editor, file), "utf8"), { loader: "css", minify: true }).code;
}

/** @param {string} text that has nothing in it whose indentation is shown */
function withoutIndentation(text) {
  return text.replace(/^[ \t]+/gm, "");
}
