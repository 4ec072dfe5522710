import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package";

export const readme = readFileSync(join(root, "README.md"), "utf8");

/** The pages of the documentation, by their paths. */
export const pages = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);

/** The README and all pages. */
export const documentation = [readme, ...pages.map((page) => readFileSync(join(root, page), "utf8"))];

/** The text under a heading of the README, and of a page with that title. */
export function section(title: string): string {
  const found = documentation.flatMap((text) => {
    if (text.startsWith(`# ${title}\n`)) return [text];
    const [, after] = text.split(`\n## ${title}\n`);
    return after === undefined ? [] : [after.split("\n## ")[0] ?? ""];
  });
  if (found.length === 0) throw new Error(`The documentation has no section ${title}`);
  return found.join("\n");
}

/** The only block of code in a language under a heading of the documentation. */
export function codeBlock(title: string, language: string): string {
  const [block, ...others] = section(title).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  if (!block || others.length > 0) throw new Error(`${title} needs one block of ${language}`);
  return block[1] ?? "";
}
