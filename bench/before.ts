/** This version next to an older one, in turns: what a change costs, or saves. */
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { root, temporaryFolder } from "../test/harness/package";
import { costPerRequest } from "./cost";
import { inTurns, ratios, show, spread } from "./figures";
import { accepted, large, signed, small, withWrongToken } from "./requests";
import { nodeRed, oneWebhook, signedByGitHub, webhooks, type Subject } from "./subjects";
import { rateOf } from "./throughput";

/** Compares with the commit that the environment variable `BEFORE` names. */
export async function before(): Promise<void> {
  const commit = process.env.BEFORE;
  if (commit === undefined) throw new Error("BEFORE=<commit> says what to compare with");
  const modules = install(commit);
  const start = async (flow: typeof oneWebhook, isBefore: boolean) => {
    if (!isBefore) return nodeRed(flow);
    const userDir = temporaryFolder("before");
    symlinkSync(modules, join(userDir, "node_modules"));
    return nodeRed(flow, { userDir });
  };
  const subjects = {
    token: [await start(oneWebhook, true), await start(oneWebhook, false)],
    signed: [await start(webhooks(1, signedByGitHub), true), await start(webhooks(1, signedByGitHub), false)],
  } as const;
  const compare = async (figure: string, unit: string, pair: readonly [Subject, Subject], measure: Measure) => {
    const [old, now] = pair;
    const results = await inTurns(unit, { old: () => measure(old), now: () => measure(now) });
    show(`${figure}, now vs ${commit}`, spread(ratios(results.now, results.old), 3));
  };
  type Measure = (subject: Subject) => Promise<number>;

  await compare("processor time, 100 B", "µs", subjects.token, (one) => costPerRequest(one, accepted(small)));
  await compare("processor time, 6 kB", "µs", subjects.token, (one) => costPerRequest(one, accepted(large)));
  await compare("processor time, signed", "µs", subjects.signed, (one) => costPerRequest(one, signed(small)));
  await compare("requests per second, 100 B", "/s", subjects.token, (one) => rateOf(one, accepted(small)));
  await compare("requests per second, 6 kB", "/s", subjects.token, (one) => rateOf(one, accepted(large)));
  await compare("requests per second, signed", "/s", subjects.signed, (one) => rateOf(one, signed(small)));
  const refused = withWrongToken(small);
  await compare("requests per second, wrong token", "/s", subjects.token, (one) => rateOf(one, refused, "401"));
  for (const subject of Object.values(subjects).flat()) await subject.stop();
}

/** Builds and installs another commit with the dependencies of this one. @returns its node_modules */
function install(commit: string): string {
  const [tree, folder] = [temporaryFolder("tree"), temporaryFolder("installed")];
  const inTree = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: tree });
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x"], { cwd: tree, input: archive });
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  inTree(process.execPath, join("scripts", "build.mjs"), "dist");
  inTree(process.execPath, join("scripts", "install.mjs"), folder);
  return join(folder, "node_modules");
}
