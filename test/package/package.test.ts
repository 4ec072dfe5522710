import should from "should";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installedModules, packageName, packedTarball, root } from "../harness/package";

interface Manifest {
  homepage: string;
  publishConfig: { access: string };
  scripts: Record<string, string>;
}

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

describe("the package", () => {
  const packed = () =>
    execFileSync("tar", ["-tzf", packedTarball()], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((path) => path.replace(/^package\//, ""));

  it("holds what a user needs and nothing else", () => {
    for (const path of packed()) {
      path.should.match(
        /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|examples\/[^/]+\.json|dist\/(src|nodes)\/.+)$/,
      );
    }
    for (const path of ["README.md", "CHANGELOG.md", "LICENSE"]) packed().should.containEql(path);
    for (const name of ["js", "html"]) packed().should.containEql(`dist/nodes/webhook-trigger.${name}`);
    for (const folder of ["icons", "locales"]) {
      for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (/\.\w+$/.test(file)) packed().should.containEql(`dist/nodes/${folder}/${file}`);
      }
    }
  });

  it("is smaller than 1.5 MB, unpacked", () => {
    const sizes = execFileSync("tar", ["-tvzf", packedTarball()], { encoding: "utf8" }).matchAll(/^\S+ +\S+ +(\d+)/gm);
    const size = [...sizes].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
    size.should.be.within(20_000, 1_500_000);
  });

  it("has no install scripts, nor has any of its dependencies, of which none is native", () => {
    const install = ["preinstall", "install", "postinstall", "prepare"];
    for (const script of install) manifest.scripts.should.not.have.property(script);

    const modules = installedModules();
    const installed = readdirSync(modules, { recursive: true, encoding: "utf8" });
    const manifests = installed.filter((path) => path.endsWith("package.json"));
    for (const path of manifests) {
      const { scripts = {} } = JSON.parse(readFileSync(join(modules, path), "utf8")) as Partial<Manifest>;
      for (const script of install.slice(0, 3)) should(scripts).not.have.property(script);
    }
    for (const path of installed) should(path).not.match(/\.node$|binding\.gyp$/);
    installed.should.containEql(join(packageName, "package.json"));
  });

  it("brings no client of a server, and says so where one is to keep deliveries", () => {
    const store = join(installedModules(), packageName, "dist/src/deliveries/bullmq/bull-queue.js");
    const script = `const { BullQueue } = require(${JSON.stringify(store)});
      const store = new BullQueue({ url: "redis://127.0.0.1" });
      const opening = store.open({ down: (trouble) => console.log("told", trouble), changed() {}, warned() {} });
      opening.catch(({ trouble }) => console.log("rejected", trouble)).then(() => store.close());`;
    const said = execFileSync(process.execPath, ["--eval", script], { encoding: "utf8", timeout: 30_000 });
    said.trim().split("\n").should.eql(["told clientMissing", "rejected clientMissing"]);
  });

  it("is published for everybody, as npm does with a scoped name only when told", () => {
    manifest.publishConfig.access.should.equal("public");
  });

  it("has a repository in which faults of security are reported in private", () => {
    const [repository = ""] = manifest.homepage.split("#");
    readFileSync(join(root, "SECURITY.md"), "utf8").should.containEql(`(${repository}/security/advisories/new)`);
  });
});
