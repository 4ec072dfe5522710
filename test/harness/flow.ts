import { defaults } from "../../src/config";
import type { Flow } from "./node-red";

export const token = "0123456789abcdefghijABCDEFGHIJ-_~.!$*+,=";

/** A tab with webhook triggers, each wired to the one sink. */
export function webhookFlow(...webhooks: Record<string, unknown>[]): Flow {
  return [
    { id: "tab", type: "tab", label: "Test" },
    ...webhooks.map((webhook, index) => ({
      id: `webhook${index}`,
      type: "webhook-trigger",
      z: "tab",
      x: 100,
      y: 100,
      ...defaults,
      relativePath: "/hook",
      credentials: { token },
      wires: [["sink"]],
      ...webhook,
    })),
    { id: "sink", type: "sink", z: "tab", x: 300, y: 100, wires: [] },
  ];
}

export const bearer = { Authorization: `Bearer ${token}` };
