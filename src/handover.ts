// The end of the story: what may come in is unpacked, and becomes a message and a reply.

import type { ServerResponse } from "node:http";
import type { Endpoint, Webhook } from "./endpoint";
import { Problem, problems } from "./problem";
import { decodeContent } from "./request/body";
import { type Body, decodeBody, decodeParsed } from "./request/decode";
import { type Arrival, summarise } from "./request/summary";
import { abandon, prepareAcceptance } from "./reply/reply";
import { deliveryOf } from "./trust/delivery";
import type { Head } from "./trust/signature/fields";
import type { Admission } from "./trust/signature/why";

/** A request that has been let in, and all of its body. */
export interface Admitted {
  readonly arrival: Arrival;
  readonly head: Head;
  readonly response: ServerResponse;
  readonly admission: Admission;
  /** As it came; of no interest where a parser in front has read it. */
  readonly bytes: Buffer;
  /** When it was met, as `performance.now()` tells time. */
  readonly start: number;
}

/** Whether a body has content codings that are to be undone. */
export function isPacked({ request, parsed }: Arrival): boolean {
  return !parsed && request.headers["content-encoding"] !== undefined;
}

/** Undoes the content codings of a body, which may take many times its memory. */
export async function unpack({ arrival, bytes }: Admitted, limit: number): Promise<Buffer | Problem> {
  return decodeContent(bytes, arrival.request.headers["content-encoding"] ?? "", limit);
}

/**
 * Starts the flow with a request, and tells the caller.
 *
 * @param content the body without its content codings
 * @returns why the request is refused; nothing when there may be a message
 */
export function handOver(admitted: Admitted, content: Buffer, receiver: Endpoint): Problem | undefined {
  const { arrival, response, admission, start } = admitted;
  const { request, parsed } = arrival;
  const type = request.headers["content-type"];
  const body = parsed ? decodeParsed(parsed.value, type) : decodeBody(content, type);
  if (body instanceof Problem) return body;

  const id = receiver.newId();
  const req = summarise(arrival, receiver.gate);
  const webhook = describe(admitted, receiver, parsed ? body : content);
  const emptyStatus = admission.isTrial ? undefined : receiver.sender?.row.emptyReply?.status;
  const reply = prepareAcceptance(request, response, id, emptyStatus);
  try {
    receiver.deliver({ id, body, req, webhook });
    reply.send();
  } catch (error) {
    // There may be a message, so to refuse the request would be as wrong as to accept it.
    abandon(request);
    receiver.refused(problems.unforeseen, undefined, error);
    return undefined;
  }
  const milliseconds = performance.now() - start;
  receiver.accepted({ id, admission, milliseconds, contentLength: reply.contentLength });
  return undefined;
}

/** What is known of who sent it. */
function describe({ head, admission }: Admitted, { sender, gate }: Endpoint, content: Body): Webhook {
  const { credential, sentAt } = admission;
  const proof = sentAt === undefined ? { credential } : { credential, sentAt };
  if (!sender) return proof;
  const bytes = () => (Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content)));
  const told = Object.entries<string>({ ...deliveryOf(sender.row, head, bytes) }).filter(
    ([, text]) => !gate.secrecy.tells(text),
  );
  return { sender: sender.id, ...Object.fromEntries(told), ...proof };
}
