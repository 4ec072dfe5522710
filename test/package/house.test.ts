import should from "should";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import ts from "typescript";
import { root } from "../harness/package";

/** The rooms of `src`, in the order in which a request goes through them: none knows of a later one. */
const rooms = ["config", "request", "trust", "deliveries", "reply", "http"];
/** What the form may know of `src`, besides `src/config`. */
const shownInForm = [
  "src/request/target",
  "src/deliveries/masks",
  "src/deliveries/state",
  "src/deliveries/summary",
  "src/deliveries/wording",
  "src/trust/diagnosis/explanation",
  "src/trust/diagnosis/sentences",
  "src/trust/present",
  "src/trust/senders/table",
  "src/trust/signature/custom",
  "src/trust/signature/settings",
  "src/reply/trial",
  "src/reply/standing",
];
/** Libraries that know nothing of a host. */
const librariesInSrc = ["busboy", "@redis/client"];
const mostLines = 205;
const mostLinesOfFunction = 40;
const meaningless = ["utils", "helpers", "common", "types"];

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

/** The room of a file in `src`; the files beside the rooms are rooms by themselves. */
function roomOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function mayImport({ file, from }: Import): boolean {
  if (!/^(src|nodes)\//.test(from)) {
    if (from === "express") return file.startsWith("nodes/") || knowsExpress(file);
    return file.startsWith("nodes/") || from.startsWith("node:") || librariesInSrc.includes(from);
  }
  if (from.startsWith("nodes/")) return file.startsWith("nodes/") && mayImportInNodes(file, from);
  if (file.startsWith("nodes/")) {
    const inForm = file.startsWith("nodes/editor/") || file.endsWith(".editor.ts");
    return !inForm || from.startsWith("src/config/") || shownInForm.includes(from);
  }
  if (from === "src/problem") return true;
  const place = rooms.indexOf(roomOf(file));
  // Beside the rooms are what leads through them, and the problems, which know nothing else.
  if (place === -1) return file !== "src/problem.ts";
  const other = rooms.indexOf(roomOf(from));
  return other !== -1 && other <= place;
}

/** The only folder of `src` whose files may import Express and name it. */
function knowsExpress(file: string): boolean {
  return file.startsWith("src/http/");
}

/** The form and the runtime meet in `src` alone: one runs in the browser, the other does not. */
function mayImportInNodes(file: string, from: string): boolean {
  const inForm = (path: string) => /^nodes\/editor\/|\.editor(\.ts)?$/.test(path);
  return inForm(file) === inForm(from);
}

describe("the house", () => {
  it("has files in both of its halves", () => {
    for (const half of ["src/", "nodes/"]) files.filter((file) => file.startsWith(half)).length.should.be.above(10);
    imports.length.should.be.above(50);
  });

  it("has no room but those that a request goes through", () => {
    const folders = files.filter((file) => /^src\/.*\//.test(file)).map(roomOf);
    [...new Set(folders)].sort().should.eql([...rooms].sort());
  });

  it("imports from no room of a later step, nothing of Node-RED or the browser in src, and Express in src/http alone", () => {
    const wrong = imports.filter((each) => !mayImport(each)).map(({ file, from }) => `${file}: ${from}`);
    wrong.sort().should.eql([]);
  });

  it("names nothing of Node-RED or the browser in src, and Express in src/http alone", () => {
    const foreign = /^(RED|jQuery|\$|window|document|navigator|localStorage|HTML\w*Element)$/i;
    for (const [file, source] of sources) {
      if (!file.startsWith("src/")) continue;
      walk(source, (node) => {
        if (!ts.isIdentifier(node)) return;
        const isForeign = foreign.test(node.text) || (/^express$/i.test(node.text) && !knowsExpress(file));
        should(isForeign).equal(false, `${file}: ${node.text}`);
      });
    }
  });

  it("has senders that the form can show as well: they know nothing but each other", () => {
    const known = imports.filter(({ file }) => file.startsWith("src/trust/senders/"));
    known.length.should.be.above(10);
    known.filter(({ from }) => !from.startsWith("src/trust/senders/")).should.eql([]);
  });

  it("says in the first line of each file what it is for", () => {
    const silent = [...sources].filter(([, { text }]) => !/^\/\/ \S.*[.:]\n/.test(text)).map(([file]) => file);
    silent.sort().should.eql([]);
  });

  it("has no file whose name tells nothing", () => {
    files.filter((file) => meaningless.includes(basename(file).replace(/\..*/, ""))).should.eql([]);
    files.flatMap((file) => dirname(file).split("/")).filter((folder) => meaningless.includes(folder)).should.eql([]); // prettier-ignore
  });

  it(`has no file of more than ${mostLines} lines`, () => {
    const linesOf = (source: ts.SourceFile) => source.text.trimEnd().split("\n").length;
    [...sources].filter(([, source]) => linesOf(source) > mostLines).map(([file]) => file).should.eql([]); // prettier-ignore
  });

  it(`has no function of more than ${mostLinesOfFunction} lines`, () => {
    const long: string[] = [];
    for (const [file, source] of sources) {
      walk(source, (node) => {
        if (!ts.isFunctionLike(node)) return;
        const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
        const lines = lineOf(node.end) - lineOf(node.getStart()) + 1;
        if (lines > mostLinesOfFunction) long.push(`${file}: ${node.name?.getText() ?? "a function"}`);
      });
    }
    long.sort().should.eql([]);
  });

  it("knows what it forbids", () => {
    const of = (file: string, from: string) => mayImport({ file, from });
    for (const [file, from] of [
      ["src/receive.ts", "node-red"],
      ["src/config/rules.ts", "src/trust/token"],
      ["src/request/body.ts", "src/trust/token"],
      ["src/trust/token.ts", "src/reply/reply"],
      ["src/trust/token.ts", "src/deliveries/repeats"],
      ["src/deliveries/repeats.ts", "src/reply/reply"],
      ["src/trust/token.ts", "src/receive"],
      ["src/problem.ts", "src/config/rules"],
      ["src/receive.ts", "nodes/runtime/host"],
      ["nodes/editor/url.ts", "src/receive"],
      ["nodes/webhook-trigger.editor.ts", "nodes/runtime/host"],
      ["nodes/door/door.ts", "nodes/editor/url"],
    ] as const) {
      of(file, from).should.equal(false, `${file}: ${from}`);
    }
    for (const [file, from] of [
      ["src/receive.ts", "src/reply/reply"],
      ["src/reply/reply.ts", "src/trust/token"],
      ["src/deliveries/repeat-key.ts", "src/trust/signature/fields"],
      ["src/config/rules.ts", "src/problem"],
      ["src/trust/token.ts", "node:crypto"],
      ["src/request/multipart.ts", "busboy"],
      ["nodes/editor/trial.ts", "src/reply/trial"],
      ["nodes/webhook-trigger.editor.ts", "nodes/editor/url"],
      ["nodes/door/door.ts", "src/receive"],
    ] as const) {
      of(file, from).should.equal(true, `${file}: ${from}`);
    }
    importsOf("src/a.ts", ts.createSourceFile("src/a.ts", 'import "./b"; export * from "../c"; import d = require("d"); type E = import("e").E; void import("f"); require("g");', ts.ScriptTarget.Latest, true)).map(({ from }) => from).should.eql(["src/b", "c", "d", "e", "f", "g"]); // prettier-ignore
  });
});
