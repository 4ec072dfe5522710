import should from "should";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { defaults } from "../../src/config/fields";
import { parseConfig } from "../../src/config/parse";
import { token } from "../harness/flow";
import { nodeRedFolder } from "../harness/node-red";
import { root, temporaryFolder } from "../harness/package";

describe("with equal roots", () => {
  it("a webhook trigger takes no path that Node-RED's admin API answers", () => {
    const script = join(root, "test", "fixtures", "admin-routes.ts");
    const args = ["--import", "tsx", script, nodeRedFolder, temporaryFolder("routes")];
    const output = execFileSync(process.execPath, args, { encoding: "utf8" });
    // Routes of apps that are mounted below a path of their own begin with a parameter.
    const segments = output.split("\n").flatMap((path) => /^\^?\\?\/([\w-]+)/.exec(path)?.slice(1) ?? []);
    // Ours are not in there: the package is not loaded.
    const unique = new Set([...segments, "webhook-trigger"]);
    [...unique].should.containEql("flows").and.containEql("inject").and.containEql("projects");
    const roots = { admin: "/", node: "/" };
    for (const relativePath of [...unique].flatMap((segment) => [`/${segment}`, `/${segment}/x`])) {
      const config = parseConfig({ ...defaults, relativePath }, { token }, { roots });
      should(config).have.property("rule", "relativePath.admin");
    }
  });
});
