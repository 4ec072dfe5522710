import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import should from "should";
import { paste } from "../harness/curl";
import { DebugSidebar } from "../harness/debug-sidebar";
import { built, type Command, Demo } from "../harness/demo";

describe("the demo", () => {
  const demos: Demo[] = [];

  async function start(command?: Command, dist = built): Promise<Demo> {
    const demo = new Demo(0, command, dist);
    demos.push(demo);
    await demo.isReady();
    return demo;
  }

  afterEach(async () => {
    await Promise.all(demos.splice(0).map((demo) => demo.end()));
  });

  it("serves what its printed curl line sends, and the debug sidebar shows it", async () => {
    const demo = await start(["npm", "run", "demo"], "");
    demo.output.should.containEql("Building");
    const sidebar = await DebugSidebar.open(demo.editor);
    const { status, json } = await paste([demo.curl]);
    status.should.equal(200);
    json.should.have.property("status", "accepted");
    const message = await sidebar.message(json.id);
    sidebar.close();
    message.should.have.property("payload", "hello world");
    message.should.have.property("req").with.property("method", "POST");
    JSON.stringify(message).should.not.containEql(demo.token);
  });

  describe("while it runs", () => {
    let demo: Demo;
    before(async () => (demo = await Demo.start()));
    after(() => demo.end());

    it("serves curl lines that say $TOKEN after its printed export line", async () => {
      const line = demo.curl.replace(demo.token, "$TOKEN");
      (await paste([demo.exportToken, line])).status.should.equal(200);
      (await paste(["unset TOKEN", line])).status.should.equal(401);
    });

    it("serves the editor at the address that it prints", async () => {
      const response = await fetch(demo.editor);
      response.status.should.equal(200);
      (await response.text()).should.containEql("Node-RED");
    });

    it("runs Node-RED 5", async () => {
      const response = await fetch(`${demo.editor}settings`);
      ((await response.json()) as { version: string }).version.should.startWith("5.");
    });

    it("prints the token where it is meant to be copied, and nowhere else", async () => {
      (await paste([demo.curl])).status.should.equal(200);
      demo.output.split(demo.token).should.have.length(3);
    });

    it("is reached by this machine alone", async () => {
      (await reaches("127.0.0.1", demo.port)).should.be.true();
      for (const address of otherAddresses()) (await reaches(address, demo.port)).should.be.false(address);
    });
  });

  it("shows no request, accepted or refused, before there was one", async () => {
    const demo = await start();
    const sidebar = await DebugSidebar.open(demo.editor);
    sidebar.close();
    sidebar.statuses.should.deepEqual(["/orders · 0 accepted"]);
  });

  it("makes another token at each start", async () => {
    const first = await start();
    first.pressCtrlC();
    await first.exit;
    const second = await start();
    second.token.should.match(/^[\w-]{40}$/).and.not.equal(first.token);
    (await paste([second.curl])).status.should.equal(200);
    (await paste([second.curl.replace(second.token, first.token)])).status.should.equal(401);
  });

  it("runs beside another one", async () => {
    const [first, second] = await Promise.all([start(), start()]);
    (await paste([first.curl])).status.should.equal(200);
    (await paste([second.curl])).status.should.equal(200);
    first.signal("SIGTERM");
    await first.gone();
    (await paste([second.curl])).status.should.equal(200);
  });

  const stops = {
    "Ctrl+C": (demo: Demo) => demo.pressCtrlC(),
    SIGTERM: (demo: Demo) => demo.signal("SIGTERM"),
    SIGHUP: (demo: Demo) => demo.signal("SIGHUP"),
  };
  for (const [name, stop] of Object.entries(stops)) {
    it(`leaves nothing running, and no files, when ${name} stops it`, async () => {
      const demo = await start();
      demo.folders.should.have.length(1);
      stop(demo);
      should(await demo.exit).equal(0);
      demo.processes().should.be.empty();
      (await reaches("127.0.0.1", demo.port)).should.be.false();
      demo.folders.should.be.empty();
    });
  }

  it("leaves nothing running, and no files, when it is killed", async () => {
    const demo = await start();
    demo.folders.should.have.length(1);
    demo.signal("SIGKILL");
    await demo.gone();
    (await reaches("127.0.0.1", demo.port)).should.be.false();
    demo.folders.should.be.empty();
  });

  it("leaves nothing running when it has something to tell and nobody reads it any more", async () => {
    const demo = await start();
    demo.hangUp();
    await paste([demo.curl.replace(demo.token, "another")]);
    should(await demo.exit).equal(0);
    demo.output.should.not.containEql("EPIPE");
    demo.processes().should.be.empty();
  });

  // A SIGINT to npm alone reaches nobody: npm and its shell take it for the terminal's, which all get.
  for (const name of ["Ctrl+C", "SIGTERM"] as const) {
    it(`leaves nothing running when ${name} stops the npm that runs it`, async () => {
      const demo = await start(["npm", "run", "demo"]);
      stops[name](demo);
      await demo.gone();
      (await reaches("127.0.0.1", demo.port)).should.be.false();
    });
  }

  it("leaves nothing running when it is stopped before Node-RED is up", async () => {
    const demo = new Demo(0);
    demos.push(demo);
    await demo.says(/Building/);
    demo.pressCtrlC();
    await demo.exit;
    demo.processes().should.be.empty();
    demo.folders.should.be.empty();
  });

  it("fails, and shows Node-RED's log, when Node-RED ends by itself", async () => {
    const demo = await start();
    const nodeRed = demo.processes().find(({ name }) => name.startsWith("node-red"));
    process.kill(Number(nodeRed?.pid), "SIGKILL");
    should(await demo.exit).equal(1);
    demo.output.should.containEql("Node-RED has ended by itself");
  });

  it("says which port is busy and how to choose another, before it does anything", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const demo = new Demo(port);
    demos.push(demo);
    should(await demo.exit).equal(1);
    other.close();
    demo.output
      .trim()
      .should.equal(
        `Port ${port} is in use by another program. End that one, or choose another one: PORT=1881 npm run demo`,
      );
  });

  it("says what to install for several instances, before it does anything", async () => {
    const nowhere = ["NGINX_PATH=/nowhere", "REDIS_PATH=/nowhere"];
    const demo = new Demo(0, ["env", ...nowhere, "node", "scripts/demo.mjs", "--instances", "3"]);
    demos.push(demo);
    should(await demo.exit).equal(1);
    demo.output.should.equal(
      [
        "There is no nginx here. Install it (apt-get install nginx), or set NGINX_PATH to the path of one.",
        "There is no Valkey or Redis here. Install it (apt-get install redis-server), or set REDIS_PATH to the path of one.",
        "",
      ].join("\n"),
    );
  });

  for (const wanted of ["--instances 1x", "--instances 10", "--instances=0", "three"]) {
    it(`says that it does not understand ${wanted}`, async () => {
      const demo = new Demo(0, ["node", "scripts/demo.mjs", ...wanted.split(" ")]);
      demos.push(demo);
      should(await demo.exit).equal(1);
      demo.output.trim().should.startWith(`${wanted} is not understood.`);
    });
  }

  for (const port of ["65536", "-1", "http"]) {
    it(`says that ${port} is no port number`, async () => {
      const demo = new Demo(port);
      demos.push(demo);
      should(await demo.exit).equal(1);
      demo.output.trim().should.startWith(`PORT is no port number: ${port}.`);
    });
  }
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
