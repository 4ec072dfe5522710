import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { defaults } from "../../src/config";
import { problems } from "../../src/problem";
import { paste } from "../harness/curl";
import { DebugSidebar } from "../harness/debug-sidebar";
import { Demo } from "../harness/demo";
import { readme, section } from "../harness/readme";

describe("the README", () => {
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
    const fields = [...Object.keys(defaults), "token"] as (keyof typeof defaults | "token")[];
    for (const field of fields) section("Fields").should.containEql(`| **${catalog.label[field]}**`);
  });

  it("has a row for each status of a reply", () => {
    const rows = [...section("Replies").matchAll(/^\| (\d{3}) /gm)].map(([, status]) => Number(status));
    rows.should.eql([...new Set([200, ...Object.values(problems).map(({ status }) => status)])].sort());
  });
});
