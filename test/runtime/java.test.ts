import should from "should";
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../scripts/setup.mjs";
import { token, webhookFlow } from "../harness/flow";
import { useNodeRed } from "../harness/layouts";
import { root } from "../harness/package";

const compiler = findProgram("javac") ?? "javac";
/** How long a request may take, in seconds. */
const limit = 30;

/** Sends one request with each token by the same client. */
async function sendWith(url: string, ...tokens: string[]): Promise<string[]> {
  // Java runs a source file where its compiler stands beside it: the system's own links may lead to two versions.
  const java = join(dirname(realpathSync(compiler)), "java");
  const source = join(root, "test", "data", "ExpectContinue.java");
  const { stdout } = await promisify(execFile)(java, [source, url, `${limit}`, ...tokens]);
  return stdout.trim().split("\n");
}

describe("Java's HttpClient that expects 100 (Continue)", () => {
  const nodeRed = useNodeRed({ flow: webhookFlow({}) });

  it("gets 401 for a wrong token, and 200 for the right one on the same connection", async () => {
    should(await sendWith(nodeRed().node("/hook"), "another", token, "another", token)).eql(["401", "200", "401", "200"]); // prettier-ignore
    await nodeRed().until(() => nodeRed().messages[1], "two messages");
    should(nodeRed().messages.map(({ payload }) => payload)).eql([{ a: 1 }, { a: 1 }]);
  });
});
