import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { tab, token, webhook } from "../test/harness/flow";
import { type Flow, NodeRed, type Options } from "../test/harness/node-red";

/** Something that is measured: where it listens, and how to end it. */
export interface Subject {
  port: number;
  nodeRed?: NodeRed;
  stop: () => Promise<void> | void;
}

export async function baseline(): Promise<Subject> {
  const child = fork(join(__dirname, "baseline.ts"), { env: { ...process.env, TOKEN: token } });
  const [port] = (await once(child, "message")) as [number];
  return { port, stop: () => child.disconnect() };
}

export async function nodeRed(flow: Flow, options: Options = {}): Promise<Subject> {
  const settings = { logging: { console: { level: "warn" } }, ...options.settings };
  // Reporting every status to this process would be measured as well.
  const runtime = await NodeRed.start({ ...options, settings, env: { QUIET: "1", ...options.env } });
  await runtime.deploy(flow);
  return { port: Number(new URL(runtime.origin).port), nodeRed: runtime, stop: () => runtime.stop() };
}

/** Where messages end: a node that only counts them. */
const end = { id: "count", type: "count", wires: [] };

export const oneWebhook = tab(webhook("webhook", "/hook", { wires: [["count"]] }), end);

export function webhooks(count: number): Flow {
  return tab(
    ...Array.from({ length: count }, (_, index) => webhook(`w${index}`, `/hook/${index}`, { wires: [["count"]] })),
    end,
  );
}

export function httpIns(count: number): Flow {
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: `h${index}`, type: "http in", method: "post", url: `/hook/${index}`, name: "", upload: false, wires: [["check"]],
  })); // prettier-ignore
  return tab(...nodes, ...answering);
}

export function injects(count: number): Flow {
  return tab(
    ...Array.from({ length: count }, (_, index) => ({
      id: `i${index}`, type: "inject", name: "", props: [{ p: "payload" }], repeat: "", crontab: "", once: false,
      onceDelay: 0.1, topic: "", payload: "", payloadType: "date", wires: [["count"]],
    })), // prettier-ignore
    end,
  );
}

/** What people build from core nodes: `http in`, a function that checks the token, `http response`. */
const answering = [
  {
    id: "check",
    type: "function",
    name: "",
    func: `
      if (msg.req.headers.authorization !== "Bearer ${token}") {
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
    wires: [["answer"]],
  },
  { id: "answer", type: "http response", name: "", statusCode: "", headers: {}, wires: [] },
];

export const oneHttpIn = tab(
  { id: "in", type: "http in", method: "post", url: "/hook", name: "", upload: false, wires: [["check"]] },
  ...answering,
);
