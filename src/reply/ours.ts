// Which answers are the endpoints' own or their flows': of all others, something else has given them.

import type { ServerResponse } from "node:http";

const ours = new WeakSet<ServerResponse>();

/** Notes that a response, which may say that something is wrong, is given by an endpoint or by its flow. */
export function markAsOurs(response: ServerResponse): void {
  ours.add(response);
}

export function isOurs(response: ServerResponse): boolean {
  return ours.has(response);
}
