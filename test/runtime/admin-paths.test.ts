import should from "should";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { defaults } from "../../src/config/fields";
import { parseConfig } from "../../src/config/parse";
import { token } from "../harness/flow";
import { nodeRedFolder } from "../harness/node-red";
import { root, temporaryFolder } from "../harness/package";

describe("with equal roots", () => {
  it("no webhook can take a path that Node-RED's admin API answers", () => {
    const script = join(root, "test", "harness", "admin-routes.ts");
    const output = execFileSync(
      process.execPath,
      ["--import", "tsx", script, nodeRedFolder, temporaryFolder("routes")],
      {
        encoding: "utf8",
      },
    );
    // Routes of apps that are mounted below a path of their own begin with a parameter.
    const segments = output.split("\n").flatMap((path) => /^\^?\\?\/([\w-]+)/.exec(path)?.slice(1) ?? []);
    const unique = [...new Set(segments)];
    // Ours are not in there: the package is not loaded.
    unique.push("webhook-trigger");
    unique.should.containEql("flows").and.containEql("inject").and.containEql("projects");
    for (const segment of unique) {
      for (const relativePath of [`/${segment}`, `/${segment}/x`]) {
        const roots = { admin: "/", node: "/" };
        should(parseConfig({ ...defaults, relativePath }, { token }, { roots })).have.property(
          "rule",
          "relativePath.admin",
        );
      }
    }
  });
});
