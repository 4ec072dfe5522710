import { readdirSync, readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { join, relative } from "node:path";
import should from "should";
import ts from "typescript";
import { helpTexts } from "../../src/admin/metrics";
import { senders } from "../../src/auth/senders/table";
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

describe("locales", () => {
  after(() => {
    for (const [language, own] of texts) {
      const missing = [...sourceTexts.keys()].filter((key) => !own.has(key));
      if (missing.length > 0) process.stdout.write(`${language} lacks, and shows in English: ${missing.join(", ")}\n`);
    }
  });

  it("are those of Node-RED's own nodes", () => {
    languages.should.eql(readdirSync(join(root, "node_modules/@node-red/nodes/locales")).sort());
  });

  for (const [language, own] of texts) {
    const text = (key: string) => own.get(key) ?? sourceTexts.get(key) ?? "";

    describe(language, () => {
      it(`has no key that ${source} lacks`, () => {
        [...own.keys()].filter((key) => !sourceTexts.has(key)).should.eql([]);
      });

      it("has no empty text", () => {
        [...own].filter(([, value]) => value.trim() === "").should.eql([]);
      });

      it("keeps the placeholders", () => {
        for (const [key, value] of own) placeholders(value).should.eql(placeholders(sourceTexts.get(key)), key);
      });

      it("says where the token goes by what stands there", () => {
        const holder = text("trial.placeholder");
        for (const key of ["handover.yourToken", "trial.tokenHidden", "trial.tokenMissing"])
          text(key).includes(holder).should.be.true(key);
      });

      it("has rules that begin like a sentence and have no full stop: a result of a test request puts them into its own", () => {
        // The name of a path's part, `..`, may stand at the end.
        for (const [key, value] of own) {
          if (key.startsWith("rules.")) value.should.match(/^\P{Ll}.*([^.。]| \.\.)$/u, key);
        }
      });

      it("has refusals and their reasons without a full stop: the form makes sentences of them, which have one", () => {
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

  it("are all in the catalog", () => {
    keysUsed()
      .filter((key) => !sourceTexts.has(key))
      .should.eql([]);
  });

  it("are all that is in the catalog", () => {
    const used = keysUsed();
    [...sourceTexts.keys()].filter((key) => !used.includes(key)).should.eql([]);
  });

  describe("are nowhere else", () => {
    /** What reads like prose, and why it is in the code all the same. */
    const exceptions = new Map([
      ...Object.values(problems).map(({ body }): [string, string] => [
        (JSON.parse(body) as { detail: string }).detail,
        "the contract fixes what callers are told",
      ]),
      ...Object.values(helpTexts).map((text): [string, string] => [
        text,
        "what a metric is, as its name says in English",
      ]),
      ["gzip, deflate, br", "the value of a header field"],
      ["(at, id) < (?, ?)", "a condition of a query"],
      [
        "seq, id, node, at, state, attempt, max_attempts, next_at, status, milliseconds, answer, error, rest",
        "the names of columns",
      ],
      ...[
        "its tables have version \0",
        "the worker ended with \0",
        "unfinished deliveries fill the room",
        "\0 of \0 bytes are taken",
        "no answer within \0 ms",
        "no transaction",
        "the connection has ended",
        "the file is gone",
      ].map((text): [string, string] => [text, "an error behind a text that is translated, as those of Node.js are"]),
      ["hello world", "the body of a test request: data, which flows may compare"],
      ["http in", "the name of a node type"],
      ["bullmq ioredis", "the names of two packages"],
      ["button, summary, textarea, [tabindex]", "a selector"],
      ["input change", "the names of two events"],
      ...["trust proxy fn", "query parser", "query parser fn"].map((name): [string, string] => [
        name,
        "the name of a setting of Express",
      ]),
    ]);
    /** What SQLite is asked in. */
    const statement =
      /^\0?\s*(?:(?:ALTER|AND|ATTACH|BEGIN|CREATE|DELETE|DETACH|INSERT|PRAGMA|REPLACE|SELECT|UNION|UPDATE)\b|--)/;
    /** RFC 9110 §15; Node.js has one by its older name. */
    const statusPhrases = [...Object.values(STATUS_CODES), "Content Too Large", "Unprocessable Content"];
    /** What is the same in every language. */
    const names = new Set([...Object.values(senders).map(({ name }): string => name), ...statusPhrases]);
    /** Stands for what a template puts in. */
    const filling = "\0";

    /** Two words of letters in a row, with or without something put in between. */
    function isProse(text: string): boolean {
      if (statement.test(text)) return false;
      const words = text.split(/\s+/).filter((word) => word !== "" && (!word.includes(filling) || /\p{L}/u.test(word)));
      const isWord = (word = "") => /^[\p{P}\p{S}]*\p{L}[\p{L}'’]*[\p{P}\p{S}]*$/u.test(word);
      return words.some((word, index) => isWord(word) && isWord(words[index + 1]));
    }

    it("knows prose", () => {
      for (const text of ["Not found.", `Refused ${filling} requests`, "Der Körper fehlt", `${filling} isn't so`]) {
        isProse(text).should.be.true(text);
      }
      for (const text of [
        "Bearer",
        `Bearer ${filling}`,
        "fa-times fa-spin",
        `msg.payload = ${filling}`,
        "relativePath",
      ]) {
        isProse(text).should.be.false(text);
      }
    });

    it("in the code", () => {
      const prose = collect((node) => {
        if (ts.isStringLiteralLike(node)) return [node.text];
        if (!ts.isTemplateExpression(node)) return [];
        return [[node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(filling)];
      }).filter((text) => isProse(text) && !names.has(text));
      // Both ways, so that no exception outlives its text.
      [...new Set(prose)].sort().should.eql([...exceptions.keys()].sort());
    });

    it("in the form", () => {
      const markup = form.replace(/<style>.*?<\/style>|<!--.*?-->/gs, "");
      should(/\p{L}.*/u.exec(markup.replace(/<[^>]+>/g, ""))).be.null();
      matches(markup, /\s(?:placeholder|title|alt|aria-label|aria-description|aria-roledescription)\s*=.*/g).should.eql(
        [],
      );
    });
  });
});
