// Callers that ask before they send a body.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Marks the requests of callers that still wait to be told to go on. */
const asking = Symbol("asking");

/**
 * Leaves it to the endpoint whether a caller with `Expect: 100-continue` is told to send its body: one that is refused
 * gets the refusal alone (RFC 9110 §10.1.1). All others are told to go on, as Node tells them.
 *
 * @param isMet whether a request is met by an endpoint without anything in between, which might read its body
 */
export function honourExpectations(server: Server, isMet: (request: IncomingMessage) => boolean): void {
  // With a listener of somebody else's it is theirs to say, whether it is there already or comes later.
  if (server.listenerCount("checkContinue") > 0) return;
  server.on("checkContinue", (request: IncomingMessage & { [asking]?: boolean }, response: ServerResponse) => {
    if (server.listenerCount("checkContinue") > 1) return;
    if (isMet(request)) request[asking] = true;
    else response.writeContinue();
    server.emit("request", request, response);
  });
}

/** How to tell the caller of a request to go on, if it still waits for that. */
export function continueOf(
  request: IncomingMessage & { [asking]?: boolean },
  response: ServerResponse,
): (() => void) | undefined {
  if (!request[asking]) return undefined;
  return () => {
    request[asking] = false;
    response.writeContinue();
  };
}
