import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import should from "should";
import ts from "typescript";
import { problems } from "../../src/request/problem";
import { root } from "../harness/package";

interface Texts {
  [key: string]: string | Texts;
}

const source = "en-US";
const languages = readdirSync(join(root, "locales")).sort();
const form = read("nodes/webhook-trigger.html");
const texts = new Map(languages.map((language) => [language, textsOf(language)]));
const sourceTexts = textsOf(source);
const sourceHelp = helpOf(source);

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The texts of a language by their keys, in the order of the file. */
function textsOf(language: string): Map<string, string> {
  const flatten = (part: Texts, prefix: string): [string, string][] =>
    Object.entries(part).flatMap(([key, value]) =>
      typeof value === "string" ? [[prefix + key, value]] : flatten(value, `${prefix}${key}.`),
    );
  return new Map(flatten(JSON.parse(read(`locales/${language}/webhook-trigger.json`)) as Texts, ""));
}

/** The help of a language, with a single space for each stretch of white space. */
function helpOf(language: string): string {
  return read(`locales/${language}/webhook-trigger.html`).replace(/[ \n]+/g, " ");
}

function matches(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([whole, group]) => group ?? whole);
}

const placeholders = (text = "") => matches(text, /__[a-zA-Z]+__/g).sort();
const codes = (help: string) => matches(help, /<code>(.*?)<\/code>/g);
const bolds = (help: string) => matches(help, /<b>(.*?)<\/b>/g);

describe("the languages", () => {
  it("are the languages of Node-RED's own nodes", () => {
    languages.should.eql(readdirSync(join(root, "node_modules/@node-red/nodes/locales")).sort());
  });

  for (const [language, own] of texts) {
    const text = (key: string) => own.get(key) ?? sourceTexts.get(key) ?? "";

    describe(language, () => {
      it(`has a text for no other keys than ${source}, with the same placeholders`, () => {
        [...own.keys()].filter((key) => !sourceTexts.has(key)).should.eql([]);
        for (const [key, value] of own) {
          value.trim().should.not.equal("", key);
          placeholders(value).should.eql(placeholders(sourceTexts.get(key)), key);
        }
      });

      it("calls the place of the token as the curl line does", () => {
        const holder = text("trial.placeholder");
        for (const key of ["handover.yourToken", "trial.tokenHidden", "trial.tokenMissing"])
          text(key).includes(holder).should.be.true(key);
      });

      it("has rules and reasons without a full stop, which the form makes sentences of", () => {
        // The name of a path's part, `..`, may stand at the end.
        for (const [key, value] of own) {
          if (key.startsWith("rules.")) value.should.match(/^\P{Ll}.*([^.。]| \.\.)$/u, key);
        }
        for (const [key, value] of own) if (/^(?:refused|whyNot)\./.test(key)) value.should.match(/[^.。]$/, key);
        const stops = ["standing.refusedAt", "standing.sentence"].map((key) => text(key).slice(-1));
        stops.should.eql(Array<string>(2).fill(text("standing.none").slice(-1)));
      });

      const help = helpOf(language);

      it(`has the elements of the help in ${source}, and the same code in them`, () => {
        matches(help, /<[^>]+>/g).should.eql(matches(sourceHelp, /<[^>]+>/g));
        codes(help).should.eql(codes(sourceHelp));
        matches(help, /<dt>([^<]+) <span/g).should.eql(matches(sourceHelp, /<dt>([^<]+) <span/g));
      });

      it("calls things in the help by the names that the form has for them", () => {
        const keyOf = (name: string) => [...sourceTexts].find(([, value]) => value === name)?.[0] ?? name;
        const names = bolds(sourceHelp).map((name) => text(keyOf(name)));
        bolds(help).sort().should.eql(names.sort());
        matches(help, /<dt>([^<]+)<\/dt>/g).should.eql(
          ["header", "query", "signature"].map((method) => text(`method.${method}`)),
        );
      });
    });
  }
});

