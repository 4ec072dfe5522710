// How the bytes of a body come in: as they are read, or from whoever has read them before.

import type { IncomingMessage } from "node:http";
import { Interference, type Problem, problems } from "./problem";
import { readBody, within } from "./request/body";
import type { Arrival } from "./request/summary";
import type { Claim } from "./trust/gate";

/**
 * Takes in the body of a request as it was sent.
 *
 * @param limit the most bytes that it may have
 * @param claim what it has to prove, if that is anything
 * @param onBegin called when there is nothing against reading it
 * @throws {Interference} when something in front has read it, and nothing is left that would do
 */
export function takeIn(
  arrival: Arrival,
  limit: number,
  claim: Claim | undefined,
  onBegin: () => void,
): Promise<Buffer | Problem> | Buffer | Problem {
  const { request, received } = arrival;
  const bytes = received ?? bytesOfParsed(arrival, claim);
  if (!claim) return bytes ? within(limit, bytes) : readBody(request, limit, onBegin);
  if (!bytes) return readClaimed(request, limit, claim, onBegin);
  return bytes.length > (claim.longest?.bytes ?? limit) ? tooLong(claim) : (claim.update(bytes) ?? bytes);
}

/**
 * Reads the body of a request that is to prove something.
 *
 * @throws {Interference} when something else has read of the body already
 */
export async function readClaimed(
  request: IncomingMessage,
  limit: number,
  claim: Claim,
  onBegin?: () => void,
): Promise<Buffer | Problem> {
  try {
    const most = Math.min(limit, claim.longest?.bytes ?? limit);
    const outcome = await readBody(request, most, onBegin, (chunk) => claim.update(chunk));
    if (Buffer.isBuffer(outcome)) return outcome;
    claim.drop();
    return outcome === problems.bodyTooLarge ? tooLong(claim) : outcome;
  } catch (error) {
    claim.drop();
    throw error;
  }
}

function tooLong({ longest }: Claim): Problem {
  return longest?.otherwise ?? problems.bodyTooLarge;
}

/** What is left of a body that a parser in front has read, where it has. */
function bytesOfParsed({ request, parsed }: Arrival, claim: Claim | undefined): Buffer | undefined {
  if (!parsed) return undefined;
  const wasPacked = request.headers["content-encoding"] !== undefined;
  if (Buffer.isBuffer(parsed.value) && !(claim?.needsBytes && wasPacked)) return parsed.value;
  if (claim?.needsBytes) throw new Interference("bytesGone");
  return Buffer.from(claim ? JSON.stringify(parsed.value ?? "") : "");
}
