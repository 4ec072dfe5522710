import should from "should";
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { token, webhookFlow } from "../harness/flow";
import { inEveryLayout } from "../harness/layouts";
import { root } from "../harness/package";

const { JAVAC_PATH: compiler = "/usr/bin/javac" } = process.env;
/** How long a request may take, in seconds. */
const limit = 30;

/** Sends one request with each token by the same client. */
async function statusesOf(url: string, ...tokens: string[]): Promise<string[]> {
  // Java runs a source file where its compiler stands beside it: the system's own links may lead to two versions.
  const java = join(dirname(realpathSync(compiler)), "java");
  const source = join(root, "test", "data", "ExpectContinue.java");
  const { stdout } = await promisify(execFile)(java, [source, url, `${limit}`, ...tokens]);
  return stdout.trim().split("\n");
}

inEveryLayout("Java's HttpClient that expects 100 (Continue)", { flow: webhookFlow({}) }, (nodeRed) => {
  it("gets 401 for a wrong token, and goes on: the next request with the right one is accepted", async () => {
    const statuses = await statusesOf(nodeRed().node("/hook"), "another", token, "another", token);
    should(statuses).eql(["401", "200", "401", "200"]);
    await nodeRed().until(() => nodeRed().messages[1], "two messages");
    should(nodeRed().messages.map(({ payload }) => payload)).eql([{ a: 1 }, { a: 1 }]);
  });
});
