/**
 * What tests share that look at the editor: a browser, and a Node-RED for each of the settings that they ask for. To
 * start one, or to load the editor from where the browser has not been, takes longer than most of what is looked at.
 */
import type { Browser } from "playwright-core";
import { startBrowser } from "./browser";
import { type Flow, NodeRed, type Options } from "./node-red";

/** What flows find in the environment of the process. */
const env = { HOOK: "/by-environment" };

let browser: Promise<Browser> | undefined;
const nodeReds = new Map<string, Promise<NodeRed>>();

export function sharedBrowser(): Promise<Browser> {
  return (browser ??= startBrowser());
}

/** A Node-RED in which this flow runs, and nothing of the tests before: only its log and messages may have more. */
export async function sharedNodeRed(
  flow: Flow,
  { settings = {}, code = "" }: Pick<Options, "settings" | "code"> = {},
): Promise<NodeRed> {
  const key = JSON.stringify([settings, code]);
  const started = nodeReds.get(key) ?? NodeRed.start({ settings, code, env });
  nodeReds.set(key, started);
  const nodeRed = await started;
  nodeRed.statuses.clear();
  await nodeRed.deploy(flow);
  return nodeRed;
}

after(async () => {
  await (await browser)?.close();
  for (const nodeRed of nodeReds.values()) await (await nodeRed).stop();
});
