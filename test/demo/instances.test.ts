import should from "should";
import { paste } from "../harness/curl";
import { Demo } from "../harness/demo";

const count = 3;

describe("the demo of several instances", () => {
  let demo: Demo;
  beforeEach(async () => {
    demo = await Demo.start(["node", "scripts/demo.mjs", "--instances", `${count}`]);
  });
  afterEach(() => demo.end());

  /** The line of the instance that begins with the order for a certain time. */
  const begins = (attempt: number) => new RegExp(`^\\[(\\d)\\] .*begins \\{"order":1\\}, attempt ${attempt}$`, "m");

  it("shows that a duplicate starts nothing and that others take over from a killed one, and ends by Ctrl+C", async () => {
    const { status, json } = await paste([demo.curl]);
    should([status, json.status]).eql([200, "accepted"]);
    should((await paste([demo.curl])).json).eql({ status: "duplicate", id: json.id });
    await demo.says(begins(1));
    const at = begins(1).exec(demo.output)?.[1] ?? "";
    const processes = [...demo.output.matchAll(/^ +(\d) +http:\S+ +process (\d+)$/gm)];
    processes.length.should.equal(count);
    demo.output.should.match(/^ +kill -9 \d+$/m);
    process.kill(Number(processes.find(([, number]) => number === at)?.[2]), "SIGKILL");
    await demo.says(new RegExp(`Instance ${at} has ended`));
    await demo.says(begins(2));
    should(begins(2).exec(demo.output)?.[1]).not.equal(at);
    should((await paste([demo.curl])).json).eql({ status: "duplicate", id: json.id });
    demo.folders.should.have.length(1);
    demo.pressCtrlC();
    should(await demo.exit).equal(0);
    await demo.gone();
    demo.folders.should.be.empty();
  });

  it("fails and leaves nothing behind when its nginx ends by itself", async () => {
    process.kill(Number(demo.processes().find(({ name }) => name.includes("nginx.conf"))?.pid), "SIGKILL");
    should(await demo.exit).equal(1);
    demo.output.should.containEql("nginx has ended");
    await demo.gone();
    demo.folders.should.be.empty();
  });
});
