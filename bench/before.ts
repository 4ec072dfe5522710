/** This version next to an older one, in turns: what a change costs, or saves. */
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { root, temporaryFolder } from "../test/harness/package";
import type { Flow } from "../test/harness/node-red";
import { compare, costOf, type Measure, rateOf, show, spread } from "./figures";
import {
  accepted,
  large,
  nodeRed,
  oneWebhook,
  signed,
  signedByGitHub,
  small,
  type Subject,
  webhooks,
  withWrongToken,
} from "./subjects";

/** Compares with the commit that the environment variable `BEFORE` names. */
export async function before(): Promise<void> {
  const commit = process.env.BEFORE;
  if (commit === undefined) throw new Error("BEFORE=<commit> says what to compare with");
  const modules = install(commit);
  const refused = withWrongToken(small);
  const compared: [Flow, Record<string, (subject: Subject) => Measure>][] = [
    [
      oneWebhook,
      {
        "processor time, 100 B": (one) => costOf(one, accepted(small)),
        "processor time, 6 kB": (one) => costOf(one, accepted(large)),
        "requests per second, 100 B": (one) => rateOf(one, accepted(small)),
        "requests per second, 6 kB": (one) => rateOf(one, accepted(large)),
        "requests per second, wrong token": (one) => rateOf(one, refused, "401"),
      },
    ],
    [
      webhooks(1, signedByGitHub),
      {
        "processor time, signed": (one) => costOf(one, signed(small)),
        "requests per second, signed": (one) => rateOf(one, signed(small)),
      },
    ],
    [webhooks(1, { guaranteed: true }), { "requests per second, SQLite": (one) => rateOf(one, accepted(small)) }],
  ];
  for (const [flow, figures] of compared) {
    const userDir = temporaryFolder("before");
    symlinkSync(modules, join(userDir, "node_modules"));
    const [now, old] = [await nodeRed(flow), await nodeRed(flow, { userDir })];
    for (const [figure, measure] of Object.entries(figures)) {
      show(`${figure}, now vs ${commit}`, spread(await compare(measure(now), measure(old)), 3));
    }
    await now.stop();
    await old.stop();
  }
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
