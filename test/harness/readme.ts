import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package";

export const readme = readFileSync(join(root, "README.md"), "utf8");

/** What stands under a heading of the README, up to the next one of its rank. */
export function section(title: string): string {
  const [, after] = readme.split(`\n## ${title}\n`);
  if (after === undefined) throw new Error(`The README has no section ${title}`);
  return after.split("\n## ")[0] ?? "";
}

/** The only block of code in a language under a heading of the README. */
export function codeBlock(title: string, language: string): string {
  const [block, ...others] = section(title).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  if (!block || others.length > 0) throw new Error(`${title} in the README needs one block of ${language}`);
  return block[1] ?? "";
}
