// A small file in Node-RED's user directory: its content is useful after a restart, and no loss where it is gone.

import { readFileSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { isObject } from "../config/values";

export type ReportTrouble = (file: string, error: unknown) => void;

export class KeptFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #report: ReportTrouble;
  #compose: (() => string) | undefined;
  #writing: Promise<void> | undefined;
  #isBroken = false;

  /**
   * @param maxBytes a longer file is not read
   * @param report called once when it can be read or written no more, which changes nothing else
   */
  constructor(path: string, maxBytes: number, report: ReportTrouble) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#report = report;
  }

  /** @returns empty where there is none */
  read(): string {
    try {
      return statSync(this.#path).size > this.#maxBytes ? "" : readFileSync(this.#path, "utf8");
    } catch (error) {
      if (!isObject(error) || error.code !== "ENOENT") this.#tell(error);
      return "";
    }
  }

  /**
   * Replaces the file as a whole; only its owner may read it.
   *
   * @param compose called when the writing before has ended: only the last text is written
   */
  async write(compose: () => string): Promise<void> {
    this.#compose = compose;
    await (this.#writing ??= this.#write());
  }

  async #write(): Promise<void> {
    const temporary = `${this.#path}.new`;
    for (let compose = this.#compose; compose; compose = this.#compose) {
      this.#compose = undefined;
      try {
        await writeFile(temporary, compose(), { mode: 0o600 });
        await rename(temporary, this.#path);
        this.#isBroken = false;
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        this.#tell(error);
      }
    }
    this.#writing = undefined;
  }

  #tell(error: unknown): void {
    if (!this.#isBroken) this.#report(this.#path, error);
    this.#isBroken = true;
  }
}
