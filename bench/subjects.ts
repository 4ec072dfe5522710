/** What is measured: servers in processes of their own, and the flows that they run. */
import { buildSync } from "esbuild";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tab, token, webhook } from "../test/harness/flow";
import { type Flow, NodeRed, type Options } from "../test/harness/node-red";
import { temporaryFolder } from "../test/harness/package";
import { secret } from "./requests";

/** Something that is measured: where it listens, and how to end it. */
export interface Subject {
  port: number;
  /** The processor time that it has used. */
  cpu: () => Promise<NodeJS.CpuUsage>;
  nodeRed?: NodeRed;
  stop: () => Promise<void> | void;
}

/** @param env what its requests have to prove: the `TOKEN` or, by GitHub's signature, the `SECRET` */
export async function baseline(env: Record<string, string> = { TOKEN: token }): Promise<Subject> {
  const child = fork(join(__dirname, "baseline.ts"), { env: { ...process.env, ...env } });
  const [port] = (await once(child, "message")) as [number];
  const cpu = async () => {
    child.send("measure");
    const [measure] = (await once(child, "message")) as [{ cpu: NodeJS.CpuUsage }];
    return measure.cpu;
  };
  return { port, cpu, stop: () => child.disconnect() };
}

export async function nodeRed(flow: Flow, options: Options = {}): Promise<Subject> {
  // A flow of ten thousand nodes is deployed as one request.
  const settings = { logging: { console: { level: "warn" } }, apiMaxLength: "50mb", ...options.settings };
  // Reporting every status to this process would be measured as well.
  const runtime = await NodeRed.start({ ...options, settings, env: { QUIET: "1", ...options.env } });
  await runtime.deploy(flow);
  const port = Number(new URL(runtime.origin).port);
  const cpu = async () => (await runtime.measure()).cpu;
  return { port, cpu, nodeRed: runtime, stop: () => runtime.stop() };
}

/** The Node-RED of a subject. */
export function runtimeOf({ nodeRed: runtime }: Subject): NodeRed {
  if (!runtime) throw new Error("only a Node-RED can measure itself");
  return runtime;
}

/** One Node-RED with the webhook trigger and, on a port of its own, the floor. */
export async function nodeRedWithFloor(): Promise<{ webhook: Subject; floor: Subject }> {
  const nodesDir = temporaryFolder("floor");
  buildSync({
    entryPoints: [join(__dirname, "floor.ts")],
    bundle: true,
    platform: "node",
    outfile: join(nodesDir, "floor.js"),
  });
  // Without its half for the editor, Node-RED does not take it for a node.
  writeFileSync(join(nodesDir, "floor.html"), "");
  const both = [...oneWebhook, { id: "f0", type: "floor", z: "tab", x: 200, y: 80, token, wires: [["count"]] }];
  const subject = await nodeRed(both, { settings: { nodesDir } });
  const [, port] = await runtimeOf(subject).logged(/the floor listens on (\d+)/);
  return { webhook: subject, floor: { ...subject, port: Number(port) } };
}

/** Where messages end: a node that only counts them. */
const end = { id: "count", type: "count", wires: [] };

export const oneWebhook = webhooks(1);

/**
 * @param fields what they have besides their paths and tokens
 * @param tail the end of each path
 */
export function webhooks(count: number, fields: Record<string, unknown> = {}, tail = ""): Flow {
  const wired = { ...fields, wires: [["count"]] };
  return tab(...numbered(count, (index) => [webhook(`w${index}`, `/hook/${index}${tail}`, wired)]), end);
}

/** What makes a webhook one of GitHub's. */
export const signedByGitHub = { sender: "github", verificationMethod: "signature", credentials: { secret } };

/** Endpoints from core nodes of which each has a token of its own: so each needs its own function. */
export function httpInsWithChecks(count: number): Flow {
  return tab(...numbered(count, (index) => httpInWithCheck(`${index}`, `/hook/${index}`)));
}

/** Nodes that do nothing: what Node-RED itself needs for a deploy of so many. */
export function comments(count: number): Flow {
  return tab(...numbered(count, (index) => [{ id: `c${index}`, type: "comment", name: "", info: "", wires: [] }]));
}

export function injects(count: number): Flow {
  const node = {
    type: "inject", name: "", props: [{ p: "payload" }], repeat: "", crontab: "", once: false, onceDelay: 0.1, topic: "",
    payload: "", payloadType: "date", wires: [["count"]],
  }; // prettier-ignore
  return tab(...numbered(count, (index) => [{ id: `i${index}`, ...node }]), end);
}

function numbered(count: number, nodesOf: (index: number) => Flow): Flow {
  return Array.from({ length: count }, (_, index) => nodesOf(index)).flat();
}

/**
 * What people build from core nodes: an `http in`, a function that checks the token, and `http response`.
 *
 * @param field where the token is, in lower case
 * @param value of that field
 */
export function httpInWithCheck(id: string, url: string, field = "authorization", value = `Bearer ${token}`): Flow {
  const [input, check, answer] = [`h${id}`, `c${id}`, `a${id}`];
  return [
    { id: input, type: "http in", method: "post", url, name: "", upload: false, wires: [[check]] },
    {
      id: check,
      type: "function",
      name: "",
      func: `
        if (msg.req.headers[${JSON.stringify(field)}] !== ${JSON.stringify(value)}) {
          msg.statusCode = 401;
          msg.payload = { status: 401 };
        } else {
          msg.payload = { status: "accepted", id: msg._msgid };
        }
        return msg;`,
      outputs: 1,
      timeout: 0,
      noerr: 0,
      initialize: "",
      finalize: "",
      libs: [],
      wires: [[answer]],
    },
    { id: answer, type: "http response", name: "", statusCode: "", headers: {}, wires: [] },
  ];
}

export const oneHttpIn = httpInsWithChecks(1);
