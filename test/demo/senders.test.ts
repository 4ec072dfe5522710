import { readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { senderIds, senders } from "../../src/auth/senders/table";
import { root } from "../harness/package";
import { section } from "../harness/readme";
import { senderRows } from "../harness/sender-rows";

const page = readFileSync(join(root, "docs", "senders.md"), "utf8");
const table = page.split("\n## All senders\n")[1]?.split("\n## ")[0] ?? "";
/** Cells are as wide as the widest of their column. */
const rows = [...table.matchAll(/^\| \[.*$/gm)].map(([row]) => row.replace(/ +/g, " "));

describe("the page of senders", () => {
  it("has a row for each sender, in the order of their names", () => {
    rows.map((row) => /^\| \[(.+?)\]\(/.exec(row)?.[1]).should.eql(senderRows.map(({ id }) => senders[id].name));
  });

  for (const [index, { id, fields, before, after }] of senderRows.entries()) {
    it(`tells of ${id} what its row in the code says, and what to enter`, () => {
      const row = rows[index] ?? "";
      row.should.startWith(before).and.endWith(after);
      const told = row.slice(before.length, row.length - after.length).trim();
      told.should.startWith(`**${fields[0]}**: `);
      for (const field of fields) told.should.containEql(`**${field}**`);
    });
  }

  it("calls what to enter as the form does", () => {
    const labels = Object.values(catalog.label);
    for (const { fields } of senderRows) for (const field of fields) labels.should.containEql(field);
  });

  it("quotes the sentences that operators are told", () => {
    const values: Record<string, string> = { distance: "7 min", length: "39", expected: "40", prefix: "whsec_" };
    const told = JSON.stringify(catalog.whyNot).replace(/__(\w+)__/g, (name, key: string) => values[key] ?? name);
    const [, chapter = ""] = page.split("\n## When a request is refused\n");
    const quoted = [...chapter.matchAll(/“(.+?)”/g)].map(([, sentence = ""]) => sentence.replaceAll("\\", ""));
    quoted.length.should.be.above(5);
    for (const piece of quoted.flatMap((sentence) => sentence.split("…"))) told.should.containEql(piece.trim());
  });
});

describe("the README", () => {
  it("names each sender, and says how many there are", () => {
    const recipes = section("Recipes").replace(/\s+/g, " ");
    for (const { id } of senderRows) {
      const [name = ""] = senders[id].name.split(" (");
      // The two of Grafana are told as one.
      recipes.should.containEql(name.replace(/ with timestamp header$/, ""));
    }
    const text = readFileSync(join(root, "README.md"), "utf8");
    const known = senderIds.length - 1;
    text.should.containEql(`[${known} senders by name]`);
    should(/Slack and (\d+) others/.exec(text)?.[1]).equal(String(known - 4));
  });
});
