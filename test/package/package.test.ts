import should from "should";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { compileFile } from "../harness/fixtures";
import { Listener } from "../harness/listener";
import { installedModules, packageName, packedTarball, root } from "../harness/package";

interface Manifest {
  scripts?: Record<string, string>;
}

describe("the package", () => {
  const packed = () =>
    execFileSync("tar", ["-tzf", packedTarball()], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((path) => path.replace(/^package\//, ""));

  it("holds what a user needs and nothing else", () => {
    for (const path of packed()) {
      path.should.match(/^(package\.json|README\.md|CHANGELOG\.md|LICENSE|examples\/[^/]+\.json|dist\/nodes\/.+)$/);
    }
    for (const path of ["README.md", "CHANGELOG.md", "LICENSE"]) packed().should.containEql(path);
    for (const name of ["js", "html"]) packed().should.containEql(`dist/nodes/webhook-trigger.${name}`);
    for (const folder of ["icons", "locales"]) {
      for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (/\.\w+$/.test(file)) packed().should.containEql(`dist/nodes/${folder}/${file}`);
      }
    }
  });

  it("has at most 170 kB of script that each editor loads as it starts, and 210 kB in all", () => {
    const loaded = readFileSync(join(installedModules(), packageName, "dist/nodes/webhook-trigger.html"));
    loaded.indexOf("</script>").should.be.within(1, 170_000);
    loaded.length.should.be.belowOrEqual(210_000);
  });

  it("leaves the messages of the thread alone in which Node-RED runs", async () => {
    const file = join(installedModules(), packageName, "dist/nodes/webhook-trigger.js");
    const load = `
      const { parentPort, workerData } = require("node:worker_threads");
      require(workerData);
      parentPort.postMessage(parentPort.listenerCount("message"));`;
    const thread = new Worker(load, { eval: true, workerData: file });
    const [listeners] = (await once(thread, "message")) as [number];
    await thread.terminate();
    listeners.should.equal(0);
  });

  it("has no install scripts, nor has any of its dependencies, of which none is native", () => {
    const modules = installedModules();
    const installed = readdirSync(modules, { recursive: true, encoding: "utf8" });
    const manifests = installed.filter((path) => path.endsWith("package.json"));
    for (const path of manifests) {
      const { scripts = {} } = JSON.parse(readFileSync(join(modules, path), "utf8")) as Manifest;
      for (const script of ["preinstall", "install", "postinstall"]) should(scripts).not.have.property(script);
    }
    for (const path of installed) should(path).not.match(/\.node$|binding\.gyp$/);
    installed.should.containEql(join(packageName, "package.json"));
  });

  it("opens no store on a server without the client that it does not bring, and names what is missing", async () => {
    const path = compileFile("src/deliveries/bullmq/bull-queue.ts");
    const { BullQueue } = createRequire(path)(path) as typeof import("../../src/deliveries/bullmq/bull-queue");
    const store = new BullQueue({ url: "redis://127.0.0.1" });
    const listener = new Listener();
    await should(store.open(listener)).be.rejectedWith({ trouble: "clientMissing" });
    await store.close();
  });
});
