import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./package";

/** A page of `docs/`. */
export class Page {
  readonly source: string;
  /** With a single space for each stretch of white space. */
  readonly text: string;

  constructor(readonly name: string) {
    this.source = readFileSync(join(root, "docs", name), "utf8");
    this.text = this.source.replace(/\s+/g, " ");
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
}
