/** What is measured: servers in processes of their own, the flows that they run, and the requests that they get. */
import { buildSync } from "esbuild";
import { fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callers } from "../test/harness/callers";
import { bearer, tab, token, webhook } from "../test/harness/flow";
import { type Flow, NodeRed, type Options } from "../test/harness/node-red";
import { temporaryFolder } from "../test/harness/package";
import { requestBytes } from "./load";

/** Something that is measured: where it listens, and how to end it. */
export interface Subject {
  port: number;
  /** The processor time that it has used. */
  cpu: () => Promise<NodeJS.CpuUsage>;
  nodeRed?: NodeRed;
  stop: () => Promise<void> | void;
}

/** The secret of the webhooks that are signed. */
export const secret = "It's a Secret to Everybody";
/** What makes a webhook one of GitHub's. */
export const signedByGitHub = { sender: "github", verificationMethod: "signature", credentials: { secret } };
/** Where messages end: a node that only counts them. */
export const end = { id: "count", type: "count", wires: [] };

export const oneWebhook = webhooks(1);
/** One with a thousand callers, and no token of its own. */
export const oneWithCallers = webhooks(1, {
  credentials: callers(...Array.from({ length: 1000 }, (_, index) => `caller ${index}`)),
});
export const oneHttpIn = tab(...httpInWithCheck("/hook/0"));

/** @param env what its requests have to prove: the `TOKEN` or, by GitHub's signature, the `SECRET` */
export async function baseline(env: Record<string, string> = { TOKEN: token }): Promise<Subject> {
  const child = fork(join(__dirname, "baseline.ts"), { env: { ...process.env, ...env } });
  const [port] = (await once(child, "message")) as [number];
  const cpu = () => Promise.reject(new Error("of node:http only the rate is measured"));
  return { port, cpu, stop: () => child.disconnect() };
}

export async function nodeRed(flow: Flow, options: Options = {}): Promise<Subject> {
  const settings = { logging: { console: { level: "warn" } }, ...options.settings };
  // Reporting every status to this process would be measured as well.
  const runtime = await NodeRed.start({ ...options, flow, settings, env: { QUIET: "1", ...options.env } });
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
  const subject = await nodeRed(both, { settings: { nodesDir }, besides: ["floor.js"] });
  const [, port] = await runtimeOf(subject).logged(/the floor listens on (\d+)/);
  return { webhook: subject, floor: { ...subject, port: Number(port) } };
}

/**
 * @param fields what they have besides their paths and tokens
 * @param tail the end of each path
 */
export function webhooks(count: number, fields: Record<string, unknown> = {}, tail = ""): Flow {
  const all = Array.from({ length: count }, (_, index) =>
    webhook(`w${index}`, `/hook/${index}${tail}`, { ...fields, wires: [["count"]] }),
  );
  return tab(...all, end);
}

/**
 * What people build from core nodes: an `http in`, a function that checks the token, and `http response`.
 *
 * @param field where the token is, in lower case
 * @param value of that field
 */
export function httpInWithCheck(url: string, field = "authorization", value = `Bearer ${token}`): Flow {
  const check = `
    if (msg.req.headers[${JSON.stringify(field)}] !== ${JSON.stringify(value)}) {
      msg.statusCode = 401;
      msg.payload = { status: 401 };
    } else {
      msg.payload = { status: "accepted", id: msg._msgid };
    }
    return msg;`;
  return [
    { id: "in", type: "http in", method: "post", url, name: "", upload: false, wires: [["check"]] },
    { id: "check", type: "function", name: "", func: check, outputs: 1, libs: [], wires: [["answer"]] },
    { id: "answer", type: "http response", name: "", statusCode: "", headers: {}, wires: [] },
  ];
}

const headers = { ...bearer, "Content-Type": "application/json", "User-Agent": "bench" };

/** 100 B of JSON. */
export const small = JSON.stringify({ text: "x".repeat(89) });
/** 5 kB of JSON. */
export const fiveKilobytes = JSON.stringify({ text: "x".repeat(4989) });

/** A request with the right token, unless it is another one, to one of the endpoints. */
export function withToken(body: string, endpoint: number | string = 0, sent = token): Buffer {
  return requestBytes(`/hook/${endpoint}`, { ...headers, Authorization: `Bearer ${sent}` }, body);
}

/** A request with the right token that is another one each time, as the digits in its field `X-Count` tell. */
export function counted(): () => Buffer {
  const digits = 12;
  const template = requestBytes("/hook/0", { ...headers, "X-Count": "0".repeat(digits) }, small);
  const at = template.indexOf("X-Count: ") + "X-Count: ".length;
  let count = 0;
  return () => {
    const request = Buffer.from(template);
    request.write(String(++count).padStart(digits, "0"), at, "latin1");
    return request;
  };
}

/** A request that GitHub has signed. */
export function signed(body: string): Buffer {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const fields = { "X-GitHub-Event": "push", "X-Hub-Signature-256": `sha256=${signature}` };
  return requestBytes("/hook/0", { "Content-Type": "application/json", "User-Agent": "bench", ...fields }, body);
}
