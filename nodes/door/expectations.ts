// Callers that ask before they send a body.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** On requests of callers that wait to be told to go on: who is to see to it that they are. */
const asking = Symbol("asking");

type Asking = IncomingMessage & { [asking]?: "unmet" | "us" | undefined };

/**
 * Leaves it to the endpoint whether a caller with `Expect: 100-continue` is told to send its body: one that is refused
 * gets the refusal alone (RFC 9110 §10.1.1). All others are told to go on, as Node tells them.
 *
 * @param isMet whether a request is met by an endpoint without anything in between, which might read its body
 */
export function honourExpectations(server: Server, isMet: (request: IncomingMessage) => boolean): void {
  // With a listener of somebody else's it is theirs to say, whether it is there already or comes later.
  if (server.listenerCount("checkContinue") > 0) return;
  // One that was called for this very request and is for one only, has gone before it is our turn.
  let hasJustGone = false;
  server.on("removeListener", (event) => {
    if (event !== "checkContinue") return;
    hasJustGone = true;
    queueMicrotask(() => (hasJustGone = false));
  });
  server.on("checkContinue", (request: Asking, response: ServerResponse) => {
    if (server.listenerCount("checkContinue") > 1 || hasJustGone) return;
    if (isMet(request)) request[asking] = "unmet";
    else response.writeContinue();
    server.emit("request", request, response);
    // Where it has not come to us at once, something in between has it, which may want the body.
    if (request[asking] === "unmet" && !response.headersSent) continueOf(request, response)?.();
  });
}

/** How to tell the caller of a request to go on, if it still waits for that; whoever asks has to see to it. */
export function continueOf(request: Asking, response: ServerResponse): (() => void) | undefined {
  if (!request[asking]) return undefined;
  request[asking] = "us";
  return () => {
    if (request[asking] && !response.headersSent) response.writeContinue();
    request[asking] = undefined;
  };
}
