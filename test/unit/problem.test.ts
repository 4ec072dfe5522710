import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { problems } from "../../src/request/problem";
import { root } from "../harness/package";

interface Catalog {
  refused: Record<string, string>;
}

describe("a problem", () => {
  for (const language of readdirSync(join(root, "locales"))) {
    it(`has a text for the log that names its status, in ${language}`, () => {
      const { refused } = JSON.parse(
        readFileSync(join(root, `locales/${language}/webhook-trigger.json`), "utf8"),
      ) as Catalog;
      for (const { name, status } of Object.values(problems)) {
        // A missing text is shown in English.
        if (refused[name] === undefined && language !== "en-US") continue;
        // Each sender has a status of its own for a handshake that is none.
        if (name !== "handshakeRefused")
          should(refused[name]).match(new RegExp(`[(（]${status}[)）](?:$|\\s?[:：])`), name);
      }
    });
  }
});
