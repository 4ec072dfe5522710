import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { NodeRed } from "./node-red";

/** The environment of a Node-RED whose clock can be put forward. */
export const withClock = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(__dirname, "clock-preload.mjs")).href}`,
};

/** Stops the clock of a Node-RED, and lets what waits for so many ms have waited. */
export async function putForward(nodeRed: NodeRed, milliseconds: number): Promise<void> {
  await nodeRed.tell({ clock: milliseconds }, "clock");
}
