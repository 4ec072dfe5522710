/** How many files of the package have a part in one request: what somebody reads who follows it. */
import { bearer } from "../test/harness/flow";
import { send } from "../test/harness/http";
import { until } from "../test/harness/until";
import { report } from "./figures";
import { nodeRed, oneWebhook, runtimeOf } from "./subjects";

/** Tells, when it is asked, in which files functions have run since it was asked before. */
const coverage = `module.exports = () => {
  const { Session } = require("node:inspector");
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  process.on("message", ({ coverage }) => {
    if (!coverage) return;
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      const hasRun = ({ functions }) => functions.some(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0);
      const files = result.filter(hasRun).map(({ url }) => url.split("/dist/")[1]);
      process.send({ trace: "coverage " + JSON.stringify(files.filter((file) => /^(src|nodes)/.test(file))) });
    });
  });
};`;

export async function files(): Promise<void> {
  const subject = await nodeRed(oneWebhook, { plugin: coverage });
  const runtime = runtimeOf(subject);
  const ran = async () => JSON.parse(await runtime.ask({ coverage: true }, "coverage ")) as string[];
  const post = () => send(runtime.node("/hook/0"), { headers: bearer });
  await post();
  // The status is shown some time later.
  await until(async () => (await ran()).length === 0, "nothing runs");
  await post();
  const found = (await ran()).sort();
  process.stdout.write(found.map((file) => `  ${file}\n`).join(""));
  report("files with a part in a request with a token", "–", `**${found.length}**`);
  await subject.stop();
}
