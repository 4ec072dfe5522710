import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { helpTexts } from "../../src/admin/metrics";
import { senders } from "../../src/auth/senders/table";
import { credentialNames, defaults } from "../../src/config/fields";
import { problems } from "../../src/request/problem";
import { paste } from "../harness/curl";
import { DebugSidebar } from "../harness/debug-sidebar";
import { Demo } from "../harness/demo";
import { root } from "../harness/package";
import { pages, readme, section } from "../harness/readme";

describe("the documentation", () => {
  describe("has curl lines that work on the demo, word for word", () => {
    const lines = readme.split("\n").filter((line) => line.startsWith("curl "));
    let demo: Demo;
    let sidebar: DebugSidebar;
    before(async () => {
      demo = await Demo.start();
      sidebar = await DebugSidebar.open(demo.editor);
    });
    after(async () => {
      sidebar.close();
      await demo.end();
    });

    it("at least two of them", () => lines.length.should.be.above(1));
    for (const line of lines) {
      it(line, async () => {
        // The demo of this test listens on a port that the system chose; the line names the usual one.
        const detour = `connect-to = "127.0.0.1:1880:127.0.0.1:${demo.port}"\n`;
        const { status, json } = await paste([demo.exportToken, line], detour);
        status.should.equal(200);
        const { _msgid } = await sidebar.message(json.id);
        should(_msgid).equal(json.id);
      });
    }
  });

  it("names each field as the form does", () => {
    // The settings are saved as one field, and have a label each.
    const { senderSettings: _settings, ...others } = defaults;
    const settings = Object.values(senders).flatMap((sender) => sender.settings ?? []);
    const names = [...Object.keys(others), ...credentialNames, ...settings] as (keyof typeof catalog.label)[];
    const told = [...section("Fields").matchAll(/^\| (\*\*.+?) +\|/gm)].flatMap(([, cell = ""]) => cell.split(", "));
    for (const name of names) told.should.containEql(`**${catalog.label[name]}**`);
  });

  it("tells of each metric", () => {
    const told = [...section("Metrics").matchAll(/^\| `webhook_trigger_(\w+)` /gm)].map(([, name]) => name);
    told.should.eql(Object.keys(helpTexts));
  });

  it("shows pictures that are there, and small", () => {
    const base = "https://raw.githubusercontent.com/flowhooks/node-red-webhook-trigger/main/";
    const shown = [...readme.matchAll(/^!\[.+\]\((.+)\)$/gm)].map(([, url = ""]) => url);
    shown.length.should.be.above(0);
    for (const url of shown) {
      url.should.startWith(base);
      const picture = readFileSync(join(root, url.slice(base.length)));
      picture.toString("latin1", 1, 4).should.equal("PNG");
      picture.length.should.be.below(100_000);
    }
  });

  for (const page of ["README.md", "SECURITY.md", "CONTRIBUTING.md", ...pages]) {
    it(`leads from ${page} to files that are there, and to sections that they have`, () => {
      const text = readFileSync(join(root, page), "utf8");
      for (const [, path = "", anchor] of text.matchAll(/[^!]\[[^\]]+\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)) {
        const file = path === "" ? join(root, page) : join(root, dirname(page), path);
        existsSync(file).should.be.true(path);
        if (anchor !== undefined) anchorsOf(readFileSync(file, "utf8")).should.containEql(anchor);
      }
    });
  }

  it("tells of each example", () => {
    const names = readdirSync(join(root, "examples")).map((file) => file.replace(/\.json$/, ""));
    for (const name of names) readme.should.match(new RegExp(`^\\| ${name} +\\|`, "m"));
  });

  it("has a row for each status of a reply", () => {
    const rows = [...section("Replies and errors").matchAll(/^\| (\d{3}) /gm)].map(([, status]) => Number(status));
    rows.should.eql([...new Set([200, ...Object.values(problems).map(({ status }) => status)])].sort());
  });
});

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^##+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}
