import should from "should";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import ts from "typescript";
import { root } from "../harness/package";

/** The folders of `src` in the order in which they build on each other: none knows of a later one. */
const folders = ["config", "request", "trust", "deliveries", "http"];
/** What the form may know of `src`, besides `src/config`. */
const knownToForm = [
  "src/request/target",
  "src/deliveries/state",
  "src/deliveries/summary",
  "src/deliveries/wording",
  "src/trust/diagnosis/explanation",
  "src/trust/diagnosis/sentences",
  "src/trust/present",
  "src/trust/senders/table",
  "src/trust/signature/custom",
  "src/trust/signature/settings",
  "src/admin/permissions",
  "src/admin/trial-result",
  "src/admin/standing",
];
/** Libraries that know nothing of a host. */
const librariesInSrc = ["busboy", "bullmq", "ioredis"];
/** Only `src/http` knows Express and Node-RED's apps. */
const librariesInHttp = ["express", "cors", "cookie-parser", "node-red"];

interface Import {
  file: string;
  /** What it imports: without its extension, and from the repository's root where it is a file of ours. */
  from: string;
}

const files = ["src", "nodes"].flatMap((folder) =>
  readdirSync(join(root, folder), { encoding: "utf8", recursive: true })
    .map((name) => posix.join(folder, name.replaceAll("\\", "/")))
    .filter((name) => name.endsWith(".ts")),
);
const sources = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)];
  }),
);
const imports = [...sources].flatMap(([file, source]) => importsOf(file, source));

/** All ways to import: statements, exports from elsewhere, `import()`, also of a type, and `require`. */
function importsOf(file: string, source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  walk(source, (node) => {
    const name = importedName(node);
    if (name !== undefined) found.push({ file, from: name.startsWith(".") ? posix.join(dirname(file), name) : name });
  });
  return found;
}

function importedName(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isExternalModuleReference(node)) return textOf(node.expression);
  if (ts.isImportTypeNode(node)) return textOf(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
  if (!ts.isCallExpression(node)) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === "require";
  return isImport ? textOf(node.arguments[0]) : undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** The folder of a file in `src`; files beside the folders bring these together. */
function folderOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function mayImport({ file, from }: Import): boolean {
  const isHttp = file.startsWith("src/http/");
  if (!/^(src|nodes)\//.test(from)) {
    if (file.startsWith("nodes/") || from.startsWith("node:") || librariesInSrc.includes(from)) return true;
    return isHttp && librariesInHttp.includes(from);
  }
  if (from.startsWith("nodes/")) return file.startsWith("nodes/") && mayImportInNodes(file, from);
  if (file.startsWith("nodes/")) {
    const isForm = file.startsWith("nodes/editor/") || file.endsWith(".editor.ts");
    return !isForm || from.startsWith("src/config/") || knownToForm.includes(from);
  }
  if (from === "src/problem" || isHttp) return true;
  const place = folders.indexOf(folderOf(file));
  if (place === -1) return file !== "src/problem.ts";
  const other = folders.indexOf(folderOf(from));
  return other !== -1 && other <= place;
}

/** The form and the runtime meet in `src` alone: one runs in the browser, the other does not. */
function mayImportInNodes(file: string, from: string): boolean {
  const inForm = (path: string) => /^nodes\/editor\/|\.editor(\.ts)?$/.test(path);
  return inForm(file) === inForm(from);
}

describe("the imports of the product", () => {
  it("are found", () => {
    for (const half of ["src/", "nodes/"]) files.filter((file) => file.startsWith(half)).length.should.be.above(10);
    imports.length.should.be.above(50);
  });

  it("go one way, and Express is known to src/http and nodes alone", () => {
    const wrong = imports.filter((each) => !mayImport(each)).map(({ file, from }) => `${file}: ${from}`);
    wrong.sort().should.eql([]);
  });

  it("leave the senders to the form as well: they know nothing but each other", () => {
    const known = imports.filter(({ file }) => file.startsWith("src/trust/senders/"));
    known.length.should.be.above(10);
    known.filter(({ from }) => !from.startsWith("src/trust/senders/")).should.eql([]);
  });

  it("would be refused where they go the other way", () => {
    for (const [file, from] of [
      ["src/recorder.ts", "node-red"],
      ["src/request/body.ts", "express"],
      ["src/config/rules.ts", "src/trust/token"],
      ["src/request/body.ts", "src/trust/token"],
      ["src/trust/token.ts", "src/deliveries/duplicates"],
      ["src/deliveries/duplicates.ts", "src/http/reply"],
      ["src/problem.ts", "src/config/rules"],
      ["src/http/front.ts", "nodes/runtime/host"],
      ["nodes/editor/url.ts", "src/http/front"],
      ["nodes/webhook-trigger.editor.ts", "nodes/runtime/host"],
    ] as const) {
      should(mayImport({ file, from })).equal(false, `${file}: ${from}`);
    }
  });
});
