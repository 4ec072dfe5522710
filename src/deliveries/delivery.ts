// What is known of one request: what came, and what became of it.

import { redactHeaders } from "../auth/redactor";
import type { Credential, Reason } from "../auth/result";
import type { SenderId } from "../auth/senders/table";
import type { Body } from "../request/decode";
import type { RequestInfo } from "../request/request-info";
import type { Attempt, State } from "./summary";
export type { Attempt, State } from "./summary";

/** What the flow is not done with; it is never dropped. */
export const unfinished: readonly State[] = ["queued", "running", "retrying"];
/** What may be dropped when it is too old, or when there is no room. */
export const droppable: readonly State[] = ["refused", "duplicate", "handshake", "succeeded"];
/** What is kept for a person to look at: it is dropped when there is no room, and nothing else may go. */
export const lastToGo: State = "failed";
export const finished: readonly State[] = [...droppable, lastToGo];

/** Of what a sender tells of a delivery, so many characters are shown. */
const maxEventLength = 200;

/** What came, as a flow may know it: redacted. */
export interface StoredHead {
  readonly method: string;
  /** Below Node-RED's root for nodes, as it was sent. */
  readonly path: string;
  /** The query of the URL without its question mark. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The address of the sender. */
  readonly ip: string;
}

/** What is known of who sent it. */
export interface Webhook {
  sender?: SenderId;
  /** The type of the event. */
  event?: string;
  /** The sender's own id of the delivery. */
  id?: string;
  /** When it was signed, in ms since the epoch. */
  sentAt?: number;
  /** Which of two secrets or tokens it had. */
  credential: Credential;
  /** How often the flow was started with it, this time included; missing where it is started once, whatever happens. */
  attempt?: number;
  /** Set where somebody has the flow started with an earlier delivery once more. */
  replay?: true;
}

export interface Delivery {
  /** The id of its message. */
  readonly id: string;
  /** The id of the node whose endpoint it came to. */
  readonly node: string;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  readonly state: State;
  readonly head: StoredHead;
  /** Missing where it was not let in. */
  readonly webhook?: Webhook;
  /** The length of its body as it was sent, in bytes. */
  readonly size: number;
  /** The status of the reply; missing while there is none. */
  readonly status?: number;
  /** How long it took from the head of the request to the reply, in ms; missing while there is none. */
  readonly milliseconds?: number;
  /** How the body of the reply begins, where that is text; missing where it is what a problem says. */
  readonly answer?: string;
  /** Why it was refused, by the key of its text under `refused` in the message catalog. */
  readonly problem?: string;
  /** What was wrong with it and how to mend that, the surest first, where it was refused. */
  readonly reasons?: readonly Reason[];
  /** The sender that it looks like, where it was refused. */
  readonly looksLike?: SenderId;
  /** What the flow has failed with in its last run; or the error behind a refusal that no rule foresees. */
  readonly error?: string;
  /** The first words of its body, where no event is known. */
  readonly words?: string;
  /** The id of the delivery that it is a replay of. */
  readonly replayOf?: string;
  /** Whether the editor has sent it, to try the endpoint. */
  readonly isTest?: boolean;
  /** Whether its body, which is JSON, is all of the message's payload: somebody has changed that. */
  readonly isPayload?: boolean;
  /** How often the flow was started with it. */
  readonly attempt: number;
  /** When the flow is to be started with it again, in ms since the epoch, and how often in all; where it is `retrying`. */
  readonly nextAt?: number;
  readonly maxAttempts?: number;
  /** Whether its body is kept as JSON: a parser in front had read it, and nobody knows how it was sent. */
  readonly isJson?: boolean;
}

/** A delivery with all that is stored of it. */
export interface StoredDelivery {
  readonly delivery: Delivery;
  /** As it was sent, redacted; empty where it was not kept, as that of a refused request is not. */
  readonly body: Buffer;
  readonly attempts: readonly Attempt[];
}

/** What a sender tells of a delivery, as it is shown: it may be as long as a body. */
export function readEvent({ webhook }: Delivery): { event: string | undefined; senderId: string | undefined } {
  return { event: webhook?.event?.slice(0, maxEventLength), senderId: webhook?.id?.slice(0, maxEventLength) };
}

/**
 * Where a text is looked for: what was called, the event or the first words, the ids, the address, the header fields, and
 * what the flow has failed with, in lower case. A value that is masked where it is shown is not found either: else it
 * could be found out letter by letter.
 *
 * @see Query
 */
export function searchedIn(delivery: Delivery): string {
  const { id, head, words, error } = delivery;
  const fields = Object.entries(redactHeaders(head.headers)).map(([name, value]) => `${name}: ${String(value)}`);
  const { event, senderId } = readEvent(delivery);
  const texts = [id, senderId, event, words, `${head.method} ${head.path}`, head.ip, error, ...fields];
  return texts.filter((text) => text !== undefined).join("\n").toLowerCase(); // prettier-ignore
}

export type Kept = StoredDelivery;

// The first words of a body: what a delivery was, where no event is known.

/** Of a body, so many bytes are looked at. */
const looked = 120;
/** So many characters are told. */
const longest = 80;
/** What stands for bytes that are no text. */
const replacement = "\uFFFD";

export function withWords(delivery: Delivery, body: Buffer): Delivery {
  if (delivery.webhook?.event !== undefined) return delivery;
  const words = listWords(body);
  return words === undefined ? delivery : { ...delivery, words };
}

/** @returns nothing where it is empty, or is no text */
export function listWords(body: Buffer): string | undefined {
  // The last character may be cut in its middle.
  const text = body.toString("utf8", 0, looked).replace(new RegExp(`${replacement}+$`), "");
  const words = text.replace(/\s+/g, " ").trim().slice(0, longest);
  return words === "" || Array.from(words).some(isNoText) ? undefined : words;
}

function isNoText(character: string): boolean {
  return character < " " || character === replacement;
}

/** A small part of a large buffer would keep all of that in memory. */
export function ownMemory(body: Buffer): Buffer {
  if (4 * body.length >= body.buffer.byteLength) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

/** What a message is made of. */
export interface IncomingDelivery {
  id: string;
  body: Body;
  /** The body as it was sent, where that is asked for. */
  rawBody?: Buffer;
  /** Whether the body is all of the message's payload, whatever that is made of otherwise. */
  isPayload?: boolean;
  req: RequestInfo;
  webhook: Webhook;
}
