import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { writeRows } from "../../nodes/editor/form/rows.mjs";
import { credentials, fields, settings } from "../../src/config/fields";
import { problems } from "../../src/request/problem";
import { root } from "../harness/package";

interface Texts {
  [key: string]: string | Texts;
}

const source = "en-US";
const languages = readdirSync(join(root, "locales")).sort();
const catalog = JSON.parse(read("locales/en-US/webhook-trigger.json")) as Parameters<typeof writeRows>[2];
const form = writeRows(read("nodes/webhook-trigger.html"), { ...fields, ...credentials, ...settings }, catalog);
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

/** As Node-RED finds the text for a `count`. */
const plural = /_(?:one|few|many|other)$/;
const isPlural = (key: string) => plural.test(key);
const withoutPlural = (key: string) => key.replace(plural, "");
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
        const sourceOf = (key: string) => sourceTexts.get(key) ?? sourceTexts.get(`${withoutPlural(key)}_other`);
        [...own.keys()].filter((key) => sourceOf(key) === undefined).should.eql([]);
        for (const [key, value] of own) {
          value.trim().should.not.equal("", key);
          placeholders(value).should.eql(placeholders(sourceOf(key)), key);
        }
      });

      it("has the forms that numbers have in it", () => {
        const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
        // "Many" are from a million on, where it is not used for smaller numbers.
        const forms = pluralCategories.filter((form) => form !== "many" || language === "ru").sort();
        for (const counted of new Set([...sourceTexts.keys()].filter(isPlural).map(withoutPlural))) {
          const keys = [...own.keys()].filter((key) => isPlural(key) && withoutPlural(key) === counted);
          keys.sort().should.eql(forms.map((form) => `${counted}_${form}`));
        }
      });

      it("has rules and reasons without a full stop, which the form makes sentences of", () => {
        // The name of a path's part, `..`, may stand at the end.
        for (const [key, value] of own) {
          if (key.startsWith("rules.")) value.should.match(/^\P{Ll}.*([^.。]| \.\.)$/u, key);
        }
        for (const [key, value] of own) if (/^(?:refused|whyNot)\./.test(key)) value.should.match(/[^.。]$/, key);
        const stops = ["lastRequest.refusedAt", "lastRequest.sentence"].map((key) => text(key).slice(-1));
        stops.should.eql(Array<string>(2).fill(text("lastRequest.none").slice(-1)));
      });

      const help = helpOf(language);

      it("leaves the statuses of refusals to the code", () => {
        const statuses = [...new Set(Object.values(problems).map(({ status }) => status))].join("|");
        const named = new RegExp(`(?<![\\d.])(?:${statuses})(?![\\d.]\\d)(?!\\d)`);
        // What Express does is not ours.
        [...own].filter(([key, value]) => named.test(value) && key !== "internals.order").should.eql([]);
        matches(help, new RegExp(named, "g")).should.eql([]);
      });

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
          ["header", "query", "basic", "jwt", "signature"].map((method) => text(`verificationMethod.${method}`)),
        );
      });
    });
  }
});

describe("texts in the code", () => {
  const paths = ["nodes", "src"].flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: "utf8", recursive: true }).map((name) => `${folder}/${name}`),
  );
  const code = paths.filter((path) => /\.tsx?$/.test(path)).map(read).join("\n"); // prettier-ignore
  const inForm = matches(form, /\sdata-i18n="(.*?)"/g)
    .flatMap((value) => value.split(";"))
    .map((value) => value.replace(/^\[.*\]/, ""));
  /** Keys that are made of a beginning and of a name, as `rules.${rule}`. */
  const patterns = matches(code, /`[a-zA-Z]+\.[a-zA-Z.]*\$\{[^}`]+\}[a-zA-Z.]*`/g).map(
    (template) => new RegExp(`^${template.slice(1, -1).replaceAll(".", "\\.").replace(/\$\{.*\}/, ".+")}$`), // prettier-ignore
  );

  it("are in the catalog", () => {
    const literals = matches(code, /(?:\b_|\btext|\btranslate)\(\s*"([^"]+)"/g).filter(
      (key) => !/^(?:node-red|editor):/.test(key),
    );
    literals.length.should.be.above(50);
    const known = new Set([...sourceTexts.keys()].map(withoutPlural));
    [...literals, ...inForm].filter((key) => !known.has(key)).should.eql([]);
    const ofProblems = Object.values(problems).flatMap(({ name }) => [`refused.${name}`, `fix.${name}`]);
    ofProblems.filter((key) => !known.has(key)).should.eql([]);
  });

  it("are all that the catalog has", () => {
    const isUsed = (key: string) => inForm.includes(key) || code.includes(`"${key}"`) || patterns.some((each) => each.test(key)); // prettier-ignore
    [...sourceTexts.keys()]
      .map(withoutPlural)
      .filter((key) => !isUsed(key))
      .should.eql([]);
  });

  it("are not in the markup of the form", () => {
    const markup = form.replace(/<style>.*?<\/style>|<!--.*?-->/gs, "");
    should(/\p{L}.*/u.exec(markup.replace(/<[^>]+>/g, ""))).be.null();
    matches(markup, /\s(?:placeholder|title|alt|aria-label|aria-description|aria-roledescription)\s*=.*/g).should.eql(
      [],
    );
  });
});
