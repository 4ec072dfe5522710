import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { exportsOf } from "../harness/fixtures";
import { tab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { type Layout, roots } from "../harness/layouts";
import { type Flow, NodeRed, nodeRedFolder, type Options } from "../harness/node-red";
import { root, temporaryFolder } from "../harness/package";
import type { Bystander, Request, Row, Target } from "./hosts";

/** What holds the path of the endpoint. */
type Holder = "http in" | "webhook trigger" | "neither";

/** What became of a request. */
interface Outcome {
  /** Missing where no answer came. */
  status?: number | undefined;
  body?: string | undefined;
  /** What guards in front saw of the request, where they show it. */
  seen?: string | undefined;
  /** The message that it made, if it did. */
  message?: { payload: unknown } | undefined;
}

/** What all code of a row may use. */
const prelude = `const { express, isEvil, refuse, guard, guardBody, verify, pass, named, see, byPath, onChange } = ${exportsOf("guards")};`;

/** What the code of a host application may use beside `app`, `server`, `settings` and `RED`. */
const hostPrelude = `${prelude} const { hook, mountAdmin, mountNodes, mount, listen, onceStarted } = ${exportsOf("host-tools")}({ app, server, settings, RED });`;

const requireOf = createRequire(join(nodeRedFolder, "package.json"));

function expressOf(folder: string): string {
  return (createRequire(join(folder, "package.json"))("express/package.json") as { version: string }).version;
}

const newest = join(root, "node_modules", "node-red");

/** Whether this is an earlier Node-RED, with the Express of the newest one. */
export const hasNewestExpress = nodeRedFolder !== newest && expressOf(nodeRedFolder) === expressOf(newest);

/** What all processes have in common. */
let sharedEnv: Record<string, string> | undefined;

function shareEnv(): Record<string, string> {
  if (sharedEnv) return sharedEnv;
  const files = temporaryFolder("static");
  writeFileSync(join(files, "hook"), "a file");
  writeFileSync(join(files, "page.txt"), "another file");
  sharedEnv = {
    EXPRESS: requireOf.resolve("express"),
    STATIC: files,
    // Room for what a start makes and forgets.
    NODE_OPTIONS: "--max-semi-space-size=64",
    QUIET: "yes",
  };
  return sharedEnv;
}

function optionsOf(row: Row, layout: Layout): Options {
  return {
    settings: roots[layout],
    plugin: `module.exports = (RED) => { ${prelude} const hook = "/hook"; ${exportsOf("report-node")}(RED); ${row.plugin ?? ""} };`,
    only: ["21-httpin.js"],
    code: `...(() => { ${prelude} return { logging: { console: { level: "warn" } }, ${row.settings ?? ""} }; })()`,
    ...(row.host !== undefined && { host: `{ ${hostPrelude} ${row.host} }` }),
    env: shareEnv(),
  };
}

/** A flow in which something holds the paths of a row, or nothing. */
function flowOf(row: Row, holder: Holder): Flow {
  const { paths = ["/hook"], methods = ["POST"] } = row;
  const wires = [["report"]];
  const makers: Record<Holder, (id: string, path: string) => Flow> = {
    "http in": (id, url) =>
      methods.map((method) => ({ id: `${id}${method}`, type: "http in", url, method: method.toLowerCase(), wires })),
    "webhook trigger": (id, path) => [webhook(id, path, { headerParameter: "X-Token", methods, wires })],
    neither: () => [],
  };
  return tab(
    ...(row.earlier ?? []),
    ...paths.flatMap((path, index) => makers[holder](`endpoint${index}`, path)),
    ...(row.later ?? []),
    { id: "report", type: "report", wires: [["response"]] },
    { id: "response", type: "http response", wires: [] },
  );
}

/** What an endpoint of ours answers when it has taken a request, with the id of the message. */
function idIn(reply: Reply | undefined): unknown {
  // The body may be any JSON.
  const json = reply?.json as Reply["json"] | null | undefined;
  return json?.status === "accepted" ? json.id : undefined;
}

let calls = 0;

/** Sends all requests at once, and finds out what became of each. */
async function outcomesOf(nodeRed: NodeRed, layout: Layout, all: Request[]): Promise<Outcome[]> {
  const sent = await Promise.all(
    all.map(async ({ method = "POST", target = "{root}/hook", headers = {}, body = '{"a":1}' }) => {
      const call = String(calls++);
      const root = roots[layout].httpNodeRoot.replace(/\/$/, "");
      const url = nodeRed.origin + target.replace("{root}", root).replace("{ROOT}", root.toUpperCase());
      const withBody = ["POST", "PUT", "PATCH"].includes(method);
      const sending = send(url, {
        method,
        headers: { ...(withBody && { "Content-Type": "application/json" }), "X-Call": call, ...headers },
        body: withBody ? body : "",
      });
      return { call, reply: await inTime(sending) };
    }),
  );
  // What was accepted may arrive later than its reply; what else was made of a request has come before a measure.
  for (const id of sent.map(({ reply }) => idIn(reply)).filter(Boolean)) await nodeRed.message(id);
  await nodeRed.measure();
  return sent.map(({ call, reply }) => {
    const message = nodeRed.messages.find(({ req }) => req.call === call);
    const seen = reply?.headers["x-seen"];
    return { status: reply?.status, body: reply?.body, seen: seen === undefined ? undefined : String(seen), message };
  });
}

/** A request that hangs is an outcome as well, of which the other requests are to tell. */
async function inTime(sending: Promise<Reply>): Promise<Reply | undefined> {
  return Promise.race([sending.catch(() => undefined), setTimeout(60_000, undefined, { ref: false })]);
}

interface Run {
  targets: Outcome[];
  bystanders: Outcome[];
  /** Of requests that come in, if they have no token. */
  withoutToken: Outcome[];
}

const tokenField = { "X-Token": token };

async function runWith(nodeRed: NodeRed, row: Row, layout: Layout, holder: Holder): Promise<Run> {
  const isOurs = holder === "webhook trigger";
  const addToken = (call: Target): Request => ({ ...call, headers: { ...call.headers, ...(isOurs && tokenField) } });
  // One for each that has a say.
  const accepted = new Map(row.targets.filter((target) => isAccepted(target, layout)).map((each) => [each.by, each]));
  const withoutToken = isOurs ? [...accepted.values()] : [];
  const all = [...row.targets.map(addToken), ...(row.bystanders ?? []), ...withoutToken];
  const outcomes = await outcomesOf(nodeRed, layout, all);
  const targets = outcomes.splice(0, row.targets.length);
  const bystanders = outcomes.splice(0, row.bystanders?.length ?? 0);
  return { targets, bystanders, withoutToken: outcomes };
}

/** What the same host makes of the same requests, whoever holds the path. */
async function runsOf(row: Row, layout: Layout): Promise<Record<Holder, Run>> {
  const options = optionsOf(row, layout);
  const inOwnProcess = async (holder: Holder) => {
    const flow = flowOf(row, holder);
    const nodeRed = await NodeRed.start({ ...options, flow, bare: holder !== "webhook trigger" });
    try {
      for (const step of row.then ?? []) {
        if (step === "redeploy") await nodeRed.deploy(flow);
        else await nodeRed.tell({ change: true }, "changed");
      }
      return await runWith(nodeRed, row, layout, holder);
    } finally {
      await nodeRed.stop();
    }
  };
  if (row.fresh) {
    const theirs = await inOwnProcess("http in");
    const ours = await inOwnProcess("webhook trigger");
    return {
      "http in": theirs,
      "webhook trigger": ours,
      neither: row.bystanders ? await inOwnProcess("neither") : theirs,
    };
  }
  const nodeRed = await NodeRed.start({ ...options, flow: flowOf(row, "http in") });
  try {
    const theirs = await runWith(nodeRed, row, layout, "http in");
    await nodeRed.deploy(flowOf(row, "webhook trigger"));
    const ours = await runWith(nodeRed, row, layout, "webhook trigger");
    if (!row.bystanders) return { "http in": theirs, "webhook trigger": ours, neither: theirs };
    await nodeRed.deploy(flowOf(row, "neither"));
    return { "http in": theirs, "webhook trigger": ours, neither: await runWith(nodeRed, row, layout, "neither") };
  } finally {
    await nodeRed.stop();
  }
}

/** What is wrong with a row, each thing in a line. */
export async function differencesOf(row: Row, layout: Layout): Promise<string[]> {
  const runs = await runsOf(row, layout);
  const { "http in": theirs, "webhook trigger": ours, neither } = runs;
  return [
    ...row.targets.flatMap((target, index) => {
      const [their, our] = [theirs.targets[index] ?? {}, ours.targets[index] ?? {}];
      return differenceOf(target, isAccepted(target, layout), their, our, row.plain === true);
    }),
    ...(row.bystanders ?? []).flatMap((bystander, index) => {
      const [their, our, none] = [theirs, ours, neither].map((run) => run.bystanders[index] ?? {});
      return disturbanceOf(bystander, their ?? {}, our ?? {}, none ?? {});
    }),
    ...ours.withoutToken
      .filter(({ message, status }) => message ?? status !== 401)
      .map((outcome) => `without its token the webhook trigger ${describeOutcome(outcome)}, not 401`),
  ];
}

function differenceOf(target: Target, accepted: boolean, their: Outcome, our: Outcome, plain: boolean): string[] {
  const name = nameOf(target);
  if ((their.message !== undefined) !== accepted) {
    return [`${name}: http in was expected to ${accepted ? "get it" : "not get it"}, and ${describeOutcome(their)}`];
  }
  // Where nothing guards, percent-encoded characters are read as the contract says.
  if (plain && !accepted && our.message && name.includes("%")) return [];
  const seen = accepted ? compareViews(their.seen, our.seen) : [];
  if (seen.length > 0) return seen.map((view) => `${name}: ${view}`);
  const difference = [`${name}: http in ${describeOutcome(their)}, the webhook trigger ${describeOutcome(our)}`];
  if (accepted !== (our.message !== undefined)) return difference;
  if (our.status !== (target.ours ?? their.status)) return difference;
  return isDeepStrictEqual(their.message?.payload, our.message?.payload) ? [] : difference;
}

/** What guards saw otherwise in front of the webhook trigger than in front of http in. */
function compareViews(their = "{}", our = "{}"): string[] {
  const [theirs, ours] = [their, our].map((json) => JSON.parse(json) as Record<string, Record<string, unknown>>);
  return Object.keys({ ...theirs, ...ours }).flatMap((place) => {
    const [one, other] = [theirs?.[place] ?? {}, ours?.[place] ?? {}];
    return Object.keys({ ...one, ...other })
      .filter((name) => !isDeepStrictEqual(one[name], other[name]))
      .map(
        (name) =>
          `the guard "${place}" saw ${name} as ${JSON.stringify(one[name])}, now ${JSON.stringify(other[name])}`,
      );
  });
}

function disturbanceOf(bystander: Bystander, their: Outcome, our: Outcome, none: Outcome): string[] {
  const name = nameOf(bystander);
  const { status = their.status, says: body = their.body } = bystander;
  if (their.status !== status || their.body !== body) {
    return [
      `${name}: ${describeOutcome({ status, body })} was expected beside http in, and it ${describeOutcome(their)}`,
    ];
  }
  const differs = (outcome: Outcome) => outcome.status !== their.status || outcome.body !== their.body;
  return [
    ...(differs(our)
      ? [`${name}: ${describeOutcome(their)} beside http in, and ${describeOutcome(our)} beside the webhook trigger`]
      : []),
    ...(differs(none)
      ? [`${name}: ${describeOutcome(their)} beside http in, and ${describeOutcome(none)} beside neither`]
      : []),
    ...([their, our, none].some(({ message }) => message) ? [`${name}: made a message`] : []),
  ];
}

function isAccepted({ accepted }: Target, layout: Layout): boolean {
  return typeof accepted === "boolean" ? accepted : accepted.includes(layout);
}

function nameOf({ by, method = "POST", target = "{root}/hook", headers, body }: Request): string {
  return [by && `${by}:`, method, target, headers && JSON.stringify(headers), body].filter(Boolean).join(" ");
}

function describeOutcome({ status, body = "", message }: Outcome): string {
  const text = body.replace(/\s+/g, " ").slice(0, 90);
  if (message) return `gets it (${status ?? "no answer"}) with ${JSON.stringify(message.payload)}`;
  return status === undefined ? "does not answer" : `answers ${status} ${JSON.stringify(text)}`;
}
