/**
 * What tests of a file share that look into the editor: a browser, and a Node-RED for each of the settings and core nodes
 * that they ask for. A test begins by deploying its flow, which takes a fraction of the time that a start takes.
 */
import type { Browser } from "playwright-core";
import { Editor, type Look, startBrowser } from "./browser";
import { coreNodesOf, type Flow, NodeRed, type Options } from "./node-red";

/** What flows find in the environment of the process. */
const env = { HOOK: "/by-environment" };

let browser: Promise<Browser> | undefined;
const nodeReds = new Map<string, Promise<NodeRed>>();

export function sharedBrowser(): Promise<Browser> {
  endWithFile();
  return (browser ??= startBrowser());
}

/** A Node-RED in which this flow runs, and nothing of the tests before: only its log and messages may have more. */
export async function sharedNodeRed(flow: Flow, options: Pick<Options, "settings" | "code"> = {}): Promise<NodeRed> {
  endWithFile();
  const wanted = { ...options, only: coreNodesOf(flow) };
  const key = JSON.stringify(wanted);
  const started = nodeReds.get(key) ?? NodeRed.start({ ...wanted, env });
  nodeReds.set(key, started);
  const nodeRed = await started;
  nodeRed.statuses.clear();
  await nodeRed.deploy(flow);
  return nodeRed;
}

/** Deploys a flow in a shared Node-RED, and opens its editor. */
export async function openEditor(flow: Flow, options: Pick<Options, "settings" | "code"> = {}, look: Look = {}) {
  const nodeRed = await sharedNodeRed(flow, options);
  const editor = await Editor.open(await sharedBrowser(), nodeRed, look);
  await editor.keepSidebars();
  return { nodeRed, editor };
}

/** The same for all tests of a suite, each of which may leave a form open. */
export function useEditor(...given: Parameters<typeof openEditor>) {
  let opened: Awaited<ReturnType<typeof openEditor>> | undefined;
  before(async () => {
    opened = await openEditor(...given);
  });
  const get = () => {
    if (!opened) throw new Error("the editor is not open");
    return opened;
  };
  afterEach(() => get().editor.leave());
  return { editor: () => get().editor, nodeRed: () => get().nodeRed };
}

/** Stops all of it after the last test of the file that has started it: a hook that is added while tests run is the file's. */
function endWithFile(): void {
  if (browser !== undefined || nodeReds.size > 0) return;
  after(async () => {
    const [opened, started] = [browser, [...nodeReds.values()]];
    browser = undefined;
    nodeReds.clear();
    await (await opened)?.close();
    for (const nodeRed of started) await (await nodeRed).stop();
  });
}
