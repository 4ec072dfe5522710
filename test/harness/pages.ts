import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package";

/** A page of the documentation. */
export class Page {
  readonly source: string;

  /** @param name its path in `docs/` */
  constructor(readonly name: string) {
    this.source = readFileSync(join(root, "docs", name), "utf8");
  }

  /** The blocks of code in a language. */
  blocks(language: string): string[] {
    return [...this.source.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(
      ([, code = ""]) => code,
    );
  }

  /** The only block of code in a language that begins so. */
  block(language: string, begin = ""): string {
    const [block, ...others] = this.blocks(language).filter((code) => code.startsWith(begin));
    if (block === undefined || others.length > 0) throw new Error(`${this.name} needs one block of ${language}`);
    return block;
  }

  /** The text under a heading. */
  section(title: string): string {
    const [, after] = this.source.split(`\n## ${title}\n`);
    if (after === undefined) throw new Error(`${this.name} has no section ${title}`);
    return after.split("\n## ")[0] ?? "";
  }
}

export const readme = new Page("../README.md");