describe("texts in the code", () => {
  let checker: ts.TypeChecker;
  let files: ts.SourceFile[];

  before(() => {
    const paths = ["nodes", "src"].flatMap((folder) =>
      readdirSync(join(root, folder), { encoding: "utf8", recursive: true }).map((name) => join(root, folder, name)),
    );
    const { config } = ts.readConfigFile(join(root, "test/tsconfig.json"), (path) => ts.sys.readFile(path)) as {
      config: unknown;
    };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, "test"));
    const program = ts.createProgram(
      paths.filter((path) => path.endsWith(".ts")),
      options,
    );
    checker = program.getTypeChecker();
    files = program.getSourceFiles().filter(({ fileName }) => paths.includes(join(fileName)));
    files.length.should.be.above(20);
  });

  /** Answers with what `pick` finds in the code, leaving out types and imports. */
  function collect<Item>(pick: (node: ts.Node) => Item[]): Item[] {
    const visit = (node: ts.Node): Item[] => {
      if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return [];
      const items = pick(node);
      ts.forEachChild(node, (child) => void items.push(...visit(child)));
      return items;
    };
    return files.flatMap(visit);
  }

  /** The texts that an expression can have, as its type tells; nothing when that is any text. */
  function literalsOf(expression: ts.Expression): string[] | undefined {
    const type = checker.getTypeAtLocation(expression);
    const parts = type.isUnion() ? type.types : [type];
    const literals = parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
    return literals.length === parts.length ? literals : undefined;
  }

  /** What follows these beginnings of keys is, by its type, any text: here is where it comes from. */
  const openKeys: Record<string, () => string[]> = {
    "refused.": problemNames,
    "fix.": () => [...problemNames(), "flow", "gone"],
    "way.why.": reasons,
    // What the runtime tells the form, it says in the log as well.
    "whyNot.": () => [...sourceTexts.keys()].filter((key) => key.startsWith("whyNot.")).map((key) => key.slice(7)),
  };

  /** Those that endpoints answer, and those that something else has answered. */
  function problemNames(): string[] {
    return [...Object.values(problems).map(({ name }) => name), "noEndpoint", "inFront"];
  }

  /** The first items of all tuples that are a `Reason`, of `nodes/door/surroundings.ts`. */
  function reasons(): string[] {
    return collect((node) => {
      const type = ts.isArrayLiteralExpression(node) && checker.getContextualType(node);
      if (!type || checker.getNonNullableType(type).aliasSymbol?.name !== "Reason") return [];
      const [key] = node.elements;
      return (key && literalsOf(key)) ?? fail(node);
    });
  }

  function keysOf(expression: ts.Expression): string[] {
    if (!ts.isTemplateExpression(expression)) return literalsOf(expression) ?? fail(expression);
    const beginning = expression.head.text;
    return expression.templateSpans.reduce(
      (keys, { expression: part, literal }) => {
        const values = literalsOf(part) ?? openKeys[beginning]?.() ?? fail(expression);
        return keys.flatMap((key) => values.map((value) => key + value + literal.text));
      },
      [beginning],
    );
  }

  function fail(node: ts.Node): never {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    throw new Error(`${relative(root, file.fileName)}:${line + 1}: which keys are ${node.getText()}?`);
  }

  /** Whether something looks texts up: `_` of Node-RED and of the nodes in its editor, or what hands it on. */
  function isTranslate(callee: ts.Expression): boolean {
    if (checker.getTypeAtLocation(callee).aliasSymbol?.name === "Translate") return true;
    return ts.isPropertyAccessExpression(callee) && callee.name.text === "_";
  }

  function keysUsed(): string[] {
    const inCode = collect((node) => {
      if (!ts.isCallExpression(node) || !isTranslate(node.expression)) return [];
      const [key] = node.arguments;
      // Texts of Node-RED's own are in its catalogs.
      return key ? keysOf(key).filter((each) => !each.startsWith("node-red:")) : fail(node);
    });
    const inForm = matches(form, /\sdata-i18n="(.*?)"/g)
      .flatMap((value) => value.split(";"))
      .map((value) => value.replace(/^\[.*\]/, ""));
    return [...new Set([...inCode, ...inForm])];
  }

  it("are in the catalog", () => {
    keysUsed()
      .filter((key) => !sourceTexts.has(key))
      .should.eql([]);
  });

  it("are all that the catalog has", () => {
    const used = keysUsed();
    [...sourceTexts.keys()].filter((key) => !used.includes(key)).should.eql([]);
  });

  it("are not in the markup of the form", () => {
    const markup = form.replace(/<style>.*?<\/style>|<!--.*?-->/gs, "");
    should(/\p{L}.*/u.exec(markup.replace(/<[^>]+>/g, ""))).be.null();
    matches(markup, /\s(?:placeholder|title|alt|aria-label|aria-description|aria-roledescription)\s*=.*/g).should.eql(
      [],
    );
  });
});
