/** Writes the tables of senders in docs/ anew from their rows, and the figures in the README from bench/README.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { verificationMethod as methods } from "../locales/en-US/webhook-trigger.json";
import type { Sender, Source } from "../src/auth/senders/sender";
import { fullName, type KnownId, type RecipeId, recipeIds, recipes, type SenderId, senderIds, senders } from "../src/auth/senders/table"; // prettier-ignore
import { root } from "../test/harness/package";

const mark = "<!-- Written by npm run docs -->\n<!-- prettier-ignore -->\n";
const files = ["a-c", "d-h", "i-n", "o-s", "t-z"].map((name) => join(root, "src", "auth", "senders", `${name}.ts`));

/** How the README calls what is compared, and how the figure begins in bench/README.md. */
const compared = {
  "bare `node:http` that does the same work": "accepted, 100 B JSON, vs `node:http`",
  "`http in`, token check, `http response`": "the same vs the `http in` flow",
  "the same behind a login, middleware or CORS, at least": "installations with a guard in front",
};

/** The pages with such tables by their paths, as they are to be. */
export function composePages(): Readonly<Record<string, string>> {
  const comments = readComments();
  const listed = senderIds.filter((id) => id !== "custom");
  return {
    "README.md": composePage("README.md", readFigures()),
    "docs/senders.md": composePage(
      "docs/senders.md",
      sort(listed).map((id) => describeSender(id, comments)),
    ),
    "docs/recipes.md": composePage("docs/recipes.md", sort(recipeIds).map(describeRecipe)),
  };
}

function sort<Id extends KnownId>(ids: readonly Id[]): Id[] {
  return [...ids].sort((one, other) => fullName(one).localeCompare(fullName(other), "en"));
}

/** Puts rows into the table that is marked as written from here. */
function composePage(path: string, rows: readonly (readonly string[])[]): string {
  const [before = "", after = ""] = readFileSync(join(root, path), "utf8").split(mark);
  const [, head = "", rest = ""] = /^((?:.*\n){2})(?:\|.*\n)*([^]*)$/.exec(after) ?? [];
  return [before, mark, head, ...rows.map((cells) => `| ${cells.join(" | ")} |\n`), rest].join("");
}

function readFigures(): string[][] {
  const lines = readFileSync(join(root, "bench", "README.md"), "utf8").split("\n");
  return Object.entries(compared).map(([name, figure]) => {
    const [, median] = /\*\*([\d.]+)\*\*/.exec(lines.find((line) => line.startsWith(`| ${figure}`)) ?? "") ?? [];
    if (median === undefined) throw new Error(`bench/README.md has no figure ${figure}`);
    return [name, median];
  });
}

/** What the comment above the row of each sender says, which is what its user enters. */
function readComments(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isPropertyAssignment(node) || !(ts.isIdentifier(node.name) || ts.isStringLiteral(node.name))) return;
    const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
    const text = ts.getTextOfJSDocComment(comment?.comment);
    if (text !== undefined) found.set(node.name.text, text.replace(/\s+/g, " "));
  };
  for (const file of files) visit(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  return found;
}

function describeSender(id: SenderId, comments: ReadonlyMap<string, string>): string[] {
  const { docs, scheme, events = [], id: own, handshakes }: Sender = senders[id];
  const entered = comments.get(id);
  if (entered === undefined) throw new Error(`No comment above ${id} says what its user enters`);
  const asks = handshakes !== undefined || scheme.alg === "code:sns";
  const ownId = own && (own.signed ? "signed" : "not signed");
  return [
    linkTo(id, docs),
    entered,
    describePlaces(events) || "–",
    ownId ?? "–",
    formatAge(scheme.ts?.tolerance),
    asks ? "yes" : "–",
  ];
}

const parts: Readonly<Record<string, string>> = {
  header: "",
  json: " in the JSON",
  form: " in the form",
  query: " in the query",
  ce: " of the CloudEvent",
};

/** Places in the same part of a request together. */
function describePlaces(sources: readonly Source[]): string {
  const names = new Map<string, string[]>();
  for (const source of sources) {
    const [, from = "", name = ""] = /^(\w+)\??:(.+)$/.exec(source) ?? [];
    names.set(from, [...(names.get(from) ?? []), `\`${name}\``]);
  }
  return [...names].map(([from, all]) => all.join(" or ") + (parts[from] ?? "")).join(", or ");
}

function formatAge(seconds: number | null | undefined): string {
  if (!seconds) return "–";
  if (seconds < 120) return `${seconds} s`;
  return seconds < 172_800 ? `${seconds / 60} min` : `${seconds / 86_400} days`;
}

function describeRecipe(id: RecipeId): string[] {
  const { docs, fields, where } = recipes[id];
  const { verificationMethod, headerParameter, queryParameter } = fields;
  const name = headerParameter ?? queryParameter;
  const method = methods[verificationMethod] + (name === undefined ? "" : ` \`${name}\``);
  return [linkTo(id, docs), [method, fields.methods?.join(" or ")].filter(Boolean).join(", "), where];
}

function linkTo(id: KnownId, docs: string): string {
  return `[${fullName(id, Infinity)}](${docs})`;
}

if (process.argv[1] === __filename) writePages();

export function writePages(): void {
  for (const [path, text] of Object.entries(composePages())) writeFileSync(join(root, path), text);
}
