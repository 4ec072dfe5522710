import should from "should";
import { paste } from "../harness/curl";
import { built, Demo } from "../harness/demo";

const instances = 3;

describe("the demo of several instances", () => {
  const demos: Demo[] = [];

  async function start(): Promise<Demo> {
    const demo = new Demo(0, ["node", "scripts/demo.mjs", "--instances", `${instances}`], built);
    demos.push(demo);
    await demo.isReady();
    return demo;
  }

  afterEach(async () => {
    await Promise.all(demos.splice(0).map((demo) => demo.end()));
  });

  /** Who says that they begin with the order for a certain time. */
  const begins = (attempt: number) => new RegExp(`^\\[(\\d)\\] .*begins \\{"order":1\\}, attempt ${attempt}$`, "m");

  it("shows that a duplicate starts nothing, and that others take over from one that is killed", async () => {
    const demo = await start();
    const { status, json } = await paste([demo.curl]);
    should([status, json.status]).eql([200, "accepted"]);
    should((await paste([demo.curl])).json).eql({ status: "duplicate", id: json.id });
    await demo.says(begins(1));
    const at = begins(1).exec(demo.output)?.[1] ?? "";
    const processes = [...demo.output.matchAll(/^ +(\d) +http:\S+ +process (\d+)$/gm)];
    processes.length.should.equal(instances);
    const pid = Number(processes.find(([, number]) => number === at)?.[2]);
    demo.output.should.match(/^ +kill -9 \d+$/m);
    process.kill(pid, "SIGKILL");
    await demo.says(new RegExp(`Instance ${at} has ended`));
    await demo.says(begins(2));
    should(begins(2).exec(demo.output)?.[1]).not.equal(at);
    should((await paste([demo.curl])).json).eql({ status: "duplicate", id: json.id });
  });

  it("leaves nothing running, and no files, when Ctrl+C stops it", async () => {
    const demo = await start();
    demo.folders.should.have.length(1);
    demo.pressCtrlC();
    should(await demo.exit).equal(0);
    demo.processes().should.be.empty();
    demo.folders.should.be.empty();
  });

  it("leaves nothing running, and no files, when it is killed", async () => {
    const demo = await start();
    demo.signal("SIGKILL");
    await demo.gone();
    demo.folders.should.be.empty();
  });

  it("leaves nothing running when it is stopped before all is up", async () => {
    const demo = new Demo(0, ["node", "scripts/demo.mjs", "--instances", `${instances}`]);
    demos.push(demo);
    await demo.says(/Building/);
    demo.pressCtrlC();
    await demo.exit;
    demo.processes().should.be.empty();
    demo.folders.should.be.empty();
  });

  it("fails, and leaves nothing running, when its nginx ends by itself", async () => {
    const demo = await start();
    process.kill(Number(demo.processes().find((each) => each.name.includes("nginx.conf"))?.pid), "SIGKILL");
    should(await demo.exit).equal(1);
    demo.output.should.containEql("nginx has ended");
    await demo.gone();
    demo.folders.should.be.empty();
  });
});
