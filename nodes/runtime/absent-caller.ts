// A request whose caller has gone with the process before: what a flow answers to it reaches nobody.

import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Ending } from "../../src/deliveries/flow";
import { endingBy } from "../../src/debt";
import { OwedReply } from "../../src/reply/owed";

/** A connection that takes whatever is written, as one does whose other end reads it. */
class Nowhere extends Socket {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

/**
 * @param method of the request as it came
 * @param timeout how long the flow may take to answer, in ms
 * @returns what the flow owes, and how it has ended when it has answered, or not in time
 */
export function owedToNobody(method: string, timeout: number): { reply: OwedReply; ending: Promise<Ending> } {
  const connection = new Nowhere();
  const request = new IncomingMessage(connection);
  request.method = method;
  const response = new ServerResponse(request);
  response.assignSocket(connection);
  let end: (ending: Ending) => void;
  const ending = new Promise<Ending>((resolve) => (end = resolve));
  const creditor = {
    settled: (settlement: "answered" | "failed" | "gone") => {
      const outcome = endingBy(settlement, response.statusCode);
      end(outcome.as === "failed" ? { as: "failed", error: outcome.error } : outcome);
    },
    dropped: () => undefined,
  };
  return { reply: new OwedReply(request, response, timeout, creditor), ending };
}
