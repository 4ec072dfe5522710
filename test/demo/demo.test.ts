import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import should from "should";
import { paste } from "../harness/curl";
import { DebugSidebar } from "../harness/debug-sidebar";
import { Demo } from "./demo";
import { readme } from "../harness/pages";

describe("the demo", () => {
  const demos: Demo[] = [];
  afterEach(async () => {
    await Promise.all(demos.splice(0).map((demo) => demo.end()));
  });

  /** Runs one, and ends it after the test by force. */
  function run(port: number | string = 0, dist?: string): Demo {
    const demo = new Demo(port, undefined, dist);
    demos.push(demo);
    return demo;
  }

  async function started(): Promise<Demo> {
    const demo = run();
    await demo.isReady();
    return demo;
  }

  /** Waits until nothing of a demo is left: no process, no folder, no open port. */
  async function isGone(demo: Demo): Promise<void> {
    await demo.gone();
    demo.folders.should.be.empty();
    (await reaches("127.0.0.1", demo.port)).should.be.false();
  }

  describe("while it runs", () => {
    let demo: Demo;
    let sidebar: DebugSidebar;
    before(async () => {
      demo = await Demo.start(["npm", "run", "demo"], "");
      sidebar = await DebugSidebar.open(demo.editor);
    });
    after(async () => {
      sidebar.close();
      demo.signal("SIGTERM");
      await isGone(demo);
    });

    it("has built the package, runs Node-RED 5 and shows no request before there was one", async () => {
      demo.output.should.containEql("Building");
      const settings = await fetch(`${demo.editor}settings`);
      ((await settings.json()) as { version: string }).version.should.startWith("5.");
      sidebar.statuses.should.deepEqual(["/orders · 0 accepted"]);
    });

    it("shows in the debug sidebar what its printed curl line sends, without the token", async () => {
      const { status, json } = await paste([demo.curl]);
      should([status, json.status]).eql([200, "accepted"]);
      const message = await sidebar.message(json.id);
      message.should.have.property("payload", "hello world");
      JSON.stringify(message).should.not.containEql(demo.token);
      // Once in the curl line, and once in the line that exports it.
      demo.output.split(demo.token).should.have.length(3);
    });

    const lines = readme.source.split("\n").filter((line) => line.startsWith("curl "));
    for (const line of lines) {
      it(`takes this line of the README word for word, after its printed export line: ${line}`, async () => {
        lines.length.should.be.above(1);
        // This demo listens on a port that the system chose; the line names the usual one.
        const detour = `connect-to = "127.0.0.1:1880:127.0.0.1:${demo.port}"\n`;
        const { status, json } = await paste([demo.exportToken, line], detour);
        status.should.equal(200);
        await sidebar.message(json.id);
        (await paste(["unset TOKEN", line], detour)).status.should.equal(401);
      });
    }

    it("is reached by this machine alone", async () => {
      (await reaches("127.0.0.1", demo.port)).should.be.true();
      for (const address of otherAddresses()) (await reaches(address, demo.port)).should.be.false(address);
    });

    it("lets another one run beside it with another token, which leaves nothing behind when Ctrl+C stops it", async () => {
      const other = await started();
      other.token.should.match(/^[\w-]{40}$/).and.not.equal(demo.token);
      (await paste([other.curl])).status.should.equal(200);
      (await paste([other.curl.replace(other.token, demo.token)])).status.should.equal(401);
      other.folders.should.have.length(1);
      other.pressCtrlC();
      should(await other.exit).equal(0);
      await isGone(other);
      (await paste([demo.curl])).status.should.equal(200);
    });
  });

  it("leaves nothing behind when its terminal is gone", async () => {
    const demo = await started();
    demo.hangUp();
    await paste([demo.curl.replace(demo.token, "another")]);
    should(await demo.exit).equal(0);
    demo.output.should.not.containEql("EPIPE");
    await isGone(demo);
  });

  it("leaves nothing behind when it is stopped before Node-RED is up", async () => {
    const demo = run(0, "");
    await demo.says(/Building/);
    demo.pressCtrlC();
    await demo.exit;
    await demo.gone();
    demo.folders.should.be.empty();
  });

  it("says which port is busy and how to choose another, before it does anything", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const demo = run(port);
    should(await demo.exit).equal(1);
    other.close();
    demo.output.should.match(/^Error: .*EADDRINUSE.*\nSet PORT to choose another port\.\n$/);
  });

  it("says what is no port", async () => {
    const demo = run("65536");
    should(await demo.exit).equal(1);
    demo.output.should.match(/^RangeError.*65536.*\nSet PORT/);
  });
});

function otherAddresses(): string[] {
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, list = []]) =>
    list.map(({ address, family, scopeid }) => (family === "IPv6" && scopeid ? `${address}%${name}` : address)),
  );
  return addresses.filter((address) => address !== "127.0.0.1");
}

async function reaches(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
