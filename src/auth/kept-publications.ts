// Certificates and key sets that have verified a request, kept over restarts. They are public.

import { readFileSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, tryParseJson } from "../config/values";

/** The name of the file in the user directory. */
export const keptFileName = "webhook-trigger.published.json";

/** A certificate in PEM, or a key set in JSON. */
interface Publication {
  readonly text: string;
  /** In ms since the epoch. */
  readonly fetchedAt: number;
}

/** In characters, of one text and of all. Identity providers with dozens of keys publish some 30,000. */
const maxTextLength = 128 * 1024;
const maxTotalLength = 1024 * 1024;
/** In bytes. A file of ours is smaller, also where each character is escaped. */
const maxFileBytes = 4 * maxTotalLength;

/** By their URLs, the oldest first. Whoever takes one checks it: the file may be damaged, or old. */
export class KeptPublications {
  readonly #file: string | undefined;
  readonly #report: (file: string, error: unknown) => void;
  #publications: Map<string, Publication> | undefined;
  #isChanged = false;
  #writing: Promise<void> | undefined;
  #isBroken = false;

  /**
   * @param folder of the file; missing: nothing survives the process
   * @param report called once when the file can be read or written no more, which changes nothing else
   */
  constructor(folder?: string, report: (file: string, error: unknown) => void = () => undefined) {
    this.#file = folder === undefined ? undefined : join(folder, keptFileName);
    this.#report = report;
  }

  get(url: string): Publication | undefined {
    return this.#all.get(url);
  }

  /** @param publication what has verified a request; a very long one is not kept */
  keep(url: string, publication: Publication): void {
    if (publication.text.length > maxTextLength) return;
    this.#all.delete(url);
    this.#all.set(url, publication);
    let total = 0;
    for (const [each, { text }] of [...this.#all].reverse()) {
      total += each.length + text.length;
      if (total > maxTotalLength) this.#all.delete(each);
    }
    this.#isChanged = true;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Read with the first node that needs it. */
  get #all(): Map<string, Publication> {
    return (this.#publications ??= new Map(this.#file === undefined ? [] : this.#read(this.#file)));
  }

  #read(file: string): [string, Publication][] {
    try {
      if (statSync(file).size > maxFileBytes) return [];
      return parsePublications(readFileSync(file, "utf8"));
    } catch (error) {
      if (!isObject(error) || error.code !== "ENOENT") this.#tell(file, error);
      return [];
    }
  }

  /** Replaces the file as a whole. */
  async #write(): Promise<void> {
    const file = this.#file;
    while (file !== undefined && this.#isChanged) {
      this.#isChanged = false;
      const temporary = `${file}.new`;
      try {
        await writeFile(temporary, JSON.stringify(Object.fromEntries(this.#all)), { mode: 0o600 });
        await rename(temporary, file);
        this.#isBroken = false;
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        this.#tell(file, error);
      }
    }
  }

  #tell(file: string, error: unknown): void {
    if (!this.#isBroken) this.#report(file, error);
    this.#isBroken = true;
  }
}

/** Nothing of what is damaged. */
function parsePublications(json: string): [string, Publication][] {
  const all = tryParseJson(json);
  return Object.entries(isObject(all) ? all : {}).flatMap(([url, each]) => {
    const { text, fetchedAt } = isObject(each) ? each : {};
    return typeof text === "string" && typeof fetchedAt === "number" ? [[url, { text, fetchedAt }]] : [];
  });
}
